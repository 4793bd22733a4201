package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/ui/plain"
)

// Deliverables prints what agents of plans have handed over.
func Deliverables(w io.Writer, list []plan.HandOver) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing is handed over yet")
		return
	}
	var t Columns
	t.Row("TASK", "AGENT", "VERSION", "TYPE", "SIZE", "BY", "WHEN", "")
	for _, h := range list {
		version := fmt.Sprint(h.Version)
		if h.Current {
			version += " (current)"
		}
		t.Row(h.Task, h.Agent, version, string(h.Type), handedSize(h), cmp.Or(h.Exec, "a person"), h.Created.Local().Format(time.DateTime),
			plain.Cut(plain.Line(cmp.Or(h.Summary, h.Data)), mostScope))
	}
	t.Print(w)
}

// handedSize is how much a version has.
func handedSize(h plan.HandOver) string {
	size := thread.Bytes(h.Bytes)
	if n := len(h.Files); n > 0 {
		size += ", " + Counted(int64(n), "file")
	}
	return size
}

// Deliverable prints a version of what an agent of a plan has handed over.
func Deliverable(w io.Writer, h plan.HandOver) {
	fmt.Fprintf(w, "%s/%s  version %d  %s  by %s, %s\n", h.Task, h.Agent, h.Version, h.Type, cmp.Or(h.Exec, "a person"), h.Created.Local().Format(time.DateTime))
	if h.Summary != "" {
		fmt.Fprintln(w, strings.Join(plain.Lines(h.Summary), "\n"))
	}
	for _, f := range h.Files {
		fmt.Fprintf(w, "%s  %s  %s  sha256 %s\n", f.Token, plain.Line(f.Path), thread.Bytes(f.Bytes), f.Hash)
	}
	text, _ := h.Readable()
	fmt.Fprintf(w, "\n%s\n", strings.Join(plain.Lines(text), "\n"))
}
