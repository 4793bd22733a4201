package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
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

// NewWaiting returns such a server; Serve starts it.
func NewWaiting(w Waiting) *Server {
	s := &Server{Config: Config{Log: w.Log}, lastSeen: time.Now()}
	r := newRoutes(func(_ string, next http.Handler) http.Handler { return next })
	answer(r, api.Info, w.Info)
	answer(r, api.Stop, w.Stop)
	answer(r, api.List, func(context.Context, api.None) ([]thread.Status, error) { return w.List(), nil })
	stream(r, api.Events, func(context.Context, api.None) (<-chan thread.Event, error) { return nil, nil })
	r.mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { refuse(rw, w.Refusal()) })
	s.http = &http.Server{
		Handler: s.recovered(r.mux), ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(w.Log.Handler(), slog.LevelWarn),
	}
	return s
}
