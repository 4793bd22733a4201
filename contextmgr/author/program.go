package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"orchestrator/contextmgr/summary"
	"orchestrator/thread"
	"orchestrator/thread/ground/process"
)

// Program has summaries written by a program: it reads what a model would be asked for and the conversation from its
// standard input, and writes the summary to its standard output.
type Program struct {
	Name    string // for people
	Command []string
	// Environ is its environment.
	Environ []string
}

// endLimit is how long output is read after the program has ended: a process that it left behind may keep it open.
const endLimit = time.Second

// Write writes a summary.
func (p Program) Write(ctx context.Context, d summary.Draft) (summary.Written, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, fmt.Errorf("it took more than %s", timeLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env, cmd.Dir = p.Environ, "/"
	cmd.Stdin = io.MultiReader(strings.NewReader(d.Prompt()+"\n\nThe conversation:\n\n"), strings.NewReader(d.Replaced))
	out, said := capped{end: cancel}, capped{end: cancel}
	cmd.Stdout, cmd.Stderr = &out, &said
	process.Group(cmd, endLimit)
	err := cmd.Run()
	switch {
	case out.full, said.full:
		err = fmt.Errorf("it wrote more than %s", thread.Bytes(mostText))
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && strings.TrimSpace(out.text.String()) == "":
		err = errors.New("it writes nothing")
	}
	if err != nil {
		if line, _, _ := strings.Cut(strings.TrimSpace(said.text.String()), "\n"); line != "" {
			err = fmt.Errorf("%w: %.200s", err, line)
		}
		return summary.Written{}, fmt.Errorf("write a summary with %s: %w", p.Name, err)
	}
	return summary.Written{Text: strings.TrimSpace(out.text.String()), Source: p.Name}, nil
}

// capped keeps what is written up to a size. Beyond it, it fails, and ends what is written.
type capped struct {
	text strings.Builder // not embedded: whoever copies must come through Write
	full bool
	end  func()
}

// Write implements io.Writer.
func (c *capped) Write(b []byte) (int, error) {
	if c.text.Len()+len(b) > mostText {
		c.full = true
		c.end()
		return 0, errors.New("too much output")
	}
	return c.text.Write(b)
}
