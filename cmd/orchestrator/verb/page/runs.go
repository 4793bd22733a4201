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
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

// mostAbout is how many cells of its reason or answer a list of executions shows.
const mostAbout = 60

// Executions prints a table of executions. names are those of threads.
func Executions(w io.Writer, list []work.Execution, names map[thread.ID]string, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no runs yet; `orchestrator run --once` starts one")
		return
	}
	var t Columns
	t.Row("EXECUTION", "THREAD", "AGENT", "STATE", "CALLS", "COST", "TIME", "AGE", "ABOUT")
	for _, x := range list {
		t.Row(x.Name, threadName(x, names), cmp.Or(x.Agent, x.Type), tried(x), calls(x.Calls, x.Caps.Calls), runCost(x), Took(x, now), thread.Age(now.Sub(x.Created)),
			plain.Cut(about(x), mostAbout))
	}
	t.Print(w)
}

// calls is how many calls of tools an execution has made, and how many it may make: "3/20", "3".
func calls(made, most int) string {
	if most <= 0 {
		return fmt.Sprint(made)
	}
	return fmt.Sprintf("%d/%d", made, most)
}

func threadName(x work.Execution, names map[thread.ID]string) string {
	return cmp.Or(names[x.Thread], string(x.Thread))
}

// tried is the state of an execution, with its attempts if they are several.
func tried(x work.Execution) string {
	if x.Attempt > 1 {
		return fmt.Sprintf("%s (attempt %d)", x.State, x.Attempt)
	}
	return string(x.State)
}

// about is why an execution waits or has failed, or what it answered.
func about(x work.Execution) string {
	return plain.Line(plain.First(strings.TrimSpace(cmp.Or(x.Reason, x.Answer))))
}

// Took is how long an execution worked, or works already, without what it waited for a person; "-" before its start and
// while it waits for another attempt.
func Took(x work.Execution, now time.Time) string {
	switch {
	case x.Started.IsZero(), x.State == work.Queued:
		return "-"
	case !x.Ended.IsZero():
		now = x.Ended
	case x.Question != nil:
		now = x.Question.Since
	}
	return thread.Elapsed(max(0, now.Sub(x.Started)-x.Waited))
}

// spent says what was spent, and of how many tokens.
func spent(s work.Spent) string {
	if s.Cost == nil && s.In+s.Out == 0 {
		return "? (nobody has said it)"
	}
	return fmt.Sprintf("%s, %s tokens in, %s out", s.Money(), thread.Tokens(s.In), thread.Tokens(s.Out))
}

// runCost is what an execution has cost: "?" stands for what is not known.
func runCost(x work.Execution) string { return cmp.Or(x.Usage.Money(), "-") }

// Execution prints everything about one execution. asked and answered are all of what it was asked and of its final
// message, "" if that is not kept.
func Execution(w io.Writer, x work.Execution, asked, answered string, names map[thread.ID]string, now time.Time) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, plain.Line(value))
		}
	}
	line("execution", x.Name)
	if x.Kind != work.KindRun || x.Claimed {
		line("kind", kindOf(x))
	}
	line("thread", threadName(x, names))
	line("agent", x.Agent)
	line("account", x.Account)
	line("state", tried(x))
	if q := x.Question; q != nil {
		line("asks", asks(q)[len("asks: "):])
		line("asked for", thread.Age(now.Sub(q.Since)))
	} else {
		line("why", x.Reason)
	}
	failure(line, x)
	belongs(line, x, names)
	line("asked", clock(x.Created))
	line("started", clock(x.Started))
	line("ended", clock(x.Ended))
	if took := Took(x, now); took != "-" && x.Deadline > 0 {
		line("time", fmt.Sprintf("%s of at most %s", took, thread.Elapsed(x.Deadline)))
	} else if took != "-" {
		line("time", took)
	}
	line("cost", spent(work.RowOf(x).Spent))
	line("budget", budget.Format(x.Budget))
	line("group", x.Group)
	line("model", thread.SayModel(x.Model, x.Chosen))
	rules(line, x)
	for _, text := range []string{asked, cmp.Or(answered, x.Answer)} {
		if text != "" {
			fmt.Fprintf(w, "\n%s\n", strings.Join(plain.Lines(text), "\n"))
		}
	}
}

