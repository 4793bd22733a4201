package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/connection"
)

// outdated plays before a server of another build; restart is what a restart does.
func outdated(t *testing.T, w, h int, restart func() (connection.Restarted, error), test func(*rig)) {
	t.Helper()
	play(t, world(), w, h, func(c *Config) {
		c.Outdated = "devel-0123456789ab"
		c.Restart = func(context.Context, int, int) (connection.Restarted, error) { return restart() }
		c.StartServer = func(context.Context) error { return nil }
	}, test)
}

// TestServerOfAnotherBuild asks whether to restart it; a return, and every other key that comes too early, leaves it.
func TestServerOfAnotherBuild(t *testing.T) {
	asked := 0
	restart := func() (connection.Restarted, error) {
		asked++
		return connection.Restarted{Resumed: 3, Problems: []string{"AGENTS.md changed"}}, nil
	}
	outdated(t, 100, 30, restart, func(r *rig) {
		r.must("restart the server?", "another build", "devel-0123456789ab", "3 agents restart.", "1 is working: its turn is lost (auth-feature-a3f2)", "[ Not now ]")
		r.keys("enter")
		if asked != 0 || strings.Contains(r.see(), "restart the server?") {
			t.Errorf("asked %d times:\n%s", asked, r.see())
		}
		r.keys("esc") // what is interrupted
		r.must("ctrl+r restarts the outdated server")
		r.keys("ctrl+r", "esc", "ctrl+r", "right", "enter")
		r.must("Server restarted; 3 agents resumed")
		if asked != 1 {
			t.Errorf("restarted %d times", asked)
		}
		r.keys("!")
		r.must("AGENTS.md changed")
		r.keys("esc", "ctrl+r")
		r.must("Stops the server and starts it again with this program")
		if strings.Contains(r.see(), "different build of") {
			t.Errorf("it is of this build now:\n%s", r.see())
		}
	})
}

// TestScreenWaitsForTheRestart: while the server gives way nobody is asked to start one or to resume what is resumed
// anyhow, whichever comes first: the word of the restart, or the new server's list.
func TestScreenWaitsForTheRestart(t *testing.T) {
	for name, first := range map[string]bool{"the list comes first": true, "the restart ends first": false} {
		t.Run(name, func(t *testing.T) {
			var over chan struct{}
			outdated(t, 100, 30, func() (connection.Restarted, error) { <-over; return connection.Restarted{Resumed: 2}, nil }, func(r *rig) {
				over = make(chan struct{}) // of the bubble
				r.keys("right", "enter", "esc")
				r.must("Restarting the server")
				for range connection.AskAfter + 1 {
					r.m.conn.Disconnected(errors.New("connection refused"))
				}
				r.keys("ctrl+r")
				for _, text := range []string{"the server is not running", "connection refused", "restart the server?"} {
					if see := r.see(); strings.Contains(see, text) {
						t.Errorf("%q is shown meanwhile:\n%s", text, see)
					}
				}
				list := func() { r.send(connection.Retry{Gen: r.m.conn.Generation()}) }
				if first {
					list()
					close(over)
				} else {
					close(over)
					r.settle()
				}
				r.settle()
				r.wait(100 * time.Millisecond)
				r.must("Server restarted; 2 agents resumed", "1 working")
				if see := r.see(); strings.Contains(see, "1 thread interrupted") || r.m.conn.Restarting() {
					t.Errorf("after it:\n%s", see)
				}
			})
		})
	}
}

// TestRestartedElsewhere: where another screen has restarted the server, nobody is asked any more.
func TestRestartedElsewhere(t *testing.T) {
	outdated(t, 100, 30, func() (connection.Restarted, error) { return connection.Restarted{}, nil }, func(r *rig) {
		r.must("restart the server?")
		r.m.conn.Disconnected(nil)
		r.send(connection.Retry{Gen: r.m.conn.Generation()})
		if see := r.see(); strings.Contains(see, "restart the server?") || r.m.conn.Outdated() != "" {
			t.Errorf("it is still asked for:\n%s", see)
		}
	})
}

