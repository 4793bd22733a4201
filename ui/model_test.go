package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/layout"

	tea "charm.land/bubbletea/v2"
)

// on plays a test at 100×30 from the stage.
func on(t *testing.T, srv *server, test func(r *rig)) {
	t.Helper()
	play(t, srv, 100, 30, nil, func(r *rig) {
		stage(r)
		test(r)
	})
}

func TestNewThread(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("n", "right") // demo
		r.keys("tab")
		r.text("fix it\x1b")
		r.send(tea.PasteMsg{Content: " now\r\nplease"})
		r.keys("tab")
		r.text("my name")
		r.keys("tab", "tab", "space", "enter")
		r.mustAsk(`new demo "my name" "fix it now\nplease" worktree=true 70x27`)
		r.must("made started")
		if s := r.m.tree.Selected(); s.ID != "made" {
			t.Errorf("%s is selected", s.ID)
		}
		if r.m.screen.area != areaMain || !r.pane.focus || r.pane.shown != "made" {
			t.Errorf("the new agent has no focus: %+v", r.pane)
		}
	})
}

func TestAgentThatIsNotThere(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("n", "left", "enter") // codex
		r.must("npm install -g @openai/codex")
		if r.srv.asked("new") {
			t.Error("it was started all the same")
		}
		r.keys("left", "tab", "enter") // command without a program
		r.must("which program?")
		r.text("bash -l")
		r.keys("enter")
		r.mustAsk("new command")
	})
}

func TestKeysGoToTheAgentAndBack(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("enter", "q", "ctrl+c", "esc", "tab", "ctrl+p")
		if got := strings.Join(r.pane.keys, " "); got != "q ctrl+c esc tab ctrl+p" {
			t.Errorf("the agent got %q", got)
		}
		r.send(tea.PasteMsg{Content: "pasted"})
		if got := r.pane.keys[len(r.pane.keys)-1]; got != "paste pasted" {
			t.Errorf("the agent got %q", got)
		}
		r.keys("ctrl+q", "j")
		if len(r.pane.keys) != 6 || r.pane.focus {
			t.Errorf("after leaving the agent got %q", r.pane.keys)
		}
		r.keys("q")
		if !r.quit {
			t.Error("q does not leave")
		}
	})
}

// The pane's cells stay blank in the chrome, and it is suspended while anything stands over it.
func TestPaneIsLeftAlone(t *testing.T) {
	on(t, world(), func(r *rig) {
		if want := (layout.Box{X: 29, Y: 1, W: 70, H: 27}); r.pane.box != want || r.pane.shown != "auth-feature-a3f2" || r.pane.suspended {
			t.Errorf("pane %+v, want %v", r.pane, want)
		}
		screen := r.screen()
		for y := r.pane.box.Y; y < r.pane.box.Y+r.pane.box.H; y++ {
			row := []rune(screen.RowText(y) + strings.Repeat(" ", 100))
			if got := string(row[r.pane.box.X : r.pane.box.X+r.pane.box.W]); strings.TrimSpace(got) != "" {
				t.Errorf("row %d holds %q", y, got)
			}
		}
		for _, keys := range [][2]string{{"?", "esc"}, {"tab", "shift+tab"}, {"n", "esc"}} {
			r.keys(keys[0])
			if !r.pane.suspended {
				t.Errorf("%s does not suspend the pane", keys[0])
			}
			r.keys(keys[1])
			if r.pane.suspended {
				t.Errorf("%s does not let it go on", keys[1])
			}
		}
		r.send(tea.WindowSizeMsg{Width: 50, Height: 10})
		if !r.pane.suspended || r.pane.box.W != 70 {
			t.Errorf("too small a screen: %+v", r.pane)
		}
		r.send(tea.WindowSizeMsg{Width: 60, Height: 20})
		if !r.pane.suspended || r.pane.box.W != 58 {
			t.Errorf("the list takes the place of the pane: %+v", r.pane)
		}
		r.keys("enter")
		if r.pane.suspended || !r.pane.focus {
			t.Errorf("focused on a small screen: %+v", r.pane)
		}
		s := status("auth-feature-a3f2", "", thread.StateExited, 1)
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		if r.pane.shown != "" || r.m.screen.area != areaTree {
			t.Errorf("the agent ended, and the pane is %+v", r.pane)
		}
	})
}

func TestEnterResumesAndFocuses(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.m.tree.Select("session-c8d3")
		r.keys("enter")
		r.mustAsk("resume session-c8d3 70x27")
		r.wait(100 * time.Millisecond)
		if !r.pane.focus || r.pane.shown != "session-c8d3" {
			t.Errorf("%+v", r.pane)
		}
	})
}

