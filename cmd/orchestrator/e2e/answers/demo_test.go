package answers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

func TestFirstUse(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("-p", "list files", "look around")
	if !strings.HasPrefix(name, "look-around-") {
		t.Errorf("the thread is called %q", name)
	}
	s := r.AwaitState(name, thread.StateDone)
	if s.Turn != 1 || s.Gauge.Tokens == 0 || s.Gauge.Window == 0 || s.Gauge.Estimated || s.Gauge.Source != "gateway" {
		t.Errorf("after one turn: turn %d, gauge %+v", s.Turn, s.Gauge)
	}
	list := e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	if len(list) != 1 || list[0].Prompt != "list files" || list[0].Kind != thread.KindTurn || list[0].Snapshot == nil {
		t.Errorf("its turns: %+v", list)
	}
	if out := r.Ok("checkpoint", "show", name, "1"); !strings.Contains(out, "hello.go") {
		t.Errorf("what was said does not name the file:\n%s", out)
	}
	if out := r.Ok("why", name); !strings.Contains(out, "gateway") {
		t.Errorf("why says nothing of the gateway:\n%s", out)
	}
	if out := r.Ok("find", "list fi"); !strings.Contains(out, name) {
		t.Errorf("find: %s", out)
	}
	if out := r.Git("status", "--porcelain"); out != "" {
		t.Errorf("git sees what is ours: %s", out)
	}
}

// mode of a file of the project.
func mode(r *e2e.Rig, name string) os.FileMode {
	r.T.Helper()
	info, err := os.Lstat(filepath.Join(r.Project, name))
	if err != nil {
		r.T.Fatal(err)
	}
	return info.Mode()
}

// TestStateIsOurs looks at every file that a whole life of a thread leaves behind.
func TestStateIsOurs(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("private")
	r.Turn(name, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "more", "-t", name)
	r.Turn(fork.Name, "list files")
	r.Ok("export", name, "-o", filepath.Join(r.StateDir(), "archive"))
	worktrees := filepath.Join(r.StateDir(), "worktrees") + "/"
	seen := 0
	err := filepath.WalkDir(r.StateDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		seen++
		// Worktrees and indexes are as git makes them, behind folders that are ours alone.
		if !strings.HasPrefix(path, worktrees) && d.Name() != "index" && info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || seen < 10 {
		t.Errorf("%d files, %v", seen, err)
	}
	if info, err := os.Stat(worktrees); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the worktrees' folder: %v %v", info.Mode(), err)
	}
}

func TestRunPrintsTheAnswer(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	if out := r.Ok("run", "-a", "demo", "read README.md"); !strings.Contains(out, "It says hello") {
		t.Errorf("the answer:\n%s", out)
	}
	a := e2e.Get[e2e.Answer](r, "run", "-a", "demo", "list files")
	if a.Outcome != "answered" || !strings.Contains(a.Answer, "hello.go") || a.Checkpoint == nil || a.Checkpoint.Turn != 1 ||
		!a.Checkpoint.Usage.Priced || a.Checkpoint.Usage.Output == 0 {
		t.Errorf("as JSON: %+v", a)
	}
	if res := r.Run("run", "-a", "demo", "run touch made.txt"); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "waits for you") {
		t.Errorf("an approval: exit %d, %s", res.Code, res.Stderr)
	}
	if _, err := os.Stat(filepath.Join(r.Project, "made.txt")); err == nil {
		t.Error("the command ran without being allowed")
	}
}

func TestRunAndSendEndByTheirTimeout(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	res := r.Run("run", "-a", "demo", "--timeout", "10s", "#slow:600s list files", "--json")
	var a e2e.Answer
	if err := json.Unmarshal([]byte(res.Stdout), &a); err != nil || res.Code != exitcode.Agent || a.Outcome != "timeout" || !strings.Contains(res.Stderr, "keeps running") {
		t.Errorf("exit %d, %+v %v, %s", res.Code, a, err, res.Stderr)
	}
	if s := r.Status(a.Thread); s.Execution == nil {
		t.Errorf("the agent ended with the wait: %+v", s.State)
	}
	another := r.Demo("another")
	r.AwaitState(another, thread.StateIdle)
	if res := r.Run("send", "--timeout", "5s", another, "#slow:600s list files"); res.Code != exitcode.Agent || !strings.Contains(res.Stderr, "has not finished in time") {
		t.Errorf("send: exit %d, %s", res.Code, res.Stderr)
	}
}

func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("two turns")
	r.Turn(name, "write notes.txt: first")
	r.Turn(name, "write notes.txt: second")
	if got := r.Read("notes.txt"); !strings.Contains(got, "second") {
		t.Errorf("notes.txt: %q", got)
	}
	r.Write("by-hand.txt", "")
	if byHand, byAgent := mode(r, "by-hand.txt"), mode(r, "notes.txt"); byHand != byAgent {
		t.Errorf("the agent makes files of mode %v, a person %v", byAgent, byHand)
	}
	list := e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	if len(list) != 2 || list[0].Turn != 2 || list[0].Items <= list[1].Items || list[0].Gauge.Tokens <= list[1].Gauge.Tokens {
		t.Errorf("two turns: %+v", list)
	}
}

