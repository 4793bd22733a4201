package list

import (
	"flag"
	"testing"

	"orchestrator/ui/intent"

	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func shown(w *Window) (items, rows []int) {
	for i, row := range w.Items() {
		items, rows = append(items, i), append(rows, row)
	}
	return items, rows
}

func TestMoves(t *testing.T) {
	var w Window
	w.Fit(100, 10, nil)
	for _, c := range []struct {
		act     intent.Action
		at, top int
	}{
		{intent.Up, 0, 0}, {intent.Down, 1, 0}, {intent.PageDown, 10, 1}, {intent.PageDown, 19, 10},
		{intent.PageUp, 10, 10},
		{intent.Up, 9, 9}, {intent.Last, 99, 90}, {intent.Down, 99, 90}, {intent.Up, 98, 90}, {intent.First, 0, 0},
	} {
		if !w.Handle(c.act) {
			t.Errorf("%v moves nothing", c.act)
		}
		w.Fit(100, 10, nil)
		if w.At() != c.at || w.Above() != c.top || w.Below() != 90-c.top {
			t.Errorf("%v: at %d, top %d, %d below; want %d, %d", c.act, w.At(), w.Above(), w.Below(), c.at, c.top)
		}
	}
	if w.Handle(intent.Accept) {
		t.Error("accept moves")
	}
}

func TestFreeWindowScrolls(t *testing.T) {
	w := Window{Free: true}
	w.Fit(30, 10, nil)
	w.Move(3)
	if w.Above() != 3 || w.At() != 3 {
		t.Errorf("after 3 rows: at %d, top %d", w.At(), w.Above())
	}
	w.Go(25)
	w.Fit(30, 10, nil)
	if w.At() != 25 || w.Above() != 20 {
		t.Errorf("gone to 25: at %d, top %d", w.At(), w.Above())
	}
	w.Go(12)
	if w.Fit(30, 10, nil); w.Above() != 9 {
		t.Errorf("gone to 12: top %d", w.Above())
	}
	w.Handle(intent.Last)
	if row, more := w.Thumb(); row != 9 || !more || w.Above() != 20 {
		t.Errorf("at the end: thumb in %d, top %d", row, w.Above())
	}
}

// Whatever is done to lists of whatever heights, the cursor shows and the window is used.
func TestCursorShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tall := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 40).Draw(t, "heights")
		w := Window{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				tall = rapid.SliceOfN(rapid.IntRange(1, 3), 0, 40).Draw(t, "heights")
			case 1:
				w.Go(rapid.IntRange(-3, 50).Draw(t, "item"))
			case 2:
				w.Move(rapid.IntRange(-50, 50).Draw(t, "by"))
			default:
				w.Handle(rapid.SampledFrom([]intent.Action{intent.Up, intent.Down, intent.PageUp, intent.PageDown,
					intent.First, intent.Last}).Draw(t, "action"))
			}
			check(t, &w, tall, rapid.IntRange(0, 15).Draw(t, "rows"))
		}
		w.Handle(intent.First)
		if w.At() != 0 {
			t.Fatalf("first is %d", w.At())
		}
		w.Handle(intent.Last)
		if w.At() != max(len(tall)-1, 0) {
			t.Fatalf("last is %d of %d", w.At(), len(tall))
		}
	})
}

func check(t *rapid.T, w *Window, tall []int, rows int) {
	w.Fit(len(tall), rows, func(i int) int { return tall[i] })
	items, at := shown(w)
	if w.At() < 0 || w.At() > max(len(tall)-1, 0) {
		t.Fatalf("the cursor is at %d of %d", w.At(), len(tall))
	}
	if w.Above()+len(items)+w.Below() != len(tall) && rows > 0 {
		t.Fatalf("%d above, %d shown, %d below of %d", w.Above(), len(items), w.Below(), len(tall))
	}
	if len(tall) == 0 || rows == 0 {
		if len(items) > 0 {
			t.Fatalf("items %v show", items)
		}
		return
	}
	seen, used := false, 0
	for k, i := range items {
		if i == w.At() {
			seen = at[k]+tall[i] <= rows || k == 0
		}
		for row := at[k]; row < min(at[k]+tall[i], rows); row++ {
			if hit, ok := w.Hit(row); !ok || hit != i {
				t.Fatalf("row %d hits %d, want %d", row, hit, i)
			}
		}
		used = at[k] + tall[i]
	}
	if !seen {
		t.Fatalf("the cursor at %d is not among %v in rows %v of %d", w.At(), items, at, rows)
	}
	if up := w.Above(); up > 0 && used+tall[up-1] <= rows {
		t.Fatalf("rows are left empty with %d items above", up)
	}
	if hit, ok := w.Hit(rows); ok {
		t.Fatalf("row %d below the window hits %d", rows, hit)
	}
	if _, ok := w.Hit(used); ok && used <= rows {
		t.Fatalf("row %d behind the items is hit", used)
	}
}
