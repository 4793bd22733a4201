// Package daemon serves a project's API on a unix socket: the thread manager's use cases as JSON calls, its events as a
// stream, and terminals over WebSockets.
//
// It serves only the socket's owner, has no state of its own, and never lets a slow client delay another.
package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/front"
)

// New returns a server; Serve starts it.
func New(c Config) *Server {
	s := &Server{Config: c, lastSeen: time.Now(), misses: newMisses()}
	s.guard = guard{callers: c.Callers, log: c.Log, status: func(ctx context.Context, name string) (thread.Status, error) {
		return c.Manager.Threads.Status(ctx, name)
	}}
	r := newRoutes(s)
	s.register(r)
	s.http = &http.Server{
		Handler:           s.recovered(r.mux),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute, // longer than clients keep a connection that they do not use
		ConnContext:       s.connected,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	front.Guard(s.http)
	return s
}
