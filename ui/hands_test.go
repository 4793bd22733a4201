package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/typing"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// harm are the calls that typing must never lead to: they end something, remove it, publish it or send something.
var harm = []string{"merge ", "continue ", "abort ", "archive ", "delete ", "abandon ", "stop ", "rewind ", "send ", "offer o1 take", "offers ", "push ", "collect ", "export ", "import ", "edit ", "withdraw ", "again ", "grant", "restart", "mcp approve", "mcp revoke", "mcp restart", "mcp login"}

// harmed returns the calls of a server that did harm.
func harmed(calls []string) (out []string) {
	for _, c := range calls {
		if strings.Contains(c, "dry=true") {
			continue
		}
		for _, h := range harm {
			if strings.HasPrefix(c, h) {
				out = append(out, c)
			}
		}
	}
	return out
}

// places are where keys can go, and how to get there.
var places = []struct {
	name string
	come func(*rig)
}{
	{"list", func(*rig) {}},
	{"timeline", func(r *rig) { r.run(r.m.show(views.Timeline)); r.settle() }},
	{"turn", func(r *rig) { r.run(r.m.show(views.Timeline)); r.settle(); r.keys("down", "enter") }},
	{"context", func(r *rig) { r.run(r.m.show(views.Context)); r.settle() }},
	{"diff", func(r *rig) { r.run(r.m.show(views.Diff)); r.settle() }},
	{"archive", func(r *rig) { r.keys(". z") }},
	{"a question", func(r *rig) { r.keys(". d") }},
	{"the menu", func(r *rig) { time.Sleep(typing.Pause); r.keys(".") }},
	{"the menu of the context", func(r *rig) { r.run(r.m.show(views.Context)); r.settle(); time.Sleep(typing.Pause); r.keys(".") }},
	{"the menu of a server", func(r *rig) { r.servers("github"); time.Sleep(typing.Pause); r.keys(".") }},
	{"a merge", func(r *rig) { r.keys(". f") }},
	{"a rewind", func(r *rig) { r.run(r.m.show(views.Timeline)); r.settle(); r.keys("down", "R") }},
	{"the resume list", func(r *rig) { r.keys("L") }},
	{"the prompts", func(r *rig) { r.srv.prompts = somePrompts(); r.keys("p") }},
	{"the servers", func(r *rig) { r.servers("sentry") }},
	{"what a server starts", func(r *rig) { r.servers("evil", "a") }},
	{"the tools of a server", func(r *rig) { r.servers("notes", "enter") }},
	{"a prompt", func(r *rig) { r.srv.prompts = somePrompts(); r.keys("p", "enter") }},
}

// letters are what a text holds.
const letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz          ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?'\"()[]{}<>/\\|-_+*=#$%&@~^`\r\r\r\t\b"

// typist types at a place; every so often somebody brings it back there.
type typist struct {
	come  func(*rig)
	keys  int
	typed int
	step  func(r *rig) int // types something and returns how many keys that were
}

// work types all keys, on a new screen whenever the last one was left.
func (y *typist) work(t *testing.T, seed string) {
	for y.typed < y.keys && !t.Failed() {
		srv := world()
		srv.threads[0].Offer = &thread.Offer{ID: "o1", Thread: srv.threads[0].ID, Label: "try sqlite", Why: "the prompt leaves the subject", Prompt: "sqlite"}
		play(t, srv, 100, 30, func(c *Config) { c.Habits = profiled() }, func(r *rig) {
			stage(r)
			r.keys(". d", "right", "enter") // there is something to undo
			srv.calls = nil
			for back := y.typed; y.typed < y.keys && !r.quit; {
				if y.typed >= back {
					back += 100
					r.keys("esc", "esc", "esc", "esc")
					r.run(r.m.show(views.Terminal))
					r.settle()
					y.come(r)
				}
				y.typed += y.step(r)
				if r.pane.focus { // the agent has the keys: that is no typing at the screen any more
					r.keys("ctrl+q")
				}
				if did := harmed(srv.calls); len(did) > 0 {
					t.Errorf("%s: typing led to %q", seed, did)
					return
				}
			}
		})
	}
}

