package setup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/private"
)

const (
	grace    = 2 * time.Second  // from asking a command to exit to killing it
	every    = 30 * time.Second // how often a running command is reported
	maxLog   = 1 << 20
	maxLine  = 160
	markName = "ORCHESTRATOR_SETUP_RUN"
)

// command is one run of a shell.
type command struct {
	line, dir string
	run       string // in the environment of its processes, and only of its own
	env       []string
	limit     time.Duration
	progress  func(last string)
	every     time.Duration // 0 for the default
}

// runOf is in the environment of the processes of a thread's commands, so that a later process of ours recognises them.
func runOf(id thread.ID) string { return markName + "=" + string(id) + "-" }

// start runs the command to its end, and kills the processes it left.
func (c command) start(ctx context.Context, log *log) error {
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	mark := c.run + rand.Text()
	cmd := exec.CommandContext(limited, "/bin/sh", "-c", c.line)
	cmd.Dir = c.dir
	cmd.Env = append(c.env[:len(c.env):len(c.env)], mark, "PWD="+c.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, its own group and session
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.every == 0 {
		c.every = every
	}
	told := make(chan struct{})
	ended := make(chan struct{})
	go func() { // ends with the command
		defer close(told)
		tick := time.NewTicker(c.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.progress(log.last())
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-told
	left := end(cmd.Process.Pid, mark)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("stopped: %w", ctx.Err())
	case limited.Err() != nil:
		return fmt.Errorf("timed out after %s and was killed; last output: %s", c.limit, log.last())
	case left > 0:
		return fmt.Errorf("%d of its processes cannot be killed", left)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // a process that it left running had its output open
	case err != nil:
		return fmt.Errorf("%w; last output: %s", err, log.last())
	}
	return nil
}

// end kills the processes of a session and those with a mark; left is how many remain.
func end(session int, mark string) (left int) {
	_ = syscall.Kill(-session, syscall.SIGKILL)
	_, left = process.End(context.Background(), 0, process.Kin(func(p process.Info) bool {
		return p.Session == session || markedBy(mark)(p)
	}))
	return left
}

// markedBy recognises the processes with an environment entry that begins with mark.
func markedBy(mark string) func(process.Info) bool {
	return func(p process.Info) bool {
		return process.Marked(p.PID, func(kv string) bool { return strings.HasPrefix(kv, mark) })
	}
}

// log keeps the beginning of a command's output, and its last line.
type log struct {
	path    string
	mu      sync.Mutex
	file    *os.File
	size    int
	dropped int
	keep    int // bytes of tail
	tail    []byte
}

func openLog(dir, name string, keep int) (*log, error) {
	folder, err := private.Make(filepath.Dir(dir), filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := folder.File(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &log{path: folder.Path(name), file: f, keep: keep}, nil
}

// Write never fails: a command must not fail because of its log.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p[max(0, len(p)-l.keep):]...)
	l.tail = l.tail[max(0, len(l.tail)-l.keep):]
	fits := p[:min(len(p), maxLog-l.size)]
	n, err := l.file.Write(fits)
	l.size += n
	if err != nil {
		l.size = maxLog // the disk is full: stop trying
	}
	l.dropped += len(p) - n
	return len(p), nil
}

// last returns the last non-empty line.
func (l *log) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(l.tail), "")), "\n")
	line := plaintext.Short(plaintext.Line(strings.TrimSpace(lines[len(lines)-1])), maxLine)
	if line == "" {
		return "none"
	}
	return line
}

// text returns the end of what was written.
func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(l.tail), "")
}

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped > 0 {
		fmt.Fprintf(l.file, "\n… %d more bytes of output were discarded\n", l.dropped)
	}
	_ = l.file.Close() // it is only a log
}