// kindOf says what an execution is that is no run of ours, and who knows what it did.
func kindOf(x work.Execution) string {
	what := map[work.Kind]string{work.KindRun: "a run of another place", work.KindTerminal: "a process in a terminal", work.KindNative: "a sub-agent that its CLI started", work.KindHand: "written down by hand"}[x.Kind]
	switch {
	case x.Kind == work.KindHand:
		what += ", a claim"
	case x.Claimed:
		what += ", a claim: no request of it was seen"
	}
	return what
}

// belongs says what an execution is for, who asked for it or wrote it down, and what it was given.
func belongs(line func(name, value string), x work.Execution, names map[thread.ID]string) {
	line("session", x.Session)
	line("task", x.Task)
	line("type", x.Type)
	line("scope", x.Scope)
	line("parent", string(x.Parent))
	switch {
	case x.Kind == work.KindHand:
		line("by", recorder(thread.ID(cmp.Or(names[x.By], string(x.By))), x.User, x.Host))
	case x.By != "":
		line("asked by", fmt.Sprintf("the agent of %s, %d deep", cmp.Or(names[x.By], string(x.By)), x.Depth))
	}
	line("bundle", x.Bundle)
	if x.Context > 0 {
		line("context", thread.Tokens(x.Context)+" tokens")
	}
	if x.Kind != work.KindRun {
		line("folder", x.Dir)
		line("base", x.Base)
	}
	line("replays", string(x.Replays))
}

// recorder is who wrote something down: "you", "an agent of 1a2b", with where that was.
func recorder(by thread.ID, user, host string) string {
	who := "a person"
	if by != "" {
		who = "the agent of thread " + string(by)
	}
	at := strings.Trim(user+"@"+host, "@")
	return strings.TrimSuffix(who+", "+at, ", ")
}

// rules says what a run may do, and what follows on its end.
func rules(line func(name, value string), x work.Execution) {
	if x.Tier != "" { // an older version counted none
		line("calls", thread.SayCalls(x.Calls, x.Caps.Calls, x.Rereads))
	}
	line("words", wordsOf(x.Caps))
	line("gap", x.Gap)
	if x.Whole != "" {
		line("answer", string(x.Whole)+" has the whole")
	}
	if x.Priority != 0 {
		line("priority", fmt.Sprint(x.Priority))
	}
	if x.ReadOnly {
		line("files", "read-only")
	}
	line("if lost", string(x.Lost))
	line("worktree", map[work.Disposal]string{
		work.DisposeBranch: "committed to its branch and removed", work.DisposeMerge: "merged and removed",
		work.DisposeDrop: "removed with its branch",
	}[x.Dispose])
	if x.Output != "" {
		line("output", fmt.Sprintf("%s, %s", x.Output, thread.Bytes(x.Printed)))
	}
}

// wordsOf is how long an answer may be.
func wordsOf(c thread.Caps) string {
	switch {
	case c.Explore:
		return fmt.Sprintf("under %d", c.Words)
	case c.Words > 0:
		return fmt.Sprintf("at most %d, code not counted", c.Words)
	default:
		return ""
	}
}

// failure says whose failure one is, what the person can do, and what may take its place or has.
func failure(line func(name, value string), x work.Execution) {
	f := x.Failure
	if f.Class != "" {
		whose := map[work.Class]string{work.ClassTransport: "on the way to the model", work.ClassAgent: "the agent's", work.ClassOurs: "this machine's"}[f.Class]
		line("failure", fmt.Sprintf("%s (%s), %s", whose, f.Code, clock(f.At)))
	}
	if x.State == work.Failed && x.Instead == "" {
		line("to do", f.Do)
	}
	if x.State == work.Queued {
		line("again at", clock(x.After))
	}
	line("if failed", string(x.OnFail))
	switch {
	case x.Offers():
		line("fallback", x.Fallback)
	case x.Instead != "":
		line("fallback", fmt.Sprintf("%s goes on, as execution %s", x.Fallback, x.Instead))
	}
	if x.For != "" {
		line("in place of", string(x.For))
	}
}

// clock formats a time, "" for none.
func clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.DateTime)
}

// runMargin is where the texts of a record begin.
const runMargin = 20

