package agenttest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestReal drives every real CLI in a terminal against the scripted model: five turns with tools and
// edits, a fork at turn three beside the running parent, a kill -9 in the middle of an answer with a
// resume, and a resume after the native files were lost.
func TestReal(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Log("REAL: running the suite with the real " + cli.Name)
			realScenario(t, cli)
		})
	}
}

func realScenario(t *testing.T, cli clis.CLI) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, forkDir := filepath.Join(root, "work"), filepath.Join(root, "fork")
	s := newStage(t, cli, []string{dir, forkDir})
	if info := s.agent.Detect(t.Context()); info.Problem != "" {
		t.Fatalf("%+v", info)
	}

	parent := s.start("000000000000000a", dir, "", false)
	var atThree []thread.TranscriptFile
	for i := 1; i <= 5; i++ {
		holds(t, fmt.Sprintf("turn %d", i), parent.ask(prompt(i)), upTo(i), i)
		parent.responses(i) // the prompt names its answer, too: only the response's own record counts
		if i == 3 {
			atThree = parent.files()
		}
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f-%d.txt", i)))
		if err != nil || string(raw) != fmt.Sprintf("v-%d", i) {
			t.Errorf("turn %d wrote %q (%v)", i, raw, err)
		}
	}
	parent.checkUsage()
	s.fork(parent, forkDir, atThree)
	holds(t, "parent after the fork", parent.ask(prompt(6)), upTo(6), 6)
	parent.keep("answer-6.")
	back := s.crash(parent)
	s.lost(back)
	s.checkHooks()
}

// upTo is 1 to n.
func upTo(n int) []int {
	var all []int
	for i := 1; i <= n; i++ {
		all = append(all, i)
	}
	return all
}

// checkUsage compares the transcript's usage with what the model sent.
func (r *running) checkUsage() {
	r.t.Helper()
	all := r.responses(5)
	last := all[len(all)-1]
	want := thread.Usage{Input: 1005, CacheRead: 20, Output: 7}
	if got := last.Usage; got.Input != want.Input || got.CacheRead != want.CacheRead ||
		got.CacheWrite != want.CacheWrite || got.Output != want.Output {
		r.t.Errorf("usage %+v, want %+v", got, want)
	}
	if !last.EndsTurn || !strings.Contains(last.Text, "answer-5.") || !strings.Contains(last.Prompt, "prompt-5.") {
		r.t.Errorf("last response %+v", last)
	}
}

// fork makes a session of the first three turns in another folder while the parent runs.
func (s *stage) fork(parent *running, dir string, files []thread.TranscriptFile) {
	s.t.Helper()
	id, err := s.agent.Rebuild(s.t.Context(), thread.RebuildSpec{
		Session: parent.native, NewSession: launch.UUID(), FromDirs: []string{parent.dir}, Dir: dir,
		StateDir: filepath.Join(filepath.Dir(s.home), "state-fork"), Env: s.env, Files: files,
	})
	if err != nil {
		s.t.Fatalf("rebuild as a fork: %v", err)
	}
	child := s.start("000000000000000b", dir, id, true)
	const there = "prompt-fork. #write:f-fork.txt=here #say:fork-done"
	q := child.ask(there)
	holds(s.t, "fork", q, upTo(3), 0, there)
	child.keep("fork-done")
	if _, err := os.Stat(filepath.Join(dir, "f-fork.txt")); err != nil {
		s.t.Errorf("the fork does not work in its own folder: %v", err)
	}
	child.stop()
}

// crash kills the agent in the middle of an answer and resumes it.
func (s *stage) crash(r *running) *running {
	s.t.Helper()
	r.ask("prompt-7. #hold:seven #say:never-seen")
	if err := syscall.Kill(-r.session.PID(), syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	<-r.session.Done()
	s.server.Release("seven")
	if _, whole, err := r.agent.Verify(s.t.Context(), r.spec()); err != nil || !whole {
		s.t.Logf("after kill -9 the transcript does not verify (%v): rebuilding", err)
		if _, err := r.agent.Rebuild(s.t.Context(), r.repair()); err != nil {
			s.t.Fatalf("rebuild after kill -9: %v", err)
		}
	}
	back := s.start("000000000000000c", r.dir, r.native, true)
	back.kept = r.kept
	q := back.ask(prompt(8))
	prompts := strings.Join(q.Turn.Prompts(), "\n")
	for _, i := range upTo(6) {
		if !strings.Contains(prompts, fmt.Sprintf("prompt-%d.", i)) {
			s.t.Errorf("after kill -9: prompt %d is missing", i)
		}
		if !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), fmt.Sprintf("answer-%d.", i)) {
			s.t.Errorf("after kill -9: answer %d is missing", i)
		}
	}
	back.keep("answer-8.")
	return back
}

// lost removes the native files and resumes from what was kept.
func (s *stage) lost(r *running) {
	s.t.Helper()
	r.keep("")
	r.stop()
	for _, path := range s.cli.Files(s.t, s.home, r.native) {
		if err := os.Remove(path); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, whole, err := s.agent.Verify(s.t.Context(), r.spec()); err != nil || whole {
		s.t.Errorf("a lost transcript verifies: %v, %v", whole, err)
	}
	id, err := s.agent.Rebuild(s.t.Context(), r.repair())
	if err != nil {
		s.t.Fatalf("rebuild of the lost session: %v", err)
	}
	if id != r.native {
		s.t.Logf("rebuilt as %s instead of %s", id, r.native)
	}
	back := s.start("000000000000000d", r.dir, id, true)
	q := back.ask(prompt(9))
	for _, i := range []int{1, 2, 3, 4, 5, 6, 8} {
		if !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), fmt.Sprintf("answer-%d.", i)) {
			s.t.Errorf("after the loss: answer %d is missing", i)
		}
	}
	back.keep("answer-9.")
	back.stop()
}

// checkHooks checks that the agent reported by its hooks, where it has them.
func (s *stage) checkHooks() {
	s.t.Helper()
	raw, err := os.ReadFile(s.hooks)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	events := string(raw)
	for _, want := range map[string][]string{
		"claude": {"SessionStart", "UserPromptSubmit", "Stop"},
	}[s.cli.Name] {
		if !strings.Contains(events, want) {
			s.t.Errorf("no report of %s among %q", want, events)
		}
	}
}
