package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

// Trace prints a chain on a page: what it is, what is wrong, what it was for and given, what it did, what came of it.
func Trace(w io.Writer, t record.Trace, names map[thread.ID]string, now time.Time) {
	x := t.More
	for _, l := range plain.Wrap(plain.Line(fmt.Sprintf("%s: %s, %s", x.Name, x.AgentType(), tried(x))+leads(t)), pageWidth) {
		fmt.Fprintln(w, l)
	}
	found(w, t)
	chain(w, t, names, now)
	givenPieces(w, t.Given)
	asked(w, t.Given)
	did(w, t)
	fmt.Fprintln(w, "CAME OF IT")
	switch {
	case len(t.Given.Outputs) > 0:
	case t.Settling:
		fmt.Fprintln(w, margin+"not yet written down")
	default:
		fmt.Fprintln(w, margin+"no output is recorded")
	}
	for _, m := range t.Given.Outputs {
		mark := ""
		if m.Output == t.Output {
			mark = "> "
		}
		detail(w, mark+madeLine(m))
		if m.Checked.Failed() && m.Checked.Output != "" {
			block(w, lastLines(m.Checked.Output))
		}
	}
	if t.Said != "" {
		what := "it said:"
		if t.SaidCut {
			what = "it said, the beginning; --full has all of it:"
		}
		fmt.Fprintln(w, margin+what)
		block(w, t.Said)
	}
	others(w, "SUB-AGENTS", t.Natives)
	others(w, "BEFORE IT, NEWEST FIRST", t.Before)
	if t.Found == record.LinkedFile && len(t.Versions) > 1 {
		fmt.Fprintln(w, "VERSIONS, NEWEST FIRST")
		for _, m := range t.Versions {
			detail(w, m.Execution+": "+madeLine(m))
		}
	}
	if t.Found == record.LinkedBundle && len(t.Uses) > 1 {
		others(w, "GIVEN THIS BUNDLE, NEWEST FIRST", t.Uses)
	}
}

// CameOf prints what came of an execution, and how much speaks against it, below the facts about it.
func CameOf(w io.Writer, t record.Trace) {
	for i, m := range t.Given.Outputs {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, plain.Line(madeLine(m)))
	}
	if wrong := len(slices.DeleteFunc(slices.Clone(t.Findings), func(f record.Finding) bool { return f.Note })); wrong > 0 {
		fmt.Fprintf(w, "\n%s: orchestrator history trace %s\n", plain.Count(wrong, "thing")+" wrong with it", plain.Line(t.More.Name))
	}
}

// leads says how what was asked for leads here.
func leads(t record.Trace) string {
	switch t.Found {
	case record.LinkedOutput:
		return fmt.Sprintf(", of which output #%d came", t.Output)
	case record.LinkedFile:
		return fmt.Sprintf(", of which the newest version of %s came", t.Ref)
	case record.LinkedBundle:
		return fmt.Sprintf(", the newest that was given %s", t.Ref)
	case record.LinkedExecution:
	}
	return ""
}

// found prints what is wrong, and then what is worth knowing.
func found(w io.Writer, t record.Trace) {
	if len(t.Findings) == 0 {
		fmt.Fprintln(w, margin+"nothing recorded speaks against it")
		return
	}
	for _, f := range t.Findings {
		mark := "! "
		if f.Note {
			mark = "- "
		}
		for i, l := range plain.Wrap(plain.Line(f.Text), pageWidth-len(margin)-len(mark)) {
			if i > 0 {
				mark = "  "
			}
			fmt.Fprintln(w, margin+mark+l)
		}
		if f.Do != "" && !f.Note {
			fmt.Fprintln(w, margin+"    "+plain.Line(f.Do))
		}
	}
}

