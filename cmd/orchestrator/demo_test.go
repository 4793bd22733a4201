package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// turn sends a prompt and waits for the answer.
func (r *rig) turn(name, prompt string) {
	r.t.Helper()
	r.ok("send", name, prompt)
}

// demo starts a demo thread that asks for nothing.
func (r *rig) demo(args ...string) string {
	r.t.Helper()
	return r.ok(append([]string{"new", "-a", "demo", "--permission-mode", "auto"}, args...)...)
}

// serverPID asks who serves.
func (r *rig) serverPID() int {
	r.t.Helper()
	p := r.claimed()
	cl := client.NewBelow(p.Dial, "")
	defer cl.Close()
	info, err := api.Info.Do(r.t.Context(), cl, api.InfoRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return info.PID
}

func TestFirstUse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("-p", "list files", "look around")
	if !strings.HasPrefix(name, "look-around-") {
		t.Errorf("the thread is called %q", name)
	}
	s := r.awaitState(name, thread.StateDone)
	if s.Turn != 1 || s.Gauge.Tokens == 0 || s.Gauge.Window == 0 || s.Gauge.Estimated || s.Gauge.Source != "gateway" {
		t.Errorf("after one turn: turn %d, gauge %+v", s.Turn, s.Gauge)
	}
	list := get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	if len(list) != 1 || list[0].Prompt != "list files" || list[0].Kind != thread.KindTurn || list[0].Snapshot == nil {
		t.Errorf("its turns: %+v", list)
	}
	if out := r.ok("checkpoint", "show", name, "1"); !strings.Contains(out, "hello.go") {
		t.Errorf("what was said does not name the file:\n%s", out)
	}
	if out := r.ok("why", name); !strings.Contains(out, "gateway") {
		t.Errorf("why says nothing of the gateway:\n%s", out)
	}
	if out := r.ok("find", "list fi"); !strings.Contains(out, name) {
		t.Errorf("find: %s", out)
	}
	if out := r.git("status", "--porcelain"); out != "" {
		t.Errorf("git sees what is ours: %s", out)
	}
}

