package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"orchestrator/thread"
)

// fetched returns how often the server was asked for contexts.
func (s *server) fetched() int {
	n := 0
	for _, c := range s.calls {
		if strings.HasPrefix(c, "context ") {
			n++
		}
	}
	return n
}

// tell has the server tell that a thread's gauge is at a number of tokens.
func (r *rig) tell(id string, tokens int64) {
	s := r.srv.find(id)
	s.Gauge.Tokens, s.Gauge.Window = tokens, 200_000
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// A context is loaded while it is shown, once for each change of the thread's gauge.
func TestContextIsLoadedWhenItChanges(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		play(t, world(), size[0], size[1], nil, func(r *rig) {
			stage(r)
			r.tell("auth-feature-a3f2", 50_000)
			r.keys("tab")
			if n := r.srv.fetched(); n != 0 {
				t.Errorf("%v: loaded %d times before it is shown", size, n)
			}
			r.keys("tab")
			r.wait(5 * time.Second)
			if n := r.srv.fetched(); n != 1 {
				t.Errorf("%v: loaded %d times, want once", size, n)
			}
			r.tell("auth-feature-a3f2", 50_000) // nothing new
			r.tell("docs-f9a0", 60_000)         // another thread
			if n := r.srv.fetched(); n != 1 {
				t.Errorf("%v: loaded %d times although its gauge has not changed", size, n)
			}
			r.srv.context.Tokens = 91_000
			r.tell("auth-feature-a3f2", 91_000)
			r.must("91k±5%/200k 45%")
			r.keys("tab")
			r.tell("auth-feature-a3f2", 92_000)
			if n := r.srv.fetched(); n != 2 {
				t.Errorf("%v: loaded %d times, want no more while it is hidden", size, n)
			}
			r.keys("shift+tab")
			if n := r.srv.fetched(); n != 3 {
				t.Errorf("%v: loaded %d times, want once more when it is shown again", size, n)
			}
		})
	}
}

// Where the list replaces the main pane, nothing is loaded for what is not seen.
func TestContextIsNotLoadedBehindTheList(t *testing.T) {
	play(t, world(), 60, 20, nil, func(r *rig) {
		stage(r)
		r.keys("tab", "tab", "esc")
		before := r.srv.fetched()
		r.tell("auth-feature-a3f2", 50_000)
		r.keys("down")
		r.wait(time.Second)
		if n := r.srv.fetched(); n != before {
			t.Errorf("loaded %d times behind the list", n-before)
		}
		r.keys("enter")
		if n := r.srv.fetched(); n != before+1 {
			t.Errorf("loaded %d times when it is seen again", n-before)
		}
	})
}

// Nothing is drawn while nothing changes.
func TestContextRests(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.m.tree.Select("docs-f9a0")
		r.keys("tab", "tab")
		r.wait(10 * time.Second) // notices are gone
		r.see()
		s := r.srv.find("docs-f9a0")
		for i := range r.srv.threads { // nobody works, so that no spinner turns, and no age grows within a minute
			x := &r.srv.threads[i]
			x.State.State, x.State.Since, x.Execution = thread.StateIdle, r.m.cfg.Clock().Add(-90*time.Minute), nil
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: x.ID, Status: x})
		}
		r.see()
		r.wait(2 * time.Minute) // what was to be drawn again before is over
		r.see()
		drawn, calls := r.m.screen.drawn, len(r.srv.calls)
		r.wait(time.Minute)
		r.see()
		if r.m.screen.drawn != drawn || len(r.srv.calls) != calls {
			t.Errorf("drawn at %v, then at %v; calls %q (%s)", drawn, r.m.screen.drawn, r.srv.calls[calls:], s.ID)
		}
	})
}

