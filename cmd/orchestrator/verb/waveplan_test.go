package verb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/planfile"
	"orchestrator/thread/plan"
)

// A newcomer copies the example, checks it, accepts it and runs it; a byte that changes asks again.
func TestPlanOfTheProject(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	const folder = planfile.Folder + "/"
	r.Write(folder+"brief.toml", r.Ok("wave", "plan", "--example"))
	if out := r.Ok("wave", "plan", "brief"); !strings.Contains(out, "vision, apex, nova") || !strings.Contains(out, "it can run\n") || !strings.Contains(out, "trust --plans brief") {
		t.Error(out)
	}
	refused := func(words ...string) {
		t.Helper()
		if res := r.Run(words...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "trust --plans") {
			t.Errorf("%q: %d %s", words, res.Code, res.Stderr)
		}
	}
	refused("wave", "run", "brief", "x")
	refused("wave", "arm", "brief")
	shown := r.Run("trust", "--plans", "brief")
	if shown.Code != exitcode.Refused || !strings.Contains(shown.Stderr, "Now write compelling copy") {
		t.Errorf("%d %s", shown.Code, shown.Stderr)
	}
	_, hash, _ := strings.Cut(shown.Stderr, "\nhash ")
	hash, _, _ = strings.Cut(hash, "\n")
	r.Ok("trust", "--plans", "brief", "--hash", hash)
	if out := r.Ok("wave", "plan", "brief"); strings.Contains(out, "trust") {
		t.Error(out)
	}
	// a prompt in a file is a part of it
	r.Write(folder+"two.json", `{"agents":[{"name":"a","agent":"demo","prompt_file":"prompts/a.md"}]}`)
	r.Write(folder+"prompts/a.md", "say \x1b[2Jhello\n")
	if shown := r.Run("trust", "--plans"); strings.ContainsRune(shown.Stderr, 0x1b) || !strings.Contains(shown.Stderr, "hello") || !strings.Contains(shown.Stderr, "prompts/a.md:") {
		t.Errorf("%q", shown.Stderr)
	}
	r.Ok("trust", "--plans", "--yes")
	r.Ok("wave", "run", "--detach", "two", "x")
	r.Write(folder+"prompts/a.md", "say hello \n")
	refused("wave", "run", "two", "x")
	r.Ok("trust", "--plans", "two", "--yes")
	r.Ok("wave", "run", "--detach", "two", "x")
	if err := os.Rename(filepath.Join(r.Project, folder, "prompts"), filepath.Join(r.Project, "prompts")); err != nil {
		t.Fatal(err)
	}
	if res := r.Run("wave", "run", "two", "x"); res.Code != exitcode.NotFound {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
}

// What a person has written elsewhere runs as it is.
func TestPlanOfThePerson(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	file := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(file, []byte("[variables.n]\ntype = \"integer\"\n[[agents]]\nname = \"a\"\nagent = \"demo\"\nprompt = \"say {{var.n}}\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.Ok("wave", "plan", file); !strings.Contains(out, "no value yet") {
		t.Error(out)
	}
	if res := r.Run("wave", "run", "--detach", file, "x"); res.Code != exitcode.Usage || !strings.Contains(res.Stderr, "--var n=VALUE") {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
	if res := r.Run("wave", "run", "--detach", file, "x", "--var", "n=x"); res.Code != exitcode.Usage {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
	r.Ok("wave", "run", "--detach", file, "x", "--var", "n=3")
}

// The exit codes of a check, and its findings as JSON.
func TestPlanIsChecked(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	wide := plan.Plan{Name: "wide"}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		wide.Agents = append(wide.Agents, plan.Agent{Name: name, Agent: "demo", Prompt: "hello"})
	}
	file := filepath.Join(t.TempDir(), "wide.json")
	write := func() {
		b, err := json.Marshal(wide)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if res := r.Run("wave", "plan", file); res.Code != exitcode.Refused || !strings.Contains(res.Stdout, "asks you: 5 agents work at once") {
		t.Errorf("%d %s", res.Code, res.Stdout)
	}
	if res := r.Run("wave", "run", "--detach", file, "x"); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "5 agents work at once") {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
	r.Ok("wave", "plan", file, "--max-parallel", "2")
	r.Ok("wave", "run", "--detach", file, "x", "--max-parallel", "2")
	wide.Agents[0].Agent, wide.Agents[1].Reads = "dem", []string{"b"}
	write()
	res := r.Run("wave", "plan", file, "--json")
	var v struct{ Findings []plan.Finding }
	if err := json.Unmarshal([]byte(res.Stdout), &v); err != nil || res.Code != exitcode.Usage || len(v.Findings) < 2 {
		t.Errorf("%d %s %v", res.Code, res.Stdout, err)
	}
	if res := r.Run("wave", "run", "--detach", file, "x"); res.Code != exitcode.Usage || !strings.Contains(res.Stderr, "There is more") {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
}

// A program of the project runs as it was accepted, though somebody exchanges it after its plan was armed.
func TestPlanRunsAcceptedProgram(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := func(word string) string {
		return "#!/bin/sh\ncat >/dev/null\necho " + word + " >>" + ran + "\necho '{\"summary\":\"s\",\"output_data\":1}'\n"
	}
	r.Write("tools/x.sh", script("accepted"))
	if err := os.Chmod(filepath.Join(r.Project, "tools/x.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Write(planfile.Folder+"/one.json", `{"agents":[{"name":"a","agent":"command","prompt":"x","program":["./tools/x.sh"],"writes":["out/**"]}]}`)
	r.Ok("trust", "--plans", "one", "--yes")
	r.Ok("wave", "arm", "one", "--yes")
	r.Write("tools/x.sh", script("exchanged"))
	r.Ok("task", "add", "do it", "--plan", "one")
	e2e.Await(t, "the program to run", func() bool {
		b, err := os.ReadFile(ran)
		return err == nil && len(b) > 0
	})
	if b, err := os.ReadFile(ran); err != nil || string(b) != "accepted\n" {
		t.Errorf("%q %v", b, err)
	}
	if res := r.Run("wave", "run", "--detach", "one", "x"); res.Code != exitcode.Refused {
		t.Errorf("%d %s", res.Code, res.Stderr)
	}
}
