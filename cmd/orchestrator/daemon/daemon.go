// Package daemon serves a project's API on a unix socket: the thread manager's use cases as
// JSON calls, its events as a stream, terminals over WebSockets.
//
// It answers the socket's owner only, holds no state of its own, and never lets one slow client
// hold up another.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// maxBody bounds a request's JSON; prompts may be long, nothing else is.
const maxBody = 16 << 20

// Terminals finds the running terminals of threads.
type Terminals interface {
	// Attach joins a thread's terminal; the first bytes reproduce the whole screen.
	Attach(id thread.ID, cols, rows int) (Viewer, error)
}

// Viewer is one look at a running terminal.
type Viewer interface {
	// Next waits for bytes to show; io.EOF when the terminal is gone.
	Next(ctx context.Context) ([]byte, error)
	Input([]byte) error
	Resize(cols, rows int) error
	Close()
}

// Porter writes threads to files and takes them from files.
type Porter interface {
	Export(context.Context, thread.PortRequest) (thread.Status, error)
	Import(context.Context, thread.PortRequest) (thread.Status, error)
	Backup(context.Context, thread.PortRequest) (thread.Kept, error)
	RestoreBackup(context.Context, thread.PortRequest) (thread.Kept, error)
}

// Config is what a Server serves.
type Config struct {
	Manager   *thread.Manager
	Terminals Terminals
	Callers   Callers
	// Agents and MCP say what can be used here.
	Agents func(context.Context) []thread.AgentInfo
	MCP    func(context.Context) ([]thread.MCPServer, error)
	Info   func(context.Context, api.AskInfo) (api.Info, error)
	// Porter takes threads out and in.
	Porter Porter
	// Collect lets go of what need not be kept.
	Collect func(context.Context, thread.CollectRequest) (thread.Collected, error)
	// Stop ends the agents, saves what is under way, and then has the server end.
	Stop func(context.Context, api.StopRequest) (api.StopReport, error)
	Log  *slog.Logger
}

// Server answers clients.
type Server struct {
	Config
	http    *http.Server
	clients atomic.Int64

	// mu guards lastSeen.
	mu       sync.Mutex
	lastSeen time.Time
}

// New lays out a server; Serve starts it.
func New(c Config) *Server {
	s := &Server{Config: c, lastSeen: time.Now()}
	s.http = &http.Server{
		Handler:           s.recovered(s.routes()),
		ReadHeaderTimeout: 5 * time.Second,
		ConnContext:       s.connected,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	return s
}

// Serve answers on a listener until Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(&ownerOnly{Listener: l, log: s.Log}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the socket: %w", err)
	}
	return nil
}

// Close lets running calls end until the context does, then cuts them off.
func (s *Server) Close(ctx context.Context) {
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
}

// Idle says for how long no client was there; 0 while one is.
func (s *Server) Idle() time.Duration {
	if s.clients.Load() > 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.lastSeen)
}

func (s *Server) seen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastSeen = time.Now()
}

// recovered turns a panic of one call into an error of that call.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.clients.Add(1)
		defer func() {
			s.clients.Add(-1)
			s.seen()
			if p := recover(); p != nil {
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p)
				}
				s.Log.Error("a call panicked", "path", r.URL.Path, "panic", fmt.Sprint(p))
				refuse(w, fmt.Errorf("the server hit a bug in %s; its log says more", r.URL.Path))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// call makes a handler of a function from request to answer.
func call[Req, Resp any](f func(context.Context, Req) (Resp, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req Req
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		if err := dec.Decode(&req); err != nil && !errors.Is(err, io.EOF) {
			refuse(w, fmt.Errorf("%w request: %w", thread.ErrInvalid, err))
			return
		}
		resp, err := f(r.Context(), req)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(resp) //nolint:errcheck // the client is gone; nobody to tell
	}
}

// done makes a handler of a function that has nothing to answer.
func done[Req any](f func(context.Context, Req) error) http.HandlerFunc {
	return call(func(ctx context.Context, req Req) (struct{}, error) { return struct{}{}, f(ctx, req) })
}

func refuse(w http.ResponseWriter, err error) {
	e, status := api.FromError(err)
	e.Message = secret.Redact(e.Message) // it may quote a prompt, an address, an environment
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(e) //nolint:errcheck // the client is gone; nobody to tell
}
