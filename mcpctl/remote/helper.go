package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"orchestrator/thread/ground/process"
)

const (
	helperTime = 10 * time.Second
	maxPrinted = 64 << 10
)

// helper is a command that prints headers as a JSON object. It was accepted like the command of a server.
type helper struct {
	command string
	dir     string
	env     []string
}

// run runs the command with its environment only. What it prints is in no error.
func (h helper) run(ctx context.Context) (map[string]string, error) {
	ctx, stop := context.WithTimeout(ctx, helperTime)
	defer stop()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.command)
	cmd.Dir, cmd.Env = h.dir, append([]string{}, h.env...)
	process.Group(cmd, time.Second)
	printed := &bounded{most: maxPrinted}
	cmd.Stdout = printed
	err := cmd.Run()
	if cmd.Process != nil {
		_ = process.SignalGroup(cmd, syscall.SIGKILL) // what it left behind
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no answer: %w", ctx.Err())
	case err != nil:
		return nil, err
	case printed.full:
		return nil, fmt.Errorf("it printed more than %d bytes", maxPrinted)
	}
	var headers map[string]string
	if json.Unmarshal(printed.content, &headers) != nil || headers == nil {
		return nil, errors.New("it did not print a JSON object of strings")
	}
	return headers, nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	content []byte
	most    int
	full    bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(b.content)+len(p) > b.most {
		b.full = true
		return len(p), nil
	}
	b.content = append(b.content, p...)
	return len(p), nil
}
