package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/work"
)

// once are the arguments of a run that asks nothing.
func (r *realRig) once(more ...string) []string {
	args := []string{"run", "--once", "-a", r.cli.Name, "-m", r.cli.Model}
	if r.cli.Mode != "" {
		args = append(args, "--permission-mode", r.cli.Mode)
	}
	return append(args, more...)
}

// events reads what `-o ndjson` prints of a run: those of its agent.
func events(t *testing.T, out string) (all []thread.RunEvent) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e thread.RunEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Kind != "state" && e.Kind != "execution" {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		t.Fatal("it reported nothing")
	}
	return all
}

// texts joins the texts of the events of a kind.
func texts(all []thread.RunEvent, kind thread.RunEventKind) string {
	var b strings.Builder
	for _, e := range all {
		if e.Kind == kind {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// noProcess checks that no process whose command line has a text is left of the rig's.
func (r *realRig) noProcess(within time.Duration, text string) {
	r.T.Helper()
	begin := time.Now()
	for len(processesWith(text)) > 0 && time.Since(begin) < within {
		time.Sleep(10 * time.Millisecond) // as a person looks
	}
	if all := processesWith(text); len(all) > 0 {
		r.T.Errorf("left %v after the end: %q", within, all)
	}
}

// processesWith returns the command lines that contain a text.
func processesWith(text string) (all []string) {
	for _, p := range process.All() {
		line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "cmdline")) // it may have ended
		if words := strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(words, text) {
			all = append(all, words)
		}
	}
	return all
}

// TestRealRuns has the real CLIs work without a terminal, through the whole program: events as they happen, an edit in a
// worktree of the run's own, usage as the model's server sent it, an outcome; then the next run, the person who takes the
// session over and gives it back, and a fork at the first turn, each with the history.
func TestRealRuns(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			r.Env = append(r.Env, "ORCHESTRATOR_NEW_WORKTREE=shared")
			got := r.Run(r.once("-o", "ndjson", realPrompt(1))...)
			if got.Code != exitcode.OK {
				t.Fatalf("%+v", got)
			}
			all := events(t, got.Stdout)
			if text := texts(all, thread.RunText); !strings.Contains(text, "answer-1") {
				t.Errorf("it said %q", text)
			}
			if !strings.Contains(texts(all, thread.RunResult), "output-1") {
				t.Errorf("no result of the command in %+v", all)
			}
			if i := slices.IndexFunc(all, func(e thread.RunEvent) bool { return e.Kind == thread.RunEnd }); i < 0 || all[i].Outcome != thread.RunCompleted {
				t.Errorf("it ended with %+v", all)
			}
			x := r.execution("exec-001")
			if x.State != work.Completed || !strings.Contains(x.Answer, "answer-1") {
				t.Errorf("the record has %+v", x)
			}
			var sent thread.Usage
			for _, q := range r.model.Requests() { // also those beside the conversation, such as one for a title
				u := q.Reply.Usage
				sent = sent.Add(thread.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
			}
			if x.Usage.Context() != sent.Context() || x.Usage.Output != sent.Output {
				t.Errorf("its usage is %+v, the model sent %+v", x.Usage, sent)
			}
			if shown := r.Ok("exec", "logs", "exec-001"); strings.Contains(shown, "its agent counts") {
				t.Errorf("its own count is another one: %s", shown)
			}
			s := r.Status(string(x.Thread))
			if s.State.State == thread.StateWorking || s.Execution != nil || s.Turn != 1 {
				t.Errorf("the thread is %+v after its run", s)
			}
			if got := r.left(s, "f-1.txt"); strings.TrimSpace(got) != "file-1" {
				t.Errorf("it left %q in f-1.txt", got)
			}
			if _, err := os.Stat(filepath.Join(r.Project, "f-1.txt")); err == nil {
				t.Error("it worked in the person's folder")
			}

			hears := func(prompt string, before ...string) {
				t.Helper()
				q := r.request(prompt)
				holdsTurns(t, q, 1)
				said := strings.Join(q.Turn.Prompts(), "\n")
				for _, past := range []string{"next.", "typed.", "back."} {
					if strings.Contains(said, past) != slices.Contains(append(before, prompt), past) {
						t.Errorf("%s: the model hears of %s or not: %q", prompt, past, said)
					}
				}
			}
			r.Ok("exec", "send", "exec-001", "next. #say:ok")
			r.awaitRun("exec-002", work.Completed)
			hears("next.")

			r.Ok("resume", s.Name)
			r.Ok("send", s.Name, "typed. #say:ok")
			hears("typed.", "next.")
			r.Ok("stop", s.Name)
			r.Ok("exec", "send", "exec-001", "back. #say:ok")
			r.awaitRun("exec-003", work.Completed)
			hears("back.", "next.", "typed.")

			r.Ok("fork", "--once", "--at", "1", "-t", s.Name, "-p", "forked. #say:beside", "again")
			r.awaitRun("exec-004", work.Completed)
			hears("forked.")
			if x := r.execution("exec-004"); x.Thread == s.ID {
				t.Error("the fork is no thread of its own")
			}
		})
	}
}

