package page

import (
	"fmt"
	"io"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// LeftOut says what an operation left out.
func LeftOut(w io.Writer, left []thread.LeftOut) {
	for _, l := range left {
		fmt.Fprintf(w, "left out: %s\n", plaintext.Line(l.String()))
	}
}
