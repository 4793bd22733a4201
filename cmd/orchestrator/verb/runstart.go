package verb

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// startRun starts a thread that runs without a terminal and follows its first execution.
func startRun(ctx context.Context, c *cli, cl *client.Client, r thread.NewRequest, o onceOptions, t followOptions) error {
	if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.StartRun.Name()}); err != nil {
		return err // before asking for what following needs
	}
	chosen := r.Dir != ""
	if err := c.place(&r); err != nil {
		return err
	}
	r.Once, r.Execution, r.Started = o.once, o.name, true
	if err := o.bundle.give(ctx, c, cl, &r.Prompt, &r.Given, &r.Once); err != nil {
		return err
	}
	x, err := submitted(ctx, c, cl, func(ctx context.Context) (thread.Status, error) { return api.StartRun.Do(ctx, cl, r) },
		func(s thread.Status) {
			if !t.lines() {
				sayApart(c, s, r, chosen)
			}
		})
	if err != nil {
		return err
	}
	return followFirstRun(ctx, c, cl, x, o, t)
}

// forkRun forks a thread into one that runs without a terminal and follows its first execution.
func forkRun(ctx context.Context, c *cli, cl *client.Client, r thread.ForkRequest, o onceOptions, t followOptions) error {
	r.Once, r.Execution, r.Started = o.once, o.name, true
	if err := o.bundle.give(ctx, c, cl, &r.Prompt, &r.Given, &r.Once); err != nil {
		return err
	}
	x, err := submitted(ctx, c, cl, func(ctx context.Context) (thread.Status, error) { return api.ForkRun.Do(ctx, cl, r) },
		func(s thread.Status) {
			if said := environSaid(s); said != "" && !c.out.json && !t.lines() {
				fmt.Fprintln(c.out.stderr, said)
			}
		})
	if err != nil {
		return err
	}
	return followFirstRun(ctx, c, cl, x, o, t)
}

// followFirstRun follows the first execution of a new thread, or prints its name.
func followFirstRun(ctx context.Context, c *cli, cl *client.Client, x work.Execution, o onceOptions, t followOptions) error {
	if o.detach {
		return c.out.show(x, func(w io.Writer) { fmt.Fprintln(w, x.Name) })
	}
	return followRun(ctx, c, cl, t, x, true)
}

// submitted starts a run, has what is to be said of its thread said, and returns its execution. Ctrl+C meanwhile does not
// keep the name from being known, by which the run is then cancelled; once more it does, and the server cancels the run.
func submitted(
	ctx context.Context, c *cli, cl *client.Client, start func(context.Context) (thread.Status, error), say func(thread.Status),
) (x work.Execution, err error) {
	ctx, stop := outlasting(ctx)
	defer stop()
	var s thread.Status
	if err := c.withWarnings(ctx, cl, func() (err error) { s, err = start(ctx); return }); err != nil {
		return x, err
	}
	say(s)
	return newestExecution(ctx, cl, s)
}

// submitTime is how long a verb that is interrupted waits for the name of the run that it has asked for.
const submitTime = 10 * time.Second

// outlasting returns a context for calls whose answer is needed even after Ctrl+C. It ends a while after the other, or at
// the next Ctrl+C.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		select {
		case <-again:
		case <-time.After(submitTime):
		case <-lasting.Done():
		}
		stop()
	})
	return lasting, stop
}