func TestForkAtTurn(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("F")
		r.must("choose the turn, then F")
		r.keys("down", "F")
		r.must("fork auth-feature-a3f2 at turn 3")
		r.keys("enter")
		r.must("what is the fork for?")
		r.text("other way")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "c-5" label "other way" agent ""`)
	})
}

func TestForkIntoSameAgent(t *testing.T) {
	srv := world()
	srv.agents[0].Name = "demo"
	srv.agents = srv.agents[:1]
	on(t, srv, func(r *rig) {
		r.keys("f")
		r.text("x")
		r.keys("enter")
		r.mustAsk(`fork auth-feature-a3f2 at "" label "x" agent ""`)
	})
}

func TestArchiveDeleteUndo(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.m.tree.Select("spike-0b1c")
		r.keys("d")
		r.mustAsk("archive spike-0b1c")
		r.must("u takes it back")
		r.keys("D", "n")
		if r.srv.asked("delete") {
			t.Error("no means no")
		}
		r.keys("D", "enter", "u")
		r.mustAsk("delete spike-0b1c")
		r.mustAsk("undelete spike-0b1c")
		r.keys("u", "u")
		r.mustAsk("unarchive spike-0b1c")
		r.must("nothing to undo")
		r.keys("z")
		r.must("old-one-77aa")
		r.keys("d")
		r.mustAsk("unarchive old-one-77aa")
	})
	on(t, world(), func(r *rig) { // one that runs asks first
		r.keys("d")
		r.must("Its agent runs and will be stopped")
		r.keys("enter")
		r.mustAsk("archive auth-feature-a3f2")
	})
}

func TestRewind(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "down", "R")
		r.must("1 turn back, from 4 to 3", "2 files, 3 lines added since leave, 1 line removed since comes back")
		r.keys("right", "enter") // files
		r.mustAsk("rewind auth-feature-a3f2 to c-5 files=true conversation=false")
		r.keys("u")
		r.mustAsk("rewind auth-feature-a3f2 to safe files=true conversation=false")
	})
}

func TestCountsAreGrammar(t *testing.T) {
	for _, c := range []struct {
		files []thread.FileDiff
		want  string
	}{
		{[]thread.FileDiff{{Insertions: 1}}, "1 file, 1 line added since leaves"},
		{[]thread.FileDiff{{Insertions: 2}, {Deletions: 2}}, "2 files, 2 lines added since leave, 2 lines removed since come back"},
	} {
		if got := rewindCounts(c.files); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestMerge(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("M")
		r.mustAsk("merge auth-feature-a3f2 dry=true finish=false")
		r.must("1 conflict to be solved", "[ merge and finish ]")
		r.keys("enter")
		r.mustAsk("merge auth-feature-a3f2 dry=false finish=false")
		r.must("merge stopped: 1 conflict", "✗ parse.go", "[ take it back ]")
		r.keys("enter")
		r.mustAsk("continue auth-feature-a3f2")
		r.keys("right", "right", "enter")
		r.mustAsk("abort auth-feature-a3f2")
	})
	srv := world()
	srv.merge.Conflicts = nil
	srv.merge.Finished = true
	on(t, srv, func(r *rig) {
		r.keys("e", "enter")
		r.mustAsk("finish auth-feature-a3f2")
		r.must("is merged into main (1 file +2 −1)")
	})
}

func TestSmallActions(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("P")
		r.mustAsk("pin auth-feature-a3f2 true")
		r.keys("r", "ctrl+u")
		r.text("other")
		r.keys("enter")
		r.mustAsk("rename auth-feature-a3f2 other")
		r.keys("i")
		r.text("go on")
		r.keys("enter")
		r.mustAsk(`send auth-feature-a3f2 "go on"`)
		r.keys("S", "enter")
		r.mustAsk("stop auth-feature-a3f2")
		r.keys("x", "enter")
		r.must("a reason helps")
		r.text("slow")
		r.keys("enter")
		r.mustAsk(`abandon auth-feature-a3f2 "slow"`)
		r.keys("R")
		r.must("auth-feature-a3f2 is running")
	})
}

func TestResumeList(t *testing.T) {
	play(t, world(), 100, 30, nil, func(r *rig) {
		r.must("1 thread interrupted", "27,497 bytes verified", "3 files changed")
		r.keys("A")
		r.mustAsk("resume all")
		r.keys("L", "enter")
		r.mustAsk("resume session-c8d3")
	})
}

func TestOffers(t *testing.T) {
	offer := thread.Event{Kind: thread.EventOffer, Offer: &thread.Offer{ID: "o1", Thread: "auth-feature-a3f2", Label: "try sqlite", Why: "the prompt leaves the subject", Rule: "subject"}}
	for key, answer := range map[string]string{"a": "take", "X": "dismiss", "O": "off"} {
		on(t, world(), func(r *rig) {
			r.event(offer)
			r.must("fork? try sqlite", "a take")
			r.keys("y")
			r.must("because the prompt leaves the subject", "rule: subject")
			r.keys("esc", key)
			r.mustAsk("offer o1 " + answer)
			if strings.Contains(r.see(), "fork? try") {
				t.Error("the offer stays")
			}
		})
	}
}

func TestFindAndPalette(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("ctrl+f")
		r.text("prog")
		r.mustAsk(`find "prog"`)
		r.must("It starts the program.")
		r.keys("enter")
		r.must("turn 2", "The parser is in place")
		if s := r.m.tree.Selected(); s.ID != "docs-f9a0" {
			t.Errorf("%s is selected", s.ID)
		}
		r.keys("esc", "esc", "ctrl+p")
		r.text("rename")
		r.keys("enter")
		r.must("rename docs-f9a0")
		r.keys("esc", "ctrl+p")
		r.text("goto try")
		r.keys("enter")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("%s is selected", s.ID)
		}
	})
}

func TestFilterJumpAndNextWaiting(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("/")
		r.text("jwt")
		r.keys("enter")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("%s is selected", s.ID)
		}
		r.keys("esc")
		if r.m.tree.Filtered() != "" {
			t.Error("esc leaves the filter")
		}
		r.keys("/")
		r.text("zzz")
		r.must("nothing matches")
		r.keys("esc")
		if r.m.tree.Filtered() != "" {
			t.Error("esc keeps what was typed")
		}
		r.keys("1", "w")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("next that waits is %s", s.ID)
		}
		r.keys("3")
		if s := r.m.tree.Selected(); s.ID != "refresh-d4e5" {
			t.Errorf("3 leads to %s", s.ID)
		}
	})
}

func TestNotifications(t *testing.T) {
	on(t, world(), func(r *rig) {
		asks := func(name string, since time.Duration) {
			s := status("docs-f9a0", "", thread.StateQuestion, 5)
			s.Name, s.State.Since = name, epoch.Add(since)
			r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		}
		asks("docs", time.Second)
		if len(r.raw) != 0 {
			t.Errorf("rings while one looks: %q", r.raw)
		}
		idle := status("docs-f9a0", "", thread.StateIdle, 5)
		r.event(thread.Event{Kind: thread.EventThread, Status: &idle})
		r.send(tea.BlurMsg{})
		asks("do\x1b]0;x\x07c;s", 2*time.Second)
		want := "\a\x1b]9;do␛]0,x␇c,s: asks you\x1b\\"
		if len(r.raw) != 1 || r.raw[0] != want {
			t.Errorf("rings %q, want %q", r.raw, want)
		}
		asks("docs", 3*time.Second) // still the same question
		if len(r.raw) != 1 {
			t.Errorf("rings again: %q", r.raw)
		}
	})
}

func TestSeenAfterALook(t *testing.T) {
	done := func() thread.Status {
		s := status("docs-f9a0", "", thread.StateDone, 5)
		s.Seen = false
		return s
	}
	srv := world()
	srv.threads = append(srv.threads, done())
	on(t, srv, func(r *rig) {
		s := done()
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.wait(2 * time.Second)
		if r.srv.asked("seen") {
			t.Error("seen without being looked at")
		}
		r.m.tree.Select("docs-f9a0")
		r.keys("b", "b") // anything
		r.wait(100 * time.Millisecond)
		r.m.tree.Select("auth-feature-a3f2")
		r.keys("b", "b")
		r.wait(2 * time.Second)
		if r.srv.asked("seen") {
			t.Error("seen in passing")
		}
		r.m.tree.Select("docs-f9a0")
		r.keys("b", "b")
		r.wait(2 * time.Second)
		r.mustAsk("seen docs-f9a0")
	})
}

func TestEvents(t *testing.T) {
	on(t, world(), func(r *rig) {
		s := status("fresh-0001", "", thread.StateWorking, 50)
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.must("fresh-0001")
		r.event(thread.Event{Kind: thread.EventSwitch, ThreadID: "fresh-0001"})
		if r.m.tree.Selected().ID != "fresh-0001" {
			t.Error("switch does not switch")
		}
		r.event(thread.Event{Kind: thread.EventRemoved, ThreadID: "fresh-0001"})
		if strings.Contains(r.see(), "fresh-0001") {
			t.Error("what was removed is still there")
		}
		r.srv.threads = append(r.srv.threads, status("missed-0002", "", thread.StateIdle, 60))
		r.srv.seq += 5 // a gap
		r.event(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelInfo, Text: "after the gap"}})
		r.must("missed-0002", "after the gap")
		r.wait(noticeTime)
		if strings.Contains(r.see(), "after the gap") {
			t.Error("the notice stays")
		}
		r.keys("!")
		r.must("after the gap")
	})
}

func TestTimelineFollows(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab")
		cp := point(9, 5, thread.KindTurn, "brand new prompt", "yes", 0)
		r.event(thread.Event{Kind: thread.EventCheckpoint, ThreadID: cp.Thread, Checkpoint: &cp})
		r.must("brand new prompt")
		r.keys("down", "down", "enter", "[")
		if _, at, n := r.m.views.turn.At(); n != 2 || at != "c-2" {
			t.Errorf("the turn before is %d (%s)", n, at)
		}
	})
}

func TestErrorsAreTold(t *testing.T) {
	srv := world()
	srv.err = errors.New("store is read-only (the disk is full)")
	on(t, srv, func(r *rig) {
		r.keys("P")
		r.must("store is read-only (the disk is full)")
		srv.err = errors.New(strings.Repeat("a long story ", 20) + "with an end")
		r.keys("P")
		r.must("with an end")
	})
}

func TestBadKeysAreTold(t *testing.T) {
	play(t, &server{}, 100, 30, func(c *Config) { c.Keys = map[string][]string{"nwe": {"c"}, "leave": {"ctrl+g"}} }, func(r *rig) {
		r.must(`no action is called "nwe"`)
	})
	play(t, world(), 100, 30, func(c *Config) { c.Keys = map[string][]string{"leave": {"ctrl+g"}} }, func(r *rig) {
		stage(r)
		r.keys("enter", "ctrl+q", "ctrl+g")
		if len(r.pane.keys) != 1 || r.pane.focus {
			t.Errorf("own key does not lead out: %q", r.pane.keys)
		}
	})
	if err := CheckKeys(map[string][]string{"new": {"f"}}); err == nil {
		t.Error("a clash is not told")
	}
}

func TestNothingIsDrawnWhenNothingChanged(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("enter")
		r.see()
		before := r.m.screen.drawn
		r.wait(10 * time.Millisecond)
		r.keys("a", "b", "c")
		r.send(struct{}{})
		r.m.View()
		if r.m.screen.drawn != before {
			t.Error("a key for the agent has the chrome drawn anew")
		}
		r.wait(time.Second)
		r.m.View()
		if r.m.screen.drawn == before {
			t.Error("the clock on screen stands still")
		}
		for range 100 { // a flood of events is drawn now and then
			s := status("docs-f9a0", "", thread.StateWorking, 5)
			r.srv.seq++
			r.srv.events <- thread.Event{Seq: r.srv.seq, Kind: thread.EventThread, Status: &s}
			r.settle()
			at := r.m.screen.drawn
			r.m.View()
			if d := r.m.screen.drawn.Sub(at); d != 0 && d < 33*time.Millisecond {
				t.Fatalf("drawn again after %v", d)
			}
		}
	})
}

func TestMouse(t *testing.T) {
	on(t, world(), func(r *rig) {
		click := func(x, y int) {
			r.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			r.send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
		}
		click(8, 2)
		was := r.m.tree.Selected().ID
		r.send(tea.MouseWheelMsg{X: 8, Y: 4, Button: tea.MouseWheelDown})
		if r.m.tree.Selected().ID == was {
			t.Error("the wheel does not move the list")
		}
		click(50, 10)
		r.m.tree.Select("auth-feature-a3f2")
		r.wait(time.Second)
		r.keys("b", "b")
		r.wait(time.Second)
		click(50, 10)
		if !r.pane.focus {
			t.Errorf("a click does not focus the agent: %+v", r.pane)
		}
		click(43, 28) // timeline
		r.must("use the new parser")
		r.keys("?")
		click(3, 3) // a stray click decides nothing
		if !r.m.dialogs.Open() {
			t.Error("a click closed the dialog")
		}
		r.send(tea.MouseWheelMsg{X: 8, Y: 4, Button: tea.MouseWheelDown})
		r.must("↑")
	})
}

func TestServerIsStartedAgain(t *testing.T) {
	revived := 0
	play(t, world(), 100, 30, func(c *Config) {
		c.Revive = func(context.Context) error { revived++; return nil }
	}, func(r *rig) {
		stage(r)
		for range askAfter + 1 {
			r.m.lost(errors.New("connection refused"))
		}
		r.must("the server is gone", "◇ auth-feature-a3f2", "no server")
		r.keys("enter")
		if revived != 1 {
			t.Errorf("revived %d times", revived)
		}
		r.send(retryMsg{r.m.conn.gen})
		r.must("◐ auth-feature-a3f2", "1 thread interrupted")
	})
}

func TestLostServer(t *testing.T) {
	play(t, world(), 100, 30, nil, func(r *rig) {
		gen := r.m.conn.gen
		r.send(eventsMsg{gen: gen, over: true})
		r.must("the server does not answer")
		r.wait(retry + time.Second)
		if r.m.conn.gen == gen || r.m.conn.lost {
			t.Errorf("does not come back: %+v", r.m.conn)
		}
		r.send(eventsMsg{gen: gen, events: []thread.Event{{Seq: 99, Kind: thread.EventRemoved, ThreadID: "docs-f9a0"}}})
		if r.m.tree.Thread("docs-f9a0") == nil {
			t.Error("an event of the stream before is believed")
		}
	})
}

// Nothing that comes from outside reaches the terminal as a control.
func TestHostileText(t *testing.T) {
	evil := "a\x1b]52;c;aGk=\x07\u009b31m\u202eb\u200bc\rd"
	srv := world()
	for i := range srv.threads {
		s := &srv.threads[i]
		s.Name, s.Label, s.Agent, s.Model, s.Dir, s.Gauge.Model = evil+string(s.ID), evil, evil, evil, evil, evil
		s.State.Evidence = []thread.Evidence{{Detail: evil}}
		s.Outcome.Reason = evil
	}
	for i := range srv.agents {
		srv.agents[i].Name, srv.agents[i].Problem, srv.agents[i].Hint, srv.agents[i].Version, srv.agents[i].Looked = evil, evil, evil, evil, []string{evil}
	}
	for i := range srv.servers {
		srv.servers[i] = thread.MCPServer{Name: evil, Source: evil, Agent: evil, Transport: evil, Target: evil, Problem: evil}
	}
	for i := range srv.checkpoints {
		c := &srv.checkpoints[i]
		c.Prompt, c.Answer, c.Note = evil, evil, evil
	}
	for i := range srv.entries {
		srv.entries[i].Text, srv.entries[i].Tool = evil, evil
	}
	srv.files = []thread.FileDiff{{Path: evil, OldPath: evil, Status: evil, Patch: "@@ " + evil + "\n+" + evil + "\n-" + evil + "\n\\ " + evil}}
	srv.hits = []thread.Hit{{Thread: "docs-f9a0", Name: evil, Where: evil, Snippet: evil}}
	srv.merge = thread.MergeReport{Branch: evil, Into: evil, Dir: evil, Conflicts: []string{evil}, Files: srv.files, Kept: evil}
	srv.report.Evidence[0].Detail = evil
	srv.err = errors.New(evil)
	for _, s := range scenes {
		play(t, srv, 100, 30, func(c *Config) { c.Project = evil }, func(r *rig) {
			stage(r)
			s.do(r)
			r.m.screen.stale = true
			v := r.m.View()
			clean := stripSGR(v.Content)
			for i, c := range clean {
				if c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 || c == 0x202e || c == 0x200b {
					t.Fatalf("%s: %q holds %U", s.name, clean[max(i-20, 0):i+1], c)
				}
			}
			if strings.ContainsAny(v.WindowTitle, "\x1b\x07\u009b\r\n") {
				t.Errorf("%s: title %q", s.name, v.WindowTitle)
			}
		})
	}
}

// stripSGR takes out the sequences that set styles, and no others.
func stripSGR(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '[' {
			end := i + 2
			for end < len(s) && (s[end] == ';' || s[end] >= '0' && s[end] <= '9') {
				end++
			}
			if end < len(s) && s[end] == 'm' {
				i = end
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func TestNothingIsSaidBeforeItIsKnown(t *testing.T) {
	srv := world()
	hold := func(*Config) { srv.lists = make(chan struct{}) }
	unknown := []string{"No thread yet", "no thread", "threads 0", "$0.00", "running", "connecting"}
	play(t, srv, 120, 40, hold, func(r *rig) {
		r.must("┌ threads ─", "┌ context ─")
		for _, text := range unknown {
			if see := r.see(); strings.Contains(see, text) {
				t.Errorf("%q before the list has come:\n%s", text, see)
			}
		}
		r.wait(2 * moment)
		r.must("connecting …", "q leave")
		close(srv.lists)
		r.settle()
		r.must("threads 6", "3 running")
		if see := r.see(); strings.Contains(see, "connecting") {
			t.Errorf("still connecting:\n%s", see)
		}
	})
}