// TestRandomTyping: 10,000 keys at every place, one by one, in bursts, and a key before each burst, neither end,
// remove, publish nor send anything.
// Where the screen is too small to show a question, nothing answers it, and nothing is begun.
func TestNothingIsAnsweredUnseen(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(". m")
		r.send(tea.WindowSizeMsg{Width: 40, Height: 10})
		r.must("too small")
		r.keys("right", "enter")
		r.send(tea.PasteMsg{Content: "y"})
		r.send(tea.WindowSizeMsg{Width: 100, Height: 30})
		if r.srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Error("it was merged by keys that nobody saw the effect of")
		}
		r.keys("enter") // Cancel is still what is chosen
		if r.m.dialogs.Open() || r.srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Errorf("the choice moved:\n%s", r.see())
		}
		r.send(tea.WindowSizeMsg{Width: 40, Height: 10})
		r.keys(". d", "right", "enter", "n", "i")
		r.send(tea.WindowSizeMsg{Width: 100, Height: 30})
		if r.m.dialogs.Open() || r.srv.asked("delete") {
			t.Errorf("a dialog opened unseen:\n%s", r.see())
		}
		r.keys(". d")
		r.send(tea.WindowSizeMsg{Width: 40, Height: 10})
		r.keys("esc")
		if r.m.dialogs.Open() {
			t.Error("what cancels is taken")
		}
		r.keys("q")
		r.wait(time.Second)
		if !r.quit {
			t.Error("a small screen cannot be left")
		}
	})
}

func TestRandomTyping(t *testing.T) {
	keys := 10_000
	if testing.Short() {
		keys = 1_000
	}
	for _, p := range places {
		for _, how := range []string{"slowly", "in bursts", "a key and a burst"} {
			t.Run(p.name+" "+how, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(8, uint64(len(p.name)*100+len(how))))
				one := func() string { return string(letters[chance.IntN(len(letters))]) }
				y := typist{come: p.come, keys: keys}
				y.step = func(r *rig) int {
					text := one()
					switch how {
					case "slowly":
						r.text(text)
						wait := 60 + chance.IntN(340)
						if text == " " {
							wait += chance.IntN(1000) // people pause between words
						}
						time.Sleep(time.Duration(wait) * time.Millisecond)
						return 1
					case "a key and a burst":
						r.text(text)
						time.Sleep(time.Millisecond)
						text = ""
					}
					for range 1 + chance.IntN(40) {
						text += one()
					}
					r.burst(text + one())
					time.Sleep(time.Second)
					return len(text) + 1
				}
				y.work(t, p.name+" "+how)
			})
		}
	}
}

// TestSentences types what people type when they take the list for the agent.
func TestSentences(t *testing.T) {
	for _, p := range places {
		for _, line := range []string{
			"please fix it\r", "merge it\r", "delete the old tests\r", "is it done?\r", "no, do it differently\r", "run the tests\r", "Stop. Do not delete anything\r",
			"extract the parser\r", "x is never used\r", "undo that\r", "Do it\tagain\r", "D\t\r", "e \r", "fix it\rthen deploy it\r", "yes\r", "y", "1\r", "sure, add some more\r",
		} {
			y := typist{come: p.come, keys: 1}
			for name, step := range map[string]func(*rig){
				"slowly":   func(r *rig) { r.slowly(line) },
				"at once":  func(r *rig) { r.burst(line) },
				"in two":   func(r *rig) { r.text(line[:1]); r.burst(line[1:]) },
				"as paste": func(r *rig) { r.send(tea.PasteMsg{Content: line}) },
			} {
				y.typed, y.step = 0, func(r *rig) int { step(r); return 1 }
				y.work(t, fmt.Sprintf("%s: %q %s", p.name, line, name))
			}
		}
	}
}

// slowly types key by key, as a person does.
func (r *rig) slowly(s string) {
	for _, c := range s {
		r.text(string(c))
		time.Sleep(150 * time.Millisecond)
		r.settle()
	}
}

