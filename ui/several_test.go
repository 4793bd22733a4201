package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// manyAtWork is the world with more threads, of which several work, ask or have ended.
func manyAtWork() *server {
	srv := world()
	for i, c := range []struct {
		name, last string
		state      thread.State
		tokens     int64
	}{
		{"flaky-tests-31aa", "all 212 tests pass", thread.StateDone, 36_000},
		{"cookies-77b2", "reading rfc6265.txt", thread.StateWorking, 142_000},
		{"deps-90c3", "go get -u ./...", thread.StateWorking, 61_000},
		{"migrations-0d14", "", thread.StateQuestion, 9_000},
	} {
		s := status(c.name, "", c.state, 20+i)
		s.Last, s.Seen = c.last, c.state != thread.StateDone
		s.Gauge = thread.Gauge{Tokens: c.tokens, Window: 200_000}
		if c.state == thread.StateQuestion {
			s.State.Question = &thread.Question{ID: "q", Kind: thread.QuestionChoice, Text: "which database?", Since: epoch,
				Choices: []thread.Choice{{Text: "staging"}, {Text: "production"}}}
		}
		srv.threads = append(srv.threads, s)
	}
	return srv
}

// layoutScenes are the layouts, and the keys that lead to them.
var layoutScenes = []struct {
	name string
	do   func(*rig)
}{
	{"stack", func(r *rig) { r.keys("V") }},
	{"stack-asked", func(r *rig) {
		r.keys("V")
		r.m.tree.Select("try-jwt-b7c1")
		r.send(settledMsg{r.m.follow.Generation()})
	}},
	{"stack-focus", func(r *rig) { r.keys("V", "enter") }},
	{"zoom", func(r *rig) { r.keys("V", "+") }},
}

func TestGoldenLayouts(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}, {200, 50}, {250, 70}} {
		for _, s := range layoutScenes {
			for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ASCII} {
				play(t, manyAtWork(), size[0], size[1], func(c *Config) { c.Profile = profile }, func(r *rig) {
					stage(r)
					s.do(r)
					r.wait(20 * time.Second) // the notice goes
					r.showMain()
					name := fmt.Sprintf("layout-%s-%dx%d", s.name, size[0], size[1])
					golden(t, name+".txt", r.see())
					if size[0] == 200 {
						golden(t, fmt.Sprintf("%s-%v.style", name, profile), r.styles())
					}
				})
			}
		}
	}
}

func TestStack(t *testing.T) {
	play(t, manyAtWork(), 120, 36, nil, func(r *rig) {
		stage(r)
		before := r.pane.box
		r.keys("V")
		small := r.pane.box
		if small.H != before.H-5 || small.W != before.W {
			t.Errorf("the terminal was %v, above the stack it is %v", before, small)
		}
		bar := func() (names []string) {
			b := r.m.place().Stack
			for _, l := range strings.Split(r.see(), "\n")[b.Y+1 : b.Y+b.H] {
				_, l, _ = strings.Cut(l, "│")
				names = append(names, strings.Fields(l)[1])
			}
			return names
		}
		if got := strings.Join(bar(), " "); got != "try-jwt session migrations cookies" {
			t.Errorf("in the stack are %s", got)
		}
		b := r.m.place().Stack
		r.send(tea.MouseClickMsg{X: b.X + 5, Y: b.Y + 4, Button: tea.MouseLeft})
		r.wait(100 * time.Millisecond)
		if r.pane.shown != "cookies-77b2" || r.pane.box != small {
			t.Errorf("a click on a title bar shows %s at %v", r.pane.shown, r.pane.box)
		}
		if got := strings.Join(bar(), " "); got != "try-jwt session migrations auth-feature" {
			t.Errorf("then in the stack are %s", got)
		}
		for _, id := range []string{"migrations-0d14", "deps-90c3"} { // what comes and goes leaves the terminal as it is
			s := r.srv.find(id)
			s.Archived = time.Now()
			r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
		}
		if r.pane.box != small {
			t.Errorf("fewer threads make the terminal %v, it was %v", r.pane.box, small)
		}
		r.keys("V")
		if r.pane.box != before {
			t.Errorf("alone again it is %v, it was %v", r.pane.box, before)
		}
	})
}

func TestZoom(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {120, 36}} {
		play(t, manyAtWork(), size[0], size[1], nil, func(r *rig) {
			stage(r)
			before := r.pane.box
			r.keys("+")
			if r.pane.suspended || r.pane.focus || r.pane.box.W < size[0]-1 {
				t.Errorf("zoomed, the terminal is at %v, hidden %v, with the keys %v", r.pane.box, r.pane.suspended, r.pane.focus)
			}
			was := r.pane.shown
			r.keys("j") // the list still has the keys
			r.wait(100 * time.Millisecond)
			if r.pane.shown == was || r.m.several.Zoomed() == false {
				t.Errorf("the selection does not move: %s", r.pane.shown)
			}
			r.keys("enter", "+")
			if len(r.pane.keys) != 1 || r.pane.keys[0] != "+" {
				t.Errorf("its agent got %q", r.pane.keys)
			}
			r.keys("ctrl+q", "esc")
			if r.m.several.Zoomed() || r.pane.box != before {
				t.Errorf("esc leaves it at %v, it was %v", r.pane.box, before)
			}
			r.keys("+", "/")
			if r.m.several.Zoomed() {
				t.Error("a filter needs the list")
			}
		})
	}
}
