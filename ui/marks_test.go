package ui

import (
	"testing"
	"time"

	"orchestrator/ui/typing"
	"orchestrator/ui/views"
)

// TestMarkedThreads: what is done with marked threads is done with each of them, after one question.
func TestMarkedThreads(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("home", "v", "v", "v")
		if n := len(r.m.tree.Marked()); n != 3 {
			t.Fatalf("%d are marked", n)
		}
		r.keys("i")
		r.must("prompt for 3 threads")
		r.text("run the tests")
		r.keys("enter")
		for _, id := range []string{"try-jwt-b7c1", "session-c8d3", "auth-feature-a3f2"} {
			r.mustAsk(`send ` + id + ` "run the tests"`)
		}
		if len(r.m.tree.Marked()) > 0 {
			t.Error("the marks stay after they were used")
		}
	})
	on(t, world(), func(r *rig) {
		r.keys("home", "v", "down", "v", ". s")
		r.must("stop 2 agents?", "auth-feature", "try-jwt")
		r.keys("ctrl+s")
		r.mustAsk("stop try-jwt-b7c1")
		r.mustAsk("stop auth-feature-a3f2")
	})
	on(t, world(), func(r *rig) { // esc takes the marks, and the menu is that of the selected thread again
		r.keys("home", "v", "esc")
		time.Sleep(typing.Pause)
		r.keys(".")
		r.must("merge into its parent")
		if len(r.m.tree.Marked()) > 0 {
			t.Error("the marks stay")
		}
	})
}

// TestViewsByKey: a key leads straight to each view of the selected thread.
func TestViewsByKey(t *testing.T) {
	for key, want := range map[string]views.View{"T": views.Timeline, "C": views.Context, "D": views.Diff} {
		on(t, world(), func(r *rig) {
			r.keys(key)
			if r.m.views.Now() != want || r.m.screen.area != areaMain {
				t.Errorf("%s leads to %v", key, r.m.views.Now())
			}
		})
	}
}

// TestFirstAnswerByOneKey: ctrl+s chooses what a question is about, and no text does.
func TestFirstAnswerByOneKey(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(". d")
		r.must("ctrl+s delete")
		r.keys("ctrl+s")
		r.mustAsk("delete ")
	})
	on(t, world(), func(r *rig) { // what must be read first is read first
		r.servers("evil", "a")
		r.keys("ctrl+s")
		r.wait(time.Second)
	})
}

// TestUnmaskTakesFourKeys from inside an agent, with the masked result the first one.
func TestUnmaskTakesFourKeys(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("enter")
		r.wait(time.Second)
		if !r.pane.focus {
			t.Fatal("the agent does not have the keys")
		}
		r.keys("ctrl+q", "C", "home", "M")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[r-00]")
	})
}
