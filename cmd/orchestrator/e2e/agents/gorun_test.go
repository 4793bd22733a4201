package agents

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// cloned makes the project a fresh clone of this repository, in which the program is called with `go run` as a
// newcomer does. Its build is one that nobody made before: `go run` then runs it from a temporary file, which is
// deleted with the client. The project must still be empty of threads.
func cloned(r *e2e.Rig) {
	r.T.Helper()
	if testing.Short() {
		r.T.Skip("SKIPPED, not run: `go run` from a fresh clone, which builds the program. Run it without -short")
	}
	origin := filepath.Join(r.Home, "origin")
	copyModule(r.T, origin)
	for _, args := range [][]string{
		{"-C", origin, "init", "-q", "-b", "main"}, {"-C", origin, "add", "."}, {"-C", origin, "commit", "-qm", "all"},
	} {
		r.Git(args...)
	}
	if err := os.RemoveAll(r.Project); err != nil {
		r.T.Fatal(err)
	}
	clone := exec.Command("git", "clone", "-q", origin, r.Project)
	clone.Env = r.Env
	if out, err := clone.CombinedOutput(); err != nil {
		r.T.Fatalf("clone: %v\n%s", err, out)
	}
	r.Git("config", "user.name", "Tess")
	r.Git("config", "user.email", "tess@example.com")
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOTOOLCHAIN", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			r.T.Fatal(err)
		}
		value := strings.TrimSpace(string(out))
		if name == "GOFLAGS" { // with those of this run, what others wrote is compiled already; the program is linked again
			value = strings.TrimSpace(fmt.Sprintf("%s -ldflags=-X=main.unused=%d", value, time.Now().UnixNano()))
		}
		r.Env = append(r.Env, name+"="+value)
	}
	build := exec.Command("go", "build", "-o", os.DevNull, "./cmd/orchestrator") // which takes as long as it takes
	build.Dir, build.Env = r.Project, r.Env
	if out, err := build.CombinedOutput(); err != nil {
		r.T.Fatalf("build: %v\n%s", err, out)
	}
	r.Program = filepath.Join(r.Home, "go-run")
	if err := os.WriteFile(r.Program, []byte("#!/bin/sh\nexec go run ./cmd/orchestrator \"$@\"\n"), 0o700); err != nil {
		r.T.Fatal(err)
	}
}

// copyModule copies this module's files as they are, without what git and tools keep beside them.
func copyModule(t *testing.T, to string) {
	t.Helper()
	from := e2e.Root
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case name == ".git" || name == ".cache":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goneFrom checks that nothing of what runs for the project runs from a file that a client left, and that the
// client's own file is gone: it lay in a temporary folder of `go run`.
func goneFrom(r *e2e.Rig, exe string) {
	r.T.Helper()
	if !strings.Contains(exe, "go-build") {
		r.T.Errorf("the first client ran from %s, and not from a file of `go run`", exe)
	}
	if _, err := os.Stat(exe); err == nil {
		r.T.Errorf("the first client's file %s is still there", exe)
	}
	serves, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.ServerPID()))
	if err != nil || !strings.HasPrefix(serves, filepath.Join(r.Home, ".local", "state", "orchestrator", "bin")+"/") ||
		strings.HasSuffix(serves, "(deleted)") {
		r.T.Errorf("the server runs from %q, %v", serves, err)
	}
}

// welcomed reports whether the first screen greets, which it does where no coding agent is installed.
func welcomed(r *e2e.Rig) bool {
	r.T.Helper()
	all, err := api.Agents.Do(r.T.Context(), r.Client(), api.None{})
	if err != nil {
		r.T.Fatal(err)
	}
	return !slices.ContainsFunc(all, func(a thread.AgentInfo) bool { return a.Found && a.Name != "demo" && a.Name != "command" })
}

// runsFrom is the file of the program that `go run` started in the screen.
func runsFrom(s *e2e.Screen) string {
	s.T.Helper()
	var children []byte
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.Cmd.Process.Pid)); err != nil {
		s.T.Skipf("SKIPPED: whose children a process has cannot be read here: %v", err)
	}
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.Cmd.Process.Pid))
	if err != nil {
		s.T.Fatal(err)
	}
	for _, file := range all { // each thread of go has its own
		if children, err = os.ReadFile(file); err != nil {
			continue
		}
		for _, pid := range strings.Fields(string(children)) {
			if exe, err := os.Readlink("/proc/" + pid + "/exe"); err == nil && filepath.Base(exe) == "orchestrator" {
				return exe
			}
		}
	}
	s.T.Fatalf("`go run` has no program as its child")
	return ""
}

