package page

import (
	"fmt"
	"io"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// LeftOut prints what an operation left out.
func LeftOut(w io.Writer, left []thread.LeftOut) {
	for _, l := range left {
		fmt.Fprintf(w, "left out: %s\n", plaintext.Line(l.String()))
	}
}

// Notes prints what else a person should know about an operation.
func Notes(w io.Writer, notes []string) {
	for _, n := range notes {
		fmt.Fprintln(w, n)
	}
}
