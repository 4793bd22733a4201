package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/ui/plain"
)

// Tasks prints a table of tasks.
func Tasks(w io.Writer, list []plan.Task, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, `no task waits or is at work; orchestrator task add "..." adds one, task split proposes some`)
		return
	}
	var t Columns
	t.Row("TASK", "STATUS", "PLAN", "AGE", "TITLE")
	for _, one := range list {
		t.Row(one.Name, TaskStatus(one.Status), cmp.Or(one.PlanName, "-"), thread.Age(now.Sub(one.Created)), plain.Cut(plain.Line(one.Title), mostScope))
	}
	t.Print(w)
	for _, one := range list {
		if one.Reason != "" && !one.Status.Final() {
			fmt.Fprintf(w, "%s: %s\n", one.Name, plain.Line(one.Reason))
		}
	}
}

// TaskStatus is the status of a task as people read it.
func TaskStatus(s plan.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// Task prints one task with all that it says.
func Task(w io.Writer, t plan.Task, now time.Time) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, plain.Line(value))
		}
	}
	line("task", t.Name)
	line("title", t.Title)
	line("status", TaskStatus(t.Status))
	line("reason", t.Reason)
	line("plan", t.PlanName)
	for _, name := range slices.Sorted(maps.Keys(t.Vars)) {
		line("variable", name+" = "+plan.Plain(t.Vars[name]))
	}
	if t.Order != 0 {
		line("order", fmt.Sprint(t.Order))
	}
	line("session", t.Session)
	line("added", clock(t.Created))
	line("begun", clock(t.Started))
	line("ended", clock(t.Ended))
	line("by", recorder(t.By, t.User, t.Host))
	if t.Body != "" {
		fmt.Fprintf(w, "\n%s\n", strings.Join(plain.Lines(strings.TrimSpace(t.Body)), "\n"))
	}
}

// mostBody is how many lines of a proposal are printed.
const mostBody = 6

// Proposals prints what is proposed, oldest first, and what can be done about it. of is the task that split the text.
func Proposals(w io.Writer, of string, list []plan.Task) {
	if len(list) == 0 {
		fmt.Fprintln(w, "there is no task in the text: nothing is proposed")
		return
	}
	for i, t := range slices.Backward(list) { // newest first
		more := ""
		if t.PlanName != "" {
			more = "  (plan " + t.PlanName + ")"
		} else if a := plan.Plain(t.Vars[plan.SingleAgent]); a != "" {
			more = "  (agent " + a + ")"
		}
		fmt.Fprintf(w, "%2d. %s  %s%s\n", len(list)-i, t.Name, plain.Line(t.Title), plain.Line(more))
		lines := plain.Lines(strings.TrimSpace(t.Body))
		for j, line := range lines {
			if j == mostBody {
				fmt.Fprintf(w, "      ... and %d more lines: orchestrator task show %s\n", len(lines)-j, t.Name)
				break
			}
			if line != "" {
				fmt.Fprintf(w, "      %s\n", line)
			}
		}
	}
	first := list[len(list)-1].Name
	fmt.Fprintf(w, "\nnothing of it has begun. orchestrator task edit %s changes one, task cancel %s drops it,\n"+
		"task start %s begins it; task start --all --of %s begins all\n", first, first, first, of)
}

// Armed prints a table of plans that were armed.
func Armed(w io.Writer, list []wave.StandingPlan) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no plan is armed; orchestrator wave arm PLAN has one take tasks as they come")
		return
	}
	var t Columns
	t.Row("PLAN", "ARMED", "AT ONCE", "WAITING", "AT WORK")
	for _, one := range list {
		state := "no"
		switch {
		case one.Paused != "":
			state = "paused"
		case one.On:
			state = "yes"
		}
		t.Row(one.Name, state, fmt.Sprint(one.AtOnce), fmt.Sprint(one.Pending), cmp.Or(plain.Cut(strings.Join(one.AtWork, " "), mostScope), "-"))
	}
	t.Print(w)
	for _, one := range list {
		if one.Paused != "" {
			fmt.Fprintf(w, "%s takes no more: %s. orchestrator wave arm %s goes on\n", one.Name, plain.Line(one.Paused), one.Name)
		}
		if one.File != "" {
			fmt.Fprintf(w, "%s: %s\n", one.Name, plain.Line(one.File))
		}
	}
}
