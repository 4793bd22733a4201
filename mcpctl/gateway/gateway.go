package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"orchestrator/mcpctl/rpc"
	"orchestrator/thread"
)

// Config configures a Gateway.
type Config struct {
	Servers Servers
	Stager  Stager
	// Version is the program's.
	Version string
	Log     *slog.Logger
}

// Gateway serves the agents of all threads.
type Gateway struct {
	servers Servers
	stager  Stager
	version string
	log     *slog.Logger

	ctx    context.Context // of calls that outlive a request; ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	// mu guards the fields below; it is held for moments only. A session's lock is taken after it, that of an outbox before.
	mu       sync.Mutex
	sessions map[*session]func() error // with what ends their connection
	parked   map[string]*parked
	ended    bool
}

// New returns a gateway without connections.
func New(cfg Config) *Gateway {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{
		servers: cfg.Servers, stager: cfg.Stager, version: cfg.Version, log: cfg.Log,
		sessions: map[*session]func() error{}, parked: map[string]*parked{},
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// info is what the gateway says of itself.
func (g *Gateway) info() map[string]any {
	return map[string]any{"name": Name, "title": "orchestrator", "version": g.version}
}

// errEnded is returned after Close.
var errEnded = errors.New("the server is stopping")

// Serve serves a thread's agent over a stream until it ends. dir is the thread's folder.
func (g *Gateway) Serve(id thread.ID, dir string, stream rpc.Stream) error {
	s := g.newSession(id, dir)
	h := &handler{session: s}
	peer := rpc.NewPeer(stream, h)
	h.box = s.newOutbox(peer)
	s.out = h.box
	if err := g.add(s, peer.Close); err != nil {
		_ = peer.Close()
		return err
	}
	defer g.remove(s)
	if err := peer.Run(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (g *Gateway) newSession(id thread.ID, dir string) *session {
	s := &session{
		gateway: g, id: id, dir: dir, listening: map[*listener]bool{}, given: map[string]string{}, told: map[string]string{},
	}
	s.ctx, s.stop = context.WithCancel(g.ctx)
	return s
}

// start does something that Close waits for; false after Close.
func (g *Gateway) start(do func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.work.Go(do)
	return true
}

func (g *Gateway) add(s *session, end func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		s.stop()
		return errEnded
	}
	g.sessions[s] = end
	return nil
}

func (g *Gateway) remove(s *session) {
	s.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, s)
}

// of returns the sessions of a thread.
func (g *Gateway) of(id thread.ID) []*session {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*session
	for s := range g.sessions {
		if s.id == id {
			all = append(all, s)
		}
	}
	return all
}

// Drop ends the connections of a thread, whose credential is not valid any more.
func (g *Gateway) Drop(id thread.ID) {
	g.mu.Lock()
	var ends []func() error
	for s, end := range g.sessions {
		if s.id == id {
			ends = append(ends, end)
		}
	}
	g.mu.Unlock()
	for _, end := range ends {
		_ = end()
	}
}

// Close ends all connections and waits for the calls that are parked.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.ended = true
	var ends []func() error
	for _, end := range g.sessions {
		ends = append(ends, end)
	}
	g.mu.Unlock()
	g.cancel()
	for _, end := range ends {
		_ = end()
	}
	g.work.Wait()
	return nil
}

// Connection is what is known of a thread's agent.
type Connection struct {
	Client   string    // name and version, as it says
	Modern   bool      // it speaks the stateless era
	Notified time.Time // when it was last told that its tools have changed
	Listed   time.Time // when it last asked for its tools
}

// Connections returns the connections of a thread's agent.
func (g *Gateway) Connections(id thread.ID) []Connection {
	var all []Connection
	for _, s := range g.of(id) {
		s.mu.Lock()
		all = append(all, Connection{Client: s.client, Modern: s.version == "", Notified: s.notified, Listed: s.listed})
		s.mu.Unlock()
	}
	return all
}

// handler connects a session to a stream of both directions.
type handler struct {
	*session
	box *outbox
}

// Request implements rpc.Handler.
func (h *handler) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	defer h.box.flush(ctx) // what belongs to the request comes before its response
	return h.request(ctx, m, h.box)
}

// Notification implements rpc.Handler.
func (h *handler) Notification(m rpc.Message) { h.notification(m) }

// Followed returns when a thread's agent was last told that its tools have changed, and when it last read them.
func (g *Gateway) Followed(id thread.ID) (told, read time.Time) {
	for _, c := range g.Connections(id) {
		if c.Notified.After(told) {
			told = c.Notified
		}
		if c.Listed.After(read) {
			read = c.Listed
		}
	}
	return told, read
}
