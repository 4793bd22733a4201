package paint

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// TestMove: what Bubble Tea draws where the pane was stays, whether it comes before or after the pane has
// moved, and nothing of the pane does.
func TestMove(t *testing.T) {
	large, small := Box{X: 1, Y: 1, W: 18, H: 6}, Box{X: 3, Y: 1, W: 10, H: 5}
	const border = "\x1b[7;1H####################"
	for name, move := range map[string]func(*fixture, Pane){
		"adopted by what is drawn": func(f *fixture, p Pane) { f.spot.want(&p); _, _ = f.Write([]byte(border)) },
		"before":                   func(f *fixture, p Pane) { f.SetPane(p); _, _ = f.Write([]byte(border)) },
	} {
		for _, fresh := range []bool{false, true} {
			f := newFixture(colorprofile.TrueColor, 20, 9, large)
			f.feed("%s", strings.Repeat("x", large.W*large.H))
			p := Pane{Box: small, Source: f.in}
			if fresh {
				f.in = newInner(small.W, small.H)
				p.Source = f.in
			}
			move(f, p)
			chrome := vterm.New(20, 9, vterm.Options{})
			_, _ = chrome.Write([]byte(border))
			t.Run(fmt.Sprint(name, ", fresh ", fresh), func(t *testing.T) { f.check(t, chrome, small) })
		}
	}
}

// stale is what Bubble Tea may still draw of an older frame before it knows where the pane is.
var stale = map[string]string{"": "", ", after an older frame": "\x1b[9;3H-", ", after two": "\x1b[9;3H-\x1b[9;3H|"}

// TestGrow: the pane grows over a border before Bubble Tea knows, which then moves the border out of the way.
func TestGrow(t *testing.T) {
	small, large := Box{X: 1, Y: 1, W: 18, H: 5}, Box{X: 1, Y: 1, W: 18, H: 6}
	for name, before := range stale {
		f := newFixture(colorprofile.TrueColor, 20, 9, small)
		chrome := vterm.New(20, 9, vterm.Options{})
		for i, s := range []string{"\x1b[7;1H\x1b[31m####################\x1b[m", before, "\x1b[7;8r\x1b[7;1H\x1b[L\x1b[r"} {
			if i == 1 {
				f.in = newInner(large.W, large.H)
				f.in.feed("%s", strings.Repeat("x", large.W*large.H))
				f.spot.want(&Pane{Box: large, Source: f.in})
			}
			if s == "" {
				f.SetPane(Pane{Box: large, Source: f.in})
				continue
			}
			_, _ = f.Write([]byte(s))
			_, _ = chrome.Write([]byte(s))
		}
		t.Run(name, func(t *testing.T) { f.check(t, chrome, large) })
	}
}

// TestAppear: a pane that was suspended, under a dialog, appears larger than it was, before Bubble Tea knows: over its border
// and over what is left of the dialog.
func TestAppear(t *testing.T) {
	for name, before := range stale {
		t.Run(name, func(t *testing.T) { testAppear(t, before) })
	}
}

func testAppear(t *testing.T, before string) {
	small, large := Box{X: 1, Y: 1, W: 18, H: 5}, Box{X: 1, Y: 1, W: 18, H: 6}
	for name, then := range map[string]string{
		"the border moves": "\x1b[3;5H          \x1b[7;8r\x1b[7;1H\x1b[L\x1b[r",
		"it is drawn anew": "\x1b[3;5H          \x1b[7;2H                  \x1b[8;1H\x1b[31m####################\x1b[m",
		"nothing moves":    "\x1b[3;5H          ",
	} {
		f := newFixture(colorprofile.TrueColor, 20, 9, small)
		chrome := vterm.New(20, 9, vterm.Options{})
		write := func(s string) {
			_, _ = f.Write([]byte(s))
			_, _ = chrome.Write([]byte(s))
		}
		write("\x1b[7;1H\x1b[31m####################\x1b[m")
		f.feed("%s", strings.Repeat("x", small.W*small.H))
		f.Suspend()
		write("\x1b[3;5H[ dialog ]")
		box := large
		if name == "nothing moves" {
			box = small
		}
		f.in = newInner(box.W, box.H)
		f.in.feed("%s", strings.Repeat("y", box.W*box.H))
		if before == "" {
			f.SetPane(Pane{Box: box, Source: f.in})
		} else {
			f.spot.want(&Pane{Box: box, Source: f.in}) // it is drawn together with the older frame
			write(before)
		}
		write(then)
		t.Run(name, func(t *testing.T) { f.check(t, chrome, box) })
	}
}