// RunLog prints a part of the record of an execution: a line for each event, a text with all its lines.
func RunLog(w io.Writer, list []work.Event) {
	for _, e := range list {
		if e.Kind == string(thread.RunEnd) || e.Kind == work.KindGiven || e.Kind == work.KindSaid {
			continue // the state says the same; what it was asked and said last is shown beside its record
		}
		kind, text := e.Kind, e.Text
		if e.State != "" {
			kind, text = "state", string(e.State)+joined(": ", e.Text)
		}
		if e.Kind == string(thread.RunTool) {
			tool, arguments, _ := strings.Cut(e.Text, " ")
			text = cmp.Or(toolLine(tool, arguments), e.Text)
		}
		lines := plain.Lines(strings.TrimSpace(text))
		fmt.Fprintf(w, "%s  %-9s %s\n", e.At.Local().Format(time.TimeOnly), plain.Line(kind), firstOf(lines))
		for _, l := range lines[min(1, len(lines)):] {
			fmt.Fprintln(w, strings.TrimRight(strings.Repeat(" ", runMargin)+l, " "))
		}
	}
}

func firstOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

func joined(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}

// toolLine says what a tool is called for.
func toolLine(tool, arguments string) string {
	return thread.LineOf([]thread.Entry{{Kind: thread.EntryCall, Tool: tool, Text: arguments}})
}

// RunEvent returns the line that people see of what an agent without a terminal reports besides its answer, "" for none.
func RunEvent(e thread.RunEvent) string {
	line := ""
	switch e.Kind {
	case thread.RunTool:
		line = "* " + toolLine(e.Tool, e.Text)
	case thread.RunResult:
		if e.Failed {
			line = "! " + thread.LineOf([]thread.Entry{{Kind: thread.EntryAnswer, Text: e.Text}})
		}
	case thread.RunRefused:
		line = "refused: " + FirstLine(e.Text)
	case thread.RunNotice:
		line = "note: " + FirstLine(e.Text)
	case thread.RunLine:
		line = plain.Line(e.Text)
	case thread.RunAsks:
		line = asks(e.Question)
	case thread.RunAnswered:
		line = answered(e)
	case thread.RunSteered:
		line = "takes: " + FirstLine(e.Text)
	case thread.RunText, thread.RunThinking, thread.RunSession, thread.RunUsage, thread.RunEnd:
	}
	if line != "" && e.Sub != "" {
		line = "  " + line
	}
	return line
}

// asks is what an agent asks, with the answers.
func asks(q *thread.Question) string {
	if q == nil {
		return ""
	}
	choices := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		choices[i] = fmt.Sprintf("%d. %s", i+1, plain.Line(c.Text))
	}
	return strings.TrimRight("asks: "+plain.Line(q.Words())+"  "+strings.Join(choices, "  "), " ")
}

// answered is what became of a question.
func answered(e thread.RunEvent) string {
	switch {
	case e.Question == nil:
		return ""
	case e.Failed:
		return fmt.Sprintf("withdrawn: %s%s", plain.Line(e.Question.Line()), joined(", ", FirstLine(e.Text)))
	default:
		return fmt.Sprintf("answered: %s%s", plain.Line(e.Question.Line()), joined(": ", FirstLine(e.Text)))
	}
}

// RunState returns the line that people see of a change of an execution's state, "" for none.
func RunState(p thread.RunPiece) string {
	switch work.State(p.State) {
	case work.Queued:
		if p.Reason != "" {
			return "waits: " + FirstLine(p.Reason)
		}
	case work.Running:
		if p.Attempt > 1 {
			return fmt.Sprintf("attempt %d", p.Attempt)
		}
	case work.NeedsInput:
		return fmt.Sprintf("needs you: `orchestrator approve %s`, deny, or answer", p.Execution)
	case work.Deployed, work.Completed, work.Failed, work.Cancelled, work.Lost:
	}
	return ""
}

// Queue prints what bounds the runs, and then what runs and what waits.
func Queue(w io.Writer, q work.QueueReport, names map[thread.ID]string, now time.Time) {
	var t Columns
	t.Row("QUEUE", "RUNNING", "LIMIT", "WAITING", "")
	for _, l := range q.Limits {
		most, note := "none", l.Why
		if l.Most > 0 {
			most = fmt.Sprint(l.Most)
		}
		if l.Paused {
			note = strings.TrimPrefix("paused"+joined(", ", l.Why), ", ")
		}
		if l.Asking > 0 {
			note = strings.TrimPrefix(note+fmt.Sprintf(", %d wait for you", l.Asking), ", ")
		}
		t.Row(plain.Line(cmp.Or(l.Agent, l.Account, "all")), fmt.Sprint(l.Running), most, fmt.Sprint(l.Waiting), note)
	}
	t.Print(w)
	if list := append(slices.Clone(q.Active), q.Waiting...); len(list) > 0 {
		fmt.Fprintln(w)
		Executions(w, list, names, now)
	}
}
