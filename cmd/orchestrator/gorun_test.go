package main

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
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// cloned makes the project a fresh clone of this repository, in which the program is called with `go run` as a
// newcomer does. Its build is one that nobody made before: `go run` then runs it from a temporary file, which is
// deleted with the client. The project must still be empty of threads.
func (r *rig) cloned() {
	r.t.Helper()
	if testing.Short() {
		r.t.Skip("SKIPPED, not run: `go run` from a fresh clone, which builds the program. Run it without -short")
	}
	origin := filepath.Join(r.home, "origin")
	copyModule(r.t, origin)
	for _, args := range [][]string{
		{"-C", origin, "init", "-q", "-b", "main"}, {"-C", origin, "add", "."}, {"-C", origin, "commit", "-qm", "all"},
	} {
		r.git(args...)
	}
	if err := os.RemoveAll(r.project); err != nil {
		r.t.Fatal(err)
	}
	clone := exec.Command("git", "clone", "-q", origin, r.project)
	clone.Env = r.env
	if out, err := clone.CombinedOutput(); err != nil {
		r.t.Fatalf("clone: %v\n%s", err, out)
	}
	r.git("config", "user.name", "Tess")
	r.git("config", "user.email", "tess@example.com")
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			r.t.Fatal(err)
		}
		r.env = append(r.env, name+"="+strings.TrimSpace(string(out)))
	}
	r.env = append(r.env, fmt.Sprintf("GOFLAGS=-trimpath -ldflags=-X=main.unused=%d", time.Now().UnixNano()))
	r.program = filepath.Join(r.home, "go-run")
	if err := os.WriteFile(r.program, []byte("#!/bin/sh\nexec go run ./cmd/orchestrator \"$@\"\n"), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// copyModule copies this module's files as they are, without what git and tools keep beside them.
func copyModule(t *testing.T, to string) {
	t.Helper()
	from := filepath.Join("..", "..")
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

// leave ends the screen as a person does, from the threads.
func (s *screen) leave() {
	s.t.Helper()
	s.press("q")
	if code := s.end(); code != exitcode.OK {
		s.t.Fatalf("the program ended with %d:\n%s", code, s.text())
	}
}

// goneFrom checks that nothing of what runs for the project runs from a file that a client left, and that the
// client's own file is gone: it lay in a temporary folder of `go run`.
func (r *rig) goneFrom(exe string) {
	r.t.Helper()
	if !strings.Contains(exe, "go-build") {
		r.t.Errorf("the first client ran from %s, and not from a file of `go run`", exe)
	}
	if _, err := os.Stat(exe); err == nil {
		r.t.Errorf("the first client's file %s is still there", exe)
	}
	serves, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.serverPID()))
	if err != nil || !strings.HasPrefix(serves, filepath.Join(r.home, ".local", "state", "orchestrator", "bin")+"/") ||
		strings.HasSuffix(serves, "(deleted)") {
		r.t.Errorf("the server runs from %q, %v", serves, err)
	}
}

// runsFrom is the file of the program that `go run` started in the screen.
func (s *screen) runsFrom() string {
	s.t.Helper()
	var children []byte
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.cmd.Process.Pid)); err != nil {
		s.t.Skipf("SKIPPED: whose children a process has cannot be read here: %v", err)
	}
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
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
	s.t.Fatalf("`go run` has no program as its child")
	return ""
}

