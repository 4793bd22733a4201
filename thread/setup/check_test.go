package setup_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/setup"
	"orchestrator/thread/work"
)

// check runs the checks in the worktree.
func (p *place) check(only ...string) (work.Validation, error) {
	return setup.New(p.cfg).Check(context.Background(), record.CheckRun{Execution: "exec-001", Dir: p.tree, Only: only})
}

// acceptChecks accepts the checks as they are.
func (p *place) acceptChecks() {
	p.Helper()
	name, content, err := p.cfg.Checks.Content(p.tree)
	if err != nil || !strings.HasPrefix(name, "checks#") {
		p.Fatal(name, err)
	}
	p.accepted[setup.Place(p.project, name)] = string(content)
}

// TestChecksRunWhatWasAccepted: none of them runs before exactly these commands, with exactly these files, were accepted.
func TestChecksRunWhatWasAccepted(t *testing.T) {
	p := newPlace(t)
	p.cfg.CheckLimit = time.Minute
	p.write(p.tree, "tools/test.sh", "echo ran >>$ORCHESTRATOR_PROJECT_DIR/ran; echo two tests failed >&2; exit 3\n")
	p.cfg.Checks = setup.Checks{"tests": "sh tools/test.sh", "format": "true", "coverage": "echo ran >>$ORCHESTRATOR_PROJECT_DIR/ran; echo 'a 12% b'; echo 'total: (statements) 85.3%'; echo done"}
	for _, accept := range []func(){func() {}, func() {
		p.cfg.Commands = setup.Commands{Setup: "true"}
		p.accept() // the commands for worktrees are others
	}} {
		accept()
		if _, err := p.check(); !errors.Is(err, thread.ErrRefused) || !strings.Contains(err.Error(), "trust") {
			t.Errorf("%v", err)
		}
	}
	if got := p.read(p.project, "ran"); !strings.Contains(got, "no such file") {
		t.Fatalf("it ran before it was accepted: %q", got)
	}
	p.acceptChecks()
	v, err := p.check()
	if err != nil || v.Format != work.Pass || v.Tests != work.Fail || v.Lint != "" || v.Coverage == nil || *v.Coverage != 85.3 || !v.Fails() {
		t.Errorf("%+v, %v", v, err)
	}
	if v.Output != "tests: exit status 3\ntwo tests failed" {
		t.Errorf("output %q", v.Output)
	}
	if got := p.read(p.cfg.Logs, "check-tests-exec-001.log"); got != "two tests failed\n" {
		t.Errorf("log %q", got)
	}
	if v, err := p.check("format"); err != nil || v.Format != work.Pass || v.Tests != "" || v.Fails() {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := p.check("lint"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a check that there is not: %v", err)
	}
	p.write(p.tree, "tools/test.sh", "echo changed >>$ORCHESTRATOR_PROJECT_DIR/ran\n") // as an agent does that wants its tests to pass
	if _, err := p.check(); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("%v", err)
	}
	if got := p.read(p.project, "ran"); strings.Contains(got, "changed") {
		t.Error("a changed script ran")
	}
	p.cfg.Checks = nil
	if _, err := p.check(); !errors.Is(err, thread.ErrNotFound) || !strings.Contains(err.Error(), "[checks]") {
		t.Errorf("%v", err)
	}
}

// TestChecksAreBounded: a check that never ends, floods or prints nothing useful fails, and leaves nothing running.
func TestChecksAreBounded(t *testing.T) {
	p := newPlace(t)
	p.cfg.CheckLimit = 400 * time.Millisecond
	p.cfg.Checks = setup.Checks{
		"format": "echo begun; sleep 7654321 & sleep 7654321", "lint": "head -c 3000000 /dev/zero | tr '\\0' x; echo; printf '\\033[31mlast\\377'; exit 1",
		"coverage": "echo 'covered much'",
	}
	p.acceptChecks()
	v, err := p.check()
	if err != nil || v.Format != work.Fail || v.Lint != work.Fail || v.Coverage != nil || !v.Fails() {
		t.Errorf("%+v, %v", v, err)
	}
	for _, want := range []string{"format: timed out after 400ms and was killed\nbegun", "lint: exit status 1", "coverage: it printed no percentage\ncovered much"} {
		if !strings.Contains(v.Output, want) {
			t.Errorf("%q is not in %.300q", want, v.Output)
		}
	}
	if len(v.Output) > 8<<10 || strings.ContainsRune(v.Output, 0x1b) {
		t.Errorf("%d bytes of output: %.100q", len(v.Output), v.Output)
	}
	if left := alive(t, "7654321"); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	if info, err := os.Stat(filepath.Join(p.cfg.Logs, "check-lint-exec-001.log")); err != nil || info.Size() > 2<<20 {
		t.Errorf("its log: %v, %v", info.Size(), err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := setup.New(p.cfg).Check(ctx, record.CheckRun{Execution: "exec-001", Dir: p.tree}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who asked has gone: %v", err)
	}
}

// TestChecksOfAKilledServerEnd: what one has left running ends when the next one starts, and no other project's.
func TestChecksOfAKilledServerEnd(t *testing.T) {
	p := newPlace(t)
	p.cfg.CheckLimit = time.Minute
	p.cfg.Checks = setup.Checks{"tests": "env >env; true"}
	p.acceptChecks()
	if _, err := p.check(); err != nil {
		t.Fatal(err)
	}
	var mark string
	for line := range strings.Lines(p.read(p.tree, "env")) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ORCHESTRATOR_SETUP_RUN=check-") {
			mark = line
		}
	}
	if mark == "" {
		t.Fatal("a check has no mark")
	}
	begin := func(mark, seconds string) {
		c := exec.Command("sleep", seconds)
		c.Env = append(os.Environ(), mark)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	begin(mark, "7654322")
	begin("ORCHESTRATOR_SETUP_RUN=check-another-1", "7654323")
	if err := setup.New(p.cfg).StopChecks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := alive(t, "7654322"); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	if left := alive(t, "7654323"); len(left) != 1 {
		t.Errorf("of another project: %q", left)
	}
}
