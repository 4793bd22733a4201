package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
)

// Git runs one git program. It is safe for concurrent use.
type Git struct {
	path      string
	env       []string
	readLimit time.Duration // for reading a configuration
	running   *running
}

// readLimit bounds reading a configuration, which may include a file that never ends.
const readLimit = 20 * time.Second

// New finds git. The environment is that of the process, then extra, without GIT_* variables except those that say who
// the person is and how git is configured.
func New(extra ...string) (*Git, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, thread.Hint(fmt.Errorf("find git: %w", err), "install git 2.31 or newer")
	}
	return &Git{path: path, env: environ(append(os.Environ(), extra...)), readLimit: readLimit, running: &running{}}, nil
}

// Path returns the path of the git program.
func (g *Git) Path() string { return g.path }

// Env returns the environment that calls start from.
func (g *Git) Env() []string { return append([]string(nil), g.env...) }

// safe is passed to every call: nothing that a repository's configuration names is started in the background.
var safe = []string{
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.fsmonitor=false",
	"-c", "protocol.ext.allow=never",
	"-c", "core.quotePath=false",
	"-c", "core.logAllRefUpdates=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "submodule.recurse=false",
	"-c", "advice.detachedHead=false",
}

// durable is passed to calls that write what must not be lost.
var durable = []string{"-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"}

// Call is one run of git.
type Call struct {
	// Dir is where git runs.
	Dir string
	// Args are the subcommand and its arguments. Untrusted names follow "--" or "--end-of-options", or go through Stdin.
	Args []string
	// Config are further key=value settings for this call.
	Config []string
	// Env is added to the environment.
	Env []string
	// Stdin is git's input, none if nil.
	Stdin io.Reader
	// Stdout receives git's output instead of Run's result.
	Stdout io.Writer
	// Durable syncs what git writes.
	Durable bool
	// Reflog writes the usual reflog for refs that move: for what a person will see as done by them.
	Reflog bool
	// Hold are files that git and its child processes keep open while they run: a lock on one outlives us.
	Hold []*os.File
	// OK are exit codes besides 0 that are not an error.
	OK []int
}

// Run runs git to its end and returns its output.
func (g *Git) Run(ctx context.Context, c Call) ([]byte, error) {
	out, _, err := g.RunCode(ctx, c)
	return out, err
}

// RunCode runs git and also returns its exit code, which is one of c.OK or 0 when err is nil.
func (g *Git) RunCode(ctx context.Context, c Call) ([]byte, int, error) {
	args := append([]string(nil), safe...)
	if c.Durable {
		args = append(args, durable...)
	}
	if c.Reflog {
		args = append(args, "-c", "core.logAllRefUpdates=true")
	}
	for _, kv := range c.Config {
		args = append(args, "-c", kv)
	}
	ctx, end := watch(ctx, c.Dir)
	defer end()
	cmd := exec.CommandContext(ctx, g.path, append(args, c.Args...)...)
	cmd.Dir = c.Dir
	cmd.Env = append(g.Env(), c.Env...)
	cmd.Stdin = c.Stdin
	cmd.ExtraFiles = c.Hold
	var out bytes.Buffer
	cmd.Stdout = &out
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	var said tail
	cmd.Stderr = &said
	code, err := g.running.runGroup(ctx, cmd)
	if err != nil {
		return nil, -1, fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	if code == 0 {
		return out.Bytes(), 0, nil
	}
	for _, ok := range c.OK {
		if code == ok {
			return out.Bytes(), code, nil
		}
	}
	return out.Bytes(), code, failed(&Error{Command: c.Args[0], Code: code, Stderr: Redact(said.String())})
}

// Line runs git and returns its output without the newline at the end.
func (g *Git) Line(ctx context.Context, c Call) (string, error) {
	out, err := g.Run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}

// Programs names the programs that running gits wait for now: signers, helpers, filters.
func (g *Git) Programs() []string {
	g.running.mu.Lock()
	var groups []int
	for group := range g.running.groups {
		groups = append(groups, group)
	}
	g.running.mu.Unlock()
	return programsIn(groups...)
}

const (
	// grace is how long a command has to exit once it was asked to.
	grace = 2 * time.Second
	// drain is how long its output may take to be read once it has exited: on a busy machine what the pipe still holds
	// takes seconds. A program that it left behind may keep the pipe open for ever.
	drain = 10 * time.Second
)

// runGroup runs a command in its own process group, which ends with the context: it is asked to exit first, so that git
// removes its lock files, then killed. It returns the exit code.
// Where it waited for programs that git had started, the error names them.
func (r *running) runGroup(ctx context.Context, cmd *exec.Cmd) (int, error) {
	process.Group(cmd, drain)
	var waited []string
	var kill *time.Timer
	cmd.Cancel = func() error {
		waited = programsIn(cmd.Process.Pid)
		kill = time.AfterFunc(grace, func() { _ = process.SignalGroup(cmd, syscall.SIGKILL) })
		return process.SignalGroup(cmd, syscall.SIGTERM)
	}
	err := cmd.Start()
	if err == nil {
		ended := r.add(cmd.Process.Pid)
		err = cmd.Wait()
		if kill != nil {
			kill.Stop()
		}
		ended()
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = process.SignalGroup(cmd, syscall.SIGKILL) // whatever it started
		}
		if err == nil {
			return 0, nil // it finished before the context did
		}
		if len(waited) > 0 {
			return -1, fmt.Errorf("%w while it waited for %s", context.Cause(ctx), strings.Join(waited, ", "))
		}
		return -1, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() < 0 {
			return -1, fmt.Errorf("ended by %s", exit.ProcessState)
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// tail keeps the last 8 KB written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - 8<<10; over > 0 {
		t.b = t.b[over:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