// TestRealRunsCancelled cancels runs of the real CLIs while a command runs, two of them at once: within a second it is
// over, and nothing is left, even of those whose commands have sessions of their own.
func TestRealRunsCancelled(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			child := "tail -s 9" + strconv.Itoa(os.Getpid()) + " -f /dev/null"
			r.Ok(r.once("-d", "wait. #bash:"+child)...)
			r.awaitRun("exec-001", work.Running)
			e2e.Await(t, "the command", func() bool { return len(processesWith(child)) > 0 }) // some report it at its end only
			begin := time.Now()
			done := make(chan e2e.Result, 1)
			go func() { done <- r.Run("exec", "cancel", "exec-001") }()
			r.Run("exec", "cancel", "exec-001")
			<-done
			took := time.Since(begin)
			x := r.execution("exec-001")
			t.Logf("%s: cancelled in %v: %s", cli.Name, took.Round(time.Millisecond), x.Reason)
			if x.State != work.Cancelled || took > 3*time.Second { // a second, on a machine that does something else too
				t.Errorf("%+v after %v", x, took)
			}
			r.noProcess(0, child)
			r.Ok("exec", "send", "exec-001", "then. #say:after")
			r.awaitRun("exec-002", work.Completed)
		})
	}
}

// TestRealRunsReadOnly has the real CLIs try to write by a tool and by a command in a run that may only read.
func TestRealRunsReadOnly(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			for i, prompt := range []string{"tool. #write:made.txt=x #say:tried", "command. #bash:touch made.txt #say:tried"} {
				got := r.Run("run", "--once", "--read-only", "-a", cli.Name, "-m", cli.Model, prompt)
				x := r.execution([]string{"exec-001", "exec-002"}[i])
				t.Logf("%s, %s: %d, %s %s", cli.Name, prompt, got.Code, x.State, x.Reason)
				if !x.State.Final() {
					t.Errorf("%+v", x)
				}
				for _, dir := range []string{r.Project, r.Status(string(x.Thread)).Dir} {
					if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
						t.Errorf("%s: it wrote into %s", prompt, dir)
					}
				}
				if strings.Contains(r.Git("log", "--all", "--name-only"), "made.txt") {
					t.Errorf("%s: what it wrote is in the repository", prompt)
				}
			}
		})
	}
}

// left returns what a file has that a run wrote: in its worktree, or on the branch that is left of it.
func (r *realRig) left(s thread.Status, file string) string {
	r.T.Helper()
	if b, err := os.ReadFile(filepath.Join(s.Dir, file)); err == nil {
		return string(b)
	}
	return r.Git("show", s.Worktree.Branch+":"+file)
}

// execution reads an execution.
func (r *realRig) execution(name string) work.Execution {
	r.T.Helper()
	return e2e.Get[work.Execution](r.Rig, "exec", "show", name)
}

// awaitRun waits for a state of an execution.
func (r *realRig) awaitRun(name string, want work.State) {
	r.T.Helper()
	e2e.Await(r.T, name+" to be "+string(want), func() bool {
		x := r.execution(name)
		if x.State.Final() && x.State != want {
			r.T.Fatalf("%s is %s: %s", name, x.State, x.Reason)
		}
		return x.State == want
	})
}

