package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func stopVerb(c *cli) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "stop [thread]", Short: "Stop a thread's agent, or without a name the server with all agents",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
	}
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error {
		if err := c.find(); err != nil {
			return err
		}
		if err := c.configure(); err != nil { // it is not needed to stop something
			fmt.Fprintln(c.out.stderr, "orchestrator:", err)
		}
		return nil
	}
	cmd.Flags().BoolVar(&force, "force", false,
		"stop even if answers cannot be saved; kill a server that does not respond")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
				if err := api.StopAgent.Do(ctx, cl, api.Ref{Thread: args[0]}); err != nil {
					return err
				}
				return c.out.done(args[0], "stopped")
			})(cmd, args)
		}
		return c.stopServer(cmd.Context(), force)
	}
	return cmd
}

// stopServer stops the server and waits until it is gone.
func (c *cli) stopServer(ctx context.Context, force bool) error {
	if force {
		if err := c.alone("kill"); err != nil {
			return err
		}
	}
	var report api.StopReport
	while := healLimit
	if force {
		while = 0
	}
	cl, err := c.reachHolder(ctx, while)
	switch {
	case err == nil:
		defer cl.Close()
		if report, err = c.endServer(ctx, cl, force); err != nil {
			return err
		}
	case gone(err):
		return c.out.show(map[string]string{"done": "no server is running"},
			func(w io.Writer) { fmt.Fprintln(w, "no server is running here") })
	case !force:
		return err
	default:
		if err := c.killServer(); err != nil {
			return err
		}
		if err := c.serverGone(ctx, 30*time.Second); err != nil {
			return err
		}
	}
	if err := c.out.show(report, func(w io.Writer) { fmt.Fprintln(w, stopped(report)) }); err != nil {
		return err
	}
	if report.Lost > 0 {
		return &silentError{code: exitcode.Error}
	}
	return nil
}

// reachHolder is reach for stopping a server. A server that holds the project's lock but does not listen may be
// starting or exiting, and gets some time.
func (c *cli) reachHolder(ctx context.Context, while time.Duration) (*client.Client, error) {
	for end := time.Now().Add(while); ; {
		cl, _, err := c.reach(ctx)
		if err == nil || !gone(err) || c.project.ID == "" {
			return cl, err
		}
		pid, herr := c.project.Holder()
		if pid == 0 && herr == nil {
			return nil, err
		}
		if time.Now().After(end) {
			_, refused := c.project.Sockets()
			return nil, thread.Hint(errors.Join(fmt.Errorf("%w (process %d) but cannot be reached from here; see %s",
				project.ErrServed, pid, c.project.LogFile()), refused, herr), killHint)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stopped describes the result of a stop.
func stopped(r api.StopReport) string {
	out := "server stopped"
	if r.Spooled > 0 {
		out += fmt.Sprintf("; %d answers that could not be stored yet are kept, and stored at the next start", r.Spooled)
	}
	if r.Lost > 0 {
		out += fmt.Sprintf("; %d answers could not be saved", r.Lost)
	}
	return out
}

// endServer asks a server to stop and waits until it has.
func (c *cli) endServer(ctx context.Context, cl *client.Client, force bool) (api.StopReport, error) {
	report, err := api.Stop.Do(ctx, cl, api.StopRequest{Force: force})
	if err != nil && !client.Gone(err) {
		return report, err
	}
	return report, c.serverGone(ctx, 30*time.Second)
}

// serverGone waits until nobody holds the server's lock.
func (c *cli) serverGone(ctx context.Context, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		lock, err := c.project.Lock()
		if err == nil {
			return lock.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server has not stopped: %w; `orchestrator stop --force` kills it", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// killServer kills the process that holds the lock.
func (c *cli) killServer() error {
	pid, err := c.project.Holder()
	if err != nil || pid == 0 { // already gone
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	return nil
}
