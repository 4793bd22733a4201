package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
)

// Waiting is what a Server answers while its store cannot be reached: who it is and the last list. Every other call is
// refused with Refusal.
type Waiting struct {
	Info    func(context.Context, api.AskInfo) (api.Info, error)
	List    func() []thread.Status
	Stop    func(context.Context, api.StopRequest) (api.StopReport, error)
	Refusal func() error
	Log     *slog.Logger
}

// NewWaiting lays out such a server; Serve starts it.
func NewWaiting(w Waiting) *Server {
	s := &Server{Config: Config{Log: w.Log}, lastSeen: time.Now()}
	mux := http.NewServeMux()
	mux.Handle("POST "+api.Prefix+"info", call(w.Info))
	mux.Handle("POST "+api.Prefix+"stop", call(w.Stop))
	mux.Handle("POST "+api.Prefix+"list", call(func(context.Context, struct{}) ([]thread.Status, error) { return w.List(), nil }))
	mux.HandleFunc("GET "+api.Prefix+"events", nothing)
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { refuse(rw, w.Refusal()) })
	s.http = &http.Server{
		Handler: s.recovered(mux), ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(w.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// nothing is the stream of what happens while nothing can: it ends with the wait, and the client asks for everything.
func nothing(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": begin\n\n")
	if http.NewResponseController(w).Flush() == nil {
		<-r.Context().Done()
	}
}
