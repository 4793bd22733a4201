package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"orchestrator/agent/session"
	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/roster"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/daemon"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/private"
)

// tryAgain is how often to retry a store that cannot be reached.
const tryAgain = 2 * time.Second

// AwaitStore serves the last list of threads, read-only, until the store can be reached again, and then returns true.
// It returns false if a client stops the server or nobody needs it, and if there is no list yet: the first start fails
// with the cause.
func AwaitStore(ctx context.Context, cfg Options, cause error) (back bool, err error) {
	list, at, err := lastList(cfg.Project, cfg.Config.Store)
	if err != nil || len(list) == 0 {
		return false, errors.Join(cause, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	about, err := storeName(cfg.Project, cfg.Config.Store)
	if err != nil {
		return false, errors.Join(cause, err)
	}
	w := &waiting{
		project: cfg.Project, store: about, build: cfg.Program.Build, list: list, at: at, cause: cause,
		idle: cfg.Config.IdleStop, check: func(ctx context.Context) error { _, err := postgres.Check(ctx, cfg.Config.Store); return err },
	}
	server := daemon.NewWaiting(daemon.Waiting{
		Callers: session.New(session.Config{Project: cfg.Project.Root}), // has none of its own
		Info:    w.info, List: func() []thread.Status { return w.list }, Refusal: w.refusal, Log: cfg.Log,
		Stop: func(context.Context, api.StopRequest) (api.StopReport, error) {
			stop(errStopped)
			return api.StopReport{}, nil
		},
	})
	l, err := cfg.Project.Listen()
	if l == nil {
		return false, err
	}
	var kept error
	w.keep = func() { kept = keepListening(l, cfg.Log, kept) }
	cfg.Log.Warn("the store cannot be reached: serving the last list, read-only", "as of", at, "error", cause)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	back = w.poll(ctx, server)
	closing, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	server.Close(closing)
	if err := <-served; err != nil {
		return false, err
	}
	if back {
		cfg.Log.Info("the store can be reached again")
	}
	return back, nil
}

// lastList reads the list of threads that the last server kept.
func lastList(p project.Project, store string) ([]thread.Status, time.Time, error) {
	name, err := listName(store)
	if err != nil {
		return nil, time.Time{}, err
	}
	dir, err := private.Open(p.StateDir())
	if err != nil {
		return nil, time.Time{}, err
	}
	defer dir.Close()
	r, err := roster.Open(dir, name)
	if err != nil {
		return nil, time.Time{}, err
	}
	threads, at := r.Threads()
	list := make([]thread.Status, 0, len(threads))
	for _, t := range threads {
		if t.Deleted.IsZero() {
			list = append(list, thread.Status{Thread: t, State: thread.StateReport{State: thread.StateUnknown, Since: at,
				Evidence: []thread.Evidence{{Source: thread.SourceSilence, State: thread.StateUnknown, At: at,
					Detail: "the store cannot be used"}}}})
		}
	}
	return list, at, errors.Join(r.Close())
}

// waiting is a server without its store.
type waiting struct {
	project project.Project
	store   string // for people
	build   string
	list    []thread.Status
	at      time.Time
	idle    time.Duration // after which it ends, 0 for never
	check   func(context.Context) error
	keep    func() // keeps the server reachable for clients

	mu    sync.Mutex // guards cause
	cause error
}

// poll waits until the store answers. It returns false if the context ends or there were no clients for long.
func (w *waiting) poll(ctx context.Context, server *daemon.Server) bool {
	again := time.NewTicker(tryAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
		w.keep()
		err := w.check(ctx)
		if err == nil || !errors.Is(err, thread.ErrUnreachable) {
			return true // any other error fails the start
		}
		w.mu.Lock()
		w.cause = err
		w.mu.Unlock()
		if w.idle > 0 && server.Idle() > w.idle {
			return false
		}
	}
}

func (w *waiting) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Errorf("not available: %w; until it is back, `orchestrator threads` shows the list as of %s", w.cause,
		w.at.Local().Format(time.DateTime))
}

// info answers who the server is.
func (w *waiting) info(_ context.Context, ask api.InfoRequest) (api.ServerInfo, error) {
	if ask.Sizes {
		return api.ServerInfo{}, w.refusal()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	notice := fmt.Sprintf("showing the last known list, as of %s, read-only: %v", w.at.Local().Format(time.DateTime),
		w.cause)
	i := api.ServerInfo{
		Protocol: api.Version, Version: buildinfo.Version(), Build: w.build, PID: os.Getpid(), Project: w.project.Root,
		StateDir: w.project.StateDir(), Store: w.store, Notices: []string{notice}, NoRepository: !w.project.Repository,
	}
	i.Problems = slices.Clone(i.Notices)
	return i, nil
}
