package page

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

// Outputs prints what came of executions.
func Outputs(w io.Writer, list []work.Output) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing is recorded")
		return
	}
	var t Columns
	t.Row("N", "EXECUTION", "TYPE", "WHAT", "CHANGED", "", "RECORDED")
	for _, o := range list {
		what, changed, more := outputCells(o)
		t.Row(strconv.FormatInt(o.N, 10), o.Execution, outputKind(o.Type), what, changed, more, clock(o.Created))
	}
	t.Print(w)
}

// outputKind is a type of output in a word.
func outputKind(t work.OutputType) string {
	if t == work.OutputValidation {
		return "checks"
	}
	return string(t)
}

// outputCells are what an output is, how much was changed, and what else there is to say.
func outputCells(o work.Output) (what, changed, more string) {
	var notes []string
	switch o.Type {
	case work.OutputDeliverable:
		var d work.Deliverable
		if json.Unmarshal(o.Content, &d) != nil {
			return o.Path, "", "its record is damaged"
		}
		what = o.Path
		if o.Version > 1 || !o.Current {
			what += fmt.Sprintf(" v%d", o.Version)
		}
		changed = fmt.Sprintf("+%d ~%d -%d", d.Added, d.Modified, d.Deleted)
		if d.What != "" && d.What != work.FileDeleted {
			changed = ""
		}
		if d.From != "" {
			notes = append(notes, "was "+d.From)
		}
		if d.What != "" {
			notes = append(notes, string(d.What))
		}
		if !o.Current {
			notes = append(notes, "older")
		}
		if _, denied := work.Compared(d.Claimed, d.Validation); denied > 0 {
			notes = append(notes, "! a claim of its checks is denied")
		}
	case work.OutputValidation:
		var v work.Validation
		if json.Unmarshal(o.Content, &v) != nil {
			return "", "", "its record is damaged"
		}
		checked, claimed := &v, (*work.Validation)(nil)
		if o.Metadata.Claimed {
			checked, claimed = nil, &v
		}
		lines, _ := work.Compared(claimed, checked)
		return strings.Join(lines, ", "), "", ""
	default:
		what = plain.Cut(plain.First(record.Text(o)), 60)
	}
	if o.Metadata.Claimed && o.Type == work.OutputDeliverable {
		notes = append(notes, "claimed")
	}
	return what, changed, strings.Join(notes, ", ")
}

// Checked prints what checks said beside what was claimed of them.
func Checked(w io.Writer, r record.Checked) {
	lines, _ := work.Compared(r.Claimed, r.Checked)
	for _, l := range lines {
		mark := " "
		if strings.Contains(l, "(claimed), ") {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s\n", mark, l)
	}
	if r.Denied > 0 {
		fmt.Fprintf(w, "%s of %s denied by the checks\n", Counted(int64(r.Denied), "claim"), plain.Line(r.Execution))
	}
	if len(r.Since) > 0 {
		fmt.Fprintf(w, "changed since they were recorded: %s\n", plain.Few(r.Since))
	}
	if r.Checked != nil && r.Checked.Output != "" {
		fmt.Fprintf(w, "\n%s\n", r.Checked.Output)
	}
}