// TestRestartedByAVerb: who restarts the server elsewhere resumes its agents too; this screen asks about those that are
// still interrupted a while later, and no longer than that.
func TestRestartedByAVerb(t *testing.T) {
	back := func(r *rig) {
		stage(r)
		r.m.conn.Disconnected(nil)
		r.send(connection.Retry{Gen: r.m.conn.Generation()})
		r.must("Reconnected to the server")
		if see := r.see(); strings.Contains(see, "interrupted") && strings.Contains(see, "1 thread") {
			t.Errorf("asked at once:\n%s", see)
		}
	}
	resume := func(r *rig) {
		for i := range r.srv.threads {
			if s := &r.srv.threads[i]; s.State.State == thread.StateInterrupted {
				s.State.State = thread.StateIdle
				now := *s
				r.srv.seq++ // the rig's first stream is still open: this goes to the second
				r.send(connection.Happened{Gen: r.m.conn.Generation(), Events: []thread.Event{
					{Seq: r.srv.seq, Kind: thread.EventThread, ThreadID: s.ID, Status: &now}}})
				r.wait(40 * time.Millisecond)
			}
		}
	}
	play(t, world(), 100, 30, nil, func(r *rig) {
		back(r)
		resume(r)
		r.wait(2 * connection.OfferAfter)
		if see := r.see(); strings.Contains(see, "1 thread interrupted") {
			t.Errorf("asked about what runs again:\n%s", see)
		}
	})
	play(t, world(), 100, 30, nil, func(r *rig) {
		back(r)
		r.wait(2 * connection.OfferAfter)
		r.must("1 thread interrupted")
		resume(r)
		if see := r.see(); strings.Contains(see, "1 thread interrupted") {
			t.Errorf("still asked about what runs again:\n%s", see)
		}
	})
}

func TestRestartThatFails(t *testing.T) {
	outdated(t, 100, 30, func() (connection.Restarted, error) {
		return connection.Restarted{}, errors.New("answers are not saved")
	}, func(r *rig) {
		r.keys("right", "enter")
		r.must("Could not restart the server: answers are not saved")
		r.keys("esc", "esc", "ctrl+r")
		r.must("another build")
	})
	failed := func() (connection.Restarted, error) {
		return connection.Restarted{Resumed: 1, Failed: map[string]string{"docs-f9a0": "no such program"}}, nil
	}
	outdated(t, 100, 30, failed, func(r *rig) {
		r.keys("right", "enter")
		r.must("docs-f9a0: no such program", "1 agent resumed, 1 failed")
	})
}

func TestGrants(t *testing.T) {
	srv := world()
	srv.threads[0].Grants = []thread.Grant{"read", "merge"}
	on(t, srv, func(r *rig) {
		r.keys("tab", "tab", ". i")
		r.must("grants        read, merge")
		r.keys("esc", "ctrl+p")
		r.text("grants")
		r.keys("enter")
		r.must("grants of auth-feature", "see the other threads", "send prompts to threads")
		r.keys("enter")
		if r.srv.asked("grant") {
			t.Error("asked to change nothing")
		}
		r.keys("ctrl+p")
		r.text("grants")
		r.keys("enter", "space", "tab", "space", "enter")
		r.mustAsk("grant auth-feature-a3f2 +[send] -[read]")
		r.must("added send, removed read")
	})
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", ". i")
		r.must("none (the agent sees only its own thread)")
	})
}

func TestGoldenRestart(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}} {
		outdated(t, size[0], size[1], func() (connection.Restarted, error) { return connection.Restarted{}, nil }, func(r *rig) {
			goldenOf(t, "restart", size, r)
		})
		play(t, world(), size[0], size[1], nil, func(r *rig) {
			stage(r)
			r.keys("ctrl+p")
			r.text("grants")
			r.keys("enter")
			goldenOf(t, "grants", size, r)
		})
	}
}
