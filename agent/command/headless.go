package command

import (
	"context"
	"strings"

	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// Headless implements thread.Headless: the program reads the prompt from its input, what it prints is the answer. It has
// no session, so that each prompt starts it again. Nothing keeps a program from writing.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	if spec.Once.ReadOnly {
		return thread.HeadlessLaunch{}, thread.Hint(thread.Kindf(thread.ErrUnsupported, "any program may change files"),
			"run it without read-only, in a worktree of its own")
	}
	spec.Resume = false
	l, err := a.Launch(ctx, spec)
	return thread.HeadlessLaunch{Launch: l, Dialogue: &dialogue{}}, err
}

// dialogue is that with a program of which nothing is known: it succeeds if its exit code is 0.
type dialogue struct{ run jsonline.Run }

// Begin implements thread.Dialogue.
func (d *dialogue) Begin(prompt string) thread.Said {
	return d.run.Prompt(strings.TrimSuffix(prompt, "\n") + "\n")
}

// Read implements thread.Dialogue.
func (d *dialogue) Read(line []byte) thread.Said {
	d.run.Add(thread.RunEvent{Kind: thread.RunText, Text: string(line) + "\n"})
	return d.run.Take()
}

// Interrupt implements thread.Dialogue.
func (d *dialogue) Interrupt() thread.Said {
	return d.run.Signal()
}

// End implements thread.Dialogue.
func (d *dialogue) End(code int) thread.Said {
	if code == 0 && !d.run.Interrupted() {
		d.run.Complete()
	}
	d.run.Gone("exited with code %d", code)
	return d.run.Take()
}
