package layout

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"orchestrator/ui/glyph"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func TestPrintClips(t *testing.T) {
	var c Canvas
	c.Reset(10, 3)
	b := Box{2, 1, 5, 1}
	c.Print(b, 0, 0, lipgloss.NewStyle(), "abcdefgh")
	c.Print(b, 0, 1, lipgloss.NewStyle(), "below")
	c.Print(b, 0, -1, lipgloss.NewStyle(), "above")
	if got := c.String(); got != "\n  abcde\n" {
		t.Errorf("%q", got)
	}
}

func TestWideAtTheEdge(t *testing.T) {
	var c Canvas
	c.Reset(5, 1)
	c.Print(Box{0, 0, 3, 1}, 0, 0, lipgloss.NewStyle(), "日本")
	c.Print(c.Bounds(), 1, 0, lipgloss.NewStyle(), "x") // cuts 日 in two
	if got := c.String(); got != " x" {
		t.Errorf("%q", got)
	}
}

func TestFrame(t *testing.T) {
	var c Canvas
	c.Reset(12, 3)
	in := c.Frame(c.Bounds(), theme.New(colorprofile.ASCII, true), theme.Text, []styled.Span{{Text: "title"}})
	if in != (Box{1, 1, 10, 1}) {
		t.Errorf("inside %v", in)
	}
	want := "┌ title ───┐\n│          │\n└──────────┘"
	if got := c.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTintKeepsTheText(t *testing.T) {
	var c Canvas
	c.Reset(8, 1)
	c.Print(c.Bounds(), 0, 0, lipgloss.NewStyle().Foreground(lipgloss.Red), "a")
	c.Print(c.Bounds(), 1, 0, lipgloss.NewStyle(), "日b")
	c.Tint(Box{0, 0, 6, 1}, lipgloss.NewStyle().Foreground(lipgloss.White).Background(ansi.IndexedColor(25)).Underline(true))
	if got, want := c.String(), "\x1b[31;48;5;25;4ma\x1b[37m日b  \x1b[m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Tint(Box{0, 0, 6, 1}, lipgloss.NewStyle().Foreground(lipgloss.White).Background(lipgloss.Blue).Underline(true))
	if got, want := c.String(), "\x1b[37;44;4ma日b  \x1b[m"; got != want {
		t.Errorf("on one of the 16 colours: %q, want %q", got, want)
	}
	c.Fill(Box{2, 0, 1, 1}, lipgloss.NewStyle()) // the right half of 日
	if got, want := c.String(), "\x1b[37;44;4ma \x1b[m \x1b[37;44;4mb  \x1b[m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever is drawn where, the canvas keeps its size and nothing leaves the boxes.
func TestNothingLeavesItsBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Canvas
		w, h := rapid.IntRange(0, 20).Draw(t, "w"), rapid.IntRange(0, 8).Draw(t, "h")
		c.Reset(w, h)
		b := Box{rapid.IntRange(-3, 20).Draw(t, "x"), rapid.IntRange(-3, 8).Draw(t, "y"),
			rapid.IntRange(0, 20).Draw(t, "bw"), rapid.IntRange(0, 8).Draw(t, "bh")}
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab日 é👍"))).Draw(t, "text")
		c.Print(b, rapid.IntRange(-5, 20).Draw(t, "px"), rapid.IntRange(-2, 9).Draw(t, "py"), lipgloss.NewStyle(), text)
		for y := range h {
			for x := range w {
				if cl := c.cells.CellAt(x, y); !cl.Equal(&uv.EmptyCell) && !b.Contains(x, y) {
					t.Fatalf("%q was drawn at %d,%d outside of %v", cl.Content, x, y, b)
				}
			}
		}
		if n := strings.Count(c.String(), "\n"); h > 0 && n != h-1 {
			t.Fatalf("%d lines of %d", n+1, h)
		}
	})
}

func TestSplits(t *testing.T) {
	b := Box{1, 2, 10, 6}
	l, r := b.Left(4)
	if l != (Box{1, 2, 4, 6}) || r != (Box{5, 2, 6, 6}) {
		t.Error("left", l, r)
	}
	top, rest := b.Top(99)
	if top != b || !rest.Empty() {
		t.Error("top", top, rest)
	}
	if got := b.Center(4, 2); got != (Box{4, 4, 4, 2}) {
		t.Error("center", got)
	}
}

// TestSpinning: marks turn where they are seen: not where something is drawn over them, nor beyond their box.
func TestSpinning(t *testing.T) {
	for _, set := range []glyph.Set{glyph.Unicode, glyph.ASCII, glyph.Bytes} {
		c := Canvas{Glyphs: set}
		c.Reset(20, 6)
		st := lipgloss.NewStyle()
		for y := range 8 {
			c.Spin(Box{2, 0, 10, 5}, 1, y, st)
		}
		c.Print(c.Bounds(), 3, 1, st, "x")
		c.Fill(Box{0, 2, 20, 1}, st)
		c.Print(c.Bounds(), 0, 2, st, "  ◐◐") // of a dialog: it does not turn
		if got, want := fmt.Sprint(c.Spinning()), "[{3 0} {3 3} {3 4}]"; got != want {
			t.Errorf("%d: %s, want %s", set, got, want)
		}
		if c.Reset(20, 6); len(c.Spinning()) > 0 {
			t.Error("marks of the picture before turn")
		}
	}
}
