package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/front"
	"orchestrator/thread/grant"
	"orchestrator/thread/manager"
	"orchestrator/thread/record"
	"orchestrator/thread/spending"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// Terminals finds the running terminals of threads.
type Terminals interface {
	// Attach attaches to a thread's terminal. The first bytes reproduce the whole screen.
	// watch says that the viewer only watches: it decides the terminal's size only while nobody shows it in full.
	Attach(id thread.ID, cols, rows int, watch bool) (Viewer, error)
}

// Viewer is a client's view of a running terminal.
type Viewer interface {
	// Next waits for bytes to show. It returns io.EOF when the terminal is gone.
	Next(ctx context.Context) ([]byte, error)
	Input([]byte) error
	Resize(cols, rows int, watch bool) error
	Close()
}

// Transfer moves threads between the project and files: it exports, imports, backs up and restores them.
type Transfer interface {
	Export(context.Context, thread.TransferRequest) (thread.Exported, error)
	Import(context.Context, thread.TransferRequest) (thread.Imported, error)
	Backup(context.Context, thread.TransferRequest) (thread.BackupReport, error)
	RestoreBackup(context.Context, thread.TransferRequest) (thread.BackupReport, error)
}

// Contexts reports what fills the contexts of threads, and changes what is masked of them.
type Contexts interface {
	Context(ctx context.Context, thread string) (thread.ContextReport, error)
	Change(ctx context.Context, change thread.ContextChange) (thread.ContextReport, error)
}

// MCP controls MCP servers.
type MCP interface {
	Report(context.Context, thread.MCPQuery) (thread.MCPReport, error)
	Detail(context.Context, thread.MCPAct) (thread.MCPDetail, error)
	Why(context.Context, thread.MCPTask) ([]thread.MCPWhy, error)
	Switch(context.Context, thread.MCPChange) (thread.MCPReport, error)
	Act(context.Context, thread.MCPAct) (thread.MCPDetail, error)
	CallTool(context.Context, thread.MCPCall) (thread.MCPResult, error)
}

// Executions are pieces of work that agents do without a terminal.
type Executions interface {
	// List returns some, newest first.
	List(context.Context, work.Query) ([]work.Execution, error)
	// Execution finds one by its id or name.
	Execution(ctx context.Context, ref string) (work.Execution, error)
	Events(ctx context.Context, id work.ID, after int64, limit int) ([]work.Event, error)
	// Follow returns what one reports from now on. The channel is closed after its end.
	Follow(ctx context.Context, id work.ID) (<-chan thread.Event, error)
	// Cancel ends one, and returns it as it is stored then.
	Cancel(ctx context.Context, id work.ID, reason string) (work.Execution, error)
	// Resume queues a lost one again.
	Resume(ctx context.Context, id work.ID) (work.Execution, error)
	Retry(ctx context.Context, id work.ID) (work.Execution, error)
	FallBack(ctx context.Context, id work.ID) (work.Execution, error)
	Queue(context.Context) (work.QueueReport, error)
	SetQueue(context.Context, work.QueueChange) (work.QueueReport, error)
}

// Config configures a Server.
type Config struct {
	Manager   *manager.Manager
	Terminals Terminals
	Callers   Callers
	// Executions are the runs' pieces of work.
	Executions Executions
	// Record is what is written down of work, and what can be asked of that.
	Record *record.Book
	// Waves is plans at work.
	Waves *wave.Waves
	// Tasks are those that wait, Splits what makes some of a text, and Standing the plans that take them.
	Tasks    *wave.Tasks
	Splits   *wave.Splits
	Standing *wave.Standing
	// Runs bounds the runs that agents start, and Project is the folder that they work in.
	Runs    grant.Bounds
	Project string
	// Agents lists the agents that can be used here.
	Agents func(context.Context) []thread.AgentInfo
	// MCP controls the MCP servers.
	MCP MCP
	// ServeMCP serves a thread's agent over a connection until it ends, and closes it.
	ServeMCP func(id thread.ID, connection io.ReadWriteCloser) error
	Info     func(context.Context, api.InfoRequest) (api.ServerInfo, error)
	// Cost sums up what was spent.
	Cost func(context.Context, spending.Query) (spending.Report, error)
	// Transfer exports and imports threads.
	Transfer Transfer
	// Staging keeps staged data.
	Staging *staging.Store
	// Masks keeps what is masked of conversations.
	Masks *masks.Store
	// Contexts reports what fills threads' contexts.
	Contexts Contexts
	// Base reports what agents send before a word is said.
	Base func(context.Context, thread.BaseQuery) (thread.BaseReport, error)
	// Collect deletes threads past the retention limits.
	Collect func(context.Context, thread.CollectRequest) (thread.Collected, error)
	// Stop stops the agents, saves work in progress, and then makes the server exit.
	Stop func(context.Context, api.StopRequest) (api.StopReport, error)
	Log  *slog.Logger
}

// Server serves clients.
type Server struct {
	Config
	guard
	misses  *misses
	http    *http.Server
	clients atomic.Int64

	// mu guards lastSeen.
	mu       sync.Mutex
	lastSeen time.Time
}

// Serve serves clients of a listener until Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(&ownerOnly{Listener: front.New(l, front.Most), uid: os.Getuid(), log: s.Log}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the socket: %w", err)
	}
	return nil
}

// Close waits for running calls until the context ends, and then cancels them.
func (s *Server) Close(ctx context.Context) {
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
}

// Idle returns for how long there has been no client, or 0 if there is one.
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

// recovered turns a panic in a call into an error of that call.
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
				refuse(w, fmt.Errorf("the server hit a bug in %s; see its log for details", r.URL.Path))
			}
		}()
		next.ServeHTTP(w, r)
	})
}
