package paint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/vterm"
	"orchestrator/ui/glyph"
	"orchestrator/ui/layout"

	"github.com/charmbracelet/colorprofile"
)

// spinning is a fixture whose chrome has marks, without a pane.
type spinning struct {
	*fixture
	t      *testing.T
	chrome *vterm.Terminal // what Bubble Tea believes to be on the screen
	places []layout.Point
}

func newSpinning(t *testing.T) *spinning {
	f := newFixture(colorprofile.TrueColor, 30, 8, Box{X: 20, Y: 1, W: 8, H: 4})
	f.Suspend()
	s := &spinning{fixture: f, t: t, chrome: vterm.New(30, 8, vterm.Options{})}
	fmt.Fprint(s.chrome, "\x1b[?1049h")
	return s
}

// draw is what Bubble Tea draws.
func (s *spinning) draw(format string, args ...any) {
	b := fmt.Appendf(nil, format, args...)
	if _, err := s.Write(b); err != nil {
		s.t.Fatal(err)
	}
	_, _ = s.chrome.Write(b)
}

func (s *spinning) turnAt(places ...layout.Point) {
	s.places = places
	s.Turn(places)
}

// tick lets the timer end. Its function is the last one that was set.
func (s *spinning) tick() bool {
	if len(s.late) == 0 {
		return false
	}
	do := s.late[len(s.late)-1]
	s.late = nil
	do()
	return true
}

// check compares the screen with the chrome, in which the marks show a frame.
func (s *spinning) check(frame int) {
	s.t.Helper()
	glyphs := []rune(glyph.Spinner)
	for y := range 8 {
		got, want := s.out.term.Row(nil, y), s.chrome.Row(nil, y)
		for x := range want {
			if slices.Contains(s.places, layout.Point{X: x, Y: y}) && want[x].Rune == glyphs[0] {
				want[x].Rune = glyphs[frame%len(glyphs)]
			}
			if string(got[x].AppendText(nil)) != string(want[x].AppendText(nil)) || got[x].Style != want[x].Style {
				s.t.Fatalf("cell %d,%d: got %q %+v, want %q %+v\n%s", x, y, got[x].AppendText(nil), got[x].Style,
					want[x].AppendText(nil), want[x].Style, s.out.text())
			}
		}
	}
}

// TestTurn: marks turn without Bubble Tea, in the colours that it has given them, until they are taken away.
func TestTurn(t *testing.T) {
	s := newSpinning(t)
	a, b := layout.Point{X: 1, Y: 2}, layout.Point{X: 1, Y: 4}
	s.draw("\x1b[3;1H \x1b[31;44m◐\x1b[m one\x1b[5;1H ◐ two\x1b[6;1H ◐ not told")
	s.turnAt(a, b)
	for frame := 1; frame < 6; frame++ {
		if !s.tick() {
			t.Fatal("no timer runs while marks turn")
		}
		s.check(frame)
	}
	before := len(s.out.written())
	s.Turn([]layout.Point{a, b}) // as before
	s.draw("\x1b[8;1Hx")
	if n := len(s.out.written()) - before; n > 200 {
		t.Errorf("a letter costs %d bytes", n)
	}
	s.turnAt(b)
	s.tick()
	s.check(6)
	s.turnAt()
	s.tick()
	s.check(0)
	if s.tick() {
		t.Error("the timer runs while nothing turns")
	}
}

// TestTurnLeavesOthersAlone: what is not a mark of Bubble Tea's is never drawn over: a place that is told before it is
// drawn, a dialog, a place beyond the screen.
func TestTurnLeavesOthersAlone(t *testing.T) {
	s := newSpinning(t)
	at := layout.Point{X: 1, Y: 2}
	s.draw("\x1b[3;1Htext")
	s.turnAt(at, layout.Point{X: 500, Y: 1}, layout.Point{X: 1, Y: 500}, layout.Point{X: -1, Y: -1})
	s.tick()
	s.check(1)
	s.draw("\x1b[3;1H ◐ ")
	s.tick()
	s.check(2)
	s.draw("\x1b[3;1H dialog")
	s.tick()
	s.check(3)
	s.draw("\x1b[?1049l")
	before := len(s.out.written())
	s.tick()
	if n := len(s.out.written()); n != before {
		t.Errorf("%q was written outside of the alternate screen", s.out.written()[before:])
	}
}

// TestTurnASCII: the marks turn in the letters of a terminal without our glyphs.
func TestTurnASCII(t *testing.T) {
	s := newSpinning(t)
	s.Show(glyph.Bytes)
	first := glyph.Bytes.Shown("◐", 1)
	s.draw("\x1b[3;1H %s one", first)
	s.turnAt(layout.Point{X: 1, Y: 2})
	for _, frame := range []string{"◓", "◑", "◒", "◐"} {
		s.tick()
		if got, want := s.out.term.RowText(2), " "+glyph.Bytes.Shown(frame, 1)+" one"; strings.TrimRight(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTurnComposite: whatever Bubble Tea erases, scrolls or draws anew, and whichever marks come and go: the screen is its
// picture with the frame in the marks.
func TestTurnComposite(t *testing.T) {
	bits := []string{
		"\x1b[H\x1b[Ktitle%d", "\x1b[3;1H ◐ a\x1b[K", "\x1b[4;1H\x1b[2K ◐ b", "\x1b[8;1H\x1b[Jstatus", "\x1b[8;1H\n", "\x1b[H\x1bM",
		"\x1b[5;1H\x1b[L", "\x1b[2;1H\x1b[M", "\x1b[S", "\x1b[T", "\x1b[3;3H\x1b[20X", "\x1b[4;2H\x1b[@y", "\x1b[4;2H\x1b[P",
		"\x1b[2J\x1b[Hall%d", "\x1b[2;6r\x1b[6H\n\x1b[r", "\x1b[31m\x1b[6;1H ◐ red\x1b[m", "\x1b[5;1H ◐ ◐ ◐", "",
	}
	for seed := range 40 {
		rng := rand.New(rand.NewPCG(7, uint64(seed)))
		s := newSpinning(t)
		frame := 0
		for i := range 80 {
			switch rng.IntN(4) {
			case 0:
				if s.tick() {
					frame++
				}
			case 1:
				var places []layout.Point
				for y := range 8 {
					if rng.IntN(2) == 0 {
						places = append(places, layout.Point{X: 1 + 2*rng.IntN(2), Y: y})
					}
				}
				s.turnAt(places...)
				s.draw("\x1b[7;5H%d", i)
			default:
				s.draw("%s", strings.ReplaceAll(bits[rng.IntN(len(bits))], "%d", fmt.Sprint(i)))
			}
			s.check(frame)
		}
	}
}