// TestGoRunTwice is a newcomer's first hour: `go run` in a fresh clone, the demo agent, q; `go run` again finds the
// thread, starts a second one, stops and resumes the first, and forks it.
func TestGoRunTwice(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	cloned(r)
	begin := time.Now()
	s := r.Open(120, 36)
	s.See("No threads yet")
	if welcomed(r) {
		s.See("No coding agents found", "Try the demo")
		s.Press("\r")
	} else {
		s.Press("n")
		s.See("new thread", "Prompt")
		choose(r, s, "demo")
		s.Press("\r")
	}
	s.See("demo agent", "ctrl+q back to threads")
	s.Press("write made.txt: by the first")
	s.Press("\r")
	s.See("Wrote 13 bytes")
	exe := runsFrom(s)
	s.Press("\x11")
	s.See("n new")
	s.Leave()
	first := time.Since(begin)
	goneFrom(r, exe)
	one := e2e.Get[[]thread.Status](r, "threads")[0].Name

	begin = time.Now()
	s = r.Open(100, 24)
	s.See("Wrote 13 bytes", "idle")
	s.Press("n")
	s.See("new thread")
	choose(r, s, "demo")
	s.Press("\r")
	s.See("demo agent", "ctrl+q back to threads")
	s.Press("read made.txt")
	s.Press("\r")
	s.See("by the first")
	s.Press("\x11")
	s.See("n new")
	second := time.Since(begin)
	r.Ok("stop", one)
	r.Ok("switch", one)
	s.See("Resume and type")
	s.Menu("r")
	r.AwaitState(one, thread.StateIdle, thread.StateDone)
	s.Leave()
	if got := e2e.Get[[]thread.Status](r, "threads"); len(got) != 2 {
		t.Errorf("%d threads", len(got))
	}
	r.Turn(one, "read made.txt")
	fork := e2e.Get[thread.Status](r, "fork", "other way", "-t", one, "--at", "1")
	r.Turn(fork.Name, "write more.txt: by the fork")
	if b, err := os.ReadFile(filepath.Join(fork.Dir, "made.txt")); err != nil || !strings.Contains(string(b), "by the first") {
		t.Errorf("made.txt in the fork: %q %v", b, err)
	}
	if out := r.Run("threads"); out.Stderr != "" {
		t.Errorf("`go run` twice warned: %s", out.Stderr)
	}
	t.Logf("first `go run` to q: %v; second to the second thread's answer: %v", first.Round(time.Second), second.Round(time.Second))
}

// choose picks an agent in the dialog of new threads, where the first field is the agents'.
func choose(r *e2e.Rig, s *e2e.Screen, agent string) {
	r.T.Helper()
	for range 8 {
		if strings.Contains(s.Text(), "built in") {
			return
		}
		s.Press("\x1b[C")
		time.Sleep(100 * time.Millisecond)
	}
	r.T.Fatalf("the dialog never offered %s:\n%s", agent, s.Text())
}

// hookEvidence waits until a program that the agent calls as its hook has told of work since a time, and returns what
// it said. The model must hold its answer meanwhile: the agent's reports in its terminal count as the same source, and
// the next one would take the hook's place.
func (r *realRig) hookEvidence(name string, after time.Time) thread.Evidence {
	r.T.Helper()
	var said thread.Evidence
	e2e.Await(r.T, "a report of a hook", func() bool {
		evidence := e2e.Get[thread.StateReport](r.Rig, "why", name).Evidence
		i := slices.IndexFunc(evidence, func(e thread.Evidence) bool {
			return e.Source == thread.SourceHook && e.At.After(after) && strings.HasPrefix(e.Detail, "hook ")
		})
		if i < 0 {
			return false
		}
		said = evidence[i]
		return true
	})
	return said
}

// TestRealGoRunTwice does the same with real CLIs, whose shells and hooks call the program that the first `go run`
// started from: its file is gone, and they still find it.
func TestRealGoRunTwice(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "claude" && cli.Name != "codex" {
			continue // two are enough: one with hooks of ours, and one without
		}
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			cloned(r.Rig)
			begin := time.Now()
			s := r.Open(120, 36)
			s.See("No threads yet")
			one := r.start("first")
			s.See(one[:len(one)-5]) // as it was called
			exe := runsFrom(s)
			s.Leave()
			goneFrom(r.Rig, exe)
			sent, said := time.Now(), "no hooks"
			r.Ok("send", "-d", one, "prompt. #bash:orchestrator version >said.txt; touch made.txt #hold:end #say:it is made.")
			e2e.Await(t, "the model to hear of the tool", func() bool {
				_, err := os.Stat(filepath.Join(r.Project, "made.txt"))
				return err == nil
			})
			if cli.Name == "claude" {
				said = r.hookEvidence(one, sent).Detail
			}
			r.model.Release("end")
			r.AwaitState(one, thread.StateIdle, thread.StateDone)
			if got := r.Read("said.txt"); !strings.HasPrefix(got, "orchestrator ") {
				t.Errorf("the agent's shell heard of the program: %q", got)
			}

			s = r.Open(120, 36)
			s.See(one[:len(one)-5]) // as it was called
			two := r.start("second")
			r.Ok("send", two, "prompt of the second. #say:yes.")
			r.Ok("stop", one)
			r.Ok("switch", one)
			s.See("Resume and type")
			s.Menu("r")
			r.AwaitState(one, thread.StateIdle, thread.StateDone)
			s.See("enter open")
			s.Press("\r")
			s.See("ctrl+q back to threads")
			q := r.typed(s, "after. #say:resumed.")
			if heard := strings.Join(q.Turn.Prompts(), "\n"); !strings.Contains(heard, "prompt. ") {
				t.Errorf("the resumed agent's model heard %q", heard)
			}
			r.AwaitState(one, thread.StateIdle, thread.StateDone)
			s.Press("\x11")
			s.Leave()
			t.Logf("%s: `go run`, q, a turn (%s), `go run`, a second thread, R and a turn in %v",
				cli.Name, said, time.Since(begin).Round(time.Second))
		})
	}
}
