package verbs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestBaseSeen: what an agent sends before a word is said is known from its first request on, also after a restart of the
// server, and in a file that only the person can read, without what was said.
func TestBaseSeen(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "seen")
	if out := r.Ok("context", "base", name); !strings.Contains(out, "no request seen yet: its next prompt shows it") {
		t.Errorf("before the first request:\n%s", out)
	}
	if out := r.Ok("context", "base", "-a", "demo"); !strings.Contains(out, "no request seen yet: start one") {
		t.Errorf("of an agent that has sent none:\n%s", out)
	}
	r.Turn(name, "say peppermint")
	report := e2e.Get[thread.BaseReport](r, "context", "base", name)
	var sum int64
	kinds := map[thread.BaseKind]bool{}
	for _, p := range report.Parts {
		sum += p.Tokens
		kinds[p.Kind] = true
	}
	if report.Agent != "demo" || report.Name != name || report.Tokens <= 0 || sum != report.Tokens || !kinds[thread.BaseSystem] || !kinds[thread.BaseTool] ||
		len(report.Offered) == 0 || len(report.ToolsSum) != 64 || report.At.IsZero() || kinds[thread.BasePrompt] {
		t.Errorf("after the first request: %+v", report)
	}
	out := r.Ok("context", "base")
	for _, want := range []string{name, "PART", "LEFT OUT BY", "tool " + report.Offered[0], "in all", "before a word is said"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if shown := e2e.Get[thread.ContextReport](r, "context", "show", name); shown.Base != report.Tokens || len(shown.BaseParts) != len(report.Parts) {
		t.Errorf("in its context: %d of %d tokens, %d parts", shown.Base, shown.Tokens, len(shown.BaseParts))
	}
	if g := r.Status(name).Gauge; g.Base != report.Tokens || g.History() != g.Tokens-g.Base || g.Base >= g.Tokens {
		t.Errorf("its gauge: %+v", g)
	}
	r.Turn(name, "say more")
	r.Ok("restart")
	after := e2e.Get[thread.BaseReport](r, "context", "base", name)
	if after.Tokens != report.Tokens || after.ToolsSum != report.ToolsSum || !after.At.Equal(report.At) {
		t.Errorf("after a restart: %+v\nwas %+v", after, report)
	}
	if g := r.Status(name).Gauge; g.Base != report.Tokens {
		t.Errorf("its gauge after a restart: %+v", g)
	}
	r.Ok("resume", name)
	r.Turn(name, "say again")
	again := e2e.Get[thread.BaseReport](r, "context", "base", name)
	if !again.At.After(report.At) || again.ToolsSum != report.ToolsSum || len(again.Parts) != len(report.Parts) {
		t.Errorf("of the resumed agent: %+v\nwas %+v", again, report)
	}
	files, err := filepath.Glob(filepath.Join(r.StateDir(), "contexts", "*.base"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(kept), "peppermint") || strings.Contains(string(kept), "say again") {
		t.Errorf("%s: %v, %v\n%s", files[0], info.Mode(), err, kept)
	}
	r.Ok("stop", name)
	fork, _, _ := strings.Cut(r.Ok("fork", "other", "-t", name), " ")
	if out := r.Ok("context", "base", fork); !strings.Contains(out, "no request seen yet") {
		t.Errorf("a fork has its own:\n%s", out)
	}
}
