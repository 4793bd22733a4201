package mcp

import (
	"fmt"
	"slices"
	"time"

	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// What the columns before the others take, in cells.
const (
	boxWidth = 4
	nameMin  = 12
	nameMost = 30
)

// column is a column of the table behind box and name.
type column struct {
	title string
	w     int // at least
	right bool
	rank  int // where there is no room, the highest rank goes first
	cell  func(r *row, now time.Time) (string, theme.Token)
}

// columns returns all columns, in their order on the screen; the last one takes what is left.
func columns() []column {
	text := func(of func(*row) string) func(*row, time.Time) (string, theme.Token) {
		return func(r *row, _ time.Time) (string, theme.Token) { return of(r), theme.Text }
	}
	return []column{
		{"state", 14, false, 0, func(r *row, _ time.Time) (string, theme.Token) {
			st := stateOf(&r.server)
			return st.sign + " " + st.word, st.tok
		}},
		{"share", 7, false, 6, text(func(r *row) string { return clean(r.server.Share) })},
		{"tools", 6, true, 1, text(func(r *row) string {
			if !r.server.Known {
				return ""
			}
			return fmt.Sprintf("%d/%d", r.server.ToolsOn, r.server.Tools)
		})},
		{"tokens", 6, true, 0, text(func(r *row) string { return price(&r.server) })},
		{"memory", 7, true, 5, text(func(r *row) string { return size(r.server.Memory) })},
		{"starts", 6, true, 7, text(func(r *row) string {
			if r.server.Starts == 0 {
				return ""
			}
			return fmt.Sprint(r.server.Starts)
		})},
		{"last call", 13, true, 4, func(r *row, now time.Time) (string, theme.Token) {
			return called(&r.server, now), theme.Muted
		}},
		{"why", 14, false, 2, func(r *row, _ time.Time) (string, theme.Token) {
			if r.server.Ending {
				return "off at the end of the turn", theme.Warn
			}
			return r.why, theme.Muted
		}},
	}
}

// filled returns the columns that have something to say of any row.
func filled(rows []row, now time.Time) []column {
	return slices.DeleteFunc(columns(), func(c column) bool {
		return !slices.ContainsFunc(rows, func(r row) bool {
			text, _ := c.cell(&r, now)
			return text != ""
		})
	})
}

// fitting returns those of the columns that fit into a width, and the width of the names before them.
func fitting(cols []column, w, widest int) ([]column, int) {
	total := func() int {
		n := boxWidth + nameMin
		for _, c := range cols {
			n += c.w + 1
		}
		return n
	}
	for total() > w {
		last := -1
		for i, c := range cols {
			if c.rank > 0 && (last < 0 || c.rank > cols[last].rank) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		cols = append(cols[:last], cols[last+1:]...)
	}
	spare := max(w-total(), 0)
	name := nameMin + min(spare, max(min(widest, nameMost)-nameMin, 0))
	if n := len(cols); n > 0 && cols[n-1].title == "why" {
		cols[n-1].w += max(w-total()-(name-nameMin), 0)
	}
	return cols, name
}

// drawCells draws texts into columns.
func drawCells(c *layout.Canvas, b layout.Box, th *theme.Theme, cols []column, name int, cell func(column) (string, theme.Token)) {
	x := boxWidth + name + 1
	for _, col := range cols {
		text, tok := cell(col)
		text = plain.Cut(text, col.w)
		at := x
		if col.right {
			at += col.w - plain.Width(text)
		}
		c.Print(b, at, 0, th.Style(tok), text)
		x += col.w + 1
	}
}