// chain prints what an execution is for, and what it is.
func chain(w io.Writer, t record.Trace, names map[thread.ID]string, now time.Time) {
	x := t.More
	fmt.Fprintln(w, "WHAT IT WAS")
	if s := t.Session; s != nil {
		fact(w, "work session", fmt.Sprintf("%s, %s, %s: %s", s.Name, phase(s.Phase), s.Status, plain.Cut(plain.First(s.Scope), mostAbout)))
	} else {
		fact(w, "work session", x.Session)
	}
	if t.Task != nil {
		fact(w, "task", fmt.Sprintf("%s (%s)", t.Task.Title, t.Task.Status))
	} else {
		fact(w, "task", x.Task)
	}
	fact(w, "scope", x.Scope)
	fact(w, "agent", strings.Join(slices.DeleteFunc([]string{x.Agent, thread.SayModel(x.Model, x.Chosen), origin(x)}, func(s string) bool { return s == "" }), ", "))
	fact(w, "thread", threadName(x, names))
	switch {
	case x.Kind == work.KindHand:
		fact(w, "recorded by", strings.TrimSuffix(cmp.Or(agentOf(x.By, names), x.User)+joined("@", x.Host), "@"))
	case x.By != "":
		fact(w, "asked by", agentOf(x.By, names))
	}
	if t.Parent != nil {
		fact(w, "part of", t.Parent.Execution+", "+t.Parent.AgentType+", "+string(t.Parent.State))
	}
	if t.Replays != nil {
		fact(w, "repeats", t.Replays.Execution)
	}
	fact(w, "began", ago(x.Created, now)+joined(" at commit ", fmt.Sprintf("%.8s", x.Base))+joined(" in ", x.Dir))
	r := t.Given.Execution
	fact(w, "time", took(r))
	if t.Settling && r.In+r.Out == 0 {
		fact(w, "cost", "not yet written down")
		return
	}
	fact(w, "cost", spent(r.Spent)+joined(", of ", budget.Format(x.Budget)))
}

// agentOf is the agent of a thread.
func agentOf(id thread.ID, names map[thread.ID]string) string {
	if id == "" {
		return ""
	}
	return "the agent of " + cmp.Or(names[id], string(id))
}

// origin says who knows what an execution did, if that is not us.
func origin(x work.Execution) string {
	switch x.Kind {
	case work.KindHand:
		return "recorded by hand"
	case work.KindNative:
		return "started by the CLI itself"
	case work.KindTerminal:
		return "in a terminal"
	case work.KindRun:
	}
	return ""
}

// did prints the last things that an execution did.
func did(w io.Writer, t record.Trace) {
	fmt.Fprintln(w, "DID")
	x := t.More
	if x.Calls > 0 || x.Caps.Calls > 0 {
		fact(w, "calls", thread.SayCalls(x.Calls, x.Caps.Calls, x.Rereads))
	}
	if len(t.Last) == 0 {
		fmt.Fprintln(w, margin+"nothing is recorded of what it did")
		return
	}
	for _, e := range t.Last {
		detail(w, e.At.Local().Format(time.TimeOnly)+"  "+eventLine(e))
	}
	if t.Events > int64(len(t.Last)) {
		fmt.Fprintf(w, "%sthe last of %d events; all: orchestrator exec logs %s\n", margin, t.Events, plain.Line(x.Name))
	}
}

// eventLine is an event of a record in a line.
func eventLine(e work.Event) string {
	if e.State != "" {
		return string(e.State) + joined(": ", FirstLine(e.Text))
	}
	if e.Kind == string(thread.RunTool) {
		tool, arguments, _ := strings.Cut(e.Text, " ")
		return e.Kind + " " + cmp.Or(toolLine(tool, arguments), FirstLine(e.Text))
	}
	return e.Kind + " " + FirstLine(e.Text)
}

// others prints executions beside one.
func others(w io.Writer, head string, list []work.Row) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, head)
	for _, r := range list {
		detail(w, fmt.Sprintf("%s: %s, %s, %s, %s", r.Execution, r.AgentType, r.State, r.Money(), rowAbout(r)))
	}
}

// checkLines is how many lines of a check that failed a chain shows.
const checkLines = 6

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-checkLines):], "\n")
}
