package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"orchestrator/agent"
	"orchestrator/agent/demo/model"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/checkpoint/aside"
	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/elapsed"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/words"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/tokens"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/mcpctl/discovery"
	"orchestrator/thread"
	"orchestrator/thread/ledger"
	"orchestrator/thread/manager"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
	"orchestrator/thread/setup"
	"orchestrator/thread/spool"
)

// appConfig is what a server is made of.
type appConfig struct {
	Project project.Project
	Config  Config
	Program *stable
	Env     []string
	Log     *slog.Logger
	// Accepted reports whether the person accepted exactly this content of a file or place.
	Accepted func(place string, content []byte) bool
	// Crashed says how the last server crashed, "" where it did not.
	Crashed string
}

// App is the server of one project: the one place where its parts are put together.
type App struct {
	appConfig
	agents   adapters
	sessions *session.Sessions
	manager  *manager.Manager
	gateway  *gateway.Gateway
	ledger   *ledger.Ledger
	models   models.Table
	daemon   *daemon.Server
	listener *project.Listener
	store    *openStore
	clock    *elapsed.Clock
	keeper   *keeper
	files    *snapshot.Store // nil without a repository
	place    place
	found    heard // at the start

	ending   sync.Mutex      // held by the one stop that is under way
	ended    *api.StopReport // of the stop that succeeded
	stop     chan struct{}   // closed by a client's stop
	services []func(context.Context) error
	closers  []func() error
}

// closeLimit is how long the end of agents and calls may take.
const closeLimit = 20 * time.Second

// accountDays is of how many days clients are told what was spent.
const accountDays = 31

