package mcpctl

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

// Threads are the threads of the project.
type Threads interface {
	// Find returns a thread by its id or by any name that people use.
	Find(ref string) (thread.Thread, error)
	// Working reports whether a turn of the thread is running.
	Working(thread.ID) bool
	// All returns the ids of all threads with an agent that runs.
	Running() []thread.ID
	// SetMCP stores decisions for a thread.
	SetMCP(ctx context.Context, ref string, next func(thread.MCPSwitches) thread.MCPSwitches) error
	// Suggest offers to switch a server on.
	Suggest(id thread.ID, server, why string)
	// Changed tells people's screens that the servers of a thread, or of all if id is empty, have changed.
	Changed(id thread.ID)
	// Notice tells people something about a thread.
	Notice(id thread.ID, level thread.Level, text string)
	// Prompts returns the newest prompts of all threads, for the rates of patterns.
	Prompts(ctx context.Context, limit int) ([]string, error)
}

// Agents is told about agents' connections.
type Agents interface {
	// Changed tells a thread's agent that its lists have changed.
	Changed(thread.ID)
	// Drop ends the connections of a thread's agent.
	Drop(thread.ID)
}

// Config configures a Controller.
type Config struct {
	Project string // its folder
	Places  discovery.Places
	Trust   *trust.Store
	Threads Threads
	// Memory remembers which servers the tasks of this project used; nil for none.
	Memory *match.Memory
	// Hub is the configuration of the servers behind; the Controller fills in Launch, Changed and Event.
	Hub hub.Config
	// Env is the person's environment: variables in definitions are looked up there, and servers get little of it.
	Env []string
	// Bridge is the program with arguments that connects an agent, and Registered a name that nobody can guess.
	Bridge     []string
	Registered string
	// Web is the address for agents that shall use HTTP, with TokenVar and Token for a thread's secret; empty for none.
	Web      string
	TokenVar string
	Token    func(thread.Thread) string
	// Tokens counts the tokens of a text.
	Tokens func(string) int
	// CacheCost returns what a thread's provider reads again if the tools change.
	CacheCost func(thread.ID) (tokens int64, usd float64)
	// SignIn begins to sign in to a remote server and returns the page for it; nil if that is not possible.
	SignIn func(ctx context.Context, l definition.Launch, done func(error)) (page string, err error)
	Log    *slog.Logger
}

// Controller controls the servers of one project. It implements thread.MCP and gateway.Servers.
type Controller struct {
	cfg    Config
	hub    *hub.Hub
	agents Agents

	ctx    context.Context // of work in the background
	cancel context.CancelFunc
	work   sync.WaitGroup
	saving sync.Mutex // held while switches are stored; taken before mu

	// mu guards the fields below; it is held for moments, never while a port or the hub is called.
	mu      sync.Mutex
	catalog *catalog
	reads   map[string]reading // of manifests, by launch hash
	threads map[thread.ID]*switchboard
	told    map[string]hub.Status       // last status that screens were told, by server and thread
	counted map[[sha256.Size]byte]int64 // tokens, by definition
	index   *match.Index                // over all servers, nil if it must be made anew
}

// New returns a controller. Use must be called before agents connect.
func New(cfg Config) *Controller {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Tokens == nil {
		cfg.Tokens = func(s string) int { return (len(s) + 3) / 4 }
	}
	c := &Controller{cfg: cfg, reads: map[string]reading{}, threads: map[thread.ID]*switchboard{},
		told: map[string]hub.Status{}, counted: map[[sha256.Size]byte]int64{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	h := cfg.Hub
	h.Dir, h.Launch, h.Changed, h.Event = cfg.Project, c.launch, c.manifestChanged, c.serverChanged
	c.hub = hub.New(h)
	return c
}

// Use sets who tells agents that their lists have changed.
func (c *Controller) Use(a Agents) { c.agents = a }

// Close ends all servers. No process is left.
func (c *Controller) Close(ctx context.Context) error {
	c.cancel()
	err := c.hub.Close(ctx)
	c.work.Wait()
	return err
}

// Run notices changed configuration files until the context ends.
func (c *Controller) Run(ctx context.Context) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.ctx.Done():
			return nil
		case <-tick.C:
			c.refresh()
		}
	}
}

// watchPause is how often the configuration files are looked at.
const watchPause = 3 * time.Second

// manifestChanged is told by the hub that a server's lists are new.
func (c *Controller) manifestChanged(hash string) {
	c.mu.Lock()
	delete(c.reads, hash)
	c.index = nil
	c.mu.Unlock()
	c.tellAll()
}

// tellAll tells all agents and screens that something of all threads may have changed.
func (c *Controller) tellAll() {
	for _, id := range c.cfg.Threads.Running() {
		c.agents.Changed(id)
	}
	c.cfg.Threads.Changed("")
}

// serverChanged is told by the hub of every transition; screens are told of those that they show.
func (c *Controller) serverChanged(s hub.State) {
	key := s.Hash + " " + string(s.Thread)
	c.mu.Lock()
	last := c.told[key]
	now := s.Status
	if now == hub.Busy {
		now = hub.Ready
	}
	c.told[key] = now
	c.mu.Unlock()
	if last != now {
		c.cfg.Threads.Changed(s.Thread)
	}
}

// nobody is the client of what is done for no call of an agent: it takes no questions.
type nobody struct {
	id  thread.ID
	dir string
}

func (n nobody) Thread() thread.ID        { return n.id }
func (n nobody) Dir() string              { return n.dir }
func (n nobody) Progress(json.RawMessage) {}

func (n nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNobody
}