// TestBurstOfNumbers: a pasted list of numbers, which select rows one by one, selects nothing.
func TestBurstOfNumbers(t *testing.T) {
	for _, text := range []string{"1\r2\r3\r", "kkd?\r", "1 2", "2\n1", "seq 1 3"} {
		on(t, world(), func(r *rig) {
			r.burst("jj")
			r.burst(text)
			if s := r.m.tree.Selected(); s.ID != "refresh-d4e5" || r.m.dialogs.Open() || r.pane.focus {
				t.Errorf("%q: %s is selected, a dialog is open: %v", text, s.ID, r.m.dialogs.Open())
			}
			r.must("Keys ignored")
		})
	}
}

// Keys that move act in a burst of such keys as well; one that holds others is dropped, which is told once.
func TestBurst(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.burst("jj")
		if s := r.m.tree.Selected(); s.ID != "refresh-d4e5" {
			t.Errorf("%s is selected", s.ID)
		}
		r.keys("k", "k")
		r.burst("d?\r")
		if s := r.m.tree.Selected(); s.ID != "auth-feature-a3f2" || r.m.dialogs.Open() || r.pane.focus {
			t.Errorf("%s is selected, a dialog is open: %v", s.ID, r.m.dialogs.Open())
		}
		r.must("Keys ignored: you are at the list. enter types to ")
		if n := len(r.m.host.Notices.All()); n != 1 {
			t.Errorf("it is told %d times", n)
		}
		r.keys(". a") // alone again
		r.must("archive auth-feature?")
		r.keys("right")
		r.burst("fix it")
		r.keys("enter")
		if did := harmed(r.srv.calls); len(did) > 0 {
			t.Errorf("text in a question leaves its focus: %q", did)
		}
	})
	on(t, world(), func(r *rig) { // a dialog that nobody had time to see is not ended by a burst
		r.text("f")
		r.burst("ix the tests\r")
		if r.srv.asked("fork") || !r.m.dialogs.Open() {
			t.Errorf("calls %q", r.srv.calls)
		}
		r.wait(time.Second)
		r.keys("ctrl+u")
		r.burst("name\r")
		r.must("Press enter again")
		r.keys("enter")
		if r.srv.asked("fork") {
			t.Error("the second enter came before anybody could read why")
		}
		r.wait(time.Second)
		r.keys("enter")
		r.wait(time.Second)
		r.keys("enter")
		r.mustAsk("fork auth-feature-a3f2 at \"\" label \"name\"")
	})
}

// No letter, no space and no tab moves in a question or answers it.
func TestQuestionsTakeNoText(t *testing.T) {
	on(t, world(), func(r *rig) {
		for c := rune(' '); c <= '~'; c++ {
			r.keys("esc", "esc")
			r.keys(". d", "right")
			r.text(string(c) + "\r")
		}
		for _, key := range []string{"tab", "space", "shift+tab"} {
			r.keys(". d", key, key, "enter")
		}
		if did := harmed(r.srv.calls); len(did) > 0 {
			t.Errorf("answered: %q", did)
		}
		r.keys(". d", "right", "enter")
		r.mustAsk("delete auth-feature-a3f2")
	})
}

// TestSwitch: a thread that was asked for elsewhere is shown, and nobody but the person gives its agent the keys.
func TestSwitch(t *testing.T) {
	for _, w := range []int{60, 100} {
		play(t, world(), w, 30, nil, func(r *rig) {
			stage(r)
			r.keys("enter", "h")
			r.event(thread.Event{Kind: thread.EventSwitch, ThreadID: "docs-f9a0"})
			if r.pane.focus || r.m.tree.Selected().ID != "docs-f9a0" {
				t.Fatalf("%s is shown, its agent has the keys: %v", r.m.tree.Selected().ID, r.pane.focus)
			}
			r.text("ello d\r") // the rest of what was being typed
			if r.pane.focus || r.m.dialogs.Open() || len(r.pane.keys) != 1 || len(harmed(r.srv.calls)) > 0 {
				t.Errorf("the rest went to %q, %q, a dialog is open: %v", r.pane.keys, r.srv.calls, r.m.dialogs.Open())
			}
			r.must("Keys ignored")
			r.wait(2 * typing.Pause)
			r.keys("enter", "x")
			if !r.pane.focus || r.pane.keys[len(r.pane.keys)-1] != "x" {
				t.Errorf("enter does not lead there: %+v", r.pane)
			}
		})
	}
}

