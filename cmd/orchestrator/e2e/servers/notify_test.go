package servers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/notify"
)

// TestNotifyCommand: the server runs the person's commands while no screen is open. One that fails is reported in the
// event log, and none outlives the server.
func TestNotifyCommand(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	calls := filepath.Join(filepath.Dir(r.Home), "calls")
	r.Env = append(r.Env, "CALLS="+calls)
	e2e.Put(t, config.PersonFile(filepath.Join(r.Home, ".config")), `
notify_command = "cat >> $CALLS"
notify_on = "asks"
[hooks]
done = ["/bin/sh", "-c", "echo no display >&2; exit 1"]
started = "setsid sleep 60 & sleep 60"
`)
	name := r.Ok("new", "docs", "-a", "demo", "-p", "ask me which database? [staging|production]")
	name = strings.TrimSpace(name)
	e2e.Await(t, "the call", func() bool { b, _ := os.ReadFile(calls); return strings.HasSuffix(string(b), "\n") })
	b, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	var m notify.Message
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if m.Kind != thread.HappenedAsks || m.Name != name || m.Label != r.Status(name).DisplayName() || m.Text != "which database?" || m.Project != r.Project {
		t.Errorf("it was called with %s", b)
	}
	log := e2e.Get[thread.HappeningList](r, "events", "--kind", "asks")
	if n := len(log.Happenings); n != 1 || log.Happenings[0] != m.Happening {
		t.Errorf("the event log has %+v, it was called with %+v", log.Happenings, m.Happening)
	}
	r.Ok("answer", name, "1", "--yes")
	r.AwaitState(name, thread.StateDone)
	e2e.Await(t, "the trouble with a hook", func() bool {
		return strings.Contains(r.Ok("events", "--kind", "call"), "hooks.done: exit status 1: no display.")
	})
	r.Ok("stop")
	for _, p := range process.All() {
		if process.Marked(p.PID, func(kv string) bool { return kv == "CALLS="+calls }) {
			t.Errorf("process %d (%s) outlived the server", p.PID, p.Name)
		}
	}
}

// TestProjectCallsNobody: a repository cannot have commands run on events, whether it is trusted or not.
func TestProjectCallsNobody(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	harm := filepath.Join(r.Home, "harm")
	r.Write(".orchestrator.toml", "notify_command = \"touch "+harm+"\"\nnotify_on = \"started, done\"\n[hooks]\nsent = \"touch "+harm+"\"\n")
	if got := r.Run("trust", "--yes"); got.Code == exitcode.OK || !strings.Contains(got.Stderr, "your own configuration") {
		t.Errorf("it can be trusted: %+v", got)
	}
	name := r.Demo("docs")
	r.Turn(name, "hello")
	r.Ok("stop")
	if _, err := os.Stat(harm); err == nil {
		t.Error("a repository's command was run")
	}
}
