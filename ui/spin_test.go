package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/paint"

	"github.com/charmbracelet/colorprofile"
)

// emulator is the person's terminal under the writer, which writes from a timer too.
type emulator struct {
	mu   sync.Mutex
	term *vterm.Terminal
}

func (e *emulator) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term.Write(b)
}

// Text returns what it shows.
func (e *emulator) Text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term.Text()
}

// Row returns the text of a row.
func (e *emulator) Row(y int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.term.RowText(y)
}

func (*emulator) Read([]byte) (int, error) { return 0, io.EOF }
func (*emulator) Close() error             { return nil }
func (*emulator) Fd() uintptr              { return ^uintptr(0) }

// spun is a rig whose screen is drawn by the writer, as Bubble Tea has it drawn.
type spun struct {
	*rig
	w    *paint.Writer
	term *emulator
}

func playSpun(t *testing.T, w, h int, test func(s *spun)) {
	term := &emulator{term: vterm.New(w, h, vterm.Options{})}
	s := &spun{term: term}
	play(t, world(), w, h, func(c *Config) {
		s.w = paint.New(term, colorprofile.TrueColor, w, h)
		c.Turn = s.w.Turn
	}, func(r *rig) {
		s.rig = r
		fmt.Fprint(s.w, "\x1b[?1049h")
		stage(r)
		test(s)
		_ = s.w.Close()
	})
}

// mustSee fails where the terminal does not show a text.
func (s *spun) mustSee(text string) {
	s.t.Helper()
	fmt.Fprint(s.w, "\x1b[H", strings.ReplaceAll(s.m.View().Content, "\n", "\x1b[K\r\n"))
	if see := s.term.Text(); !strings.Contains(see, text) {
		s.t.Errorf("%q is not on the terminal:\n%s", text, see)
	}
}

// idle has all threads wait for a prompt, for as long as given.
func (s *spun) idle(since ...time.Duration) {
	for i, x := range s.srv.threads {
		x.State.State, x.State.Since = thread.StateIdle, time.Now().Add(-since[i%len(since)])
		s.event(thread.Event{Kind: thread.EventThread, ThreadID: x.ID, Status: &x})
	}
}

// TestWorkingMarkMoves: the mark of what works turns four times a second, whatever is selected, without the model.
func TestWorkingMarkMoves(t *testing.T) {
	playSpun(t, 120, 36, func(s *spun) {
		s.m.tree.Select("docs-f9a0")
		s.wait(100 * time.Millisecond)
		s.mustSee("◐ auth-feature")
		before := s.m.screen.drawn
		seen := map[string]bool{}
		for range 4 {
			s.wait(250 * time.Millisecond)
			for _, glyph := range []string{"◓", "◑", "◒", "◐"} {
				seen[glyph] = seen[glyph] || strings.Contains(s.term.Text(), glyph+" auth-feature")
			}
		}
		if len(seen) != 4 || !seen["◓"] || !seen["◑"] || !seen["◒"] || !seen["◐"] {
			t.Errorf("it showed %v", seen)
		}
		if n := s.m.screen.drawn.Sub(before); n > 1100*time.Millisecond {
			t.Errorf("drawn after %v", n)
		}
		s.keys("?")
		s.mustSee("keys")
		if places := s.m.screen.canvas.Spinning(); len(places) > 0 && s.m.dialogs.Open() {
			for _, p := range places {
				if !strings.HasPrefix(s.term.Row(p.Y)[p.X:], "◐") {
					t.Errorf("a mark under the dialog turns at %v", p)
				}
			}
		}
	})
	var told []layout.Point
	play(t, world(), 60, 20, func(c *Config) { c.Turn = func(p []layout.Point) { told = p } }, func(r *rig) {
		stage(r)
		r.m.tree.Select("docs-f9a0")
		r.see()
		if len(told) == 0 {
			t.Error("nothing turns in the list")
		}
		r.showMain()
		r.wait(3 * time.Second)
		r.see()
		if r.m.screen.ticking || len(told) > 0 {
			t.Errorf("ticking, or turning at %v, while the list is not on show", told)
		}
	})
}

// TestRestsWhileNothingHappens: ages grow together, so that a list of threads costs few frames, and a question that waits
// costs no more once its age counts minutes.
func TestRestsWhileNothingHappens(t *testing.T) {
	frames := func(s *spun, d time.Duration) int {
		before := s.m.screen.ticks
		for end := time.Now().Add(d); time.Now().Before(end); s.m.View() {
			time.Sleep(500 * time.Millisecond)
			s.settle()
		}
		return s.m.screen.ticks - before
	}
	playSpun(t, 120, 36, func(s *spun) {
		s.idle(3*time.Second, 9300*time.Millisecond, 25700*time.Millisecond, 31500*time.Millisecond)
		if n := frames(s, 20*time.Second); n < 18 || n > 22 {
			t.Errorf("%d frames in 20 s while ages count seconds", n)
		}
		frames(s, time.Minute)
		if n := frames(s, 4*time.Minute); n < 4 || n > 17 {
			t.Errorf("%d frames in 4 min while ages count minutes", n)
		}
		s.must("5m")
		frames(s, 2*time.Hour)
		if n := frames(s, time.Hour); n > 6 {
			t.Errorf("%d frames in an hour while ages count hours", n)
		}
	})
	playSpun(t, 120, 36, func(s *spun) {
		s.idle(90*time.Second, 2*time.Minute)
		x := s.srv.find("docs-f9a0")
		x.State.State, x.State.Since = thread.StateApproval, time.Now()
		x.State.Question = &thread.Question{ID: "q", Since: time.Now(), Text: "Do you want to proceed?",
			Choices: []thread.Choice{{Text: "Yes", Means: thread.Approve}, {Text: "No", Means: thread.Deny}}}
		s.event(thread.Event{Kind: thread.EventThread, ThreadID: x.ID, Status: &x})
		s.m.tree.Select(x.ID)
		if n := frames(s, 20*time.Second); n < 18 || n > 22 {
			t.Errorf("%d frames in 20 s while the question's age counts seconds", n)
		}
		frames(s, time.Minute)
		if n := frames(s, 4*time.Minute); n < 4 || n > 17 {
			t.Errorf("%d frames in 4 min while its age counts minutes", n)
		}
		s.must("Do you want to proceed?", "5m")
	})
}
