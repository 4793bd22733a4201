// Package server puts the server of a project together: the store, the agents, the gateway of models and that of MCP
// servers, the threads over them and the socket on which clients reach them. It opens its parts in the order of what they
// need and closes them in reverse; no part names this package.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"orchestrator/checkpoint/branch"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"orchestrator/agent/session"
	"orchestrator/agent/world"
	"orchestrator/checkpoint/quarantine"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/cmd/orchestrator/replica"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/staging"
	"orchestrator/contextmgr/tokens"
	"orchestrator/mcpctl"
	mcpgateway "orchestrator/mcpctl/gateway"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
	"orchestrator/thread/manager"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/private"
	"orchestrator/thread/record"
	"orchestrator/thread/setup"
	"orchestrator/thread/spending"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// Options configure a server.
type Options struct {
	Project project.Project
	Config  config.Config
	Program *replica.Stable
	Env     []string
	Log     *slog.Logger
	// Accepted reports whether the user has accepted exactly this content of a file or place.
	Accepted func(place string, content []byte) bool
	// StateHome is the user's state folder, ConfigHome that of their configuration.
	StateHome, ConfigHome string
	// Crashed describes the crash of the last server, if there was one.
	Crashed string
}

// Server is the server of one project, and the place where its parts are wired together.
type Server struct {
	Options
	agents      agents.All
	sessions    *session.Sessions
	manager     *manager.Manager
	gateway     *gateway.Gateway
	ledger      *spending.Ledger
	models      models.Table
	daemon      *daemon.Server
	listener    *project.Listener
	store       *openStore
	checked     *storeCheck
	executions  work.Record // nil if it cannot be used
	kept        work.Keeper // the same as a whole; one that refuses all if it cannot be used
	record      *record.Book
	settler     *settler
	parts       *parts
	waves       *wave.Waves
	standing    standing
	setup       *setup.Setup // nil without a repository
	clock       *clock
	staging     *staging.Store
	pins        *pins
	handed      *handedPins
	masks       *masks.Store
	masker      *masking.Masker
	bases       *bases
	mcp         *mcpctl.Controller
	mcpGateway  *mcpgateway.Gateway
	counter     *tokens.Counter
	counts      *tokens.Counts
	calibration *tokens.Calibration
	retention   *retention
	files       *keptFiles     // nil without a repository
	merger      *branch.Merger // nil without a repository
	rest        *runRest
	place       place
	found       startWarnings // at the start

	ending   sync.Mutex      // held by a stop in progress
	ended    *api.StopReport // report of the stop that succeeded
	stop     chan struct{}   // closed when a client stops the server
	services []func(context.Context) error
	closers  []func() error
}

// closeLimit is how long stopping agents and calls may take.
const closeLimit = 20 * time.Second

// onClose adds a function for Close to call, last in first out.
func (a *Server) onClose(f func() error) { a.closers = append(a.closers, f) }

// service adds a function that runs for as long as Run does.
func (a *Server) service(f func(context.Context) error) { a.services = append(a.services, f) }

