package records

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/record"
)

// TestTimeToTheCause seeds ten failures, each in a work session of its own, and finds their causes as somebody does who
// knows the name of the work session and nothing else: with two or three of our verbs; and beside that with git and what
// the agents printed. What counts is how many commands that takes, and how many lines are read until the one with the cause.
//
// It is a measure of where the cause stands, not of how quick people are: both ways follow a fixed procedure, and reading
// a line that has the cause counts as having understood it. That favours git and logs, whose line has to be recognised.
func TestTimeToTheCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{"spec.md": spec, "poem.md": "# How to write poems\n\nEach line has a rhyme.\n", "limits.md": "At most 100 results.\n", "gone.md": "It goes.\n",
		"lib/api.ts": fmt.Sprintf(library, 1), "lib/search.ts": fmt.Sprintf(library, 1), "plan.md": "1. the index\n2. the query\n", "review.md": "It is wrong.\n",
		"test.sh": "for i in $(seq 40); do echo \"ok $i\"; done; echo 'FAIL search returns results'; exit 1\n"}
	for i := range 5 {
		w.commit(fmt.Sprintf("step %d", i), map[string]string{"notes.md": fmt.Sprintf("step %d\n", i)})
	}
	base := w.commit("add what there is", files)
	all := causes(base)
	for _, c := range all {
		w.session(c.name, "Build the search")
		w.planned(base)
		c.seed(w)
		if c.name != "lost-run" {
			w.finished(base)
		}
		// Runs of the same types that went well lie between.
		w.session("well-"+c.name, "Build something else")
		x := w.ran("completed", did{Execution: implementor(base, ""), asked: prompt("Implement something else", spec), said: "Done.", tools: reads("spec.md")})
		w.delivers(x, "lib/search.ts", 3, nil, nil)
	}
	w.ok(w.store.Close())
	w.Ok("threads") // the server runs
	var rows []string
	totals := [2]way{}
	for _, c := range all {
		with, without := w.byRecord(c), w.byLogs(c)
		totals[0], totals[1] = totals[0].plus(with), totals[1].plus(without)
		rows = append(rows, fmt.Sprintf("%-14s %8d %6d  %-9s  %8d %6d  %s", c.name, with.commands, with.lines, with.when(), without.commands, without.lines, without.when()))
		if !with.found || with.commands > 3 {
			t.Errorf("%s is not found by three commands:\n%s", c.name, with.read)
		}
	}
	t.Logf("\n%-14s %s\n%-14s %8s %6s  %-9s  %8s %6s  %s\n%s\n%-14s %8d %6d  %-9s  %8d %6d", "", "         ours                       git and logs alone",
		"cause", "commands", "lines", "found", "commands", "lines", "found", strings.Join(rows, "\n"), "all", totals[0].commands, totals[0].lines, "", totals[1].commands, totals[1].lines)
	if 2*totals[0].lines > totals[1].lines {
		t.Errorf("with the record, %d lines are read, without it %d: that is more than half", totals[0].lines, totals[1].lines)
	}
}

// way is how a cause was found: with how many commands, and lines until the one that has it.
type way struct {
	commands, lines int
	found           bool
	took            time.Duration // of the commands
	read            string
}

func (a way) plus(b way) way { return way{commands: a.commands + b.commands, lines: a.lines + b.lines} }

func (a way) when() string {
	if !a.found {
		return "no"
	}
	return fmt.Sprintf("%.2f s", a.took.Seconds())
}

// reading adds what a command printed, up to the line that has the cause.
func (a *way) reading(command, printed string, took time.Duration, has func(line string) bool) {
	a.commands++
	a.took += took
	a.read += "$ " + command + "\n" + printed
	for line := range strings.Lines(printed) {
		a.lines++
		if has != nil && has(line) {
			a.found = true
			return
		}
	}
}

// byRecord finds a cause with our verbs: who worked, and then the chain of the first one that did not complete, or, if all
// did, of each of them from the last one back.
func (w *world) byRecord(c cause) (a way) {
	w.T.Helper()
	begin := time.Now()
	printed := w.Ok("history", "who", c.name)
	a.reading("orchestrator history who "+c.name, printed, time.Since(begin), nil)
	who := e2e.Get[record.Who](w.Rig, "history", "who", c.name)
	var names []string
	for i := len(who.Worked) - 1; i >= 0; i-- {
		if x := who.Worked[i].Execution; x.Success != nil && !*x.Success && x.Parent == "" {
			names = append([]string{x.Execution}, names...)
		}
	}
	for i := len(who.Worked) - 1; i >= 0; i-- {
		if x := who.Worked[i].Execution; len(who.Worked[i].Outputs) > 0 && x.AgentType == "implementor" {
			names = append(names, x.Execution)
		}
	}
	for _, name := range names {
		if a.found || a.commands == 4 {
			break
		}
		t := e2e.Get[record.Trace](w.Rig, "history", "trace", name)
		wrong := false
		for _, f := range t.Findings {
			wrong = wrong || f.Code == c.found && !f.Note && strings.Contains(f.Text, c.says)
		}
		begin := time.Now()
		printed := w.Ok("history", "trace", name)
		mark := strings.Fields(c.says)[0]
		a.reading("orchestrator history trace "+name, printed, time.Since(begin), func(line string) bool { return wrong && strings.Contains(line, mark) })
	}
	return a
}

// byLogs finds a cause with git and what the agents of the work session printed.
func (w *world) byLogs(c cause) (a way) {
	w.T.Helper()
	logs := w.Home + "/logs/" + c.name
	has := regexp.MustCompile(c.evidence)
	for i, command := range []string{
		"ls " + logs, "git log --oneline --decorate --all -20", "grep -rniE 'fail|error|lost|refused|budget' " + logs + " | cut -c1-160", "git show --stat", "sh test.sh",
		"cat " + logs + "/*.log", "git log -3 -p",
	} {
		if a.found {
			break
		}
		begin := time.Now()
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = w.Project, w.Env
		out, _ := cmd.CombinedOutput() // the tests of the project fail
		match := func(line string) bool { return c.evidence != "" && has.MatchString(line) }
		if c.evidence == "$" { // what breaks off is seen once all was read
			match = nil
		}
		a.reading(command, string(out), time.Since(begin), match)
		a.found = a.found || c.evidence == "$" && i == 5
	}
	return a
}