// TestKilledInTheMiddle pulls the plug while an answer is on its way.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("plug")
	r.Turn(name, "write notes.txt: kept")
	r.Ok("send", "-d", name, "#slow:30s list files")
	r.AwaitState(name, thread.StateWorking)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s := r.Status(name)
	if s.State.State != thread.StateInterrupted || s.Execution != nil || s.Turn != 1 {
		t.Errorf("after the kill: %s, turn %d", s.State.State, s.Turn)
	}
	e2e.Await(t, "proof of what can be resumed", func() bool { s = r.Status(name); return s.Resume != nil })
	if s.Resume.How != thread.ResumeNative || s.Resume.Bytes == 0 || s.Resume.Turn != 1 {
		t.Errorf("what can be resumed: %+v", s.Resume)
	}
	r.Ok("resume")
	r.Turn(name, "list files")
	if s := r.Status(name); s.Turn < 2 || s.Interrupted {
		t.Errorf("after the resume: turn %d, interrupted %v", s.Turn, s.Interrupted)
	}
	if out := r.Ok("checkpoint", "show", name, "1"); !strings.Contains(out, "kept") {
		t.Errorf("turn 1 after the resume:\n%s", out)
	}
}

func TestForkAtATurn(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.Turn(name, "write notes.txt: "+n)
	}
	r.Write("README.md", "changed by hand\n")
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if fork.Turn != 1 || fork.Parent == "" || fork.Worktree.Path == "" || !strings.HasPrefix(fork.Name, "another-way-") {
		t.Fatalf("the fork: %+v", fork)
	}
	b, err := os.ReadFile(filepath.Join(fork.Dir, "notes.txt"))
	if err != nil || !strings.Contains(string(b), "one") {
		t.Errorf("its notes.txt: %q, %v", b, err)
	}
	r.Turn(fork.Name, "write notes.txt: fork")
	if got := r.Read("notes.txt"); !strings.Contains(got, "three") {
		t.Errorf("the parent's notes.txt: %q", got)
	}
	shown := r.Ok("checkpoint", "show", fork.Name, "2")
	if strings.Contains(shown, "three") {
		t.Errorf("the fork knows of turn 3:\n%s", shown)
	}
	turns := e2e.Get[[]thread.Checkpoint](r, "checkpoint", "list", fork.Name)
	if len(turns) != 2 || turns[1].Prompt != "write notes.txt: one" {
		t.Errorf("the fork's turns: %+v", turns)
	}
	r.Turn(name, "write notes.txt: four")
	if s := r.Status(name); s.Turn != 4 {
		t.Errorf("the parent stands at turn %d", s.Turn)
	}
}

func TestRewindAndUndo(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("rewind")
	for _, n := range []string{"one", "two", "three"} {
		r.Turn(name, "write notes.txt: "+n)
	}
	r.Write("extra.txt", "untracked\n")
	report := e2e.Get[thread.RewindReport](r, "checkpoint", "restore", name, "1")
	if got := r.Read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt after the rewind: %q", got)
	}
	if s := r.Status(name); s.Turn != 1 {
		t.Errorf("turn %d after the rewind", s.Turn)
	}
	r.Ok("checkpoint", "restore", name, string(report.Safety))
	if got := r.Read("notes.txt"); !strings.Contains(got, "three") || r.Read("extra.txt") != "untracked\n" {
		t.Errorf("notes.txt after the undo: %q", got)
	}
	if s := r.Status(name); s.Turn != 3 {
		t.Errorf("turn %d after the undo", s.Turn)
	}
	r.Turn(name, "list files")
}