// every does something when the server starts and then again after each pause, until it stops. An error is logged.
func (a *Server) every(pause time.Duration, what string, do func(context.Context) error) {
	a.service(func(ctx context.Context) error {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				a.Log.Warn(what, "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
}

// agentOf returns the name of a thread's agent.
func (a *Server) agentOf(id thread.ID) string {
	s, err := a.manager.Threads.Status(context.Background(), string(id))
	if err != nil {
		return ""
	}
	return s.Agent
}

// budgets returns those that have a limit.
func (a *Server) budgets(ctx context.Context) ([]budget.Account, error) {
	r, err := a.manager.Budgets.List(ctx)
	return slices.DeleteFunc(r.Accounts, func(b budget.Account) bool { return !b.Limit.Set() }), err
}

// cost sums up what was spent, with the names of threads.
func (a *Server) cost(ctx context.Context, q spending.Query) (spending.Report, error) {
	r, err := a.ledger.Report(ctx, q)
	if err == nil {
		r.Budgets, err = a.budgets(ctx)
	}
	if err != nil || r.By != spending.ByThread {
		return r, err
	}
	list, err := a.manager.Threads.List(ctx)
	if err != nil {
		return r, err
	}
	names := make(map[thread.ID]string, len(list))
	for _, s := range list {
		names[s.ID] = s.DisplayName()
	}
	for i := range r.Groups {
		id := r.Groups[i].Spent.Thread
		if names[id] == "" {
			if t, err := a.store.Thread(ctx, id); err == nil && t.Deleted.IsZero() {
				names[id] = t.DisplayName()
			}
		}
		r.Groups[i].Name = names[id]
	}
	return r, nil
}

// plainEnv returns an environment without what the terminal around speaks by: it differs from one to the next, and no agent
// gets it.
func plainEnv(env []string) []string { return world.Without(env, world.Terminals()) }

// olderState is said where a project has no threads here, but may have some of an older build.
const olderState = ".orchestrator/ of an older build lies here: its threads are not used. Export them with that build, " +
	"then import the files here"

func (a *Server) info(ctx context.Context, ask api.InfoRequest) (api.ServerInfo, error) {
	i := api.ServerInfo{
		Protocol: api.Version, Version: buildinfo.Version(), Build: a.Program.Build, PID: os.Getpid(), Project: a.Project.Root,
		StateDir: a.Project.StateDir(),
		Store:    a.store.About, Notices: a.damage(), NoRepository: !a.Project.Repository, Running: len(a.manager.Threads.Running()),
		Seq: a.manager.Threads.Seq(),
	}
	if env := thread.Environ(ctx); env != nil {
		i.Differs = thread.Differing(plainEnv(a.Env), env)
	}
	lost, err := a.manager.History.Unreadable(ctx)
	if err != nil {
		a.Log.Warn("list what cannot be read", "err", err)
	}
	for _, u := range lost {
		i.Unreadable = append(i.Unreadable, u.String())
	}
	i.Notices = slices.Concat(i.Unreadable, i.Notices)
	list, err := a.manager.Threads.List(ctx)
	if err != nil {
		return i, err
	}
	i.Notices = slices.Concat(a.checked.damage(), unsealed(list), i.Notices)
	if a.store.Away != nil {
		if at := a.store.Away(); !at.IsZero() {
			i.Notices = append(i.Notices, fmt.Sprintf("%s has not answered since %s: what needs it is refused until it does, "+
				"and agents' answers are kept until then", a.store.About, at.Local().Format(time.TimeOnly)))
		}
	}
	if a.Crashed != "" {
		i.Found = append(i.Found, a.Crashed)
	}
	if n := a.waves.Found(); n > 0 {
		i.Notices = append(i.Notices, fmt.Sprintf("plans: something was left to do that nobody had been woken for, %d times. It was done; the log says what", n))
	}
	if a.Project.Older() {
		some, _, err := a.store.SelectThreads(ctx, thread.Query{Limit: 1})
		if err != nil {
			return i, err
		}
		if len(list)+len(some) == 0 { // later the folder is no news, and may be somebody else's
			i.Found = append(i.Found, olderState)
		}
	}
	i.Found = slices.Concat(i.Found, a.store.Problems, a.manager.Skipped, a.found.all(), a.retention.news(), a.rest.news())
	i.Problems = slices.Concat(i.Notices, i.Found)
	if why := a.place.problem(); why != "" {
		i.Problems = append(i.Problems, why)
	}
	if a.Config.Untrusted != "" {
		i.Problems = append(i.Problems,
			a.Config.Untrusted+" is ignored until you accept it: read it, then run `orchestrator trust`")
	}
	if a.Project.Refused != nil {
		i.Problems = append(i.Problems, fmt.Sprintf("file snapshots are disabled: %v", a.Project.Refused))
	}
	if a.Program.Problem != "" {
		i.Problems = append(i.Problems, a.Program.Problem)
	}
	if !ask.Sizes {
		return i, nil
	}
	stored, err := a.store.Sizes(ctx)
	if err != nil {
		return i, err
	}
	staged, err := a.stagedSize()
	if err != nil {
		return i, err
	}
	i.Sizes = append(i.Sizes, stored, staged)
	i.Sizes = append(i.Sizes, a.carryWork().sizes(ctx)...)
	masked, bytes, err := a.masks.Size()
	if err != nil {
		return i, err
	}
	i.Sizes = append(i.Sizes, fmt.Sprintf("masked tool results: of %s, %s in %s", plaintext.Count(masked, "thread"),
		thread.Bytes(bytes), filepath.Join(a.Project.StateDir(), "masks")))
	if a.files != nil {
		n, err := a.files.Size(ctx)
		if err != nil {
			return i, err
		}
		i.Sizes = append(i.Sizes, "snapshots in git: "+thread.Bytes(n)+" on top of the repository's own objects")
	}
	return i, nil
}

// carryWork returns what takes this server's record along.
func (a *Server) carryWork() carryWork {
	c := carryWork{store: a.kept, spool: a.Project.StateDir()}
	c.plans, _ = plansOf(a.executions).(plan.Keeper)
	return c
}

// stagedSize returns how much is staged.
func (a *Server) stagedSize() (string, error) {
	list, err := a.staging.List(func(thread.Staged) bool { return true })
	if err != nil {
		return "", err
	}
	var bytes, kept int64
	n := 0
	for _, d := range list {
		if bytes += d.Bytes; len(d.Pins) > 0 {
			n, kept = n+1, kept+d.Bytes
		}
	}
	size := fmt.Sprintf("staged data: %d entries, %s in %s", len(list), thread.Bytes(bytes),
		filepath.Join(a.Project.StateDir(), "staging"))
	if n > 0 {
		size += fmt.Sprintf("; %d of them, %s, kept because something names them (`orchestrator stage info` says what)", n,
			thread.Bytes(kept))
	}
	return size, nil
}

// damage returns the damage that was found and not dismissed yet.
func (a *Server) damage() []string {
	dir, err := private.Open(a.Project.StateDir())
	if err != nil {
		return []string{err.Error()}
	}
	defer dir.Close()
	said, err := quarantine.Notices(dir)
	if err != nil {
		said = append(said, err.Error())
	}
	if a.store.Short != nil && a.store.Short() {
		said = append(said, "the disk is full, and answers of agents use the space reserved for them: free some space")
	}
	return said
}

// end stops all agents, saves work in progress and makes Run return. It refuses and changes nothing while there are
// answers in memory only.
func (a *Server) end(_ context.Context, r api.StopRequest) (api.StopReport, error) {
	a.ending.Lock()
	defer a.ending.Unlock()
	if a.ended != nil {
		return *a.ended, nil
	}
	if _, unsaved := a.manager.Threads.Refused(); unsaved > 0 && !r.Force {
		return api.StopReport{}, thread.Hint(fmt.Errorf("%w: %d are in memory only", thread.ErrUnsaved, unsaved),
			"free disk space or bring the database back to save them, or drop them with `orchestrator stop --force`")
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit) // not cut short if the client disconnects
	defer cancel()
	if err := a.manager.Close(ctx); err != nil {
		a.Log.Error("stop the agents", "error", err)
	}
	report := api.StopReport{}
	report.Spooled, report.Lost = a.manager.Threads.Refused()
	a.ended = &report
	close(a.stop)
	return report, nil
}

// unsaved reports whether there are answers in memory only. The server must not exit by itself then.
func (a *Server) unsaved() bool {
	_, n := a.manager.Threads.Refused()
	return n > 0
}

// errStopped makes Run return without an error.
var errStopped = errors.New("stopped")

// Run serves until the context ends, a client stops the server, or nobody needs it any more.
func (a *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range a.services {
		group.Go(func() error { return s(ctx) })
	}
	group.Go(func() error { return a.daemon.Serve(a.listener) })
	group.Go(func() error {
		a.Log.Info("server started", "project", a.Project.Root, "version", buildinfo.Version())
		idle := time.NewTicker(max(a.Config.IdleStop/30, time.Second))
		defer idle.Stop()
		for {
			select {
			case <-ctx.Done():
			case <-a.stop:
			case <-idle.C:
				if a.Config.IdleStop == 0 || a.daemon.Idle() < a.Config.IdleStop || len(a.manager.Threads.Running()) > 0 || a.unsaved() ||
					a.manager.Executions.Pending() {
					continue
				}
				a.Log.Info("server is idle, exiting")
			}
			_ = a.listener.Close() // ends whoever accepts on it
			return errStopped
		}
	})
	err := group.Wait()
	if errors.Is(err, errStopped) || errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close stops everything in the reverse order of its start.
func (a *Server) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}
