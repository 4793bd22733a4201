package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"orchestrator/agent/demo/model"
	"orchestrator/agent/session"
	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/words"
	"orchestrator/checkpoint/worktree"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/staging"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/manager"
	"orchestrator/thread/plan"
	"orchestrator/thread/private"
	"orchestrator/thread/rebuild"
	"orchestrator/thread/reserve"
	"orchestrator/thread/setup"
	"orchestrator/thread/spending"
	"orchestrator/thread/spool"
	"path/filepath"
	"time"
)

// New opens the parts of a server in order of their dependencies; Close closes them in reverse.
func New(ctx context.Context, cfg Options) (app *Server, err error) {
	a := &Server{Options: cfg, stop: make(chan struct{})}
	for _, open := range []func(context.Context) error{a.openStore, a.openClock, a.openStaging, a.openMasks, a.openAgents,
		a.openMCP, a.openWork, a.openManager, a.openRecord, a.openWaves, a.openParts, a.openGateway, a.openRetention, a.listen} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

func (a *Server) openStore(ctx context.Context) error {
	err := dropBackupRooms(a.Project.StateDir())
	if err != nil {
		a.Log.Warn("remove leftovers of a backup", "error", err)
	}
	if a.store, err = newStore(ctx, a.Project, a.Config); err != nil {
		return err
	}
	a.onClose(a.store.Close)
	return nil
}

func (a *Server) openAgents(ctx context.Context) error {
	demoModel, err := model.Start(model.Options{Pace: 10 * time.Millisecond})
	if err != nil {
		return fmt.Errorf("start the demo agent's model: %w", err)
	}
	a.onClose(demoModel.Close)
	a.agents = agents.New(a.Program.Path, a.Env, filepath.Join(a.Project.StateDir(), "demo"), demoModel.URL())
	a.sessions = session.New(session.Config{
		Rules: a.agents.Rules, Input: a.agents.Input, Dialogs: a.agents.Dialogs, Scrollback: a.Config.Scrollback,
		Version:   "orchestrator(" + buildinfo.Version() + ")",
		Processes: a.Config.MaxProcesses, Project: a.Project.Root, Foreign: a.agents.Foreign(),
		RunOutput: a.Config.MaxRunOutput,
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.sessions.Close(ctx, 2*time.Second)
	})
	return a.sweep(ctx)
}

// sweep ends agents left running by a server that was killed.
func (a *Server) sweep(ctx context.Context) error {
	open, err := a.store.OpenExecutions(ctx)
	if err != nil {
		return fmt.Errorf("look for leftover agents: %w", err)
	}
	ids := make([]thread.ID, 0, len(open))
	for _, x := range open {
		ids = append(ids, x.Thread)
	}
	if n := a.sessions.Sweep(ctx, ids); n > 0 {
		a.Log.Warn("ended agents left running by a killed server", "processes", n)
	}
	return nil
}

// readers returns the readers of all formats in which conversations are stored.
func readers() wire.Readers {
	chat, responses := openai.NewChat(), openai.NewResponses()
	return wire.Readers{wire.Anthropic: anthropic.New(), wire.Responses: responses, wire.Chat: chat,
		wire.Gemini: gemini.New()}
}

// spoolRoom is the disk space reserved for answers that the store refuses, besides what the store itself reserves.
const spoolRoom = 1 << 20

// fillAfter is how long after the start the search index is completed, so that the first answers do not wait for it.
const fillAfter = 2 * time.Second

func (a *Server) openManager(ctx context.Context) error {
	refused, err := private.Make(a.Project.StateDir(), "spool")
	if err != nil {
		return fmt.Errorf("open the spool: %w", err)
	}
	room, err := reserve.New(refused, "room", spoolRoom)
	if err != nil {
		a.Log.Warn("reserve disk space for answers that the store refuses", "err", err)
	}
	kept := spool.Open(refused, room)
	a.onClose(kept.Close)
	cfg := manager.Config{
		Project: a.Project.Root, Moved: a.Project.Was, Place: a.Project.CheckPlace, StateDir: a.Project.StateDir(), Bin: a.Program.Bin,
		Store: a.store, Spool: kept, Agents: a.agents, Sessions: sessions{a.sessions},
		Reader: readers(), Env: plainEnv(a.Env), Log: a.Log, Tokens: a.counter.Count,
		Offers: thread.OfferMode(a.Config.Offers), NewWorktree: newWorktree(a.Config.NewWorktree),
		MergeNote: thread.NoteMode(a.Config.MergeNote), Base: a.Config.Base,
		Limits: manager.Limits{
			Depth: a.Config.MaxDepth, Running: a.Config.MaxRunning, Primer: a.Config.MaxPrimer,
			Continue: a.Config.OnLimit == "continue",
		},
		Runs: a.runsConfig(),
		Budget: manager.BudgetConfig{
			Thread:  configured(a.Config.MaxTokens, a.Config.MaxUSD),
			Project: configured(a.Config.MaxTotalTokens, a.Config.MaxTotalUSD),
			Spent:   a.spent,
		},
		OnNotice: a.found.add, Readable: a.readable, Stage: a.stage,
	}
	if a.Config.MCP {
		cfg.MCP = a.mcp
	}
	if a.Project.Repository {
		worktrees, err := a.Project.Worktrees(a.Config.Worktrees)
		if err != nil {
			return fmt.Errorf("open the worktrees: %w", err)
		}
		files, err := openFiles(worktree.Config{
			Dir: a.Project.Root, State: filepath.Join(a.Project.StateDir(), "snapshots"), Worktrees: worktrees, Env: a.Env,
		}, snapshot.Config{Limit: a.Config.MaxFile, About: a.about})
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
		a.files, a.merger = files, merges
		cfg.Worktrees, cfg.Differ, cfg.Merges = files, files, merges
		cfg.Runs.Witness = a.openWitness(files)
		if a.setup, err = a.worktreeSetup(worktrees); err != nil {
			return err
		}
		cfg.Setup = a.setup
	}
	var changes words.Changes
	if a.files != nil {
		changes = func(ctx context.Context, steps []thread.FileStep) ([][]string, error) {
			return a.files.Changed(ctx, a.Project.Root, steps)
		}
	}
	index := words.Open(a.Project.StateDir(), a.store, changes, fillAfter)
	a.onClose(index.Close)
	cfg.Finder = index
	table, err := models.Builtin()
	if err == nil {
		table, err = table.With(a.Config.Models)
	}
	if err != nil {
		return fmt.Errorf("read the prices: %w", err)
	}
	a.models, cfg.Models = table, knownModels{table}
	turns := rebuild.Config{Store: a.store, Agents: a.agents, Env: a.Env, Spool: kept, Models: cfg.Models}
	if a.files != nil {
		turns.Snapshots = a.snapshots
	}
	a.recoverLost(ctx, turns)
	cfg.Mend = func(ctx context.Context, id thread.ID) (string, error) { return a.mend(ctx, turns, id) }
	a.manager = manager.New(cfg)
	return nil
}

func newWorktree(setting string) manager.WorktreeMode {
	if setting == "never" {
		return manager.WorktreeNever
	}
	return manager.WorktreeMode(setting)
}

// worktreeSetup returns what prepares new worktrees as the project has configured.
func (a *Server) worktreeSetup(worktrees string) (*setup.Setup, error) {
	g, err := git.New(a.Env...)
	if err != nil {
		return nil, err
	}
	state := a.Project.StateDir()
	return setup.New(setup.Config{
		Project: a.Project.Root, Own: []string{state, worktrees}, Logs: filepath.Join(state, "setup"), Env: a.Env,
		Commands: setup.Commands{Setup: a.Config.Setup, Teardown: a.Config.Teardown}, Limit: a.Config.SetupLimit,
		Checks: a.Config.Checks, CheckLimit: a.Config.CheckLimit,
		Accepted: a.Accepted, Ignored: g.Ignored, Local: a.agents.Local,
	}), nil
}

func (a *Server) openGateway(ctx context.Context) error {
	a.ledger = spending.New(a.manager.Traffic, a.store, a.agentOf, a.Log)
	a.ledger.Sessions = a.manager.Executions.InSessions
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.ledger.Close(ctx)
	})
	if err := a.openMasker(); err != nil {
		return err
	}
	g, err := gateway.New("127.0.0.1:0", a.ledger, gateway.Options{
		Rewriter: a.bases.watcher,
		Codecs:   wire.Codecs{anthropic.New(), openai.NewResponses(), openai.NewChat(), gemini.New()},
		Models:   a.models, Log: a.Log,
		Caps: gateway.Caps{
			RequestsPerMinute: a.Config.MaxRequests, Bytes: a.Config.MaxMemory,
		},
		Budget: a.manager.Budgets,
	})
	if err != nil {
		return fmt.Errorf("open the gateway: %w", err)
	}
	a.gateway, a.manager.Gateway = g, g
	a.onClose(g.Close)
	a.onClose(a.masker.Close)
	a.service(g.Run)
	a.watchPlace()
	a.service(a.takeDropped)
	a.service(a.notify)
	a.checked = &storeCheck{check: a.store.Check, log: a.Log, tell: func(text string) {
		a.manager.Traffic.Notice("", thread.LevelError, text)
	}}
	a.service(a.checked.run)
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

