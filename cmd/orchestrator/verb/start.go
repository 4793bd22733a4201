package verb

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
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/thread"
)

// startServer starts the server and waits until it listens. A server that another client has just started is fine too;
// it waits for one that is about to exit.
func (c *cli) startServer(ctx context.Context) error {
	if err := errors.Join(c.alone("serve"), c.project.SocketProblem()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit,
		fmt.Errorf("the server did not start within %v; see %s", startLimit, c.project.LogFile()))
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
			return thread.Hint(errors.Join(context.Cause(ctx), err), killHint)
		}
		if bad := c.unreached(); bad != nil && time.Since(begun) > healLimit {
			return errors.Join(bad, err)
		}
	}
}

// startOnce starts the server in its own session. It fails with project.ErrServed while another server holds the
// project's lock.
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
	closeInheritedOnExec()
	cmd, err := start(ctx, func() *exec.Cmd {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = c.project.Root
		cmd.Env = session.HostEnv(c.environ)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd
	})
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	runs, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() { over(&endedError{cmd.Wait()}) }()
	if c.listens(runs) {
		// Ours may be late: it would serve once the one that answers is stopped.
		if pid, err := c.project.Holder(); err == nil && pid != 0 && pid != cmd.Process.Pid {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			<-runs.Done()
		}
		return nil
	}
	var ended *endedError
	if !errors.As(context.Cause(runs), &ended) {
		return context.Cause(runs)
	}
	var exit *exec.ExitError
	if errors.As(ended.err, &exit) && exit.ExitCode() == exitcode.Refused {
		return project.ErrServed
	}
	return fmt.Errorf("%w: %s", ended, lastLine(log, begin))
}

// start starts a command, which it makes again for each try. A program that was just copied is busy for moments: what the
// copying process starts meanwhile inherits the open file until it executes something itself.
func start(ctx context.Context, command func() *exec.Cmd) (*exec.Cmd, error) {
	const pause, limit = 10 * time.Millisecond, 5 * time.Second
	for end := time.Now().Add(limit); ; {
		cmd := command()
		err := cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(end) {
			return cmd, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// serverProgram returns the path of the program to run the server from, and a function that releases it once the server
// holds it itself.
func (c *cli) serverProgram() (path string, release func(), err error) {
	if kept, err := replica.KeepIn(c.programFolders()); err == nil {
		return kept.Path, kept.Close, nil
	}
	exe, err := os.Executable() // the server reports why there is no copy
	if err != nil {
		return "", nil, fmt.Errorf("find this program: %w", err)
	}
	return exe, func() {}, nil
}

// endedError means that a server exited during its start.
type endedError struct{ err error }

func (e *endedError) Error() string {
	if e.err == nil {
		return "the server exited immediately (exit status 0)"
	}
	return fmt.Sprintf("the server exited immediately (%v)", e.err)
}

// listens waits until a server answers, and returns false if ctx ends first. The pauses grow with the time waited, to
// at most a tenth of it, because polling takes CPU time that the server needs.
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

// lastLine returns the last line of the server's log since an offset.
func lastLine(log io.ReaderAt, begin int64) string {
	content, err := io.ReadAll(io.NewSectionReader(log, begin, 1<<20))
	if err != nil || len(content) == 0 {
		return "it logged nothing"
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return lines[len(lines)-1]
}

// scope returns the command that runs a server in its own systemd scope, so that it survives the end of the login
// session. It is empty if there is no systemd user instance.
func scope(environ []string) []string {
	runtimeDir := thread.Lookup(environ, "XDG_RUNTIME_DIR")
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