// mode of a file of the project.
func (r *rig) mode(name string) os.FileMode {
	r.t.Helper()
	info, err := os.Lstat(filepath.Join(r.project, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return info.Mode()
}

// TestStateIsOurs looks at every file that a whole life of a thread leaves behind.
func TestStateIsOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("private")
	r.turn(name, "write notes.txt: one")
	fork := get[thread.Status](r, "fork", "more", "-t", name)
	r.turn(fork.Name, "list files")
	r.ok("export", name, "-o", filepath.Join(r.stateDir(), "archive"))
	worktrees := filepath.Join(r.stateDir(), "worktrees") + "/"
	seen := 0
	err := filepath.WalkDir(r.stateDir(), func(path string, d os.DirEntry, err error) error {
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
	r := newRig(t)
	if out := r.ok("run", "-a", "demo", "read README.md"); !strings.Contains(out, "It says hello") {
		t.Errorf("the answer:\n%s", out)
	}
	a := get[answer](r, "run", "-a", "demo", "list files")
	if a.Outcome != "answered" || !strings.Contains(a.Answer, "hello.go") || a.Checkpoint == nil || a.Checkpoint.Turn != 1 ||
		!a.Checkpoint.Usage.Priced || a.Checkpoint.Usage.Output == 0 {
		t.Errorf("as JSON: %+v", a)
	}
	if res := r.run("run", "-a", "demo", "run touch made.txt"); res.code != exitcode.Refused || !strings.Contains(res.stderr, "is waiting for you") {
		t.Errorf("an approval: exit %d, %s", res.code, res.stderr)
	}
	if _, err := os.Stat(filepath.Join(r.project, "made.txt")); err == nil {
		t.Error("the command ran without being allowed")
	}
}

func TestRunAndSendEndByTheirTimeout(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	res := r.run("run", "-a", "demo", "--timeout", "10s", "#slow:600s list files", "--json")
	var a answer
	if err := json.Unmarshal([]byte(res.stdout), &a); err != nil || res.code != exitcode.Agent || a.Outcome != "timeout" || !strings.Contains(res.stderr, "keeps running") {
		t.Errorf("exit %d, %+v %v, %s", res.code, a, err, res.stderr)
	}
	if s := r.status(a.Thread); s.Execution == nil {
		t.Errorf("the agent ended with the wait: %+v", s.State)
	}
	another := r.demo("another")
	r.awaitState(another, thread.StateIdle)
	if res := r.run("send", "--timeout", "5s", another, "#slow:600s list files"); res.code != exitcode.Agent || !strings.Contains(res.stderr, "has not finished in time") {
		t.Errorf("send: exit %d, %s", res.code, res.stderr)
	}
}

func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("two turns")
	r.turn(name, "write notes.txt: first")
	r.turn(name, "write notes.txt: second")
	if got := r.read("notes.txt"); !strings.Contains(got, "second") {
		t.Errorf("notes.txt: %q", got)
	}
	r.write("by-hand.txt", "")
	if byHand, byAgent := r.mode("by-hand.txt"), r.mode("notes.txt"); byHand != byAgent {
		t.Errorf("the agent makes files of mode %v, a person %v", byAgent, byHand)
	}
	list := get[[]thread.Checkpoint](r, "checkpoint", "list", name)
	if len(list) != 2 || list[0].Turn != 2 || list[0].Items <= list[1].Items || list[0].Gauge.Tokens <= list[1].Gauge.Tokens {
		t.Errorf("two turns: %+v", list)
	}
}

// TestKilledInTheMiddle pulls the plug while an answer is on its way.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("plug")
	r.turn(name, "write notes.txt: kept")
	r.ok("send", "-d", name, "#slow:30s list files")
	r.awaitState(name, thread.StateWorking)
	if err := syscall.Kill(r.serverPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s := r.status(name)
	if s.State.State != thread.StateInterrupted || s.Execution != nil || s.Turn != 1 {
		t.Errorf("after the kill: %s, turn %d", s.State.State, s.Turn)
	}
	await(t, "proof of what can be resumed", func() bool { s = r.status(name); return s.Resume != nil })
	if s.Resume.How != thread.ResumeNative || s.Resume.Bytes == 0 || s.Resume.Turn != 1 {
		t.Errorf("what can be resumed: %+v", s.Resume)
	}
	r.ok("resume")
	r.turn(name, "list files")
	if s := r.status(name); s.Turn < 2 || s.Interrupted {
		t.Errorf("after the resume: turn %d, interrupted %v", s.Turn, s.Interrupted)
	}
	if out := r.ok("checkpoint", "show", name, "1"); !strings.Contains(out, "kept") {
		t.Errorf("turn 1 after the resume:\n%s", out)
	}
}

func TestForkAtATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	for _, n := range []string{"one", "two", "three"} {
		r.turn(name, "write notes.txt: "+n)
	}
	r.write("README.md", "changed by hand\n")
	fork := get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if fork.Turn != 1 || fork.Parent == "" || fork.Worktree.Path == "" || !strings.HasPrefix(fork.Name, "another-way-") {
		t.Fatalf("the fork: %+v", fork)
	}
	b, err := os.ReadFile(filepath.Join(fork.Dir, "notes.txt"))
	if err != nil || !strings.Contains(string(b), "one") {
		t.Errorf("its notes.txt: %q, %v", b, err)
	}
	r.turn(fork.Name, "write notes.txt: fork")
	if got := r.read("notes.txt"); !strings.Contains(got, "three") {
		t.Errorf("the parent's notes.txt: %q", got)
	}
	shown := r.ok("checkpoint", "show", fork.Name, "2")
	if strings.Contains(shown, "three") {
		t.Errorf("the fork knows of turn 3:\n%s", shown)
	}
	turns := get[[]thread.Checkpoint](r, "checkpoint", "list", fork.Name)
	if len(turns) != 2 || turns[1].Prompt != "write notes.txt: one" {
		t.Errorf("the fork's turns: %+v", turns)
	}
	r.turn(name, "write notes.txt: four")
	if s := r.status(name); s.Turn != 4 {
		t.Errorf("the parent stands at turn %d", s.Turn)
	}
}

func TestRewindAndUndo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("rewind")
	for _, n := range []string{"one", "two", "three"} {
		r.turn(name, "write notes.txt: "+n)
	}
	r.write("extra.txt", "untracked\n")
	report := get[thread.RewindReport](r, "checkpoint", "restore", name, "1")
	if got := r.read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt after the rewind: %q", got)
	}
	if s := r.status(name); s.Turn != 1 {
		t.Errorf("turn %d after the rewind", s.Turn)
	}
	r.ok("checkpoint", "restore", name, string(report.Safety))
	if got := r.read("notes.txt"); !strings.Contains(got, "three") || r.read("extra.txt") != "untracked\n" {
		t.Errorf("notes.txt after the undo: %q", got)
	}
	if s := r.status(name); s.Turn != 3 {
		t.Errorf("turn %d after the undo", s.Turn)
	}
	r.turn(name, "list files")
}

