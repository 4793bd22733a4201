package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// JSON writes what is recorded of a work session, in the record's names.
func JSON(w io.Writer, r record.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Outputs returns outputs as a table of Markdown.
func Outputs(list []work.Output) string {
	var b strings.Builder
	b.WriteString("| output | execution | type | what | added | modified | deleted | version | recorded |\n|--:|---|---|---|--:|--:|--:|--:|---|\n")
	for _, o := range list {
		what, f := Text(""), File{}
		switch o.Type {
		case work.OutputDeliverable:
			f = fileOf(o)
			what = f.Path
			if f.Note != "" {
				what += Text(" (" + f.Note + ")")
			}
		case work.OutputValidation:
			what = Text(strings.Join(validationLines(o), ", "))
		default:
			what = Text(record.Text(o))
		}
		counts := [4]string{}
		if o.Type == work.OutputDeliverable {
			for i, n := range []int{f.Added, f.Modified, f.Deleted, f.Version} {
				counts[i] = fmt.Sprint(n)
			}
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", o.N, Text(o.Execution), Text(string(o.Type)), what, strings.Join(counts[:], " | "),
			stamp(o.Created, time.DateTime))
	}
	return b.String()
}

// validationLines are what checks said, or were claimed to.
func validationLines(o work.Output) []string {
	var v work.Validation
	if json.Unmarshal(o.Content, &v) != nil {
		return []string{"its record is damaged"}
	}
	checked, claimed := &v, (*work.Validation)(nil)
	if o.Metadata.Claimed {
		checked, claimed = nil, &v
	}
	lines, _ := work.Compared(claimed, checked)
	return lines
}
