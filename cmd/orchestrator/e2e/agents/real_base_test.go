package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
)

// TestRealBase: of what each real CLI sends before a word is said, almost all is told by what it is, nothing is counted
// twice or left out, and the file of instructions is found by its path.
func TestRealBase(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
				r.Write(name, "# Rules of the house\n\nAlways water the plants, and never walk on the lawn.\n")
			}
			name := r.start("base")
			r.Ok("send", "--timeout", "3m", name, "hello #say:fine")
			report := e2e.Get[thread.BaseReport](r.Rig, "context", "base", name)
			t.Log("\n" + r.Ok("context", "base", name))
			var sum, other int64
			var files []string
			for _, p := range report.Parts {
				sum += p.Tokens
				switch p.Kind {
				case thread.BaseOther:
					other += p.Tokens
				case thread.BaseInstructions:
					files = append(files, p.Name)
				default:
				}
			}
			if report.Tokens == 0 || sum != report.Tokens {
				t.Fatalf("the parts have %d of %d tokens", sum, report.Tokens)
			}
			if other*10 > report.Tokens {
				t.Errorf("%d of %d tokens are not told apart", other, report.Tokens)
			}
			project, err := filepath.EvalSymlinks(r.Project)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool { return filepath.Dir(file) == project }) {
				t.Errorf("the file of instructions in %s is not among %q", project, files)
			}
			whole := weigh(t, r.newest())
			if d := report.Counted - whole; d*50 > whole || d*50 < -whole {
				t.Errorf("%d tokens are counted of %d", report.Counted, whole)
			}
			if os.Getenv("ORCHESTRATOR_BASE_BODIES") != "" { // to look at
				e2e.Put(t, filepath.Join(os.Getenv("ORCHESTRATOR_BASE_BODIES"), cli.Name+".json"), r.newest())
			}
		})
	}
}

// weigh counts the texts of a request, and the definitions of its tools, in a way of its own.
func weigh(t *testing.T, body string) (n int64) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	counter := tokens.New()
	var texts func(v any, text bool)
	texts = func(v any, text bool) {
		switch v := v.(type) {
		case string:
			if text {
				n += int64(counter.Count(v))
			}
		case []any:
			for _, x := range v {
				texts(x, text)
			}
		case map[string]any:
			for key, x := range v {
				texts(x, key == "text" || key == "content" || key == "parts")
			}
		}
	}
	for _, key := range []string{"system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		var v any
		if all[key] != nil && json.Unmarshal(all[key], &v) == nil {
			texts(v, true)
		}
	}
	var tools []map[string]json.RawMessage
	if all["tools"] != nil {
		if err := json.Unmarshal(all["tools"], &tools); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range tools {
		raw, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		n += int64(counter.Count(string(raw)))
	}
	if n == 0 {
		t.Fatal(fmt.Errorf("nothing in %.200s", body))
	}
	return n
}
