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

// TestNotifications: who is called for what, with a window that is looked at, one that is not, and one of which nothing
// is known.
func TestNotifications(t *testing.T) {
	seq := int64(100)
	for _, c := range []struct {
		name       string
		focus      tea.Msg // nil: the terminal does not tell
		focused    bool    // configured to call all the same
		thread     thread.ID
		kind       thread.HappeningKind
		ring, line bool
	}{
		{"what is looked at", tea.FocusMsg{}, true, "auth-feature-a3f2", thread.HappenedAsks, false, false},
		{"another thread", tea.FocusMsg{}, false, "docs-f9a0", thread.HappenedAsks, false, true},
		{"another thread, as configured", tea.FocusMsg{}, true, "docs-f9a0", thread.HappenedDone, true, true},
		{"nobody looks", tea.BlurMsg{}, false, "auth-feature-a3f2", thread.HappenedDone, true, true},
		{"nobody looks at another", tea.BlurMsg{}, false, "docs-f9a0", thread.HappenedAsks, true, true},
		{"a kind that does not call", tea.BlurMsg{}, false, "docs-f9a0", thread.HappenedStuck, false, false},
		{"not known, looked at", nil, false, "auth-feature-a3f2", thread.HappenedAsks, false, false},
		{"not known, another asks", nil, false, "docs-f9a0", thread.HappenedAsks, true, true},
		{"not known, another is done", nil, false, "docs-f9a0", thread.HappenedDone, false, true},
		{"of the project", tea.BlurMsg{}, false, "", thread.HappenedDone, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, world(), 100, 30, func(cfg *Config) { cfg.Alert.Focused = c.focused }, func(r *rig) {
				stage(r)
				if c.focus != nil {
					r.send(c.focus)
				}
				seq++
				r.event(thread.Event{Kind: thread.EventHappened, ThreadID: c.thread, Happening: &thread.Happening{
					Seq: seq, Thread: c.thread, Kind: c.kind, Label: "do\x1b]0;x\x07c;s", Text: "a;b\x1b\\\x9c"}})
				if got := len(r.raw) > 0; got != c.ring {
					t.Errorf("rings %q", r.raw)
				}
				if now := r.m.host.Notices.Now(); (now != nil) != c.line || now != nil && !strings.Contains(r.see(), "a;b␛\\") {
					t.Errorf("a line %+v\n%s", now, r.see())
				}
				if c.ring && c.kind == thread.HappenedAsks && r.raw[0] != "\a\x1b]9;do␛]0,x␇c,s: asks: a,b␛\\\ufffd\x1b\\" {
					t.Errorf("rings %q", r.raw)
				}
			})
		})
	}
}

// TestEventLog: what happened in all threads and what this screen has told are one list, newest first; it grows under
// the cursor, words filter it, and enter goes to the thread.
func TestEventLog(t *testing.T) {
	srv := world()
	tell := func(at time.Duration, id thread.ID, kind thread.HappeningKind, text string) thread.Happening {
		return thread.Happening{Seq: 1000 + int64(at/time.Second), At: epoch.Add(at), Thread: id, Kind: kind, Label: string(id), Text: text}
	}
	srv.log = []thread.Happening{tell(time.Second, "auth-feature-a3f2", thread.HappenedDone, "2:11, $0.12, +31 −4"),
		tell(2*time.Second, "docs-f9a0", thread.HappenedAsks, "ls\x1b[31m -la"), tell(3*time.Second, "", thread.HappenedError, "disk full")}
	on(t, srv, func(r *rig) {
		r.run(r.m.host.Notify(thread.LevelInfo, "only here"))
		r.event(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelInfo, Text: "told by the server"}})
		r.keys("!")
		r.must("done in 2:11, $0.12, +31 −4", "asks: ls␛[31m -la", "disk full", "only here")
		if body, _, _ := strings.Cut(r.see(), "close"); strings.Contains(body, "told by the server") {
			t.Errorf("what the log would have is there twice:\n%s", r.see())
		}
		now := tell(time.Hour, "docs-f9a0", thread.HappenedDone, "0:05")
		r.keys("down")
		for range 2 {
			r.event(thread.Event{Kind: thread.EventHappened, ThreadID: now.Thread, Happening: &now})
		}
		if n := strings.Count(r.see(), "done in 0:05"); n < 1 {
			t.Errorf("what has just happened is not there:\n%s", r.see())
		}
		for _, c := range []struct{ typed, has, lacks string }{
			{"asks", "ls␛[31m", "disk full"}, {"DOCS done", "0:05", "2:11"}, {"!docs", "2:11", "ls␛[31m"}, {"here", "only here", "disk full"},
			{"/docs asks", "ls␛[31m", "0:05"}, {"nothing of this", "No matches", "2:11"},
		} {
			for letter := range strings.SplitSeq(c.typed, "") {
				r.keys(map[string]string{" ": "space", "!": "!"}[letter] + strings.Trim(letter, " !"))
			}
			if list, _, _ := strings.Cut(r.see(), "go there"); !strings.Contains(list, c.has) || strings.Contains(list, c.lacks) {
				t.Errorf("typed %q:\n%s", c.typed, list)
			}
			for range c.typed {
				r.keys("backspace")
			}
		}
		r.keys(strings.Split("asks", "")...)
		r.keys("enter")
		if got := r.m.tree.Selected().ID; got != "docs-f9a0" || r.m.dialogs.Open() {
			t.Errorf("enter goes to %s", got)
		}
	})
}

