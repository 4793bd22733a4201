// Package page lays out what the verbs print for people: tables, and the facts about one thing. What is printed is safe
// for a terminal. The words for states are those of the screen.
package page

import (
	"bytes"
	"io"
	"strings"

	"orchestrator/ui/plain"
)

// Columns prints a table whose columns are as wide as a terminal draws their text, in any script.
type Columns struct{ rows [][]string }

// Row adds a row.
func (t *Columns) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = plain.Line(c)
	}
	t.rows = append(t.rows, cells)
}

// Print prints the table.
func (t *Columns) Print(w io.Writer) {
	var wide []int
	size := 0
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], plain.Width(c))
			size += len(c)
		}
	}
	var out strings.Builder // written at once: the writer below scans every piece and makes a system call for it
	out.Grow(2 * size)
	var line []byte
	for _, r := range t.rows {
		line = line[:0]
		for i, c := range r {
			line = append(line, c...)
			for range wide[i] - plain.Width(c) + 2 {
				line = append(line, ' ')
			}
		}
		out.Write(bytes.TrimRight(line, " "))
		out.WriteByte('\n')
	}
	io.WriteString(w, out.String()) //nolint:errcheck // as with Fprintln: there is nobody to tell
}
