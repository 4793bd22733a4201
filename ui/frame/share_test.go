package frame

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// TestPartsOfThePane tries all layouts in all sizes: each part is on the screen, none stands on another one, all
// terminals have the same size and are large enough, and a terminal has the same box whoever has the keys and whatever
// view is shown.
func TestPartsOfThePane(t *testing.T) {
	for w := 60; w <= 400; w += 20 {
		for h := 20; h <= 120; h += 4 {
			for l := Single; l < layouts; l++ {
				var split Split
				split.Share(l.Parts() > 1)
				s := Screen{W: w, H: h, List: split.Width(w), Facts: 4, Layout: l}
				if !l.Fits(w, h) && s.shared() != Stack {
					t.Errorf("%d×%d has no room for %v, but shows %v", w, h, l, s.shared())
				}
				for at := range l.Parts() {
					s.At = at
					b := s.Place()
					used := make([]string, w*h)
					fill := func(name string, box layout.Box) {
						for y := box.Y; y < box.Y+box.H; y++ {
							for x := box.X; x < box.X+box.W; x++ {
								if x < 0 || y < 0 || x >= w || y >= h {
									t.Fatalf("%v at %d×%d: %s %v is not on the screen", l, w, h, name, box)
								}
								if o := used[y*w+x]; o != "" {
									t.Fatalf("%v at %d×%d: %s stands on %s", l, w, h, name, o)
								}
								used[y*w+x] = name
							}
						}
					}
					fill("head", b.Head)
					fill("rule", b.Top)
					fill("foot", b.Foot)
					fill("keys", b.Keys)
					fill("list", b.List)
					fill("facts", b.Facts)
					fill("stack", b.Stack)
					if len(b.Parts) == 0 {
						fill("title", b.Title)
						fill("terminal", b.Inner)
					}
					for i, p := range b.Parts {
						fill(fmt.Sprint("title ", i), p.Title)
						fill(fmt.Sprint("terminal ", i), p.Inner)
						if p.Rule.Y != b.Top.Y {
							fill("rule", p.Rule)
						}
						if p.Inner.W != b.Parts[0].Inner.W || p.Inner.H != b.Parts[0].Inner.H {
							t.Errorf("%v at %d×%d: the terminals are %v", l, w, h, b.Parts)
						}
					}
					if b.Inner.W < 40 || b.Inner.H < 7 || len(b.Parts) == 0 && b.Inner.H < 12 {
						t.Errorf("%v at %d×%d leaves a terminal of %d×%d", l, w, h, b.Inner.W, b.Inner.H)
					}
					for _, o := range []Screen{{Listing: true}, {Reads: true}, {Listing: true, Reads: true}} {
						o.W, o.H, o.List, o.Facts, o.Layout, o.At = s.W, s.H, s.List, s.Facts, s.Layout, s.At
						if o.Terminal() != s.Terminal() {
							t.Errorf("%+v: the terminal is at %v, else at %v", o, o.Terminal(), s.Terminal())
						}
					}
				}
			}
		}
	}
}

func TestNextLayout(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{60, 20, "stack single stack"}, {120, 36, "stack wall single"}, {200, 50, "stack two columns wall single"},
		{200, 20, "stack two columns single"},
	} {
		var got []string
		l := Single
		for range strings.Count(strings.ReplaceAll(c.want, "two c", "c"), " ") + 1 {
			l = l.Next(c.w, c.h)
			got = append(got, l.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d×%d: %v, want %s", c.w, c.h, got, c.want)
		}
	}
}

// TestRulesOfParts looks at the rules between parts, and at which of them says where the keys go.
func TestRulesOfParts(t *testing.T) {
	s := Screen{W: 100, H: 24, List: 30, Facts: 2, Layout: Wall}
	for at, want := range [][2]string{
		{strings.Repeat("━", 49) + "┭" + strings.Repeat("─", 50), strings.Repeat("─", 49) + "┼" + strings.Repeat("─", 50)},
		{strings.Repeat("─", 49) + "┮" + strings.Repeat("━", 50), strings.Repeat("─", 49) + "┼" + strings.Repeat("─", 50)},
		{strings.Repeat("─", 49) + "┬" + strings.Repeat("─", 50), strings.Repeat("━", 49) + "┽" + strings.Repeat("─", 50)},
		{strings.Repeat("─", 49) + "┬" + strings.Repeat("─", 50), strings.Repeat("─", 49) + "┾" + strings.Repeat("━", 50)},
	} {
		s.At = at
		var c layout.Canvas
		c.Reset(100, 24)
		b := s.Place()
		b.Draw(&c, theme.New(colorprofile.ASCII, true), OnPane)
		rows := strings.Split(ansi.Strip(c.String()), "\n")
		if rows[1] != want[0] || rows[b.Parts[2].Rule.Y] != want[1] {
			t.Errorf("part %d: the rules are\n%s\n%s\nwant\n%s\n%s", at, rows[1], rows[b.Parts[2].Rule.Y], want[0], want[1])
		}
	}
}