// listen opens the socket.
func (a *Server) listen(context.Context) error {
	l, err := a.Project.Listen()
	if l == nil {
		return err
	}
	if err != nil {
		a.Log.Warn("clients from another environment may not find this server", "error", err)
	}
	a.listener = l
	a.onClose(func() error {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	a.daemon = daemon.New(daemon.Config{
		Manager: a.manager, Executions: a.manager.Executions, Record: a.record, Waves: a.waves, Tasks: a.standing.tasks, Splits: a.standing.splits, Standing: a.standing.armed,
		Runs: runBounds(a.Config), Project: a.Project.Root, Terminals: terminals{a.sessions}, Callers: a.sessions, Info: a.info, Cost: a.cost, Log: a.Log,
		Agents: a.detect, Transfer: transfer{
			manager: a.manager, store: a.store, files: a.files, project: a.Project.Root, spool: a.Project.StateDir(),
			carry: carry{staging: a.staging, masks: a.masks, work: a.carryWork()},
			known: a.agents.Known,
		},
		Staging: a.staging, Masks: a.masks, Contexts: contexts{manager: a.manager, masker: a.masker, bases: a.bases, rules: contextRules(a.Config)},
		Base: a.bases.report,
		Collect: collector{manager: a.manager, store: a.store, files: a.files, policy: policyOf(a.Config),
			clock: a.clock, staging: a.staging, masks: a.masks, record: a.kept}.Collect,
		MCP: a.mcp, ServeMCP: a.serveMCP,
		Stop: a.end,
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		a.daemon.Close(ctx)
		return nil
	})
	return nil
}

// openRetention starts automatic retention.
func (a *Server) openRetention(context.Context) error {
	c := collector{manager: a.manager, store: a.store, files: a.files, policy: policyOf(a.Config), clock: a.clock,
		masks: a.masks, record: a.kept, careful: true, unmerged: a.unmerged()}
	a.retention = &retention{settings: a.store, collect: c.Collect, clock: a.clock, policy: c.policy}
	a.every(lookPause, "delete threads past the retention limits", a.retention.look)
	a.rest = &runRest{limit: time.Duration(a.Config.KeepRuns) * 24 * time.Hour, clock: a.clock, list: a.manager.Threads.List,
		archive: a.manager.Lifecycle.Rest, unmerged: a.unmerged()}
	a.every(lookPause, "archive the threads of finished runs", a.rest.look)
	return nil
}

// unmerged returns what tells which threads have work that is merged nowhere.
func (a *Server) unmerged() unmergedWork {
	u := unmergedWork{log: a.Log}
	if a.merger != nil {
		u.branches = func(ctx context.Context) (map[string]bool, error) { return a.merger.Unmerged(ctx, a.Project.Root) }
	}
	return u
}

// openClock starts the clock that measures the age of threads.
func (a *Server) openClock(ctx context.Context) (err error) {
	if a.clock, err = openClock(ctx, a.store, time.Now); a.clock == nil {
		return err
	}
	if err != nil {
		a.Log.Warn("check the clock", "error", err) // the disk may be full, for example: tried again later
	}
	a.every(lookPause, "check the clock", a.clock.check)
	return nil
}

// pinsLimit is how long finding what needs staged data may take. What was read before it ended is not read again.
const pinsLimit = 20 * time.Second

// openStaging opens the store of staged data and removes expired data periodically.
func (a *Server) openStaging(context.Context) error {
	folder, err := private.Make(a.Project.StateDir(), "staging")
	if err != nil {
		return fmt.Errorf("open the staged data: %w", err)
	}
	a.pins = &pins{store: a.store, masked: func(id thread.ID, since int64) ([]thread.Token, int64, error) {
		return a.masks.Names(id, since)
	}}
	a.handed = &handedPins{store: func() plan.Store { return plansOf(a.executions) }}
	a.staging = staging.New(folder, staging.Config{
		TTL: a.Config.StageTTL, MaxBytes: a.Config.MaxStaged, OfThread: a.Config.MaxStagedThread, OfAll: a.Config.MaxStagedTotal,
		Since: a.clock.since, Pins: a.stagedPins,
		Digits: a.Config.TokenDigits,
		Taken:  func(t thread.Token) (bool, error) { return a.masks.Has(t) },
	})
	a.onClose(a.staging.Close)
	a.every(lookPause, "remove expired staged data", func(ctx context.Context) error {
		_, err := a.staging.Sweep(ctx)
		return err
	})
	return nil
}

// stagedPins returns what needs staged data.
func (a *Server) stagedPins() (map[thread.Token][]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pinsLimit)
	defer cancel()
	pins, err := a.pins.find(ctx)
	if err == nil {
		err = a.handed.find(ctx, pins)
	}
	return pins, err
}

// stage stages data and says where it is.
func (a *Server) stage(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.StagedInfo, error) {
	d, err := a.staging.Stage(ctx, r, data)
	if err != nil {
		return thread.StagedInfo{}, err
	}
	return a.staging.Info(d.Token)
}

// sessions adapts session.Sessions to the manager: a nil *Session must become a nil interface.
type sessions struct{ *session.Sessions }

// terminals adapts session.Sessions to the daemon.
type terminals struct{ sessions *session.Sessions }

// Attach implements daemon.Terminals.
func (t terminals) Attach(id thread.ID, cols, rows int, watch bool) (daemon.Viewer, error) {
	v, err := t.sessions.Attach(id, cols, rows, watch)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// watchPlace reports when the project is moved or removed while the server runs. Without agents the server then exits,
// so that the next verb starts one in the new place.
func (a *Server) watchPlace() {
	var kept error // the last problem with the socket, to report it once
	a.every(PlacePause, "look whether the project is in its place", func(ctx context.Context) error {
		kept = keepListening(a.listener, a.Log, kept)
		why, changed := a.place.look(a.Project)
		switch {
		case changed && why != "":
			a.Log.Error("the project has been moved or removed", "why", why)
			a.manager.Traffic.Tell("", thread.Notice{Level: thread.LevelError, Text: why})
		case changed:
			a.Log.Info("the project is back")
		}
		if why != "" && len(a.manager.Threads.Running()) == 0 && !a.unsaved() {
			a.Log.Info("exiting: the project was moved and no agent is running")
			_, err := a.end(ctx, api.StopRequest{})
			return err
		}
		return nil
	})
}
