package verb

import (
	"context"
	"fmt"
	"io"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
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
	var s thread.Status
	if err := c.withWarnings(ctx, cl, func() (err error) { s, err = api.StartRun.Do(ctx, cl, r); return }); err != nil {
		return err
	}
	if !t.lines() {
		sayApart(c, s, r, chosen)
	}
	return followFirstRun(ctx, c, cl, s, o, t)
}

// forkRun forks a thread into one that runs without a terminal and follows its first execution.
func forkRun(ctx context.Context, c *cli, cl *client.Client, r thread.ForkRequest, o onceOptions, t followOptions) error {
	r.Once, r.Execution, r.Started = o.once, o.name, true
	var s thread.Status
	if err := c.withWarnings(ctx, cl, func() (err error) { s, err = api.ForkRun.Do(ctx, cl, r); return }); err != nil {
		return err
	}
	if said := environSaid(s); said != "" && !c.out.json && !t.lines() {
		fmt.Fprintln(c.out.stderr, said)
	}
	return followFirstRun(ctx, c, cl, s, o, t)
}

// followFirstRun follows the first execution of a new thread, or prints its name.
func followFirstRun(ctx context.Context, c *cli, cl *client.Client, s thread.Status, o onceOptions, t followOptions) error {
	x, err := newestExecution(ctx, cl, s)
	if err != nil {
		return err
	}
	if o.detach {
		return c.out.show(x, func(w io.Writer) { fmt.Fprintln(w, x.Name) })
	}
	return followRun(ctx, c, cl, t, x, true)
}