func TestMergeAndFinish(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	r.Turn(name, "list files")
	fork := e2e.Get[thread.Status](r, "fork", "better", "-t", name)
	r.Turn(fork.Name, "write better.txt: yes")
	report := e2e.Get[thread.MergeReport](r, "finish", fork.Name)
	if report.Commit == "" || !report.Finished {
		t.Fatalf("finish: %+v", report)
	}
	if got := r.Read("better.txt"); !strings.Contains(got, "yes") {
		t.Errorf("better.txt: %q", got)
	}
	s := r.Status(fork.Name)
	if s.Outcome.Kind != thread.OutcomeMerged || s.Archived.IsZero() {
		t.Errorf("the fork after it: %+v", s.Outcome)
	}
	if _, err := os.Stat(fork.Worktree.Path); !os.IsNotExist(err) {
		t.Errorf("its worktree is still there: %v", err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	r.Turn(name, "list files")
	fork := e2e.Get[thread.Status](r, "fork", "to push", "-t", name)
	r.Turn(fork.Name, "write pushed.txt: yes")
	r.Says(exitcode.NotFound, []string{"no git remote", "git remote add"}, "push", fork.Name)
	remote := filepath.Join(r.Home, "remote.git")
	r.Git("init", "-q", "--bare", remote)
	r.Git("remote", "add", "origin", remote)
	report := e2e.Get[thread.PushReport](r, "push", fork.Name)
	if got := r.Git("--git-dir", remote, "show", report.Branch+":pushed.txt"); !strings.Contains(got, "yes") {
		t.Errorf("at the remote: %q", got)
	}
	r.Says(exitcode.Refused, []string{"no branch"}, "push", name)
}

// TestDemoTakesServers: the agent that everybody has uses the MCP servers of its thread, as they are switched.
func TestDemoTakesServers(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.ConfigureMCP(map[string]any{"notes": map[string]any{
		"command": e2e.Program, "args": []string{"demo-notes"}, "taskPatterns": []string{"remember"},
	}})
	name := r.Demo("one")
	says := func(thread, prompt string, want ...string) string {
		t.Helper()
		out := r.Ok("send", thread, prompt)
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%q is answered by %q, want %q", prompt, out, text)
			}
		}
		return out
	}
	if out := says(name, "which tools do you have?", "orch__find_tool"); strings.Contains(out, "notes__add") {
		t.Errorf("a server that is off: %s", out)
	}
	r.Ok("mcp", "enable", "notes", "--thread", name)
	e2e.Await(t, "the server", func() bool {
		return e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name).Servers[0].State == "ready"
	})
	says(name, "call notes__add buy milk", "kept as note 1")
	report := e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name)
	if len(report.Servers) != 1 || !report.Servers[0].On || report.Servers[0].Starts != 1 || report.Takes != "at once" {
		t.Errorf("report: %+v", report)
	}
	many := says(name, "call notes__many count=2000", "staged as max:")
	_, token, _ := strings.Cut(many, "staged as ")
	says(name, `call orch__retrieve {"token": "`+token[:len("max:")+8]+`", "from": 1999, "to": 1999}`, "record 1999")
	r.Ok("fork", "kid", "-t", name)
	says("kid", "which tools do you have?", "notes__add")
	r.Ok("mcp", "disable", "notes", "--thread", name, "--now")
	if out := says(name, "which tools do you have?"); strings.Contains(out, "notes__add") {
		t.Errorf("a server that was switched off: %s", out)
	}
	says(name, "call notes__add more", "I have no tool")
	says(r.Demo("two"), "this is to remember\ncall notes__add bread", "kept as note 1")
	// The person is asked before a tool is called, and says no.
	careful := r.Ok("new", "-a", "demo", "careful")
	r.Ok("mcp", "enable", "notes", "--thread", careful)
	r.Says(exitcode.Refused, []string{"waits for you"}, "send", careful, "call notes__add eggs")
	if s := r.AwaitState(careful, thread.StateApproval); s.Turn != 0 {
		t.Errorf("waiting: %+v", s)
	}
}

// connecting is a program of a person's that reads how to connect to its thread's MCP server, once it is told to.
const connecting = `read go
IFS='
'
set -- $(sed -n 's/^ *"\([^"]*\)",*$/\1/p' "$ORCHESTRATOR_MCP_CONFIG")
bridge=$(sed -n 's/^ *"command": "\([^"]*\)",*$/\1/p' "$ORCHESTRATOR_MCP_CONFIG")
{
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"mine","version":"1"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
	cat
} | "$bridge" "$@"`

// TestCommandTakesServers: nothing is started for a program that has not connected, and everything for one that has.
func TestCommandTakesServers(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.ConfigureMCP(map[string]any{"notes": map[string]any{"command": e2e.Program, "args": []string{"demo-notes"}}})
	name := r.Ok("new", "-a", "command", "mine", "--", "sh", "-c", connecting)
	r.Ok("mcp", "enable", "notes", "--thread", name)
	report := e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name)
	if !report.None || report.Servers[0].Starts != 0 || !strings.Contains(strings.Join(report.Outside, " "), "ORCHESTRATOR_MCP_CONFIG") {
		t.Errorf("before it connects: %+v", report)
	}
	r.Ok("send", "-d", name, "go")
	e2e.Await(t, "the server", func() bool {
		report = e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name)
		return report.Takes == "at once" && report.Servers[0].On && report.Servers[0].State == "ready"
	})
	if report.None || len(report.Outside) > 0 || report.Tokens == 0 {
		t.Errorf("connected: %+v", report)
	}
	r.Ok("mcp", "disable", "notes", "--thread", name, "--now")
	if report = e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name); report.Servers[0].On || report.Tokens != 0 {
		t.Errorf("switched off: %+v", report)
	}
}
