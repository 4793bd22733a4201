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

// mostScope is how many cells of a scope a list shows.
const mostScope = 60

// SessionLine prints where a work session stands.
func SessionLine(w io.Writer, s work.Session) {
	fmt.Fprintf(w, "%s: %s, %s\n", s.Name, s.Status, phase(s.Phase))
}

// Sessions prints a table of work sessions.
func Sessions(w io.Writer, list []work.Session, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, `no work sessions yet; orchestrator session init "..." begins one`)
		return
	}
	var t Columns
	t.Row("SESSION", "STATUS", "PHASE", "BUDGET", "AGE", "SCOPE")
	for _, s := range list {
		t.Row(s.Name, string(s.Status), phase(s.Phase), cmp.Or(budget.Format(s.Budget), "-"), thread.Age(now.Sub(s.Created)), plain.Cut(plain.Line(s.Scope), mostScope))
	}
	t.Print(w)
}

// Session prints a work session with what belongs to it.
func Session(w io.Writer, v record.SessionView, now time.Time) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, plain.Line(value))
		}
	}
	line("session", v.Name)
	line("scope", v.Scope)
	line("status", string(v.Status))
	line("at", phase(v.Phase))
	line("policy", string(v.Approval))
	line("budget", budget.Format(v.Budget))
	line("begun", clock(v.Created))
	line("ended", clock(v.Completed))
	line("by", recorder(v.By, v.User, v.Host))
	line("metadata", string(v.Metadata))
	line("runs", fmt.Sprintf("%d: %d open, %d completed, %d failed", v.Sums.Runs, v.Sums.Open, v.Sums.Completed, v.Sums.Failed))
	line("cost", spent(v.Spent))
	var outputs []string
	for _, kind := range work.OutputTypes() {
		if n := v.Outputs[kind]; n > 0 {
			outputs = append(outputs, Counted(int64(n), strings.ReplaceAll(string(kind), "_", " ")))
		}
	}
	line("outputs", strings.Join(outputs, ", "))
	if len(v.Tasks) > 0 {
		fmt.Fprintln(w)
		var t Columns
		t.Row("TASK", "STATUS", "AGE")
		for _, one := range v.Tasks {
			t.Row(one.Title, string(one.Status), thread.Age(now.Sub(one.Updated)))
		}
		t.Print(w)
	}
	if len(v.Executions) > 0 {
		fmt.Fprintln(w)
		rows(w, v.Executions, now, work.Row.Word)
	}
	if v.More {
		fmt.Fprintf(w, "and others: orchestrator exec query --session %s -n 999\n", v.Name)
	}
}

// Rows prints a table of executions of all kinds, with the states of the view.
func Rows(w io.Writer, list []work.Row, now time.Time) {
	rows(w, list, now, func(r work.Row) string { return r.Status })
}

func rows(w io.Writer, list []work.Row, now time.Time, state func(work.Row) string) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no executions")
		return
	}
	tasks := slices.ContainsFunc(list, func(r work.Row) bool { return r.Task != "" })
	var t Columns
	head := []string{"EXECUTION", "SESSION", "TYPE", "STATUS", "ORIGIN", "MODEL", "CONTEXT", "COST", "TIME", "AGE"}
	if tasks {
		head = append(head, "TASK")
	}
	failures := slices.ContainsFunc(list, func(r work.Row) bool { return r.Error != "" })
	if failures {
		head = append(head, "WHY")
	}
	t.Row(append(head, "SCOPE")...)
	for _, r := range list {
		took := "-"
		if r.Seconds > 0 {
			took = thread.Elapsed(r.Took())
		}
		cells := []string{
			r.Execution, cmp.Or(r.Session, "-"), r.AgentType, state(r), string(r.Origin), cmp.Or(r.Model, "-"), given(r.Context), r.Money(),
			took, thread.Age(now.Sub(cmp.Or(r.Deployed, r.Created))),
		}
		if tasks {
			cells = append(cells, plain.Cut(cmp.Or(r.Task, "-"), mostScope/2))
		}
		if failures {
			cells = append(cells, plain.Cut(plain.Line(cmp.Or(r.Error, "-")), mostScope/2))
		}
		t.Row(append(cells, plain.Cut(plain.Line(r.Scope), mostScope))...)
	}
	t.Print(w)
}

// given is how many tokens of context an execution was given.
func given(n int64) string {
	if n == 0 {
		return "-"
	}
	return thread.Tokens(n)
}
