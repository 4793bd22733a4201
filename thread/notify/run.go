package notify

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/plaintext"
)

const (
	// drain is how long output is read once a command has ended: a process that it left behind may keep it open.
	drain    = 500 * time.Millisecond
	markName = "ORCHESTRATOR_EVENT_RUN"
	mostSaid = 160
)

// runOf begins the environment entry of the processes of a project's commands.
func runOf(owner string) string { return markName + "=" + owner + "-" }

// markedBy recognises the processes with an environment entry that begins with mark.
func markedBy(mark string) func(process.Info) bool {
	return func(p process.Info) bool {
		return process.Marked(p.PID, func(kv string) bool { return strings.HasPrefix(kv, mark) })
	}
}

// run runs a command with a message to its end, and ends what it leaves behind.
func run(ctx context.Context, cfg Config, words []string, m Message) error {
	limited, cancel := context.WithTimeoutCause(ctx, cfg.Limit, fmt.Errorf("it took more than %s and was killed", cfg.Limit))
	defer cancel()
	limited, end := context.WithCancelCause(limited)
	defer end(nil)
	mark := runOf(cfg.Owner) + rand.Text()
	cmd := exec.CommandContext(limited, words[0], words[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(append(cfg.Env[:len(cfg.Env):len(cfg.Env)], m.variables()...), mark)
	cmd.Stdin = bytes.NewReader(m.input())
	said := &output{full: func() { end(fmt.Errorf("it printed more than %s and was killed", thread.Bytes(mostOutput))) }}
	cmd.Stdout, cmd.Stderr = said, said
	process.Group(cmd, drain)
	err := cmd.Run()
	if cmd.Process != nil {
		process.End(context.WithoutCancel(ctx), 0, process.Kin(markedBy(mark)))
	}
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case limited.Err() != nil:
		return context.Cause(limited)
	}
	if line := plaintext.LastLine(said.text()); line != "" {
		err = fmt.Errorf("%w: %s", err, plaintext.Short(line, mostSaid))
	}
	return err
}

// output keeps what a command prints, up to a size, and ends one that prints more.
type output struct {
	full func()

	mu   sync.Mutex // guards the fields below
	kept bytes.Buffer
	over bool
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.kept.Len()+len(b) > mostOutput {
		if !o.over {
			o.over = true
			o.full()
		}
		return 0, errors.New("too much output")
	}
	return o.kept.Write(b)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}
