package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

func (c *cli) serveVerb() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve the project (the first client starts it by itself)", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context()) },
	}
}

// gcPercent has the garbage collector run at 50 % new memory instead of 100: most of what the server keeps is
// terminals' histories, which hold no pointers, so that a run costs little. 100 terminals with 10,000 lines
// each take 175 MB so, 205 without.
const gcPercent = 50

// serve runs the server until it is told to stop or nobody needs it.
func (c *cli) serve(ctx context.Context) error {
	if err := c.alone("serve"); err != nil {
		return err
	}
	if err := c.asHost(); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	mask := syscall.Umask(0o077) // while our own files and the socket are made
	if err := c.claim(); err != nil {
		return err
	}
	lock, err := c.project.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := c.project.SocketProblem(); err != nil {
		return err
	}
	crashed, err := c.watchCrash()
	if err != nil {
		return err
	}
	kept, err := c.openStable(filepath.Join(c.project.StateDir(), "bin"))
	if err != nil {
		return err
	}
	defer kept.Close()
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	if kept.Unswept != nil {
		log.Warn(kept.Unswept.Error())
	}
	cfg := appConfig{
		Project: c.project, Config: c.config, Program: kept, Env: forAgents(c.environ), Log: log, Accepted: c.trust().accepted, Crashed: crashed,
	}
	app, err := newApp(ctx, cfg)
	for errors.Is(err, thread.ErrUnreachable) {
		var back bool
		if back, err = awaitStore(ctx, cfg, err); !back && err != nil {
			return fmt.Errorf("%s", err.Error()) // the exit code of one that is refused now says that another server runs
		} else if !back {
			return nil
		}
		app, err = newApp(ctx, cfg)
	}
	if err != nil {
		return err
	}
	syscall.Umask(mask) // agents make files as the person would
	err = app.Run(ctx)
	log.Info("server ends", "error", err)
	return errors.Join(err, app.Close())
}

// asHost starts this program again, in this process, where its environment does not say that it is a server: by
// that other servers know what descends from this one.
func (c *cli) asHost() error {
	if session.IsHost(c.environ) {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return fmt.Errorf("start the server: %w", syscall.Exec(exe, os.Args, session.HostEnv(c.environ)))
}

// alone refuses what is for the person alone where this program runs below an agent.
func (c *cli) alone(op string) error {
	below, err := session.Below(c.environ)
	if err != nil || below {
		return errors.Join(grant.Alone(op), err)
	}
	return nil
}

func (c *cli) stopVerb() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "stop [thread]", Short: "Stop a thread's agent; without a name the server with all agents",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVar(&force, "force", false, "end it although answers cannot be saved; kill a server that does not answer")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
				if err := api.StopAgent.Do(ctx, cl, api.Ref{Thread: args[0]}); err != nil {
					return err
				}
				return c.done(args[0], "stopped")
			})(cmd, args)
		}
		return c.stopServer(cmd.Context(), force)
	}
	return cmd
}

// stopServer ends the server and waits until it is gone.
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
		return c.show(map[string]string{"done": "no server runs"}, func(w io.Writer) { fmt.Fprintln(w, "no server runs here") })
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
	if err := c.show(report, func(w io.Writer) { fmt.Fprintln(w, stopped(report)) }); err != nil {
		return err
	}
	if report.Lost > 0 {
		return &silentError{code: exitError}
	}
	return nil
}

// reachHolder is reach for what ends a server: one that holds the project and does not listen may be just starting, or
// ending, and is given a while.
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
			return nil, thread.Hint(errors.Join(fmt.Errorf("%w (process %d) and cannot be reached from here; its log is %s",
				project.ErrServed, pid, c.project.LogFile()), refused, herr), endsIt)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// endsIt is what a person can do about a server that holds the project and cannot be asked to end.
const endsIt = "`orchestrator stop --force` ends it; its agents can be resumed"

// stopped says what a stop did.
func stopped(r api.StopReport) string {
	out := "the server has stopped"
	if r.Spooled > 0 {
		out += fmt.Sprintf("; %d answers that the store refused are kept, and are stored at the next start", r.Spooled)
	}
	if r.Lost > 0 {
		out += fmt.Sprintf("; %d answers could not be saved", r.Lost)
	}
	return out
}

// endServer asks a server to end and waits until it has.
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
			return fmt.Errorf("the server has not ended: %w; `orchestrator stop --force` kills it", err)
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
	if err != nil || pid == 0 { // it is gone already
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	return nil
}
