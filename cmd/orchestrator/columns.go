package main

import (
	"fmt"
	"io"
	"strings"

	"orchestrator/ui/plain"
)

// columns prints rows in columns that are as wide as a terminal draws what is in them, whatever the script.
type columns struct{ rows [][]string }

func (t *columns) row(cells ...string) {
	for i, c := range cells {
		cells[i] = plain.Line(c)
	}
	t.rows = append(t.rows, cells)
}

func (t *columns) print(w io.Writer) {
	var wide []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], plain.Width(c))
		}
	}
	var out strings.Builder // written at once: what is below looks at each piece, and makes a call of the system of it
	for _, r := range t.rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString(c + strings.Repeat(" ", wide[i]-plain.Width(c)+2))
		}
		fmt.Fprintln(&out, strings.TrimRight(line.String(), " "))
	}
	io.WriteString(w, out.String()) //nolint:errcheck // as Fprintln would: nobody to tell
}
