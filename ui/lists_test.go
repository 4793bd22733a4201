package ui

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/thread"

	tea "charm.land/bubbletea/v2"
)

// click clicks on the last place where the screen shows a text.
func (r *rig) click(text string) {
	r.t.Helper()
	rows := strings.Split(r.see(), "\n")
	for y := len(rows) - 1; y >= 0; y-- {
		if i := strings.LastIndex(rows[y], text); i >= 0 {
			r.send(tea.MouseClickMsg{X: utf8.RuneCountInString(rows[y][:i]), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	r.t.Errorf("%q is not on the screen:\n%s", text, r.see())
}

// selected returns the selected thread.
func (r *rig) selected() thread.ID {
	if s := r.m.tree.Selected(); s != nil {
		return s.ID
	}
	return ""
}

// TestMoneyTakesClicks: a click selects a row, one on the selected row goes to its thread.
func TestMoneyTakesClicks(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		r.spent()
		stage(r)
		r.m.tree.Select("docs-f9a0")
		r.wait(time.Second)
		r.keys("$", "tab", "tab")
		r.wait(time.Second)
		r.click("$3.90")
		if r.m.dialogs.Top() == nil || r.selected() != "docs-f9a0" {
			t.Errorf("one click went to %s", r.selected())
		}
		r.click("$3.90")
		if r.m.dialogs.Top() != nil || r.selected() != "try-jwt-b7c1" {
			t.Errorf("a second one went to %s\n%s", r.selected(), r.see())
		}
	})
}

// TestInterruptedListStays: when another screen resumes what it lists, the list stays and says so, and its keys resume
// nothing and reach nothing below.
func TestInterruptedListStays(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		r.must("1 thread interrupted")
		r.m.tree.Select("try-jwt-b7c1") // which asks
		r.wait(time.Second)
		s := r.srv.find("session-c3d4")
		for _, x := range r.srv.threads {
			if x.State.State == thread.StateInterrupted {
				s = x
			}
		}
		s.State.State = thread.StateIdle
		s.Execution = &thread.Execution{ID: "again"}
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
		r.must("no thread is interrupted any more", "resumed")
		before := len(r.srv.calls)
		r.keys("A!")
		if r.m.dialogs.Top() != nil || len(r.srv.calls) > before {
			t.Errorf("its key led to %q\n%s", r.srv.calls[before:], r.see())
		}
	})
}

// TestInboxKeepsTheList: a filter, folds and the cursor are as before once the inbox is left, also after it went over
// threads that they hide.
func TestInboxKeepsTheList(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.keys("/")
		r.text("auth-feature\r")
		before := r.see()
		if strings.Contains(before, "docs *") {
			t.Fatalf("not filtered:\n%s", before)
		}
		r.full()
		r.keys("I", "end", "up", "home", "esc")
		r.wait(time.Second)
		if r.m.tree.Filtered() != "auth-feature" || strings.Contains(r.see(), "docs *") || r.selected() != "auth-feature-a3f2" {
			t.Errorf("at %s, filtered by %q:\n%s", r.selected(), r.m.tree.Filtered(), r.see())
		}
		r.keys("/")
		r.text(strings.Repeat("\b", 20) + "\r")
		r.keys("h") // folds its forks
		if strings.Contains(r.see(), "try-jwt") && !strings.Contains(r.see(), "+") {
			t.Fatalf("not folded:\n%s", r.see())
		}
		folded := r.m.tree.Len()
		r.keys("I", "end", "home", "esc")
		if n := r.m.tree.Len(); n != folded {
			t.Errorf("%d rows, before the inbox %d:\n%s", n, folded, r.see())
		}
	})
}

// TestInboxSaysWhatItCouldNotLoad: without the servers the list is not whole, and says so.
func TestInboxSaysWhatItCouldNotLoad(t *testing.T) {
	play(t, world(), 80, 24, nil, func(r *rig) {
		stage(r)
		r.srv.mcpErr = errors.New("the store is locked")
		r.keys("I")
		r.wait(time.Second)
		r.must("MCP servers could not be loaded: the store is locked", "rm -rf build; make")
		r.srv.mcpErr = nil
		r.keys("esc", "I")
		r.wait(time.Second)
		if strings.Contains(r.see(), "could not be loaded") {
			t.Errorf("still:\n%s", r.see())
		}
	})
}