func TestResultsAreMaskedAndPinned(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", "home", "M")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[r-00] pin=[] unpin=[] mode=-")
		r.must("Unmasked. The next request re-sends ", "tokens (≈ $0.", "14 masked, 4 pinned")
		r.keys("M") // it is pinned now
		r.mustAsk("change the context of auth-feature-a3f2 mask=[r-00] unmask=[] pin=[] unpin=[r-00] mode=-")
		r.must("Unpinned and masked. The next request re-sends ", "15 masked, 3 pinned")
		r.keys("P")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[] pin=[r-00] unpin=[] mode=-")
		r.keys("P")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[] pin=[] unpin=[r-00] mode=-")
		r.must("Unpinned: it may be masked again")
		before := len(r.srv.calls)
		r.keys("end", "M")
		r.must("It cannot be masked: error")
		if len(r.srv.calls) != before {
			t.Errorf("the server was asked %q", r.srv.calls[before:])
		}
		r.keys("/")
		r.text("browser")
		r.keys("enter", "up", "M")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[r-30] ")
		r.must("Masked. The next request re-sends ", "/browser 5")
		r.keys("esc")
		if see := r.see(); strings.Contains(see, "/browser") {
			t.Errorf("esc does not leave the filter:\n%s", see)
		}
		r.keys("esc")
		r.wait(10 * time.Second)
		r.must("f fork")
	})
}

func TestAllIsMaskedAfterAsking(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", "A")
		r.must("mask 13 results of auth-feature?", "costs one cache write of $0.19", "Not by itself")
		r.keys("enter")
		if r.srv.asked("change the context") {
			t.Fatal("Cancel is not preselected")
		}
		r.keys("A", "right", "enter")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[all] ")
		r.must("13 results masked from the next request on", "28 masked")
		r.keys("A")
		r.must("Nothing can be masked now")
	})
}

func TestModeIsChosen(t *testing.T) {
	for keys, want := range map[int]string{1: `"safe"`, 2: `"lean"`, 3: `"observe"`, 4: `"off"`, 5: `""`} {
		on(t, world(), func(r *rig) {
			r.keys("tab", "tab", ". k")
			r.must("masking for auth-feature", "Now: safe, by the project's settings")
			for range keys {
				r.keys("right")
			}
			r.keys("enter")
			r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[] pin=[] unpin=[] mode=" + want)
			r.must("from the next request on", "set for this thread")
		})
	}
	srv := world()
	srv.context = thread.ContextReport{Mode: thread.MaskSafe}
	on(t, srv, func(r *rig) { // before the first request too
		r.keys("tab", "tab", "M", "P", "A", "enter")
		if r.srv.asked("change") || r.m.dialogs.Open() {
			t.Errorf("keys for results do something without any: %q", r.srv.calls)
		}
		r.keys(". k", "right", "right", "right", "right", "enter")
		r.mustAsk(`change the context of auth-feature-a3f2 mask=[] unmask=[] pin=[] unpin=[] mode="off"`)
	})
}

func TestResultIsShown(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", "home", "enter")
		r.mustAsk("retrieve max:0badcafe")
		r.must("result of Read", "/state/staged/0badcafe", "func Login() error {")
		r.srv.staged = nil
		r.keys("esc", "enter")
		r.must("Its content could not be read", "/state/staged/0badcafe")
		before := len(r.srv.calls)
		r.keys("esc", "end", "enter")
		r.must("state   kept: error")
		if len(r.srv.calls) != before {
			t.Errorf("what is not masked is retrieved: %q", r.srv.calls[before:])
		}
	})
}

// What the server refuses is said, and what was shown stays.
func TestContextFails(t *testing.T) {
	srv := world()
	srv.err = errors.New("no such operation")
	on(t, srv, func(r *rig) {
		r.keys("tab", "tab")
		r.must("context: no such operation", "folder        /work/project")
		before := r.srv.fetched()
		r.wait(time.Minute)
		r.keys("M", ". k")
		if n := r.srv.fetched(); n != before || r.srv.asked("change") {
			t.Errorf("asked %d more times without a reason, or a change was made: %q", n-before, r.srv.calls)
		}
		r.srv.err = nil
		r.keys("tab", "shift+tab")
		r.must("Results 40")
		r.srv.err = errors.New("full disk")
		r.keys("home", "M")
		r.must("Could not unmask: full disk", "15 masked, 3 pinned")
		r.tell("auth-feature-a3f2", 50_000)
		r.must("not up to date: full disk", "15 masked, 3 pinned")
	})
}

// A key is never for a thread whose context is not on the screen yet.
func TestKeysAreForWhatIsShown(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", "home")
		r.take(press("4"))
		for _, key := range []string{"M", "P", "A", "s", "enter"} {
			r.take(press(key))
		}
		r.settle()
		if r.srv.asked("change") || r.m.dialogs.Open() {
			t.Errorf("a result of another thread was changed: %q", r.srv.calls)
		}
		r.wait(time.Second)
		r.mustAsk("context docs-f9a0")
	})
}