// TestRealRunsMasks has the real CLIs work on a long task without a terminal: results that are far back are masked in what
// the provider gets, and read again by the agent where it needs them, as in a terminal.
func TestRealRunsMasks(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newLong(t, cli)
			if got := r.Run(r.once("--deadline", "5m", "--calls", "none", "the long task")...); got.Code != exitcode.OK || !strings.Contains(got.Stdout, "the long task is done") {
				t.Fatalf("%+v", got)
			}
			last := r.newest()
			before := stubs(last)
			if len(before) == 0 {
				t.Fatalf("nothing is masked in a request of %d bytes", len(last))
			}
			s := r.Status(string(r.execution("exec-001").Thread))
			if s.Gauge.Masked == 0 {
				t.Errorf("its gauge is %+v", s.Gauge)
			}
			content, err := os.ReadFile(masked.FindStringSubmatch(before[0])[1])
			printed := beginning.FindSubmatch(content)
			if err != nil || printed == nil || !strings.Contains(last, string(printed[1])+"00300") {
				t.Errorf("the agent did not read what is masked: %.40q (%v)", content, err)
			}
			t.Logf("%s: %d masks, %d tokens", cli.Name, len(before), s.Gauge.Masked)
			r.Ok("exec", "send", "exec-001", "next. #say:ok")
			r.awaitRun("exec-002", work.Completed)
			// Gemini resumes with each result twice, and with others than it had.
			if after := stubs(r.newest()); len(after) < len(before) || after[0] != before[0] && cli.Name != "gemini" {
				t.Errorf("the next run sends %d masks, the first is %q and was %q", len(after), after[:min(1, len(after))], before[0])
			}
		})
	}
}

// TestRealRunsWitnessed takes from the real Claude Code the switch by which a run may only read: what it then changes is
// found, fails the run, and is not in the person's folder.
func TestRealRunsWitnessed(t *testing.T) {
	r := newRealRig(t, realClaude())
	dir := t.TempDir()
	e2e.Put(t, filepath.Join(dir, "claude"), `#!/bin/bash
args=() skip=
for a in "$@"; do
	if [ -n "$skip" ]; then skip=; continue; fi
	case $a in --tools | --permission-mode) skip=1 ;; *) args+=("$a") ;; esac
done
exec `+filepath.Join(clis.Bin(t), "claude")+` --permission-mode bypassPermissions "${args[@]}"
`)
	if err := os.Chmod(filepath.Join(dir, "claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, kv := range r.Env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			r.Env[i] = "PATH=" + dir + ":" + path
		}
	}
	got := r.Run("run", "--once", "--read-only", "-a", "claude", "-m", r.cli.Model, "#write:made.txt=x #say:tried")
	x := r.execution("exec-001")
	t.Logf("%d: %s: %s", got.Code, x.State, x.Reason)
	if x.State != work.Failed || got.Code != exitcode.Agent || !strings.Contains(x.Reason, "made.txt") {
		t.Errorf("%+v\n%+v", x, got)
	}
	if _, err := os.Stat(filepath.Join(r.Project, "made.txt")); err == nil {
		t.Error("it wrote into the person's folder")
	}
}

// TestRealRunsMCP has the real CLIs call a server's tool without a terminal: one that its words switch on, and in the next
// run another one. The servers of the repository do not run.
func TestRealRunsMCP(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			if cli.Name == "codex" {
				cli.Model = "gpt-4.1" // tools of newer models are behind a search
			}
			m := &mcpScript{}
			m.realRig = newScripted(t, cli, m.answer)
			witness := m.hostile()
			m.mcpServers(map[string]any{"everything": npmServer(t, "everything", nil, "plugh"), "memory": npmServer(t, "memory", nil, "xyzzy")})
			got := m.Run(m.once("--deadline", "3m", "--no-worktree", "please xyzzy")...)
			if got.Code != exitcode.OK || !strings.Contains(got.Stdout, "entities") {
				t.Errorf("its first run: %+v", got)
			}
			if strings.Contains(m.newest(), "everything__echo") {
				t.Error("a server that is not switched on is offered")
			}
			got = m.Run("exec", "send", "--timeout", "3m", "exec-001", "plugh")
			if got.Code != exitcode.OK || !strings.Contains(m.newest(), "everything__echo") {
				t.Errorf("its next run: %+v", got)
			}
			if w := witness(); len(w) > 0 {
				t.Errorf("a repository's commands ran: %v", w)
			}
		})
	}
}