// TestBlankRowFoldsNothing: between groups stands a blank row, which belongs to nobody.
func TestBlankRowFoldsNothing(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		before := r.see()
		rows := strings.Split(before, "\n")
		for y, row := range rows {
			if strings.Contains(row, "QUIET") {
				r.send(tea.MouseClickMsg{X: 4, Y: y - 1, Button: tea.MouseLeft})
				if r.see() != before {
					t.Errorf("a click on the blank row did something:\n%s", r.see())
				}
				r.send(tea.MouseClickMsg{X: 4, Y: y, Button: tea.MouseLeft})
				if strings.Contains(r.see(), "docs *") {
					t.Errorf("a click on the title does not fold:\n%s", r.see())
				}
				return
			}
		}
		t.Fatal("no such group:\n" + before)
	})
}

// TestForkIsFocused: a fork gets the keyboard once it runs, as a new thread does, so that its first prompt can be typed.
func TestForkIsFocused(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.keys("f")
		r.text("again")
		r.keys("enter")
		r.wait(time.Second)
		if s := r.m.tree.Selected(); s == nil || s.ID == "auth-feature-a3f2" || !r.m.pane.focus {
			t.Errorf("at %v, focused %v:\n%s", r.selected(), r.m.pane.focus, r.see())
		}
	})
	srv := world()
	srv.forkTakes = 3 * time.Second
	play(t, srv, 120, 36, nil, func(r *rig) { // not if the person goes to the list meanwhile
		stage(r)
		r.keys("f")
		r.text("again")
		r.keys("enter")
		r.wait(time.Second)
		r.keys("esc")
		r.wait(5 * time.Second)
		if r.selected() != "forked" || r.m.pane.focus {
			t.Errorf("at %v, focused %v:\n%s", r.selected(), r.m.pane.focus, r.see())
		}
	})
}

// TestNeighboursSayWhatIsWrong: the title bar of a terminal beside the selected one says that it is scrolled back, or why
// nothing is shown, as soon as that changes.
func TestNeighboursSayWhatIsWrong(t *testing.T) {
	play(t, manyAtWork(), 200, 50, nil, func(r *rig) {
		stage(r)
		r.keys("V", "V", "V")
		r.wait(100 * time.Millisecond)
		var other thread.ID
		for _, w := range r.pane.beside {
			other = w.ID
		}
		if other == "" {
			t.Fatalf("nothing beside:\n%s", r.see())
		}
		quiet := r.see()
		r.pane.backs = map[thread.ID]int{other: 12}
		b := r.pane.beside[len(r.pane.beside)-1].Box
		r.send(tea.MouseWheelMsg{X: b.X + 1, Y: b.Y + 1, Button: tea.MouseWheelUp})
		r.must("scrolled back 12 lines")
		r.pane.backs, r.pane.problems = nil, map[thread.ID]error{other: errors.New("the agent has no terminal\x1b[2J")}
		r.send(struct{ ofThePane int }{})
		r.must("not shown, ctrl+l tries again: the agent has no terminal")
		r.pane.problems = nil
		r.send(struct{ ofThePane int }{})
		if see := r.see(); see != quiet {
			t.Errorf("afterwards:\n%s\nbefore:\n%s", see, quiet)
		}
	})
}

// TestFootTakesClicks: a click on a hint does what its key does, one between hints nothing.
func TestFootTakesClicks(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.see()
		for _, s := range r.m.screen.hints {
			row := []rune(strings.Split(r.see(), "\n")[s.Y])
			if text := string(row[s.X:min(s.X+s.W, len(row))]); strings.TrimSpace(text) != text || !strings.HasPrefix(text, r.m.keys.KeyOf(s.Action)) {
				t.Errorf("the hint of %s is at %q", s.Action, text)
			}
		}
		before := r.see()
		r.send(tea.MouseClickMsg{X: r.m.screen.hints[1].X + r.m.screen.hints[1].W, Y: 35, Button: tea.MouseLeft})
		if r.see() != before {
			t.Errorf("a click between hints did something:\n%s", r.see())
		}
		r.click("? keys")
		if r.m.dialogs.Top() == nil {
			t.Fatalf("no help:\n%s", r.see())
		}
		r.keys("esc")
		r.click("n new")
		r.must("new thread")
		r.keys("esc")
		r.m.tree.Select("try-jwt-b7c1") // which asks
		r.must("x deny")
		r.click("x deny")
		r.must("Key ignored") // it had just appeared
		r.wait(2 * time.Second)
		r.click("x deny")
		r.mustAsk(`answer try-jwt-b7c1 1-abc "deny" 0 ""`)
		r.click("q quit")
		if !r.quit {
			t.Error("it does not quit")
		}
	})
}
