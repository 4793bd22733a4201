package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/frame"

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
	{"columns", func(r *rig) { r.keys("V", "V", "w") }},
	{"columns-focus", func(r *rig) { r.keys("V", "V", "enter") }},
	{"wall", func(r *rig) { r.keys("V", "V", "V") }},
	{"wall-asked", func(r *rig) { r.keys("V", "V", "V", "w"); r.wait(100 * time.Millisecond) }},
	{"zoom", func(r *rig) { r.keys("V", "+") }},
}

func TestGoldenLayouts(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}, {200, 50}, {250, 70}} {
		for _, s := range layoutScenes {
			if strings.HasPrefix(s.name, "columns") && size[0] < frame.TwoColumns {
				continue
			}
			if s.name[:4] == "wall" && size[0] < frame.TwoColumns {
				s.do = func(r *rig) { r.keys("V", "V") }
			}
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
		r.keys("V", "V") // by the wall
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

// choose selects a thread and waits until it is shown.
func (r *rig) choose(id thread.ID) {
	r.m.tree.Select(id)
	r.send(settledMsg{r.m.follow.Generation()})
	r.wait(100 * time.Millisecond)
}

// become has the server tell that a thread is in another state.
func (r *rig) become(id string, st thread.State) {
	s := r.srv.find(id)
	s.State.State, s.State.Question = st, nil
	if !st.Live() {
		s.Execution = nil
	}
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// shows fails where other terminals are shown, or in another order.
func (r *rig) shows(what, want string) {
	r.t.Helper()
	if got := r.pane.wall(); got != want {
		r.t.Errorf("%s: shown are %s, want %s", what, got, want)
	}
}

func TestColumns(t *testing.T) {
	play(t, manyAtWork(), 200, 50, nil, func(r *rig) {
		stage(r)
		r.choose("docs-f9a0")
		r.choose("auth-feature-a3f2")
		r.keys("V", "V")
		r.shows("at first", "[auth-feature-a3f2] docs-f9a0")
		size := [2]int{r.pane.box.W, r.pane.box.H}
		r.choose("docs-f9a0")
		r.shows("the other one", "auth-feature-a3f2 [docs-f9a0]")
		r.choose("cookies-77b2")
		r.shows("a third one takes the place of the older one", "[cookies-77b2] docs-f9a0")
		r.choose("session-c8d3") // which has no terminal
		r.shows("one that is not running", "cookies-77b2 []")
		r.must("Can be resumed")
		if size != [2]int{r.pane.box.W, r.pane.box.H} {
			t.Errorf("the terminals were %v, now %v", size, r.pane.box)
		}
		r.choose("docs-f9a0")
		r.shows("back", "cookies-77b2 [docs-f9a0]")
		r.become("cookies-77b2", thread.StateExited)
		r.shows("one that has ended is replaced by the one selected before", "auth-feature-a3f2 [docs-f9a0]")
		r.keys("enter", "x")
		r.send(press("ctrl+q"))
		if got := strings.Join(r.pane.keys, ""); got != "x" || r.m.pane.focus {
			t.Errorf("the agent got %q", got)
		}
		r.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		if len(r.pane.beside) != 0 || r.m.place().Stack.Empty() {
			t.Error("on a smaller screen there is no stack instead")
		}
	})
}

func TestWall(t *testing.T) {
	play(t, manyAtWork(), 200, 50, nil, func(r *rig) {
		stage(r)
		r.keys("V", "V", "V")
		r.shows("at first", "[auth-feature-a3f2] try-jwt-b7c1 migrations-0d14 cookies-77b2")
		box := r.pane.box
		r.choose("migrations-0d14")
		r.shows("one of them", "auth-feature-a3f2 try-jwt-b7c1 [migrations-0d14] cookies-77b2")
		r.become("cookies-77b2", thread.StateIdle)
		r.shows("one that is idle gives its place to one at work", "auth-feature-a3f2 try-jwt-b7c1 [migrations-0d14] deps-90c3")
		r.become("deps-90c3", thread.StateDone)
		r.shows("one that is done keeps its place if none is at work", "auth-feature-a3f2 try-jwt-b7c1 [migrations-0d14] deps-90c3")
		r.become("auth-feature-a3f2", thread.StateIdle)
		r.shows("one that was left just now keeps its place, whatever it does", "auth-feature-a3f2 try-jwt-b7c1 [migrations-0d14] deps-90c3")
		for _, id := range []thread.ID{"docs-f9a0", "flaky-tests-31aa"} {
			r.choose(id)
			r.keys("v")
			r.wait(100 * time.Millisecond)
		}
		r.choose("migrations-0d14")
		if got := r.pane.wall(); !strings.Contains(got, "docs-f9a0") || !strings.Contains(got, "flaky-tests-31aa") || !strings.Contains(got, "[migrations-0d14]") {
			t.Errorf("marked are docs and flaky-tests, shown %s", got)
		}
		r.keys("esc")
		b := r.m.place()
		for i, p := range b.Parts {
			if o := r.m.several.Thread(i); i != b.At && o != nil {
				r.send(tea.MouseClickMsg{X: p.Inner.X + 3, Y: p.Inner.Y + 3, Button: tea.MouseLeft})
				if r.pane.shown != o.ID || !r.m.pane.focus || r.pane.box != p.Inner {
					t.Errorf("a click into %s shows %s at %v, with keys %v", o.ID, r.pane.shown, r.pane.box, r.m.pane.focus)
				}
				break
			}
		}
		r.keys("ctrl+q", "g")
		if !r.pane.hidden || !r.pane.suspended {
			t.Error("a dialog does not cover all")
		}
		r.must("still ")
		r.keys("esc", "tab")
		before := r.pane.box
		if !r.pane.hidden || len(r.m.place().Parts) > 0 || before.W != box.W || len(r.pane.beside) != 3 {
			t.Errorf("with the timeline, terminals are hidden %v, %d beside %v", r.pane.hidden, len(r.pane.beside), before)
		}
		r.m.show(0)
		r.send(secondMsg{})
		r.keys("+")
		if len(r.pane.beside) != 0 {
			t.Error("zoomed, others are still watched")
		}
	})
}

// TestLayoutStorm: whatever the size, the layout and the threads, every terminal has a place of its own on the screen.
func TestLayoutStorm(t *testing.T) {
	play(t, manyAtWork(), 200, 50, nil, func(r *rig) {
		stage(r)
		states := []thread.State{thread.StateIdle, thread.StateWorking, thread.StateExited, thread.StateApproval, thread.StateDone}
		for i := range 300 {
			w, h := 60+i*37%341, 20+i*23%101
			r.send(tea.WindowSizeMsg{Width: w, Height: h})
			switch i % 4 {
			case 0:
				r.keys("V")
			case 1:
				r.keys([]string{"j", "k", "w"}[i%3])
			case 2:
				s := r.srv.threads[i%len(r.srv.threads)]
				r.become(string(s.ID), states[i%len(states)])
			case 3:
				r.keys("b")
			}
			r.m.View()
			for k, p := range r.pane.beside {
				for _, o := range r.pane.beside[k+1:] {
					if p.ID == o.ID || p.Box.Overlaps(o.Box) {
						t.Errorf("%d×%d: %v and %v", w, h, p, o)
						return
					}
				}
				if p.ID == r.pane.shown || p.Box.Overlaps(r.pane.box) || p.Box.X < 0 || p.Box.X+p.Box.W > w || p.Box.Y+p.Box.H > h {
					t.Errorf("%d×%d: %s is at %v, %s at %v", w, h, p.ID, p.Box, r.pane.shown, r.pane.box)
					return
				}
			}
		}
	})
}

// TestRemovedWhileShown: the thread that is selected is removed while others have a place beside it, and one has none.
func TestRemovedWhileShown(t *testing.T) {
	for presses := 1; presses <= 3; presses++ {
		play(t, manyAtWork(), 200, 50, nil, func(r *rig) {
			stage(r)
			for range presses {
				r.keys("V")
			}
			for range 4 {
				s := r.m.tree.Selected()
				if s == nil {
					return
				}
				r.event(thread.Event{Kind: thread.EventRemoved, ThreadID: s.ID})
				r.see()
				r.wait(time.Second)
			}
		})
	}
}
