package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/connection"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

func TestNotifications(t *testing.T) {
	on(t, world(), func(r *rig) {
		asks := func(name string, since time.Duration) {
			s := status("docs-f9a0", "", thread.StateQuestion, 5)
			s.Name, s.State.Since = name, epoch.Add(since)
			r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		}
		asks("docs", time.Second)
		if len(r.raw) != 0 {
			t.Errorf("rings while one windowFocused: %q", r.raw)
		}
		idle := status("docs-f9a0", "", thread.StateIdle, 5)
		r.event(thread.Event{Kind: thread.EventThread, Status: &idle})
		r.send(tea.BlurMsg{})
		asks("do\x1b]0;x\x07c;s", 2*time.Second)
		want := "\a\x1b]9;do␛]0,x␇c,s: asks a question\x1b\\"
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

// TestSeenUncovered: an answer that came under a dialog is seen once the dialog is closed.
func TestSeenUncovered(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.wait(2 * time.Second)
		r.keys("?")
		s := status("auth-feature-a3f2", "", thread.StateDone, 5)
		s.Seen = false
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.wait(2 * time.Second)
		if r.srv.asked("seen") {
			t.Error("seen under a dialog")
		}
		r.keys("esc")
		r.wait(2 * time.Second)
		r.mustAsk("seen auth-feature-a3f2")
	})
}

// TestUnseenWithoutAServer looks at an answer while the server goes away: nobody asked for anything,
// so nobody is told that it failed.
func TestUnseenWithoutAServer(t *testing.T) {
	srv := world()
	srv.err = errors.New(strings.Repeat("no server ", 20))
	srv.threads[0].State.State, srv.threads[0].Seen = thread.StateDone, false
	on(t, srv, func(r *rig) {
		r.wait(2 * time.Second)
		r.mustAsk("seen auth-feature-a3f2")
		if shown := r.see(); strings.Contains(shown, "no server") {
			t.Errorf("it is told:\n%s", shown)
		}
	})
}

func TestEvents(t *testing.T) {
	on(t, world(), func(r *rig) {
		s := status("fresh-0001", "", thread.StateWorking, 50)
		r.event(thread.Event{Kind: thread.EventThread, Status: &s})
		r.must("◐ fresh")
		r.event(thread.Event{Kind: thread.EventSwitch, ThreadID: "fresh-0001"})
		if r.m.tree.Selected().ID != "fresh-0001" {
			t.Error("switch does not switch")
		}
		r.event(thread.Event{Kind: thread.EventRemoved, ThreadID: "fresh-0001"})
		if r.m.tree.Thread("fresh-0001") != nil || r.m.tree.Selected().ID == "fresh-0001" {
			t.Error("what was removed is still there")
		}
		r.srv.threads = append(r.srv.threads, status("missed-0002", "", thread.StateIdle, 60))
		r.srv.seq += 5 // a gap
		r.event(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelInfo, Text: "after the gap"}})
		r.must("○ missed", "after the gap")
		r.wait(host.NoticeTime)
		if r.m.host.Notices.Now() != nil {
			t.Error("the notice stays news")
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
		r.keys("down", "down", "enter", "{")
		if _, at, n := r.m.views.At(); n != 2 || at != "c-2" {
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
		r.keys("esc")
		srv.err = errors.New(strings.Repeat("a long story ", 20) + "with an end")
		r.keys("P")
		r.must("with an end")
	})
}

func TestBadKeysAreTold(t *testing.T) {
	play(t, &server{}, 100, 30, func(c *Config) { c.Keys = map[string][]string{"nwe": {"c"}, "leave": {"ctrl+g"}} }, func(r *rig) {
		r.must(`unknown action "nwe"`)
	})
	play(t, world(), 100, 30, func(c *Config) { c.Keys = map[string][]string{"leave": {"ctrl+g"}} }, func(r *rig) {
		stage(r)
		r.keys("enter", "ctrl+q", "ctrl+g")
		if len(r.pane.keys) != 1 || r.pane.focus {
			t.Errorf("own key does not lead out: %q", r.pane.keys)
		}
	})
	play(t, &server{}, 100, 30, func(c *Config) { c.Keys = map[string][]string{"new": {"f"}} }, func(r *rig) {
		r.must(`"f" is bound to both "new" and "fork"`)
	})
}

func TestServerIsStartedAgain(t *testing.T) {
	revived := 0
	play(t, world(), 100, 30, func(c *Config) {
		c.StartServer = func(context.Context) error { revived++; return nil }
	}, func(r *rig) {
		stage(r)
		for range connection.AskAfter + 1 {
			r.m.conn.Disconnected(errors.New("connection refused"))
		}
		r.must("the server is not running", "□ auth-feature", "no server")
		r.keys("enter")
		if revived != 1 {
			t.Errorf("revived %d times", revived)
		}
		r.send(connection.Retry{Gen: r.m.conn.Generation()})
		r.must("◐ auth-feature", "1 thread interrupted")
	})
	// Where another screen has started it, nobody is asked any more.
	play(t, world(), 100, 30, func(c *Config) { c.StartServer = func(context.Context) error { return nil } }, func(r *rig) {
		stage(r)
		for range connection.AskAfter + 1 {
			r.m.conn.Disconnected(errors.New("connection refused"))
		}
		r.send(connection.Retry{Gen: r.m.conn.Generation()})
		r.keys("esc")
		if strings.Contains(r.see(), "the server is not running") {
			t.Errorf("it is still asked for:\n%s", r.see())
		}
	})
}

func TestLostServer(t *testing.T) {
	play(t, world(), 100, 30, nil, func(r *rig) {
		gen := r.m.conn.Generation()
		r.send(connection.Happened{Gen: gen, Over: true})
		r.must("The server does not answer")
		r.wait(connection.RetryAfter + time.Second)
		if r.m.conn.Generation() == gen || r.m.conn.Lost() {
			t.Errorf("does not come back: %+v", r.m.conn)
		}
		r.send(connection.Happened{Gen: gen, Events: []thread.Event{{Seq: 99, Kind: thread.EventRemoved, ThreadID: "docs-f9a0"}}})
		if r.m.tree.Thread("docs-f9a0") == nil {
			t.Error("an event of the stream before is believed")
		}
	})
}

// TestRepliesDoNotUndoEvents: what comes back of "resume all" was true before the events that it overtook.
func TestRepliesDoNotUndoEvents(t *testing.T) {
	play(t, world(), 100, 30, nil, func(r *rig) {
		stage(r)
		now := *r.m.tree.Thread("docs-f9a0")
		now.Seq, now.State.State = 20, thread.StateIdle
		late := now
		late.Seq, late.State.State = 10, thread.StateStarting
		r.m.apply(thread.Event{Seq: 20, Kind: thread.EventThread, Status: &now})
		r.srv.resumed = []thread.Status{late}
		r.run(r.m.resumes.All())
		r.settle()
		r.run(r.m.host.Start("start a thread", "started", false, func(context.Context) (thread.Status, error) { return late, nil }))
		r.settle()
		r.send(connection.Listed{Threads: []thread.Status{late}, Since: 9})
		if got := r.m.tree.Thread("docs-f9a0").State.State; got != thread.StateIdle {
			t.Errorf("shown %s", got)
		}
	})
}

// The timeline shows what a rewind left behind.
func TestTimelineShowsWhatARewindLeftBehind(t *testing.T) {
	srv := world()
	left := point(7, 3, thread.KindTurn, "the way that was left", "and its answer", 0)
	left.Rewound = true
	srv.checkpoints = append([]thread.Checkpoint{point(8, 2, thread.KindRewind, "", "", 0), left}, srv.checkpoints...)
	on(t, srv, func(r *rig) {
		r.keys("tab")
		r.must("the way that was left", "rewound · and its answer")
	})
}

// TestLastThingsAreTold: notices name the thread they are about, are counted when they come again, and stay on their
// line with what happened, as long as there is room.
func TestLastThingsAreTold(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		notice := func(id thread.ID, text string) {
			r.event(thread.Event{Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Level: thread.LevelWarn, Text: text}})
		}
		notice("docs-f9a0", "context 92 %")
		r.must("docs-f9a0: context 92 %")
		notice("docs-f9a0", "docs-f9a0 was merged")
		r.must(" 00:00 docs-f9a0 was merged   00:00 docs-f9a0: context 92 %")
		r.event(thread.Event{Kind: thread.EventHappened, Happening: &thread.Happening{
			At: epoch.Add(time.Minute), Kind: thread.HappenedAsks, Label: "try jwt", Text: "which database?"}})
		r.must("docs-f9a0 was merged   00:01 ◆ try jwt asks: which database?   00:00 docs-f9a0: context 92 %")
		r.wait(host.NoticeTime)
		r.must(" 00:01 ◆ try jwt asks: which database?   00:00 docs-f9a0 was merged   00:00 docs-f9a0: context 92 %", "q quit")
		notice("docs-f9a0", strings.Repeat("long ", 40))
		r.must(" 00:00 docs-f9a0: long long", "lon…", "q quit")
		for range 3 {
			notice("", "disk is nearly full")
		}
		r.must(" 00:00 disk is nearly full (3×)")
		r.keys("!")
		r.must("disk is nearly full (3×)")
	})
}
