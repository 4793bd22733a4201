package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/connection"
	"orchestrator/ui/layout"
	"orchestrator/ui/typing"

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
		r.wait(typing.QuitDelay)
		if !r.quit {
			t.Error("q does not leave")
		}
	})
}

// The pane's cells stay blank in the chrome, and it is suspended while anything stands over it.
func TestPaneIsLeftAlone(t *testing.T) {
	on(t, world(), func(r *rig) {
		if want := (layout.Box{X: 40, Y: 3, W: 60, H: 24}); r.pane.box != want || r.pane.shown != "auth-feature-a3f2" || r.pane.suspended {
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
		if !r.pane.suspended || r.pane.box.W != 60 || r.pane.box.H != 24 {
			t.Errorf("too small a screen: %+v", r.pane)
		}
		r.send(tea.WindowSizeMsg{Width: 60, Height: 20})
		if !r.pane.suspended || r.pane.box.W != 60 || r.pane.box.H != 15 {
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
		r.must("rename docs")
		r.keys("esc", "ctrl+p")
		r.text("goto try")
		r.keys("enter")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("%s is selected", s.ID)
		}
	})
}

// TestFilterSays: a filter says how many threads it selects, and what is wrong in it.
func TestFilterSays(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("/")
		r.must("words  !not  agent=")
		r.text("!needs ctx>")
		r.must("a number is missing")
		r.text("40 name=auth")
		r.must("1 of 6")
		r.keys("enter")
		r.must("/!needs ctx>40 name=…", "1 of 6", "auth-feature")
		if see := r.see(); strings.Contains(see, "try-jwt") {
			t.Errorf("a thread with 65 %% that needs the person is listed:\n%s", see)
		}
		r.keys("esc")
		r.must("try-jwt")
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
		r.must("No matches")
		r.keys("esc")
		if r.m.tree.Filtered() != "" {
			t.Error("esc keeps what was typed")
		}
		r.keys("1", "w")
		if s := r.m.tree.Selected(); s.ID != "try-jwt-b7c1" {
			t.Errorf("next that waits is %s", s.ID)
		}
		r.keys("end", "5") // where nothing is asked that 5 would answer
		if s := r.m.tree.Selected(); s.ID != "refresh-d4e5" {
			t.Errorf("3 leads to %s", s.ID)
		}
	})
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
		click(53, 1) // timeline
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
	for i := range srv.mcp.Servers {
		x := &srv.mcp.Servers[i]
		x.Name, x.Target, x.Transport, x.Share, x.Reason, x.Why, x.Hash = evil, evil, evil, evil, evil, evil, evil
		x.Sources, x.Warnings = []thread.MCPSource{{File: evil, Agent: evil, Scope: evil}}, []string{evil}
	}
	srv.mcp.Outside, srv.mcp.Problems, srv.mcp.Takes = []string{evil}, []thread.MCPProblem{{File: evil, Text: evil}}, evil
	for id, d := range srv.details {
		for i := range d.List {
			x := &d.List[i]
			x.Name, x.Description, x.Diff, x.Hidden = evil, evil, []string{"+" + evil}, []string{evil}
		}
		d.Launch, d.Diff, d.Log = []string{evil}, []string{evil}, []string{evil}
		d.Rates = []thread.MCPRate{{Pattern: evil, Problem: evil}}
		srv.details[id] = d
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
	srv.err, srv.tasks.evil = errors.New(evil), evil
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
	unknown := []string{"No threads yet", "No thread selected", "○ 0", "$0.00", "working", "Connecting"}
	play(t, srv, 120, 40, hold, func(r *rig) {
		r.must("┭─ terminal", "─┴─")
		for _, text := range unknown {
			if see := r.see(); strings.Contains(see, text) {
				t.Errorf("%q before the list has come:\n%s", text, see)
			}
		}
		r.wait(2 * connection.Moment)
		r.must("Connecting …", "q quit")
		close(srv.lists)
		r.settle()
		r.must("○ 3", "1 working")
		if see := r.see(); strings.Contains(see, "Connecting") {
			t.Errorf("still connecting:\n%s", see)
		}
	})
}

// What the server found at its start is told, and kept to be read.
func TestProblemsAreTold(t *testing.T) {
	play(t, world(), 100, 30, func(c *Config) { c.Problems = []string{"the database was damaged", "file snapshots are disabled"} }, func(r *rig) {
		r.must("the database was damaged")
		r.keys("esc", "!")
		r.must("the database was damaged", "file snapshots are disabled")
	})
}

// TestDividerIsDragged: the list gets wider by keys and by the mouse, and its terminal is resized once, when the button
// is up.
func TestDividerIsDragged(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(">")
		if r.pane.box.X != 44 || r.pane.box.W != 56 {
			t.Errorf("a step wider: %v", r.pane.box)
		}
		r.keys("<")
		r.pane.sizes = nil
		x := r.m.place().Divider()
		r.send(tea.MouseClickMsg{X: x, Y: 9, Button: tea.MouseLeft})
		for to := x; to < x+10; to++ {
			r.send(tea.MouseMotionMsg{X: to, Y: 9, Button: tea.MouseLeft})
			if r.m.place().Divider() != to || !r.pane.suspended {
				t.Errorf("dragged to %d, it stands at %d: %+v", to, r.m.place().Divider(), r.pane)
			}
			r.see()
		}
		if len(r.pane.sizes) != 0 {
			t.Errorf("resized while it is dragged: %v", r.pane.sizes)
		}
		r.send(tea.MouseReleaseMsg{X: x + 9, Y: 9, Button: tea.MouseLeft})
		if len(r.pane.sizes) != 1 || r.pane.box.X != x+9+2 || r.pane.suspended {
			t.Errorf("resized %v, then %+v", r.pane.sizes, r.pane)
		}
		time.Sleep(time.Second)
		for range 2 {
			r.send(tea.MouseClickMsg{X: x + 9, Y: 9, Button: tea.MouseLeft})
			r.send(tea.MouseReleaseMsg{X: x + 9, Y: 9, Button: tea.MouseLeft})
		}
		if got := r.m.place().Divider(); got != x {
			t.Errorf("a double click leaves it at %d, not at %d", got, x)
		}
	})
}