// What is typed to an agent that ends goes nowhere.
func TestAgentEndsUnderTheHands(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("enter", "p")
		s := status("auth-feature-a3f2", "", thread.StateExited, 1)
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.text("lease fix it\r")
		if r.m.dialogs.Open() || len(r.srv.calls) > 0 {
			t.Errorf("the rest led to %q, a dialog is open: %v", r.srv.calls, r.m.dialogs.Open())
		}
		r.keys("down") // a key that moves is meant
		r.keys(". a")
		r.must("archive ")
	})
}

// A letter that quits does so alone, or twice: what comes behind it in a text would go to the shell.
func TestQuitIsNoPartOfAText(t *testing.T) {
	on(t, world(), func(r *rig) {
		for _, c := range "query all\r" {
			r.text(string(c))
			r.wait(100 * time.Millisecond)
		}
		r.must("Keys ignored; q quits when typed alone")
		if r.quit || r.m.dialogs.Open() || r.pane.focus {
			t.Errorf("quit %v, a dialog is open %v, the agent has the keys %v", r.quit, r.m.dialogs.Open(), r.pane.focus)
		}
		r.wait(2 * typing.Pause)
		r.keys("q", "q")
		if !r.quit {
			t.Error("twice does not quit")
		}
	})
	on(t, world(), func(r *rig) {
		r.keys("ctrl+c")
		if !r.quit {
			t.Error("ctrl+c does not quit at once")
		}
	})
}

// TestAnsweredElsewhere: a question that was answered on another screen says so and does nothing more.
func TestAnsweredElsewhere(t *testing.T) {
	gone := func(r *rig) { r.event(thread.Event{Kind: thread.EventRemoved, ThreadID: "auth-feature-a3f2"}) }
	archived := func(r *rig) { r.archived("auth-feature-a3f2", true) }
	merged := func(r *rig) {
		s := r.srv.find("auth-feature-a3f2")
		s.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, At: time.Now()}
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
	}
	stopped := func(r *rig) {
		s := status("auth-feature-a3f2", "", thread.StateExited, 1)
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
	}
	for _, c := range []struct {
		keys  []string
		other func(*rig)
		says  string
	}{
		{[]string{". a"}, archived, "was archived from another screen"},
		{[]string{". a"}, gone, "was deleted from another screen"},
		{[]string{". d"}, gone, "was deleted from another screen"},
		{[]string{". s"}, stopped, "is no longer running"},
		{[]string{". m"}, merged, "was merged from another screen"},
		{[]string{". f"}, archived, "was archived from another screen"},
		{[]string{"tab", "down", "R"}, gone, "was deleted from another screen"},
		{[]string{". x", "s", "enter"}, archived, "was archived from another screen"},
	} {
		on(t, world(), func(r *rig) {
			r.keys(c.keys...)
			r.keys("right")
			c.other(r)
			r.must(c.says, "[ Close ]")
			r.keys("right", "enter")
			if did := harmed(r.srv.calls); len(did) > 0 || r.m.dialogs.Open() {
				t.Errorf("%q after %s: %q", c.keys, c.says, did)
			}
		})
	}
}

// TestUndoNamesWhatItUndoes: after what cannot be undone, undo says that, and not something older unasked.
func TestUndoNamesWhatItUndoes(t *testing.T) {
	srv := world()
	srv.merge.Conflicts, srv.merge.Finished, srv.merge.Commit = nil, true, "0123456789abcdef"
	on(t, srv, func(r *rig) {
		r.m.tree.Select("spike-0b1c")
		r.keys(". a", "right", "enter")
		r.m.tree.Select("auth-feature-a3f2")
		r.keys(". f")
		r.must("(undo: git revert)")
		r.keys("right", "enter")
		r.keys("u")
		r.must("undo: finish auth-feature", "Only git can undo the merge", "revert -m 1 0123456789ab",
			"Previous action: archive spike")
		r.keys("enter")
		if srv.asked("unarchive") {
			t.Error("it undid something older")
		}
		r.keys("u")
		r.must("undo: archive spike")
		r.keys("right", "enter")
		r.mustAsk("unarchive spike-0b1c")
	})
}

