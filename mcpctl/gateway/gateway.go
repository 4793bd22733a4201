package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"orchestrator/thread"
)

// Config configures a Gateway.
type Config struct {
	Servers Servers
	Stager  Stager
	// Work are the tasks of plans that agents take part in; nil if there are none.
	Work Work
	// Version is the program's.
	Version string
	Log     *slog.Logger
}

// Gateway serves the agents of all threads.
type Gateway struct {
	servers Servers
	stager  Stager
	tasks   Work
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
		servers: cfg.Servers, stager: cfg.Stager, tasks: cfg.Work, version: cfg.Version, log: cfg.Log,
		sessions: map[*session]func() error{}, parked: map[string]*parked{},
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// info is the name and version of the gateway.
func (g *Gateway) info() map[string]any {
	return map[string]any{"name": Name, "title": "orchestrator", "version": g.version}
}

// errEnded is returned after Close.
var errEnded = errors.New("the server is stopping")

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

// Connection is what is known of a thread's agent.
type Connection struct {
	Notified time.Time // when it was last told that its tools have changed
	Listed   time.Time // when it last asked for its tools
}

// outlet takes what is sent to an agent besides the response to its request.
type outlet interface {
	Notify(ctx context.Context, method string, params json.RawMessage) error
	// Call asks the agent. It is used in the era with a handshake only.
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// session is one connection of an agent.
type session struct {
	gateway *Gateway
	id      thread.ID
	dir     string
	own     []entry         // its tools that are our own; as long as the thread lives they are the same
	ctx     context.Context // ends with the session
	stop    context.CancelFunc
	// out takes notifications that belong to no request; nil if there is no way for them.
	out outlet

	// mu guards the fields below.
	mu           sync.Mutex
	version      string // of the handshake; "" before it
	capabilities object // that the client declared in the handshake
	ready        bool   // notifications may be sent
	listening    map[*listener]bool
	given, told  map[string]string  // digests of the lists that the agent has, and of those it knows to be newer, by method
	shown        map[shownTool]bool // tools that the agent was ever given
	notified     time.Time          // of a change of the tools
	listed       time.Time          // when it last asked for the tools
}

// shownTool is a tool of a server, or any of them if the tool is empty.
type shownTool struct{ server, tool string }

// call is one request of an agent.
type call struct {
	session      *session
	out          outlet
	method       string
	params       object
	id           json.RawMessage
	modern       bool
	capabilities object
}

// listener is a stream of the stateless era on which an agent waits for changes.
type listener struct {
	id     json.RawMessage
	out    outlet
	wanted map[string]bool // methods of notifications
}

// parked is a call of the stateless era that goes on while its agent is asked: the agent gets the question as a result
// and calls again with the answer.
type parked struct {
	thread    thread.ID
	method    string
	server    string
	cancel    context.CancelFunc
	questions chan question
	done      chan outcome
	out       *current
	answer    chan<- outcome // to the question that is open
}

type question struct {
	method string
	params json.RawMessage
	answer chan<- outcome
}

type outcome struct {
	result json.RawMessage
	err    error
}

// current is the outlet of whoever waits for a parked call.
type current struct {
	mu  sync.Mutex
	out outlet
}

func (c *current) set(out outlet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = out
}

func (c *current) get() outlet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out
}
