package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
)

// startServer starts the server and waits until it listens. A server that another client has just
// started will do as well; one that is about to end is waited for.
func (c *cli) startServer(ctx context.Context) error {
	if err := errors.Join(c.alone("serve"), c.project.SocketProblem()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit,
		fmt.Errorf("no server listened within %v; its log is %s", startLimit, c.project.LogFile()))
	defer cancel()
	begun := time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := c.startOnce(ctx)
		if !errors.Is(err, project.ErrServed) {
			return err
		}
		wait, stop := context.WithTimeout(ctx, pause)
		ok := c.listens(wait)
		stop()
		switch {
		case ok:
			return nil
		case ctx.Err() != nil:
			return thread.Hint(errors.Join(context.Cause(ctx), err), endsIt)
		}
		if bad := c.unreached(); bad != nil && time.Since(begun) > healLimit {
			return errors.Join(bad, err)
		}
	}
}

// startOnce starts the server in a session of its own. It fails with project.ErrServed while another one
// holds the project.
func (c *cli) startOnce(ctx context.Context) error {
	exe, release, err := c.serverProgram()
	if err != nil {
		return err
	}
	defer release()
	log, err := c.project.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	argv := append(scope(c.environ), exe, "serve", "--project", c.project.Root)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = c.project.Root
	cmd.Env = session.HostEnv(c.environ)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	keepToOurselves()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	runs, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() { over(&endedError{cmd.Wait()}) }()
	if c.listens(runs) {
		return nil
	}
	var ended *endedError
	if !errors.As(context.Cause(runs), &ended) {
		return context.Cause(runs)
	}
	var exit *exec.ExitError
	if errors.As(ended.err, &exit) && exit.ExitCode() == exitRefused {
		return project.ErrServed
	}
	return fmt.Errorf("%w: %s", ended, lastLine(log, begin))
}

// serverProgram returns the program that a server is to run from, and releases it once the server holds it itself.
func (c *cli) serverProgram() (path string, release func(), err error) {
	if kept, err := c.keepProgram(); err == nil {
		return kept.Path, kept.Close, nil
	}
	exe, err := os.Executable() // the server reports why there is no copy
	if err != nil {
		return "", nil, fmt.Errorf("find this program: %w", err)
	}
	return exe, func() {}, nil
}

// endedError says that a server ended when it should have begun.
type endedError struct{ err error }

func (e *endedError) Error() string {
	if e.err == nil {
		return "the server ended at once (exit status 0)"
	}
	return fmt.Sprintf("the server ended at once (%v)", e.err)
}

// listens waits until a server answers; false when ctx ends before. The longer it takes, the longer it pauses, at most a
// tenth of that: looking takes a part of the processor that the server needs.
func (c *cli) listens(ctx context.Context) bool {
	const shortest, longest = 5 * time.Millisecond, 100 * time.Millisecond
	begun := time.Now()
	poll := time.NewTimer(shortest)
	defer poll.Stop()
	for {
		if paths, _ := c.project.Sockets(); len(paths) > 0 {
			if cl, _, err := c.reach(ctx); err == nil {
				cl.Close()
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-poll.C:
			poll.Reset(min(max(time.Since(begun)/10, shortest), longest))
		}
	}
}

// lastLine returns the last line that the server wrote since an offset, for people.
func lastLine(log io.ReaderAt, begin int64) string {
	content, err := io.ReadAll(io.NewSectionReader(log, begin, 1<<20))
	if err != nil || len(content) == 0 {
		return "it said nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return lines[len(lines)-1]
}

// scope is the command that puts a server in a systemd scope of its own, so that the end of the
// login does not end it; empty where there is no systemd of the user.
func scope(environ []string) []string {
	runtimeDir := lookup(environ, "XDG_RUNTIME_DIR")
	if runtimeDir == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(runtimeDir, "systemd", "private")); err != nil {
		return nil
	}
	run, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil
	}
	return []string{run, "--user", "--scope", "--quiet", "--collect"}
}