// TestEventLogWithoutAServer: what this screen has told is there all the same.
func TestEventLogWithoutAServer(t *testing.T) {
	srv := world()
	on(t, srv, func(r *rig) {
		r.run(r.m.host.Notify(thread.LevelInfo, "only here"))
		srv.err = errors.New("no server")
		r.keys("!")
		r.must("only here", "The log could not be read: no server")
		r.keys("esc")
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
		r.must("fresh shown by")
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
		r.must(`no action "nwe". Did you mean new?`)
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
		r.must("docs: context 92 %")
		notice("docs-f9a0", "docs-f9a0 was merged")
		r.must(" 00:00 docs-f9a0 was merged   00:00 docs: context 92 %")
		r.event(thread.Event{Kind: thread.EventHappened, Happening: &thread.Happening{
			At: epoch.Add(time.Minute), Kind: thread.HappenedAsks, Label: "try jwt", Text: "which database?"}})
		r.must("docs-f9a0 was merged   00:01 ◆ try jwt asks: which database?   00:00 docs: context 92 %")
		r.wait(host.NoticeTime)
		r.must(" 00:01 ◆ try jwt asks: which database?   00:00 docs-f9a0 was merged   00:00 docs: context 92 %", "q quit")
		notice("docs-f9a0", strings.Repeat("long ", 40))
		r.must(" 00:00 docs: long long", "lon…", "q quit")
		for range 3 {
			notice("", "disk is nearly full")
		}
		r.must(" 00:00 disk is nearly full (3×)")
		r.keys("!")
		r.must("disk is nearly full (3×)")
	})
}

// happened has an event of every kind in the log, from yesterday to now.
func (r *rig) happened() {
	for i, e := range []struct {
		kind thread.HappeningKind
		who  string
		text string
	}{
		{"error", "", "keep the event log: no space left on device"}, {"new", "docs-f9a0", "claude"}, {"started", "docs-f9a0", "claude"},
		{"forked", "try-jwt-a1b2", "forked from auth-feature-a3f2"}, {"context", "auth-feature-a3f2", "masks 16k tokens of old results, 31k in all"},
		{"limited", "修复 缓存 🚀", "limited until 13:05, retrying: status 429: slow down"}, {"merged", "refresh-9d0e", "merged into try-jwt"},
		{"stuck", "auth-feature-a3f2", "limited: status 429 from the provider, which has had enough of all this today"},
		{"cut", "auth-feature-a3f2", "fix the tests · 429"}, {"call", "", "notify_command: exit status 1: no display"}, {"sent", "auth-feature-a3f2", "fix the tests"},
		{"mcp", "auth-feature-a3f2", "github switched on: “pull request” in the prompt"}, {"done", "auth-feature-a3f2", "2:11, $0.12, +31 −4"},
		{"ended", "spike-0b1c", "exited with code 1"}, {"asks", "try-jwt-a1b2", "rm -rf build; make"},
	} {
		h := thread.Happening{Seq: int64(i + 1), At: epoch.Add(time.Duration(i-2) * time.Hour / 4), Kind: e.kind, Label: e.who, Text: e.text}
		if e.who != "" {
			h.Thread = thread.ID(e.who)
		}
		r.srv.log = append(r.srv.log, h)
	}
}
