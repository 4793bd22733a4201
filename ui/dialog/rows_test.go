package dialog

import (
	"fmt"
	"slices"
	"testing"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

// TestRows: keys and clicks move the cursor, which is always in sight and stays on its item, or in its place once that is
// gone; a click beside the items does nothing.
func TestRows(t *testing.T) {
	var c layout.Canvas
	c.Reset(20, 10)
	th := theme.New(colorprofile.TrueColor, true)
	same := func(a, b string) bool { return a == b }
	for _, height := range []int{0, 1, 3} {
		r := Rows[string]{Height: height}
		box := layout.Box{X: 2, Y: 1, W: 12, H: 6}
		draw := func() (seen []string) {
			r.Draw(&c, box, th, func(row layout.Box, it string) {
				if row.X != box.X || row.W != box.W || row.H > max(height, 1) || row.Y+row.H > box.Y+box.H {
					t.Errorf("row %+v in %+v", row, box)
				}
				seen = append(seen, it)
			})
			return seen
		}
		if _, ok := r.Item(); ok || len(draw()) > 0 {
			t.Error("an empty list has an item")
		}
		if hit, _ := r.Click(3, 1); hit || r.Handle(intent.Accept) || !r.Handle(intent.Down) {
			t.Error("an empty list takes what it should not")
		}
		items := make([]string, 9)
		for i := range items {
			items[i] = fmt.Sprint("item ", i)
		}
		r.Set(items, same)
		for range 7 {
			r.Handle(intent.Down)
		}
		if it, _ := r.Item(); it != "item 7" || !slices.Contains(draw(), it) {
			t.Errorf("at %q of %q", it, draw())
		}
		r.Set(append([]string{"new"}, items...), same)
		if it, _ := r.Item(); it != "item 7" || r.At() != 8 {
			t.Errorf("after one came: at %q", it)
		}
		r.Set(items[:7], same)
		if it, _ := r.Item(); it != "item 6" {
			t.Errorf("after its item went: at %q", it)
		}
		r.Go(0)
		draw()
		for _, p := range []layout.Point{{X: 1, Y: 1}, {X: 14, Y: 1}, {X: 3, Y: 0}, {X: 3, Y: 7}} {
			if hit, _ := r.Click(p.X, p.Y); hit {
				t.Errorf("a click at %v is in the list", p)
			}
		}
		y := 1 + max(height, 1)
		if hit, again := r.Click(3, y); !hit || again || r.At() != 1 {
			t.Errorf("click: %v %v, at %d", hit, again, r.At())
		}
		if hit, again := r.Click(13, y); !hit || !again {
			t.Errorf("second click: %v %v", hit, again)
		}
	}
}

// TestRowsBar: a list that is longer than its window has a scroll bar in a column of its own.
func TestRowsBar(t *testing.T) {
	var c layout.Canvas
	th := theme.New(colorprofile.TrueColor, true)
	for n, want := range map[int]bool{3: false, 40: true} {
		c.Reset(10, 4)
		r := Rows[int]{Bar: true}
		r.Set(make([]int, n), nil)
		r.Draw(&c, c.Bounds(), th, func(row layout.Box, _ int) {
			if row.W != 9 {
				t.Errorf("a row of %d cells", row.W)
			}
		})
		if got := slices.Contains([]rune(c.String()), '▐'); got != want {
			t.Errorf("%d items: bar %v", n, got)
		}
	}
}
