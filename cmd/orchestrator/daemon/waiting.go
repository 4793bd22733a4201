package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// Waiting configures a Server whose store cannot be reached: it identifies itself and serves the last list, and refuses
// every other call with Refusal.
type Waiting struct {
	Info    func(context.Context, api.InfoRequest) (api.ServerInfo, error)
	List    func() []thread.Status
	Stop    func(context.Context, api.StopRequest) (api.StopReport, error)
	Refusal func() error
	Log     *slog.Logger
}

// person is the gate of a server that runs no agents: it takes every caller for the person.
type person struct{}

func (person) identify(*http.Request) (grant.Caller, error) { return grant.Caller{}, nil }
func (person) refused(string, grant.Caller)                 {}
func (person) threadNamed(context.Context, string) (thread.ID, error) {
	return "", thread.ErrNotFound
}
func (person) staged(grant.Caller, string) (thread.Staged, error) {
	return thread.Staged{}, thread.ErrNotFound
}

// NewWaiting returns such a server; Serve starts it.
func NewWaiting(w Waiting) *Server {
	s := &Server{Config: Config{Log: w.Log}, lastSeen: time.Now()}
	r := newRoutes(person{})
	answer(r, api.Info, nil, w.Info)
	answer(r, api.Stop, nil, w.Stop)
	answer(r, api.List, nil, func(context.Context, api.None) ([]thread.Status, error) { return w.List(), nil })
	stream(r, api.Events, nil, func(context.Context, api.None) (<-chan thread.Event, error) { return nil, nil })
	r.mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { refuse(rw, w.Refusal()) })
	s.http = &http.Server{
		Handler: s.recovered(r.mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(w.Log.Handler(), slog.LevelWarn),
	}
	return s
}
