package page

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

const (
	// pageWidth is how wide what has no columns is; margin is where what belongs to a line above begins.
	pageWidth = 80
	margin    = "  "
	// mostName is how many cells of a name a table shows.
	mostName = 20
)

// History prints executions with what came of them, two or more lines each.
func History(w io.Writer, list []record.Worked, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing recorded has that; `orchestrator history` lists the newest executions")
		return
	}
	var t Columns
	t.Row("EXECUTION", "TYPE", "WORK SESSION", "STATE", "COST", "TIME", "AGE")
	for _, x := range list {
		r := x.Execution
		t.Row(r.Execution, plain.Cut(r.AgentType, mostName), plain.Cut(Dash(r.Session), mostName), string(r.State), r.Money(), took(r), thread.Age(now.Sub(r.Created)))
	}
	head, lines := table(&t)
	fmt.Fprintln(w, head)
	for i, x := range list {
		fmt.Fprintln(w, lines[i])
		for _, m := range x.Outputs {
			detail(w, madeLine(m))
		}
		detail(w, rowAbout(x.Execution))
	}
}

// table returns the head of a table and its rows.
func table(t *Columns) (head string, rows []string) {
	var b bytes.Buffer
	t.Print(&b)
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	return lines[0], lines[1:]
}

// took is how long an execution worked, "-" if that is not known.
func took(r work.Row) string {
	if r.Seconds <= 0 {
		return "-"
	}
	return thread.Elapsed(r.Took())
}

// rowAbout is what an execution was to do, and why it failed or what it said.
func rowAbout(r work.Row) string {
	said := plain.Line(plain.First(strings.TrimSpace(r.Error)))
	if said = cmp.Or(said, plain.Line(lastParagraph(r.Message))); said == "" {
		return r.Scope
	}
	if r.Scope == "" {
		return said
	}
	return plain.Cut(plain.Line(plain.First(r.Scope)), mostAbout/2) + ": " + said
}

// lastParagraph is the end of a message, in which an agent says what has come of its work.
func lastParagraph(message string) string {
	message = strings.TrimSpace(strings.ReplaceAll(message, "\r", ""))
	if at := strings.LastIndex(message, "\n\n"); at >= 0 {
		message = message[at:]
	}
	return strings.Join(strings.Fields(message), " ")
}

// detail prints a line that belongs to the one above, cut to the page.
func detail(w io.Writer, text string) {
	if text = plain.Line(plain.First(strings.TrimSpace(text))); text != "" {
		fmt.Fprintln(w, margin+plain.Cut(text, pageWidth-len(margin)))
	}
}

// madeLine is an output in a line: what it is, its lines, its version, how it was checked and what people claim.
func madeLine(m record.Made) string {
	parts := []string{fmt.Sprintf("#%d", m.Output)}
	switch m.Type {
	case work.OutputDeliverable:
		parts = append(parts, m.Path)
		if m.Note != "" {
			parts = append(parts, string(m.Note))
		} else {
			parts = append(parts, fmt.Sprintf("+%d ~%d -%d", m.Added, m.Modified, m.Deleted))
		}
		if m.Version > 0 {
			parts = append(parts, versionOf(m))
		}
	case work.OutputValidation:
		parts = append(parts, "checks")
	case work.OutputInsight, work.OutputError:
		parts = append(parts, string(m.Type)+":", plain.Line(plain.First(m.Text)))
	}
	line := strings.Join(parts, " ")
	if s := verdicts(m.Checked); s != "" {
		line += ", checked: " + s
	}
	if s := verdicts(m.Claimed); s != "" {
		line += ", said: " + s
	} else if m.Said {
		line += ", said by the agent or a person"
	}
	return line
}

// versionOf is a version of a file, and whether there is a newer one.
func versionOf(m record.Made) string {
	if m.Current {
		return fmt.Sprintf("v%d", m.Version)
	}
	return fmt.Sprintf("v%d (there is a newer one)", m.Version)
}

// verdicts is what checks say, in a line: "format pass, tests fail".
func verdicts(v *work.Validation) string {
	var out []string
	for _, c := range v.Checks() {
		out = append(out, c.Name+" "+string(c.Verdict))
	}
	if v != nil && v.Coverage != nil {
		out = append(out, fmt.Sprintf("coverage %.0f%%", *v.Coverage))
	}
	return strings.Join(out, ", ")
}

// Who prints which agents worked on something, in order.
func Who(w io.Writer, of string, who record.Who, now time.Time) {
	switch s := who.Session; {
	case s != nil:
		fmt.Fprintf(w, "work session %s, %s, %s: %s\n", plain.Line(s.Name), phase(s.Phase), s.Status, plain.Cut(plain.Line(plain.First(s.Scope)), mostAbout))
		for _, t := range who.Tasks {
			detail(w, fmt.Sprintf("task %s: %s", t.Title, t.Status))
		}
		fmt.Fprintln(w)
	case who.Found == "words":
		fmt.Fprintf(w, "no task or work session is called %s; these have its words:\n", plain.Excerpt(of, mostAbout))
	}
	if len(who.Worked) == 0 {
		fmt.Fprintln(w, "no agent has worked on it yet")
		return
	}
	History(w, who.Worked, now)
}

// phase is a phase of a work session with its word.
func phase(p work.Phase) string {
	if p.String() == "" {
		return "before its first phase"
	}
	return fmt.Sprintf("phase %d (%s)", p, p)
}

// Produced prints what bundles produced.
func Produced(w io.Writer, list []record.Produced, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no such execution was given a bundle; `orchestrator help bundles` says how to prepare one")
		return
	}
	var t Columns
	t.Row("BUNDLE", "TOKENS", "USES", "OK", "FAILED", "FILES", "CHECKED", "COST", "LAST")
	for _, p := range list {
		tokens := "?"
		if p.Bundle.Hash != "" {
			tokens = thread.Tokens(p.Bundle.Tokens)
		}
		t.Row(plain.Cut(p.Bundle.ID, mostName), tokens, fmt.Sprint(p.Uses), fmt.Sprint(p.Completed), fmt.Sprint(p.Failed),
			fmt.Sprint(p.Outputs), checkedOf(p), p.Spent.Money(), thread.Age(now.Sub(p.Last.Created)))
	}
	head, lines := table(&t)
	fmt.Fprintln(w, head)
	for i, p := range list {
		fmt.Fprintln(w, lines[i])
		detail(w, strings.Trim(p.Bundle.AgentType+": "+p.Bundle.Scope, ": "))
	}
	for _, p := range list {
		if p.Uses > p.Counted && p.Counted > 0 {
			fmt.Fprintf(w, "FILES and CHECKED are those of the newest %d executions of each bundle.\n", p.Counted)
			return
		}
	}
}

// checkedOf is how what a bundle produced was checked.
func checkedOf(p record.Produced) string {
	var out []string
	for _, c := range []struct {
		n    int
		what string
	}{{p.Passed, "pass"}, {p.Refused, "fail"}, {p.Unchecked, "said"}} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return Dash(strings.Join(out, ", "))
}
