package layout

// PutCursor puts the terminal's cursor at column x of row y of a box, or hides it if that is outside the box.
func (c *Canvas) PutCursor(b Box, x, y int) {
	c.cursor = Box{b.X + x, b.Y + y, 1, 1}.clip(b).clip(c.Bounds())
}

// HideCursor hides the cursor, because something is drawn over it.
func (c *Canvas) HideCursor() { c.cursor = Box{} }

// Cursor returns the cell of the terminal's cursor and whether there is one.
func (c *Canvas) Cursor() (x, y int, ok bool) { return c.cursor.X, c.cursor.Y, !c.cursor.Empty() }