// newApp opens the parts in the order in which they need each other; Close ends them in reverse.
func newApp(ctx context.Context, cfg appConfig) (app *App, err error) {
	a := &App{appConfig: cfg, stop: make(chan struct{})}
	for _, open := range []func(context.Context) error{a.openStore, a.openClock, a.openAgents, a.openManager, a.openGateway, a.openKeeper, a.listen} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

// onClose adds what Close does, last one first.
func (a *App) onClose(f func() error) { a.closers = append(a.closers, f) }

// service adds what runs from Run to the end.
func (a *App) service(f func(context.Context) error) { a.services = append(a.services, f) }

func (a *App) openStore(ctx context.Context) error {
	err := dropBackupRooms(a.Project.StateDir())
	if err != nil {
		a.Log.Warn("remove what a backup left", "error", err)
	}
	if a.store, err = newStore(ctx, a.Project, a.Config); err != nil {
		return err
	}
	a.onClose(a.store.Close)
	return nil
}

func (a *App) openAgents(ctx context.Context) error {
	demoModel, err := model.Start(model.Options{Pace: 10 * time.Millisecond})
	if err != nil {
		return fmt.Errorf("start the demo agent's model: %w", err)
	}
	a.onClose(demoModel.Close)
	a.agents = newAgents(a.Program.Path, a.Env, filepath.Join(a.Project.StateDir(), "demo"), demoModel.URL())
	a.sessions = session.New(session.Config{
		Rules: a.agents.rules, Input: a.agents.input, Scrollback: a.Config.Scrollback, Version: "orchestrator(" + version() + ")",
		Processes: a.Config.MaxProcesses,
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.sessions.Close(ctx, 2*time.Second)
	})
	return a.sweep(ctx)
}

// sweep ends agents that a server that was killed left running.
func (a *App) sweep(ctx context.Context) error {
	open, err := a.store.OpenExecutions(ctx)
	if err != nil {
		return fmt.Errorf("look for agents that were left running: %w", err)
	}
	ids := make([]thread.ID, 0, len(open))
	for _, x := range open {
		ids = append(ids, x.Thread)
	}
	if n := a.sessions.Sweep(ctx, ids); n > 0 {
		a.Log.Warn("ended what a killed server had left running", "processes", n)
	}
	return nil
}

// readers are the formats in which conversations are stored.
func readers() wire.Readers {
	chat, responses := openai.NewChat(), openai.NewResponses()
	return wire.Readers{wire.Anthropic: anthropic.New(), wire.Responses: responses, wire.Chat: chat, wire.Gemini: gemini.New()}
}

// spoolRoom is how much of the disk is kept for answers that the store refuses, beside what the store keeps itself.
const spoolRoom = 1 << 20

func (a *App) openManager(ctx context.Context) error {
	refused, err := private.Make(a.Project.StateDir(), "spool")
	if err != nil {
		return fmt.Errorf("open the spool: %w", err)
	}
	room, err := reserve.New(refused, "room", spoolRoom)
	if err != nil {
		a.Log.Warn("keep room on the disk for answers that the store refuses", "err", err)
	}
	kept := spool.Open(refused, room)
	a.onClose(kept.Close)
	index := words.Open(a.Project.StateDir(), a.store)
	a.onClose(index.Close)
	cfg := manager.Config{
		Project: a.Project.Root, Moved: a.Project.Was, StateDir: a.Project.StateDir(), Bin: a.Program.Bin, Store: a.store, Spool: kept, Agents: a.agents, Sessions: sessions{a.sessions},
		Reader: readers(), Finder: index, Env: a.Env, Log: a.Log, Tokens: tokens.New().Count,
		Offers: thread.OfferMode(a.Config.Offers), NewWorktree: newWorktree(a.Config.NewWorktree), MergeNote: thread.NoteMode(a.Config.MergeNote),
		Limits: manager.Limits{
			Depth: a.Config.MaxDepth, Running: a.Config.MaxRunning, Primer: a.Config.MaxPrimer, Continue: a.Config.OnLimit == "continue",
		},
		Heard: a.found.hear,
	}
	if a.Project.Repository {
		worktrees, err := a.Project.Worktrees(a.Config.Worktrees)
		if err != nil {
			return fmt.Errorf("open the worktrees: %w", err)
		}
		files, err := snapshot.New(snapshot.Config{
			Dir: a.Project.Root, State: filepath.Join(a.Project.StateDir(), "snapshots"),
			Worktrees: worktrees, Limit: a.Config.MaxFile, Env: a.Env, About: a.about,
		})
		if err != nil {
			return fmt.Errorf("open the worktrees: %w", err)
		}
		a.onClose(files.Close)
		merges, err := branch.New(branch.Config{
			State: filepath.Join(a.Project.StateDir(), "git"), Accepted: a.Accepted, Env: a.Env,
		})
		if err != nil {
			return fmt.Errorf("open the branches: %w", err)
		}
		a.files = files
		cfg.Worktrees, cfg.Differ, cfg.Merges = files, files, merges
		if cfg.Furnisher, err = a.furnisher(worktrees); err != nil {
			return err
		}
	}
	table, err := models.Builtin()
	if err == nil {
		table, err = table.With(a.Config.Models)
	}
	if err != nil {
		return fmt.Errorf("read the prices: %w", err)
	}
	a.models, cfg.Models = table, knownModels{table}
	a.bringBack(ctx, kept, cfg.Models)
	a.manager = manager.New(cfg)
	return nil
}

func newWorktree(setting string) manager.WorktreeMode {
	if setting == "never" {
		return manager.WorktreeNever
	}
	return manager.WorktreeMode(setting)
}

// furnisher makes new worktrees ready as the project wants it.
func (a *App) furnisher(worktrees string) (thread.Furnisher, error) {
	g, err := git.New(a.Env...)
	if err != nil {
		return nil, err
	}
	state := a.Project.StateDir()
	return setup.New(setup.Config{
		Project: a.Project.Root, Own: []string{state, worktrees}, Logs: filepath.Join(state, "setup"), Env: a.Env,
		Commands: setup.Commands{Setup: a.Config.Setup, Teardown: a.Config.Teardown}, Limit: a.Config.SetupLimit,
		Accepted: a.Accepted, Ignored: g.Ignored, Local: a.agents.local,
	}), nil
}

// knownModels tells threads without a gateway what the gateway would.
type knownModels struct{ table models.Table }

func (k knownModels) Window(model string, used int64, agents map[string]int64) int64 {
	return k.table.Window(model, false, used, agents)
}

func (k knownModels) Cost(model string, u thread.Usage) (usd float64, priced bool) {
	return k.table.Cost(model, models.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
}

// agentOf names a thread's agent.
func (a *App) agentOf(id thread.ID) string {
	s, err := a.manager.Status(context.Background(), string(id))
	if err != nil {
		return ""
	}
	return s.Agent
}

// spent says what each thread has cost, side requests included.
func (a *App) spent() map[thread.ID]float64 {
	list, err := a.manager.List(context.Background())
	if err != nil {
		a.Log.Error("read what threads have cost", "error", err)
	}
	out := make(map[thread.ID]float64, len(list))
	for _, s := range list {
		out[s.ID], _ = s.Cost()
	}
	return out
}

func (a *App) openGateway(ctx context.Context) error {
	a.ledger = ledger.New(a.manager, a.store, a.agentOf, a.Log)
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.ledger.Close(ctx)
	})
	g, err := gateway.New("127.0.0.1:0", a.ledger, gateway.Options{
		Codecs: wire.Codecs{anthropic.New(), openai.NewResponses(), openai.NewChat(), gemini.New()},
		Models: a.models, Log: a.Log, Proxy: http.ProxyFromEnvironment,
		Caps: gateway.Caps{
			RequestsPerMinute: a.Config.MaxRequests, USD: a.Config.MaxUSD, TotalUSD: a.Config.MaxTotalUSD, Bytes: a.Config.MaxMemory,
		},
		Spent: a.spent,
	})
	if err != nil {
		return fmt.Errorf("open the gateway: %w", err)
	}
	a.gateway, a.manager.Gateway = g, g
	a.onClose(g.Close)
	a.service(g.Run)
	a.service(a.watchPlace)
	if err := a.manager.Open(ctx); err != nil {
		return err
	}
	a.found.end()
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.manager.Close(ctx)
	})
	return nil
}

