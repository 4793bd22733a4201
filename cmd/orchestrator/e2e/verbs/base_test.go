package verbs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestBases chooses what the demo agent leaves out in each way that people have, and keeps it: what it offers its model
// is asked of the model.
func TestBases(t *testing.T) {
	r := e2e.NewRig(t)
	config := filepath.Join(r.Home, ".config", "orchestrator", "config.toml")
	configure := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("[context.base.profiles.mine]\nfrom = \"minimal\"\nkeep = [\"write_todos\"]\n")
	offers := func(name, want string) {
		t.Helper()
		said := r.Ok("send", name, "which tools do you have?")
		for _, tool := range strings.Fields("list_files read_file write_file edit_file run_command ask_person write_todos") {
			if strings.Contains(said, "`"+tool+"`") == strings.Contains(want, tool) {
				t.Errorf("%s is to be without %q, and says %s", name, want, said)
				return
			}
		}
	}
	full := r.Demo("-n", "by hand")
	offers(full, "")
	var started []thread.Status
	r.Ok("run", "-a", "demo", "-n", "task", "say done")
	for _, s := range listed(r) {
		if s.Parent == "" && s.Base.Profile == thread.BaseSlim {
			started = append(started, s)
		}
	}
	if len(started) != 1 || started[0].Base.Why != "started for a task" {
		t.Fatalf("run has started %+v", started)
	}
	task := started[0].Name
	offers(task, "write_todos")
	mine := r.Demo("-n", "own", "--base", "mine")
	offers(mine, "ask_person")
	read := r.Demo("-n", "read", "--base", "read-only")
	offers(read, "write_todos write_file edit_file run_command")

	fork := strings.Fields(r.Ok("fork", "from it", "-t", read, "--at", "1"))[0]
	offers(fork, "write_todos write_file edit_file run_command")
	other := strings.Fields(r.Ok("fork", "with all", "-t", read, "--base", "full", "--no-start"))[0]
	if b := r.Status(other).Base; b.Profile != thread.BaseFull || b.Why != thread.BaseByHand {
		t.Errorf("fork --base full has %+v", b)
	}
	r.Ok("checkpoint", "restore", read, "1")
	offers(read, "write_todos write_file edit_file run_command")

	cl := r.Client()
	change, err := api.SetBase.Do(t.Context(), cl, thread.BaseRequest{Thread: full, Profile: "minimal"})
	if err != nil || !change.Waits || change.Tokens == 0 || !strings.Contains(change.Says(), "tokens are then written to the provider's cache again (cost unknown)") {
		t.Errorf("change %+v, %v: %s", change, err, change.Says())
	}
	r.Ok("stop", full)
	r.Ok("resume", full)
	offers(full, "write_todos ask_person")

	configure("[context.base]\nprofile = \"read-only\"\n") // its own profile is gone
	r.Ok("restart")
	offers(mine, "ask_person")
	offers(full, "write_todos ask_person")
	if b := r.Status(r.Demo("-n", "another")).Base; b.Profile != thread.BaseReadOnly || len(b.Left) != 4 {
		t.Errorf("a thread after the configuration has changed has %+v", b)
	}

	archive := filepath.Join(t.TempDir(), "a.orchestrator")
	r.Ok("export", read, "-o", archive)
	imported := strings.Fields(r.Ok("import", archive))[0]
	r.Ok("resume", imported)
	offers(imported, "write_todos write_file edit_file run_command")

	r.Says(2, []string{"base", "no such profile"}, "new", "-a", "demo", "--base", "lean")
	r.Says(1, []string{"nothing can be left out of command"}, "new", "-a", "command", "--base", "slim", "--", "cat")
}

// TestBaseOfWhatAnAgentStarts: it is slim, and an agent may not change it.
func TestBaseOfWhatAnAgentStarts(t *testing.T) {
	r := e2e.NewRig(t)
	shell := r.AgentShell("a shell")
	r.Ok("grants", shell.Name, "--add", "start")
	made := shell.Orchestrator("new", "-a", "demo", "-n", "inside")
	if made.Code != 0 {
		t.Fatal(made)
	}
	if s := r.Status(strings.TrimSpace(made.Stdout)); s.Base.Profile != thread.BaseSlim || len(s.Base.Left) == 0 {
		t.Errorf("base %+v", s.Base)
	}
}

func listed(r *e2e.Rig) []thread.Status {
	r.T.Helper()
	var all []thread.Status
	if err := json.Unmarshal([]byte(r.Ok("threads", "--json")), &all); err != nil {
		r.T.Fatal(err)
	}
	return all
}
