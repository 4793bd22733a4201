package frame

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// TestPartsFillTheScreen tries all sizes: the parts are on the screen, none stands on another one, and the terminal has
// the same box whatever is shown beside it.
func TestPartsFillTheScreen(t *testing.T) {
	var split Split
	for w := 60; w < 400; w += 13 {
		for h := 20; h < 80; h++ {
			plain := Screen{W: w, H: h, List: split.Width(w), Facts: 4}
			for _, s := range []Screen{
				plain, {W: w, H: h, List: plain.List, Listing: true, Facts: 3}, {W: w, H: h, List: plain.List, Whole: true, Listing: true, Asks: 5, Facts: 4},
				{W: w, H: h, List: plain.List, Whole: true, Asks: 5, Facts: 4}, {W: w, H: h, List: plain.List, Listing: true, Asks: 5, Facts: 5},
			} {
				b := s.Place()
				used := make([]int, w*h)
				parts := []layout.Box{b.Head, b.Top, b.Keys, b.Foot, b.List, b.Facts, b.Strip, b.Title, b.Inner}
				if b.Notice != b.Foot {
					parts = append(parts, b.Notice)
				}
				for _, p := range parts {
					for y := p.Y; y < p.Y+p.H; y++ {
						for x := p.X; x < p.X+p.W; x++ {
							if x < 0 || y < 0 || x >= w || y >= h {
								t.Fatalf("%+v: %v is not on the screen", s, p)
							}
							used[y*w+x]++
						}
					}
				}
				for i, n := range used {
					if n > 1 {
						t.Fatalf("%+v: two parts stand in column %d of row %d: %+v", s, i%w, i/w, b)
					}
				}
				if !b.Side.Empty() && b.List.H < listLeast || !b.Pane.Empty() && (b.Inner.W < 40 || b.Inner.H < 12) {
					t.Errorf("%+v leaves too little: %+v", s, b)
				}
				if s.Whole == plain.Whole && s.Terminal() != plain.Terminal() {
					t.Errorf("%+v: the terminal is at %v, else at %v", s, s.Terminal(), plain.Terminal())
				}
			}
		}
	}
}

func TestSplit(t *testing.T) {
	var s Split
	for w, want := range map[int]int{80: 30, 100: 38, 120: 46, 250: 60} {
		if got := s.Width(w); got != want {
			t.Errorf("%d columns: the list has %d, want %d", w, got, want)
		}
	}
	s.Widen(120, 2)
	if got := s.Width(120); got != 54 {
		t.Errorf("two steps wider: %d", got)
	}
	s.Widen(120, -100)
	if got := s.Width(120); got != narrowest {
		t.Errorf("as narrow as it gets: %d", got)
	}
	s.Widen(120, 1)
	if got := s.Width(120); got != narrowest+step {
		t.Errorf("a step wider than that: %d", got)
	}
	s.Drag(120, 500)
	if got := s.Width(120); got != 79 {
		t.Errorf("as wide as it gets: %d", got)
	}
	if got := s.Width(80); got != 39 {
		t.Errorf("on a smaller screen: %d", got)
	}
	if s.Reset(); s.Width(120) != 46 {
		t.Errorf("taken back: %d", s.Width(120))
	}
}

func TestDrag(t *testing.T) {
	var s Split
	var d Drag
	now := time.Unix(0, 0)
	d.Press(&s, now)
	d.Mouse(&s, 120, tea.MouseMotionMsg{X: 60})
	if !d.On() || s.Width(120) != 60 {
		t.Errorf("dragged to %d", s.Width(120))
	}
	d.Mouse(&s, 120, tea.MouseReleaseMsg{X: 60})
	d.Press(&s, now.Add(time.Second))
	d.Mouse(&s, 120, tea.MouseReleaseMsg{X: 60})
	if d.On() || s.Width(120) != 60 {
		t.Errorf("a click moved it to %d", s.Width(120))
	}
	if d.Press(&s, now.Add(time.Second+100*time.Millisecond)); d.On() || s.Width(120) != 46 {
		t.Errorf("a double click leaves it at %d", s.Width(120))
	}
}

// TestRulesJoin looks at the rules, and at which of them says where the keys go.
func TestRulesJoin(t *testing.T) {
	b := Screen{W: 80, H: 20, List: 30, Facts: 2, Listing: true}.Place()
	for focus, top := range map[Focus]string{
		Nothing: strings.Repeat("─", 30) + "┬" + strings.Repeat("─", 49),
		OnList:  strings.Repeat("━", 30) + "┭" + strings.Repeat("─", 49),
		OnPane:  strings.Repeat("─", 30) + "┮" + strings.Repeat("━", 49),
	} {
		var c layout.Canvas
		c.Reset(80, 20)
		th := theme.New(colorprofile.ASCII, true)
		b.Draw(&c, th, focus)
		b.Heading(&c, th, b.Facts, []styled.Span{{Text: "docs"}})
		_, strip := b.Pane.Bottom(3)
		b.Heading(&c, th, strip, []styled.Span{{Text: "answer"}})
		rows := strings.Split(ansi.Strip(c.String()), "\n")
		for y, want := range map[int]string{
			1: top, 2: strings.Repeat(" ", 30) + "│", b.Facts.Y: "─ docs " + strings.Repeat("─", 23) + "┤",
			18: strings.Repeat("─", 30) + "┴" + strings.Repeat("─", 49),
		} {
			if rows[y] != want {
				t.Errorf("%v: row %d is %q, want %q", focus, y, rows[y], want)
			}
		}
		if want := "├─ answer ─"; !strings.Contains(rows[strip.Y], want) {
			t.Errorf("row %d is %q", strip.Y, rows[strip.Y])
		}
	}
}