// listen takes the socket.
func (a *App) listen(context.Context) error {
	l, err := a.Project.Listen()
	if l == nil {
		return err
	}
	if err != nil {
		a.Log.Warn("clients of another environment may not find this server", "error", err)
	}
	a.listener = l
	a.onClose(func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	places := discovery.Places{
		Project: a.Project.Root, Home: lookup(a.Env, "HOME"), Claude: lookup(a.Env, "CLAUDE_CONFIG_DIR"),
		Codex: lookup(a.Env, "CODEX_HOME"), Gemini: lookup(a.Env, "GEMINI_CLI_HOME"),
	}
	a.daemon = daemon.New(daemon.Config{
		Manager: a.manager, Terminals: terminals{a.sessions}, Callers: a.sessions, Info: a.info, Log: a.Log,
		Agents: a.agents.Detect, Porter: porter{
			manager: a.manager, store: a.store, files: a.files, project: a.Project.Root, spool: a.Project.StateDir(), known: a.agents.known,
		},
		Collect: collector{manager: a.manager, store: a.store, files: a.files, policy: policyOf(a.Config), clock: a.clock}.Collect,
		MCP:     func(context.Context) ([]thread.MCPServer, error) { return places.Find(), nil },
		Stop:    a.end,
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		a.daemon.Close(ctx)
		return nil
	})
	return nil
}

func (a *App) info(ctx context.Context, ask api.InfoRequest) (api.ServerInfo, error) {
	i := api.ServerInfo{
		Protocol: api.Version, Version: version(), Build: a.Program.Build, PID: os.Getpid(), Project: a.Project.Root, StateDir: a.Project.StateDir(),
		Store: a.store.About, Notices: a.damage(), NoRepository: !a.Project.Repository, Running: a.running(), Seq: a.manager.Seq(),
	}
	if a.Crashed != "" {
		i.Found = append(i.Found, a.Crashed)
	}
	i.Found = slices.Concat(i.Found, a.store.Problems, a.manager.LeftAlone, a.found.all(), a.keeper.news())
	i.Problems = slices.Concat(i.Notices, i.Found)
	if why := a.place.problem(); why != "" {
		i.Problems = append(i.Problems, why)
	}
	if a.Config.Untrusted != "" {
		i.Problems = append(i.Problems, a.Config.Untrusted+" is not read: look at it, then `orchestrator trust` accepts it")
	}
	if a.Project.Refused != nil {
		i.Problems = append(i.Problems, fmt.Sprintf("files are not kept: %v", a.Project.Refused))
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
	i.Sizes = append(i.Sizes, stored)
	account, err := a.ledger.Account(ctx, accountDays)
	if err != nil {
		return i, err
	}
	i.Account = &account
	if a.files != nil {
		n, err := a.files.Size(ctx)
		if err != nil {
			return i, err
		}
		i.Sizes = append(i.Sizes, "snapshots in git: "+thread.Bytes(n)+" beyond the repository's own")
	}
	return i, nil
}

// damage is what was found damaged and is not dismissed yet.
func (a *App) damage() []string {
	dir, err := private.Open(a.Project.StateDir())
	if err != nil {
		return []string{err.Error()}
	}
	defer dir.Close()
	said, err := aside.Notices(dir)
	if err != nil {
		said = append(said, err.Error())
	}
	if a.store.Short != nil && a.store.Short() {
		said = append(said, "the disk is full: what agents answer goes into the last room that was kept for it; free some space")
	}
	return said
}

// end stops all agents and saves what is under way, then has Run end. It is refused, and nothing changes, while
// answers are in memory alone.
func (a *App) end(_ context.Context, r api.StopRequest) (api.StopReport, error) {
	a.ending.Lock()
	defer a.ending.Unlock()
	if a.ended != nil {
		return *a.ended, nil
	}
	if _, unsaved := a.manager.Refused(); unsaved > 0 && !r.Force {
		return api.StopReport{}, thread.Hint(fmt.Errorf("%w: %d, in memory alone", thread.ErrUnsaved, unsaved),
			"free some space or bring the database back, and they are saved; `orchestrator stop --force` drops them")
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit) // a client that leaves does not cut it short
	defer cancel()
	if err := a.manager.Close(ctx); err != nil {
		a.Log.Error("end the agents", "error", err)
	}
	report := api.StopReport{}
	report.Spooled, report.Lost = a.manager.Refused()
	a.ended = &report
	close(a.stop)
	return report, nil
}

// unsaved reports whether answers are in memory alone: the server must not end by itself then.
func (a *App) unsaved() bool {
	_, n := a.manager.Refused()
	return n > 0
}

// running counts the agents that run.
func (a *App) running() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := a.manager.List(ctx)
	if err != nil {
		return 0
	}
	n := 0
	for _, s := range list {
		if s.Execution != nil {
			n++
		}
	}
	return n
}

// errStopped ends Run without being an error of it.
var errStopped = errors.New("stopped")

// Run serves until the context ends, a client stops it, or nobody needs it any more.
func (a *App) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range a.services {
		group.Go(func() error { return s(ctx) })
	}
	group.Go(func() error { return a.daemon.Serve(a.listener) })
	group.Go(func() error {
		a.Log.Info("server runs", "project", a.Project.Root, "version", version())
		idle := time.NewTicker(max(a.Config.IdleStop/30, time.Second))
		defer idle.Stop()
		for {
			select {
			case <-ctx.Done():
			case <-a.stop:
			case <-idle.C:
				if a.Config.IdleStop == 0 || a.daemon.Idle() < a.Config.IdleStop || a.running() > 0 || a.unsaved() {
					continue
				}
				a.Log.Info("nobody needs the server any more")
			}
			_ = a.listener.Close() // it ends what waits for it
			return errStopped
		}
	})
	err := group.Wait()
	if errors.Is(err, errStopped) || errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close ends everything in the reverse order of its beginning.
func (a *App) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// rules finds an agent's screen rules.
func (a adapters) rules(name string) []agent.Rule {
	for _, one := range a {
		if r, ok := one.(agent.Ruler); ok && one.Name() == name {
			return r.Rules()
		}
	}
	return nil
}

// input returns how an agent's input is found on its screen, nil where it cannot be.
func (a adapters) input(name string) func(*vterm.Terminal) (agent.Input, bool) {
	for _, one := range a {
		if r, ok := one.(agent.Inputter); ok && one.Name() == name {
			return r.Input
		}
	}
	return nil
}

// sessions fits session.Sessions to the manager: a *Session that is nil must be a nil interface.
type sessions struct{ *session.Sessions }

// terminals fits session.Sessions to the daemon.
type terminals struct{ sessions *session.Sessions }

// Attach implements daemon.Terminals.
func (t terminals) Attach(id thread.ID, cols, rows int) (daemon.Viewer, error) {
	v, err := t.sessions.Attach(id, cols, rows)
	if err != nil {
		return nil, err
	}
	return v, nil
}
