package paint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// wall is a writer with four panes.
type wall struct {
	*Writer
	out   *outer
	spots []*Spot
	ins   []*inner
	boxes []Box
	at    time.Time
	late  []func()
}

func newWall() *wall {
	f := &wall{out: newOuter(60, 20), at: time.Unix(100, 0)}
	f.Writer = New(f.out, colorprofile.TrueColor, 60, 20)
	f.now = func() time.Time { f.at = f.at.Add(time.Second); return f.at }
	f.later = func(_ time.Duration, do func()) *time.Timer {
		f.late = append(f.late, do)
		return time.NewTimer(time.Hour)
	}
	_, _ = f.Write([]byte("\x1b[?1049h\x1b[?25l\x1b[2J"))
	for i := range 4 {
		f.boxes = append(f.boxes, Box{X: 1 + i%2*30, Y: 1 + i/2*10, W: 28, H: 8})
		f.ins = append(f.ins, newInner(28, 8))
		f.spots = append(f.spots, f.Spot())
		f.show(i, Pane{Box: f.boxes[i], Source: f.ins[i], Cursor: i == 0, Watched: i > 0})
	}
	return f
}

func (f *wall) show(i int, p Pane) {
	f.spots[i].SetPane(p)
	f.spots[i].adoptNow()
}

func (f *wall) feed(i int, format string, args ...any) {
	f.ins[i].feed(format, args...)
	f.spots[i].Changed()
}

// check compares the screen with chrome and panes put together by hand.
func (f *wall) check(t *testing.T, chrome *vterm.Terminal, focus int) {
	t.Helper()
	for y := range 20 {
		want := chrome.Row(nil, y)
		for i, b := range f.boxes {
			if row := y - b.Y; row >= 0 && row < b.H {
				copy(want[b.X:b.X+b.W], f.ins[i].term.Row(nil, row)[:b.W])
			}
		}
		for x, g := range f.out.term.Row(nil, y) {
			if w := want[x]; string(g.AppendText(nil)) != string(w.AppendText(nil)) || g.Style != w.Style {
				t.Fatalf("cell %d,%d: got %q, want %q\n%s", x, y, g.AppendText(nil), w.AppendText(nil), f.out.term.Text())
			}
		}
	}
	cur, want, b := f.out.term.Cursor(), f.ins[focus].term.Cursor(), f.boxes[focus]
	if !cur.Visible || cur.X != b.X+want.X || cur.Y != b.Y+want.Y {
		t.Fatalf("the cursor is at %d,%d, want %d,%d of pane %d", cur.X, cur.Y, want.X, want.Y, focus)
	}
}

// TestSpots draws chrome and four panes in turn, while they change their places and the focus: the screen is always all
// of them put together, and the cursor is in the focused one.
func TestSpots(t *testing.T) {
	chromeBits := []string{"\x1b[H\x1b[Ktitle%d", "\x1b[3;1H\x1b[2Kx", "\x1b[20;1H\n", "\x1b[H\x1bM", "\x1b[2J\x1b[Hall%d", "\x1b[31m\x1b[2;2Hred\x1b[m"}
	paneBits := []string{"hello %d ", "\r\n", "\x1b[31mred\x1b[m", "\x1b[2J", "\x1b[H", "\n\n", "\x1b[44m\x1b[K\x1b[m", "abc"}
	for seed := range 10 {
		rng := rand.New(rand.NewPCG(7, uint64(seed)))
		f := newWall()
		chrome := vterm.New(60, 20, vterm.Options{})
		fmt.Fprint(chrome, "\x1b[?1049h")
		focus := 0
		for n := range 150 {
			switch rng.IntN(8) {
			case 0, 1:
				s := strings.ReplaceAll(chromeBits[rng.IntN(len(chromeBits))], "%d", fmt.Sprint(n))
				_, _ = f.Write([]byte(s))
				_, _ = chrome.Write([]byte(s))
			case 2: // two change places, one after the other
				a, b := rng.IntN(4), rng.IntN(4)
				f.boxes[a], f.boxes[b] = f.boxes[b], f.boxes[a]
				for _, i := range []int{a, b} {
					f.show(i, Pane{Box: f.boxes[i], Source: f.ins[i], Cursor: i == focus, Watched: i != focus})
				}
			case 3:
				was := focus
				focus = rng.IntN(4)
				for _, i := range []int{was, focus} {
					f.show(i, Pane{Box: f.boxes[i], Source: f.ins[i], Cursor: i == focus, Watched: i != focus})
				}
			case 4: // one is covered and comes back
				i := rng.IntN(4)
				f.spots[i].Suspend()
				if rng.IntN(2) == 0 {
					f.spots[i].adoptNow()
				}
				f.show(i, Pane{Box: f.boxes[i], Source: f.ins[i], Cursor: i == focus, Watched: i != focus})
			default:
				f.feed(rng.IntN(4), "%s", strings.ReplaceAll(paneBits[rng.IntN(len(paneBits))], "%d", fmt.Sprint(n)))
			}
			f.check(t, chrome, focus)
		}
	}
}

