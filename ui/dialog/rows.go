package dialog

import (
	"slices"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/theme"
)

// Rows is a list in a dialog: items in a window that scrolls, one of them under the cursor. The cursor is always in sight;
// keys and the wheel move it, and so does a click.
type Rows[T any] struct {
	Height int  // rows of an item; 0 means 1
	Bar    bool // the last column is kept for a scroll bar

	items []T
	win   list.Window
	box   layout.Box // where they were drawn
}

// Set replaces the items. The cursor stays on the item that is the same as the one under it, or in its place if that is
// gone or same is nil.
func (r *Rows[T]) Set(items []T, same func(a, b T) bool) {
	was, any := r.Item()
	r.items = items
	r.fit(r.win.Rows())
	if !any || same == nil {
		return
	}
	if i := slices.IndexFunc(items, func(it T) bool { return same(it, was) }); i >= 0 {
		r.win.Go(i)
	}
}

func (r *Rows[T]) fit(rows int) {
	var height func(int) int
	if r.Height > 1 {
		height = func(int) int { return r.Height }
	}
	r.win.Fit(len(r.items), rows, height)
}

// Items returns the items.
func (r *Rows[T]) Items() []T { return r.items }

// Len returns how many there are.
func (r *Rows[T]) Len() int { return len(r.items) }

// At returns the place of the item under the cursor; 0 if there is none.
func (r *Rows[T]) At() int { return r.win.At() }

// Item returns the item under the cursor.
func (r *Rows[T]) Item() (it T, ok bool) {
	if at := r.win.At(); at < len(r.items) {
		return r.items[at], true
	}
	return it, false
}

// Go moves the cursor to an item.
func (r *Rows[T]) Go(i int) { r.win.Go(i) }

// Handle handles an action, and reports whether it was one that moves the cursor.
func (r *Rows[T]) Handle(a intent.Action) bool { return r.win.Handle(a) }

// Click moves the cursor to the item in a cell of the screen. It reports whether there is one, and whether the cursor was
// on it already.
func (r *Rows[T]) Click(x, y int) (hit, again bool) {
	if !r.box.Contains(x, y) {
		return false, false
	}
	i, hit := r.win.Hit(y - r.box.Y)
	if !hit {
		return false, false
	}
	again = i == r.win.At()
	r.win.Go(i)
	return true, again
}

// Draw draws those in sight, each with a function that gets the rows it has, and marks the first row of the one under the
// cursor.
func (r *Rows[T]) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, draw func(row layout.Box, it T)) {
	r.box = b
	r.fit(b.H)
	if r.Bar {
		b.W--
		if y, more := r.win.Thumb(); more {
			c.Print(r.box, b.W, y, th.Style(theme.Muted), "▐")
		}
	}
	for i, y := range r.win.Items() {
		row := layout.Box{X: b.X, Y: b.Y + y, W: b.W, H: min(max(r.Height, 1), b.H-y)}
		draw(row, r.items[i])
		if i == r.win.At() {
			c.Tint(row.Row(0), th.Style(theme.SelectedFocus))
		}
	}
}

// Filter is the line above a list by whose text its items are chosen.
type Filter struct {
	Mark string // stands before it
	Hint string // stands in it while it is empty

	text field.Field
}

// Value returns the text.
func (f *Filter) Value() string { return f.text.Value() }

// Set replaces the text.
func (f *Filter) Set(text string) { f.text = field.New(text) }

// Handle handles an intent, and reports whether it changed the text.
func (f *Filter) Handle(in intent.Intent) (changed bool) {
	before := f.Value()
	f.text.Handle(in)
	return f.Value() != before
}

// Draw draws it at the top of a box, and returns what is left of that.
func (f *Filter) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) layout.Box {
	line, rest := b.Top(1)
	c.Print(line, 0, 0, th.Style(theme.Accent), f.Mark)
	_, line = line.Left(2)
	f.text.Draw(c, line, th, th.Style(theme.Text), f.Hint, true)
	return rest
}