func TestMergeAndFinish(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	r.turn(name, "list files")
	fork := get[thread.Status](r, "fork", "better", "-t", name)
	r.turn(fork.Name, "write better.txt: yes")
	report := get[thread.MergeReport](r, "finish", fork.Name)
	if report.Commit == "" || !report.Finished {
		t.Fatalf("finish: %+v", report)
	}
	if got := r.read("better.txt"); !strings.Contains(got, "yes") {
		t.Errorf("better.txt: %q", got)
	}
	s := r.status(fork.Name)
	if s.Outcome.Kind != thread.OutcomeMerged || s.Archived.IsZero() {
		t.Errorf("the fork after it: %+v", s.Outcome)
	}
	if _, err := os.Stat(fork.Worktree.Path); !os.IsNotExist(err) {
		t.Errorf("its worktree is still there: %v", err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	r.turn(name, "list files")
	fork := get[thread.Status](r, "fork", "to push", "-t", name)
	r.turn(fork.Name, "write pushed.txt: yes")
	r.says(exitcode.NotFound, []string{"no remote", "git remote add"}, "push", fork.Name)
	remote := filepath.Join(r.home, "remote.git")
	r.git("init", "-q", "--bare", remote)
	r.git("remote", "add", "origin", remote)
	report := get[thread.PushReport](r, "push", fork.Name)
	if got := r.git("--git-dir", remote, "show", report.Branch+":pushed.txt"); !strings.Contains(got, "yes") {
		t.Errorf("at the remote: %q", got)
	}
	r.says(exitcode.Refused, []string{"no branch"}, "push", name)
}

// TestDemoTakesServers: the agent that everybody has uses the MCP servers of its thread, as they are switched.
func TestDemoTakesServers(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.configureMCP(map[string]any{"notes": map[string]any{
		"command": program, "args": []string{"demo-notes"}, "taskPatterns": []string{"remember"},
	}})
	name := r.demo("one")
	says := func(thread, prompt string, want ...string) string {
		t.Helper()
		out := r.ok("send", thread, prompt)
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
	r.ok("mcp", "enable", "notes", "--thread", name)
	await(t, "the server", func() bool {
		return get[thread.MCPReport](r, "mcp", "list", "--thread", name).Servers[0].State == "ready"
	})
	says(name, "call notes__add buy milk", "kept as note 1")
	report := get[thread.MCPReport](r, "mcp", "list", "--thread", name)
	if len(report.Servers) != 1 || !report.Servers[0].On || report.Servers[0].Starts != 1 || report.Takes != "at once" {
		t.Errorf("report: %+v", report)
	}
	many := says(name, "call notes__many count=2000", "staged as max:")
	_, token, _ := strings.Cut(many, "staged as ")
	says(name, `call orch__retrieve {"token": "`+token[:len("max:")+8]+`", "from": 1999, "to": 1999}`, "record 1999")
	r.ok("fork", "kid", "-t", name)
	says("kid", "which tools do you have?", "notes__add")
	r.ok("mcp", "disable", "notes", "--thread", name, "--now")
	if out := says(name, "which tools do you have?"); strings.Contains(out, "notes__add") {
		t.Errorf("a server that was switched off: %s", out)
	}
	says(name, "call notes__add more", "I have no tool")
	says(r.demo("two"), "this is to remember\ncall notes__add bread", "kept as note 1")
	// The person is asked before a tool is called, and says no.
	careful := r.ok("new", "-a", "demo", "careful")
	r.ok("mcp", "enable", "notes", "--thread", careful)
	r.says(exitcode.Refused, []string{"waiting for you"}, "send", careful, "call notes__add eggs")
	if s := r.awaitState(careful, thread.StateApproval); s.Turn != 0 {
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
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.configureMCP(map[string]any{"notes": map[string]any{"command": program, "args": []string{"demo-notes"}}})
	name := r.ok("new", "-a", "command", "mine", "--", "sh", "-c", connecting)
	r.ok("mcp", "enable", "notes", "--thread", name)
	report := get[thread.MCPReport](r, "mcp", "list", "--thread", name)
	if !report.None || report.Servers[0].Starts != 0 || !strings.Contains(strings.Join(report.Outside, " "), "ORCHESTRATOR_MCP_CONFIG") {
		t.Errorf("before it connects: %+v", report)
	}
	r.ok("send", "-d", name, "go")
	await(t, "the server", func() bool {
		report = get[thread.MCPReport](r, "mcp", "list", "--thread", name)
		return report.Takes == "at once" && report.Servers[0].On && report.Servers[0].State == "ready"
	})
	if report.None || len(report.Outside) > 0 || report.Tokens == 0 {
		t.Errorf("connected: %+v", report)
	}
	r.ok("mcp", "disable", "notes", "--thread", name, "--now")
	if report = get[thread.MCPReport](r, "mcp", "list", "--thread", name); report.Servers[0].On || report.Tokens != 0 {
		t.Errorf("switched off: %+v", report)
	}
}