// What agents name tools and files reaches the screen cleaned.
func TestContextIsCleaned(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\u202e"
	srv := world()
	c := &srv.context
	c.Model, c.Why, c.Forecast, c.Reason = evil+"model", evil+"why", evil+"forecast", evil+"reason"
	c.Parts[0].Name = evil + "part"
	for i := range c.Results {
		c.Results[i].Tool, c.Results[i].File, c.Results[i].Path = evil+"tool", "", evil+"path"
		if i%2 == 0 {
			c.Results[i].File = evil + "file"
		}
		c.Results[i].Kept = evil + "kept"
	}
	srv.staged["max:0badcafe"] = evil + "content\n" + evil
	play(t, srv, 200, 50, nil, func(r *rig) {
		stage(r)
		check := func() {
			t.Helper()
			for _, bad := range []string{"\x1b]", "\x07", "\x1b[2J", "\u202e"} {
				if strings.Contains(r.m.View().Content, bad) {
					t.Errorf("%q is on the canvas", bad)
				}
			}
		}
		r.keys("tab", "tab")
		r.must("␛]0;owned␇␛[2J<U+202E>tool", "<U+202E>forecast", "<U+202E>kept", "<U+202E>why")
		check()
		for _, key := range []string{"A", "esc", "M", "esc", "home", "enter", "esc", "end", "enter", "esc", "x"} {
			r.keys(key)
			check()
		}
	})
}

// A click selects a result, the wheel moves among them.
func TestResultsByMouse(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "tab", "home")
		y := 0
		for i, row := range strings.Split(r.see(), "\n") {
			if strings.Contains(row, "2 Grep") {
				y = i
			}
		}
		if y == 0 {
			t.Fatalf("no such row:\n%s", r.see())
		}
		r.send(tea.MouseClickMsg{X: 40, Y: y, Button: tea.MouseLeft})
		r.keys("P")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[] pin=[] unpin=[r-03]")
		r.send(tea.MouseWheelMsg{X: 40, Y: y, Button: tea.MouseWheelDown})
		r.keys("M")
		r.mustAsk("change the context of auth-feature-a3f2 mask=[] unmask=[r-04]")
	})
}

// summarised offers a summary, beside one that is sent.
func (r *rig) summarised() {
	c := &r.srv.context
	c.Offer = &thread.SummaryOffer{Turns: 12, Replaced: 84_000, Frees: 80_000, CostUSD: 0.12, Priced: true}
	c.Summaries = []thread.ContextSummary{
		{ID: "4c2e", Tokens: 3_900, Replaced: 61_000, Source: "claude-opus-4-8", Stands: true, File: "/state/masks/t/outputs/0badcafe.txt",
			Text: "## Goal\nSign in with cookies; the handler is done.\n\n## Files\nsrc/auth/handler.go: checks the token"},
	}
}

// TestSummary: a summary is written or dropped only after a question that says what it means, and the view goes on
// meanwhile.
func TestSummary(t *testing.T) {
	play(t, world(), 120, 36, nil, func(r *rig) {
		stage(r)
		r.keys("tab", "tab", "s")
		r.must("No older turns can be summarised")
		r.summarised()
		r.tell("auth-feature-a3f2", 50_000)
		r.must("summary 3.9k for 61k")
		r.keys("s")
		r.must("A summary of 12 older turns would free 80k tokens", "By the model: about $0.12. Extract: free.", "claude-opus-4-8", "checks the token")
		r.keys("enter") // closes it
		if r.srv.asked("summarise ") {
			t.Error("a summary is written although the dialog was closed")
		}
		before := r.srv.fetched()
		r.keys("s", "right", "enter")
		r.mustAsk("summarise auth-feature-a3f2 by default")
		if n := r.srv.fetched(); n != before+1 {
			t.Errorf("loaded %d times after it was written", n-before)
		}
		r.keys("s", "right", "enter")
		r.mustAsk("drop the summary written of auth-feature-a3f2")
		r.summarised()
		r.tell("auth-feature-a3f2", 51_000)
		r.srv.err = errors.New("the model is on fire")
		r.keys("s", "right", "right", "enter")
		r.must("the model is on fire")
		r.mustAsk("summarise auth-feature-a3f2 by extract")
	})
}