// TestWatchedGap: a pane that is only watched is painted less often, and holds no frame of the focused one back.
func TestWatchedGap(t *testing.T) {
	f := newWall()
	now := f.at.Add(time.Hour)
	f.now = func() time.Time { return now }
	f.feed(1, "flood1")
	now = now.Add(frameGap)
	f.feed(1, "flood2")
	if s := f.out.text(); !strings.Contains(s, "flood1") || strings.Contains(s, "flood2") || len(f.late) != 1 {
		t.Fatalf("of a watched pane is painted\n%s\nand %d wait", s, len(f.late))
	}
	f.feed(0, "key")
	if s := f.out.text(); !strings.Contains(s, "key") || strings.Contains(s, "flood2") {
		t.Errorf("the focused pane waits for the watched one:\n%s", s)
	}
	f.late[0]()
	if !strings.Contains(f.out.text(), "flood1flood2") {
		t.Error("the gap's end draws nothing")
	}
}

// TestNewestRows: of a watched terminal that is larger than its box, the newest rows are shown, from the left.
func TestNewestRows(t *testing.T) {
	f := newWall()
	f.ins[1].View(func(t *vterm.Terminal) { t.Resize(40, 20) })
	f.feed(1, "top")
	if !strings.Contains(f.out.text(), "top") {
		t.Error("rows that fit are not shown")
	}
	for i := range 15 {
		f.feed(1, "\r\nline %d %s|", i, strings.Repeat("x", 30))
	}
	s := f.out.text()
	if !strings.Contains(s, "line 14") || strings.Contains(s, "top") || strings.Contains(s, "line 4 ") {
		t.Errorf("the newest rows are not shown:\n%s", s)
	}
	f.show(1, Pane{Box: f.boxes[1], Source: f.ins[1]})
	if s := f.out.text(); !strings.Contains(s, "top") {
		t.Errorf("a pane that is worked in shows its first rows:\n%s", s)
	}
}

// BenchmarkKeyBesideFloods is BenchmarkKey beside three watched panes that print as fast as they are painted.
func BenchmarkKeyBesideFloods(b *testing.B) {
	for _, panes := range []int{1, 4} {
		b.Run(fmt.Sprintf("%d panes", panes), func(b *testing.B) {
			out := newOuter(200, 50)
			w := New(out, colorprofile.TrueColor, 200, 50)
			_, _ = w.Write([]byte("\x1b[?1049h\x1b[?25l\x1b[2J"))
			var spots []*Spot
			var ins []*inner
			for i := range panes {
				box := Box{X: 1 + i%2*100, Y: 1 + i/2*25, W: 98, H: 23}
				ins = append(ins, newInner(98, 23))
				spots = append(spots, w.Spot())
				spots[i].SetPane(Pane{Box: box, Source: ins[i], Cursor: i == 0, Watched: i > 0})
				spots[i].adoptNow()
			}
			at := time.Unix(100, 0)
			w.now = func() time.Time { return at }
			for i := 0; b.Loop(); i++ {
				at = at.Add(10 * time.Millisecond)
				out.all = out.all[:0]
				for k := 1; k < panes; k++ {
					ins[k].feed("\x1b[%dm%d %s\r\n", 31+i%7, i, strings.Repeat("text ", 18))
					spots[k].Changed()
				}
				ins[0].feed("%c", 'a'+i%26)
				spots[0].Changed()
			}
		})
	}
}
