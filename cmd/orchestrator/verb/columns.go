package verb

import (
	"bytes"
	"io"
	"strings"

	"orchestrator/ui/plain"
)

// columns prints a table whose columns are as wide as a terminal draws their text, in any script.
type columns struct{ rows [][]string }

func (t *columns) row(cells ...string) {
	for i, c := range cells {
		cells[i] = plain.Line(c)
	}
	t.rows = append(t.rows, cells)
}

func (t *columns) print(w io.Writer) {
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