// TestGoRunTwice is a newcomer's first hour: `go run` in a fresh clone, the demo agent, q; `go run` again finds the
// thread, starts a second one, stops and resumes the first, and forks it.
func TestGoRunTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cloned()
	begin := time.Now()
	s := r.open(120, 36)
	s.see("q  Quit")
	if strings.Contains(s.text(), "No coding agents found") {
		s.press("\r")
	} else {
		s.press("n")
		s.see("new thread", "Prompt")
		r.choose(s, "demo")
		s.press("\r")
	}
	s.see("demo agent", "ctrl+q back to threads")
	s.press("write made.txt: by the first")
	s.press("\r")
	s.see("Wrote 13 bytes")
	exe := s.runsFrom()
	s.press("\x11")
	s.see("n new")
	s.leave()
	first := time.Since(begin)
	r.goneFrom(exe)
	one := get[[]thread.Status](r, "threads")[0].Name

	begin = time.Now()
	s = r.open(100, 24)
	s.see("Wrote 13 bytes", one)
	s.press("n")
	s.see("new thread")
	r.choose(s, "demo")
	s.press("\r")
	s.see("demo agent", "ctrl+q back to threads")
	s.press("read made.txt")
	s.press("\r")
	s.see("by the first")
	s.press("\x11")
	s.see("n new")
	second := time.Since(begin)
	r.ok("stop", one)
	s.press("1")
	s.see("Resume and type")
	s.press("R")
	r.awaitState(one, thread.StateIdle, thread.StateDone)
	s.leave()
	if got := get[[]thread.Status](r, "threads"); len(got) != 2 {
		t.Errorf("%d threads", len(got))
	}
	r.turn(one, "read made.txt")
	fork := get[thread.Status](r, "fork", "other way", "-t", one, "--at", "1")
	r.turn(fork.Name, "write more.txt: by the fork")
	if b, err := os.ReadFile(filepath.Join(fork.Dir, "made.txt")); err != nil || !strings.Contains(string(b), "by the first") {
		t.Errorf("made.txt in the fork: %q %v", b, err)
	}
	if out := r.run("threads"); out.stderr != "" {
		t.Errorf("`go run` twice warned: %s", out.stderr)
	}
	t.Logf("first `go run` to q: %v; second to the second thread's answer: %v", first.Round(time.Second), second.Round(time.Second))
}

// choose picks an agent in the dialog of new threads, where the first field is the agents'.
func (r *rig) choose(s *screen, agent string) {
	r.t.Helper()
	for range 8 {
		if strings.Contains(s.text(), "built in at") {
			return
		}
		s.press("\x1b[C")
		time.Sleep(100 * time.Millisecond)
	}
	r.t.Fatalf("the dialog never offered %s:\n%s", agent, s.text())
}

// hookEvidence waits until a program that the agent calls as its hook has told of work since a time, and returns what
// it said. The model must hold its answer meanwhile: the agent's reports in its terminal count as the same source, and
// the next one would take the hook's place.
func (r *realRig) hookEvidence(name string, after time.Time) thread.Evidence {
	r.t.Helper()
	var said thread.Evidence
	await(r.t, "a report of a hook", func() bool {
		evidence := get[thread.StateReport](r.rig, "why", name).Evidence
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
			r.cloned()
			begin := time.Now()
			s := r.open(120, 36)
			s.see("q  Quit")
			one := r.start("first")
			s.see(one)
			exe := s.runsFrom()
			s.leave()
			r.goneFrom(exe)
			sent, said := time.Now(), "no hooks"
			r.ok("send", "-d", one, "prompt. #bash:orchestrator version >said.txt; touch made.txt #hold:end #say:it is made.")
			await(t, "the model to hear of the tool", func() bool {
				_, err := os.Stat(filepath.Join(r.project, "made.txt"))
				return err == nil
			})
			if cli.Name == "claude" {
				said = r.hookEvidence(one, sent).Detail
			}
			r.model.Release("end")
			r.awaitState(one, thread.StateIdle, thread.StateDone)
			if got := r.read("said.txt"); !strings.HasPrefix(got, "orchestrator ") {
				t.Errorf("the agent's shell heard of the program: %q", got)
			}

			s = r.open(120, 36)
			s.see(one)
			two := r.start("second")
			r.ok("send", two, "prompt of the second. #say:yes.")
			r.ok("stop", one)
			r.ok("switch", one)
			s.see("Resume and type")
			s.press("R")
			r.awaitState(one, thread.StateIdle, thread.StateDone)
			s.see("enter type")
			s.press("\r")
			s.see("ctrl+q back to threads")
			q := r.typed(s, "after. #say:resumed.")
			if heard := strings.Join(q.Turn.Prompts(), "\n"); !strings.Contains(heard, "prompt. ") {
				t.Errorf("the resumed agent's model heard %q", heard)
			}
			r.awaitState(one, thread.StateIdle, thread.StateDone)
			s.press("\x11")
			s.leave()
			t.Logf("%s: `go run`, q, a turn (%s), `go run`, a second thread, R and a turn in %v",
				cli.Name, said, time.Since(begin).Round(time.Second))
		})
	}
}