// What was said since a rewind leaves the conversation when it is undone: that is said before, and can be undone.
func TestUndoOfARewindAfterNewWork(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "down", "R", "right", "enter") // both, to turn 2
		s := r.srv.find("auth-feature-a3f2")
		s.Turn = 5
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.keys("u")
		r.must("Leaves behind 3 turns made since then", "Reverts files changed since then")
		r.keys("right", "enter")
		r.mustAsk("rewind auth-feature-a3f2 to safe files=true conversation=true")
		r.keys("u")
		r.must("undo: rewind auth-feature")
	})
}

func TestResumeAllFromTheList(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(". A")
		r.must("resume all?", "1 agent to resume", "session")
		r.keys("enter")
		if r.srv.asked("resume") {
			t.Error("resumed unasked")
		}
		r.keys(". A", "right", "enter")
		r.mustAsk("resume all")
	})
}

// The help says what the marks mean, and can be searched.
func TestHelpIsSearched(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("?")
		r.text("marks")
		r.keys("ctrl+u")
		r.text("needs you")
		r.must("marks in the list", "◆ ", "+20 ◆1")
		if strings.Contains(r.see(), "next view") {
			t.Error("it shows what does not match")
		}
		r.keys("ctrl+u")
		r.text("zzzz")
		r.must("No matches")
		r.keys("esc")
		if r.m.dialogs.Open() {
			t.Error("esc does not close it")
		}
	})
}

// Where there is room the help has two columns, and what does not fit into a row goes on below the words, not the key.
func TestHelpHasTwoColumns(t *testing.T) {
	on(t, world(), func(r *rig) {
		for _, size := range []struct {
			w    int
			both bool
		}{{100, true}, {80, false}} {
			r.send(tea.WindowSizeMsg{Width: size.w, Height: 30})
			r.keys("?")
			if got := strings.Contains(r.see(), "everywhere"); got != size.both {
				t.Errorf("%d columns: the next group of keys is beside the first: %v\n%s", size.w, got, r.see())
			}
			r.keys("esc")
		}
	})
}

// ctrl+z gives the terminal to the shell, and nothing is painted until it is back.
func TestSuspend(t *testing.T) {
	on(t, world(), func(r *rig) {
		cmd := r.m.do(intent.Suspend)
		if _, ok := cmd().(tea.SuspendMsg); !ok {
			t.Fatal("it does not suspend")
		}
		r.send(tea.FocusMsg{})
		if !r.pane.suspended {
			t.Error("the pane goes on painting")
		}
		r.send(tea.ResumeMsg{})
		if r.pane.suspended {
			t.Error("the pane does not paint again")
		}
	})
}

// TestFormThatASentenceOpened: the enter of the sentence does not send it, and the text is kept; a form that was opened
// by a letter alone is sent by its first enter.
func TestFormThatASentenceOpened(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.slowly("is it done?\r")
		r.must("Press enter again", "s it done?")
		if r.srv.asked("send") {
			t.Errorf("the sentence was sent: %q", r.srv.calls)
		}
		r.wait(typing.Glance)
		r.slowly(" yes\r")
		if r.srv.asked("send") {
			t.Errorf("what followed was sent: %q", r.srv.calls)
		}
		r.wait(typing.Glance)
		r.keys("enter")
		r.mustAsk(`send auth-feature-a3f2 "s it done? yes"`)
	})
	on(t, world(), func(r *rig) {
		r.keys("i")
		r.slowly("is it done?\r")
		r.mustAsk(`send auth-feature-a3f2 "is it done?"`)
	})
	on(t, world(), func(r *rig) { // lines of a text that is pasted without marks
		r.keys("i")
		r.burst("one\rtwo\r")
		if r.srv.asked("send") {
			t.Errorf("its first line was sent: %q", r.srv.calls)
		}
		r.wait(typing.Glance)
		r.keys("enter")
		r.mustAsk(`send auth-feature-a3f2 "one\ntwo"`)
	})
}
