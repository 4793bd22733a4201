package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

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
	Export(context.Context, thread.TransferRequest) (thread.Status, error)
	Import(context.Context, thread.TransferRequest) (thread.Status, error)
	Backup(context.Context, thread.TransferRequest) (thread.BackupReport, error)
	RestoreBackup(context.Context, thread.TransferRequest) (thread.BackupReport, error)
}

// Callers finds out for whom a process acts.
type Callers interface {
	// Caller returns the agent's thread that a process was started below, or whose token it carries; agent is
	// set where it is some agent's, known or not.
	Caller(pid int, token string) (id thread.ID, agent bool, err error)
}

// Config is what a Server serves.
type Config struct {
	Manager   *manager.Manager
	Terminals Terminals
	Callers   Callers
	// Agents and MCP say what can be used here.
	Agents func(context.Context) []thread.AgentInfo
	MCP    func(context.Context) ([]thread.MCPServer, error)
	Info   func(context.Context, api.InfoRequest) (api.ServerInfo, error)
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

// Serve answers on a listener until Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(&ownerOnly{Listener: l, uid: os.Getuid(), log: s.Log}); !errors.Is(err, http.ErrServerClosed) {
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
