package verb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/cmd/orchestrator/server"
	"orchestrator/thread"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func serveVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Run the project's server in the foreground (clients start it automatically)", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serve(cmd.Context()) },
	}
}

// gcPercent makes the garbage collector run at 50 % of new memory instead of 100. Most of the server's memory is
// terminal histories without pointers, so a run is cheap. 100 terminals with 10,000 lines each take 175 MB with it, and
// 205 without.
const gcPercent = 50

// gcStarting is the value while the server starts. It then reads all threads and keeps little of that, so a collector
// at 50 % would take a fifth of the whole start.
const gcStarting = 200

// serve runs the server until it is stopped or nobody needs it.
func (c *cli) serve(ctx context.Context) error {
	if err := c.alone("serve"); err != nil {
		return err
	}
	if err := c.asHost(); err != nil {
		return err
	}
	debug.SetGCPercent(gcStarting)
	mask := syscall.Umask(0o077) // while our own files and the socket are created
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
	kept, err := replica.OpenStable(c.programFolders(), filepath.Join(c.project.StateDir(), "bin"), thread.Lookup(c.environ, "PATH"))
	if err != nil {
		return err
	}
	defer kept.Close()
	log := slog.New(slog.NewTextHandler(c.out.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	if kept.Unswept != nil {
		log.Warn(kept.Unswept.Error())
	}
	cfg := server.Options{
		Project: c.project, Config: c.config, Program: kept, Env: forAgents(c.environ), Log: log,
		Accepted: c.trust().accepted, Crashed: crashed, StateHome: c.stateHome(), ConfigHome: c.configHome(),
	}
	app, err := server.New(ctx, cfg)
	for errors.Is(err, thread.ErrUnreachable) {
		var back bool
		if back, err = server.AwaitStore(ctx, cfg, err); !back && err != nil {
			return fmt.Errorf("%s", err.Error()) // exit code 4 would mean that another server is running
		} else if !back {
			return nil
		}
		app, err = server.New(ctx, cfg)
	}
	if err != nil {
		return err
	}
	syscall.Umask(mask) // agents create files as the user would
	debug.SetGCPercent(gcPercent)
	err = app.Run(ctx)
	log.Info("server exits", "error", err)
	return errors.Join(err, app.Close())
}

// asHost executes this program again, in this process, unless its environment marks it as a server. Other servers use
// that mark to recognise descendants of this one.
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
