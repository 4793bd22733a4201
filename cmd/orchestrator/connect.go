package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
)

const (
	// startLimit is how long a server may take until it listens; a damaged store is looked through
	// before, and another server may have to end.
	startLimit = 90 * time.Second
	// healLimit is how long a server may take to put right what it recorded of its socket, see placePause.
	healLimit = 5 * placePause
	// answerLimit is how long a server may take to say who it is: machines can be busy.
	answerLimit = 30 * time.Second
)

// connect returns a client of the project's server, which it starts when none runs.
func (c *cli) connect(ctx context.Context) (*client.Client, error) {
	if c.project.ID == "" { // no state yet, so no server
		if err := c.alone("serve"); err != nil {
			return nil, err
		}
	}
	if err := c.claim(); err != nil {
		return nil, err
	}
	if c.project.Refused != nil {
		fmt.Fprintf(c.stderr, "orchestrator: files are not kept: %v\n", c.project.Refused)
	}
	cl, info, err := c.reach(ctx)
	if err == nil {
		return cl, c.meet(info)
	}
	if !gone(err) {
		return nil, err
	}
	if err := c.startServer(ctx); err != nil {
		return nil, err
	}
	cl, info, err = c.reach(ctx)
	if err != nil {
		return nil, err
	}
	if !c.told { // the screen tells it
		tellFound(c.stderr, info.Found)
	}
	return cl, c.meet(info)
}

// meet refuses a server that speaks another protocol and names what its store found damaged, once a call.
func (c *cli) meet(info api.ServerInfo) error {
	if len(info.Notices) > 0 && !c.warned {
		c.warned = true
		more := ""
		if n := len(info.Notices) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more: `orchestrator doctor` lists them)", n)
		}
		fmt.Fprintf(c.stderr, "orchestrator: %s%s\n", info.Notices[len(info.Notices)-1], more)
	}
	return c.sameVersion(info)
}

// errNoServer says that no server can run: the project has no state.
var errNoServer = errors.New("no server runs here")

// gone reports whether an error means that no server listens.
func gone(err error) bool { return errors.Is(err, errNoServer) || client.Gone(err) }

// reach asks a running server who it is; gone tells that there is none.
func (c *cli) reach(ctx context.Context) (*client.Client, api.ServerInfo, error) {
	if c.project.Problem != nil {
		return nil, api.ServerInfo{}, c.project.Problem
	}
	if c.project.ID == "" {
		return nil, api.ServerInfo{}, errNoServer
	}
	cl := client.NewBelow(c.project.Dial, session.Token(c.environ))
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	info, err := api.Info.Do(ctx, cl, api.InfoRequest{})
	switch {
	case client.Gone(err):
		if bad := c.project.CheckSocket(); bad != nil {
			err = bad
		}
	case errors.Is(err, fs.ErrPermission):
		err = thread.Hint(fmt.Errorf("the server cannot be reached from here: the socket %s: %w", c.socket(), fs.ErrPermission),
			"a sandbox that forbids sockets is around this program, such as Codex's: run it in a terminal of your own")
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the server of %s does not answer; its log is %s; `orchestrator stop --force` ends it", c.project.Root, c.project.LogFile())
	}
	return cl, info, err
}

// socket is where the project's server listens as far as that can be seen from here, for people.
func (c *cli) socket() string {
	if paths, _ := c.project.Sockets(); len(paths) > 0 {
		return paths[0]
	}
	return c.project.Socket
}

// unreached says why a server that holds the project cannot be reached from here, nil where it may just be starting.
func (c *cli) unreached() error {
	_, refused := c.project.Sockets()
	if refused == nil {
		return nil
	}
	return thread.Hint(fmt.Errorf("the server cannot be reached from here: %w", refused), endsIt)
}

// sameVersion refuses a server that speaks another protocol.
func (c *cli) sameVersion(info api.ServerInfo) error {
	if info.Protocol == api.Version {
		if other := otherBuild(info); other != "" && !c.told {
			c.told = true
			fmt.Fprintln(c.stderr, "orchestrator:", other)
		}
		return nil
	}
	return &otherProtocol{info}
}

// otherProtocol says that a server speaks another protocol than this program.
type otherProtocol struct{ info api.ServerInfo }

func (o *otherProtocol) Error() string {
	return fmt.Sprintf("the server that runs here is version %s, this program is %s, and they do not understand each other: "+
		"`orchestrator restart` stops the server with its %d agents, starts it again and resumes them",
		o.info.Version, version(), o.info.Running)
}

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

// listens waits until a server answers; false when ctx ends before.
func (c *cli) listens(ctx context.Context) bool {
	poll := time.NewTicker(5 * time.Millisecond)
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

// lookup returns a variable of an environment.
func lookup(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}
