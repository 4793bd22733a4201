package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/front"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// Waiting configures a Server whose store cannot be reached: it identifies itself and serves the last list, and refuses
// every other call with Refusal.
type Waiting struct {
	// Callers finds out who calls: agents of the last server may still run.
	Callers Callers
	Info    func(context.Context, api.InfoRequest) (api.ServerInfo, error)
	List    func() []thread.Status
	Stop    func(context.Context, api.StopRequest) (api.StopReport, error)
	Refusal func() error
	Log     *slog.Logger
}

// listed is the gate of a server without a store: who calls is decided as ever, of what the last list says.
type listed struct{ guard }

func (listed) staged(context.Context, grant.Caller, string) (thread.Staged, error) {
	return thread.Staged{}, thread.ErrNotFound
}

func (listed) execution(context.Context, string) (work.Execution, error) {
	return work.Execution{}, thread.ErrNotFound
}

// NewWaiting returns such a server; Serve starts it.
func NewWaiting(w Waiting) *Server {
	s := &Server{Config: Config{Log: w.Log}, lastSeen: time.Now()}
	g := &listed{guard{callers: w.Callers, log: w.Log, status: func(_ context.Context, name string) (thread.Status, error) {
		for _, st := range w.List() {
			if string(st.ID) == name || st.Name == name {
				return st, nil
			}
		}
		return thread.Status{}, thread.ErrNotFound
	}}}
	r := newRoutes(g)
	answer(r, api.Info, nil, w.Info)
	answer(r, api.Stop, nil, w.Stop)
	obey(r, api.May, nil, func(ctx context.Context, q api.MayRequest) error { return callerOf(ctx).May(q.Op, false) })
	answer(r, api.List, nil, func(ctx context.Context, _ api.None) ([]thread.Status, error) {
		return callerOf(ctx).Visible(slices.Clone(w.List())), nil
	})
	stream(r, api.Events, nil, func(context.Context, api.None) (<-chan thread.Event, error) { return nil, nil })
	r.mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { refuse(rw, w.Refusal()) })
	s.http = &http.Server{
		Handler: s.recovered(r.mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ConnContext: g.connected,
		ErrorLog:    slog.NewLogLogger(w.Log.Handler(), slog.LevelWarn),
	}
	front.Guard(s.http)
	return s
}
