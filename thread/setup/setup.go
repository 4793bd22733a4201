// Package setup prepares a thread's new worktree: it copies ignored files such as .env from the project's folder, as
// the project's .worktreeinclude says, and runs the project's setup command; before a worktree is removed it runs the
// teardown command.
//
// Guarantees: only regular files that git ignores are copied, by names that do not leave either folder and through no
// link; nothing existing is overwritten; if a limit is exceeded, nothing is copied, with a notice. A command runs only
// if the person accepted it and every file of the worktree that it names as they are, has a time limit and no terminal,
// and leaves no process behind (on Linux including those that left its group, unless they also cleared their
// environment). Its output goes to a log of bounded size. Failures are reported; the worktree stays usable.
//
// What runs are copies of the files that the person accepted. What these run in turn is not checked.
package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/accept"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
)

var _ thread.SetupRunner = (*Setup)(nil)

// SetUp copies files into a thread's worktree and runs the setup command there. The error says why that failed or was
// not done.
func (s *Setup) SetUp(ctx context.Context, t thread.Thread, say func(thread.Level, string)) error {
	s.copyIgnored(ctx, t, say)
	return s.run(ctx, t, "setup", s.cfg.Commands.Setup, say)
}

// TearDown runs the teardown command in a thread's worktree. The error says why that failed or was not done.
func (s *Setup) TearDown(ctx context.Context, t thread.Thread, say func(thread.Level, string)) error {
	return s.run(ctx, t, "teardown", s.cfg.Commands.Teardown, say)
}

// StopSetup kills the processes of a command that an earlier process of ours left running in a thread's worktree, and
// returns their number.
func (s *Setup) StopSetup(t thread.Thread) (ended int) {
	ended, _ = process.End(context.Background(), 0, process.Kin(markedBy(runOf(t.ID))))
	return ended
}

// run runs a command if it is accepted, and reports the result.
func (s *Setup) run(ctx context.Context, t thread.Thread, what, line string, say func(thread.Level, string)) error {
	if line == "" {
		return nil
	}
	fail := func(how string, err error, more string) error {
		say(thread.LevelWarn, fmt.Sprintf("%s of %s %s: %v%s", what, t.Name, how, err, more))
		return fmt.Errorf("it %s: %w", how, err)
	}
	copied, names, err := s.accepted(s.cfg.Commands.all(), t.Worktree.Path)
	if err != nil {
		return fail("did not run", err, "")
	}
	say(thread.LevelInfo, fmt.Sprintf("running %s of %s: %s", what, t.Name, plaintext.Short(line, maxShown)))
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(copied, name)); err == nil && findsItself(text) {
			say(thread.LevelWarn, fmt.Sprintf("%s of %s: %s looks for files by its own place, which is a copy of what was accepted: "+
				"let it use $ORCHESTRATOR_WORKTREE", what, t.Name, name))
		}
	}
	begin := time.Now()
	c := command{line: accept.Elsewhere(line, t.Worktree.Path, copied, names), dir: t.Worktree.Path, run: runOf(t.ID), limit: s.cfg.Limit,
		env: append(s.cfg.Env[:len(s.cfg.Env):len(s.cfg.Env)],
			"ORCHESTRATOR_PROJECT_DIR="+s.cfg.Project, "ORCHESTRATOR_WORKTREE="+t.Worktree.Path)}
	c.progress = func(last string) {
		say(thread.LevelInfo, fmt.Sprintf("%s of %s is still running after %s: %s", what, t.Name,
			time.Since(begin).Round(time.Second), last))
	}
	log, err := openLog(s.cfg.Logs, logName(t.ID, what), 4*maxLine)
	if err != nil {
		return fail("did not run", fmt.Errorf("open its log: %w", err), "")
	}
	err = c.start(ctx, log)
	log.close()
	if err != nil {
		return fail("failed", fmt.Errorf("%w; its output is in %s", err, log.path), ". The worktree can still be used")
	}
	say(thread.LevelInfo, fmt.Sprintf("%s of %s completed (%s)",
		what, t.Name, time.Since(begin).Round(100*time.Millisecond)))
	return nil
}

var threadID = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`)

// logName is a valid file name for any id.
func logName(id thread.ID, what string) string {
	if !threadID().MatchString(string(id)) {
		return what + ".log"
	}
	return what + "-" + string(id) + ".log"
}

// maxShown is how many characters a notice has of a line.
const maxShown = 200
