package records

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
)

// TestAnswers asks the assembled program what people ask of their past: what the last debugger was given, which bundles
// worked, who worked on a task and made what, and what an output came of; over executions by hand and a run. One query
// leads from an output to its bundle and its work session.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".orchestrator.toml", "agent = \"demo\"\n")
	r.Write("spec/requirements.md", "# Vector Search Requirements\n\nIt is quick.\n")
	r.Write("lib/search.ts", "export const search = 1\n")
	r.Ok("session", "init", "Implement vector search", "--as", "orch-2025-01-17-001")
	bundle := filepath.Join(t.TempDir(), "bundle.json")
	r.Ok("context_manager", "prepare-bundle", "--agent-type", "systematic-debugger", "--scope", "Find why it is slow", "--files", "spec/requirements.md,lib/search.ts", "--output", bundle)
	r.Ok("exec", "init", "Find why it is slow", "--as", "exec-901", "--type", "systematic-debugger", "--session", "orch-2025-01-17-001", "--task", "Index", "--bundle", bundle, "--prompt", "Find out \x1b[31mwhy it is slow.")
	r.Write("lib/search.ts", "export const search = 2\nexport const quick = true\n")
	r.Ok("exec", "complete", "exec-901", "--message", "It was the loop.", "--deliverables", "lib/search.ts")
	run := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--session", "orch-2025-01-17-001", "--task", "Index", "--type", "task-implementor", "say hello"))
	e2e.Await(t, "the end of "+run, func() bool {
		list := e2e.Get[[]record.Worked](r, "history", "--type", "task-implementor")
		return len(list) == 1 && list[0].Execution.State == work.Completed
	})

	given := e2e.Get[[]record.Given](r, "history", "context", "systematic-debugger")
	if len(given) != 1 || given[0].Bundle == nil || len(given[0].Context) != 2 || given[0].Context[0].Piece.Source != "spec/requirements.md" || given[0].Context[0].Piece.Tokens == 0 ||
		given[0].Execution.Execution != "exec-901" || !strings.Contains(given[0].Asked, "why it is slow") {
		t.Errorf("the last debugger was given %+v", given)
	}
	who := e2e.Get[record.Who](r, "history", "who", "Index")
	var names []string
	for _, w := range who.Worked {
		names = append(names, w.Execution.Execution)
	}
	if !slices.Equal(names, []string{"exec-901", run}) || len(who.Worked[0].Outputs) == 0 || who.Worked[0].Outputs[0].Path != "lib/search.ts" {
		t.Errorf("on the task worked %v, %+v", names, who.Worked)
	}
	if touched := e2e.Get[[]record.Worked](r, "history", "--file", "lib/search.ts"); len(touched) != 1 || touched[0].Execution.Execution != "exec-901" {
		t.Errorf("the file was touched by %+v", touched)
	}
	if found := e2e.Get[[]record.Worked](r, "history", "loop"); len(found) != 1 || found[0].Execution.Execution != "exec-901" {
		t.Errorf("the words are found in %+v", found)
	}
	produced := e2e.Get[[]record.Produced](r, "history", "bundles")
	if i := slices.IndexFunc(produced, func(p record.Produced) bool { return p.Bundle.ID == given[0].Bundle.ID }); i < 0 || produced[i].Completed != 1 || produced[i].Outputs != 1 {
		t.Errorf("the bundles produced %+v", produced)
	}
	output := fmt.Sprint(who.Worked[0].Outputs[0].Output)
	for _, ref := range []string{"exec-901", output, "lib/search.ts", given[0].Bundle.ID} {
		c := e2e.Get[record.Trace](r, "history", "trace", ref)
		if c.More.Name != "exec-901" || c.Session == nil || c.Session.Name != "orch-2025-01-17-001" || c.Task == nil || c.Given.Bundle == nil || c.Given.Bundle.ID != given[0].Bundle.ID ||
			len(c.Given.Outputs) == 0 || c.Given.Context[1].Now != record.Differs || c.Given.Context[0].Now != record.Same {
			t.Errorf("%s leads to %+v", ref, c)
		}
	}
	if sums := e2e.Get[record.Sums](r, "stats"); sums.Total.Runs != 2 || sums.Total.Completed != 2 || len(sums.Rows) != 2 {
		t.Errorf("the sums are %+v", sums)
	}
	for _, args := range [][]string{{"history"}, {"history", "who", "Index"}, {"history", "context", "systematic-debugger", "--full"}, {"history", "bundles"}, {"history", "trace", "exec-901"}, {"history", "trace", run},
		{"history", "trace", "lib/search.ts"}, {"stats"}, {"stats", "--by", "day"}, {"exec", "show", "exec-901"}} {
		page := r.Ok(args...)
		if strings.ContainsRune(page, '\x1b') {
			t.Errorf("%v prints an escape: %q", args, page)
		}
		for line := range strings.Lines(page) {
			if plain.Width(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%v is wider than 80 columns: %s", args, line)
			}
		}
	}

	// An agent sees its own only.
	in := r.AgentShell("inside")
	for _, args := range [][]string{{"history"}, {"history", "loop"}, {"history", "bundles"}, {"stats"}} {
		if got := in.Orchestrator(args...); got.Code != exitcode.OK || strings.Contains(got.Stdout, "exec-901") || strings.Contains(got.Stdout, "debugger") {
			t.Errorf("an agent asks %v: exit %d\n%s%s", args, got.Code, got.Stdout, got.Stderr)
		}
	}
	for _, args := range [][]string{{"history", "trace", "exec-901"}, {"history", "trace", "lib/search.ts"}, {"history", "trace", output}, {"history", "trace", given[0].Bundle.ID}, {"history", "trace", "nothing"}} {
		if got := in.Orchestrator(args...); got.Code != exitcode.Refused || strings.Contains(got.Stdout+got.Stderr, "slow") {
			t.Errorf("an agent asks %v: exit %d\n%s%s", args, got.Code, got.Stdout, got.Stderr)
		}
	}
	if got := in.Orchestrator("history", "who", "Index"); got.Code != exitcode.NotFound {
		t.Errorf("an agent asks who worked on a task of others: exit %d\n%s", got.Code, got.Stdout)
	}
	in.Orchestrator("exec", "init", "My own part", "--as", "exec-902", "--type", "helper")
	if got := in.Orchestrator("history", "trace", "exec-902"); got.Code != exitcode.OK || !strings.Contains(got.Stdout, "My own part") {
		t.Errorf("an agent asks of its own: exit %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}
