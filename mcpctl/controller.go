package mcpctl

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

var (
	errNobody  = errors.New("nobody can answer a question of the server now")
	errNoLogin = errors.New("it is not a remote server that people sign in to")
)

// lookup returns the value of a variable in a definition.
func (c *Controller) lookup(name string) (string, bool) {
	if name == "workspaceFolder" {
		return c.cfg.Project, true
	}
	for i := len(c.cfg.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(c.cfg.Env[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

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
	// SignIn signs in to a remote server, as the person sees it in a browser; nil if that is not possible.
	SignIn func(context.Context, definition.Launch) error
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

func (n nobody) Thread() thread.ID { return n.id }

func (n nobody) Dir() string { return n.dir }

func (n nobody) Progress(json.RawMessage) {}

func (n nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNobody
}

// tokens returns how many tokens a definition has.
func (c *Controller) tokens(raw []byte) int64 {
	sum := sha256.Sum256(raw)
	c.mu.Lock()
	n, ok := c.counted[sum]
	c.mu.Unlock()
	if ok {
		return n
	}
	n = int64(c.cfg.Tokens(string(raw)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.counted) >= maxCounted {
		clear(c.counted)
	}
	c.counted[sum] = n
	return n
}

// maxCounted is how many definitions' tokens are remembered.
const maxCounted = 20_000

// board returns a thread's switchboard, loaded the first time; nil if there is no such thread.
func (c *Controller) board(id thread.ID) *switchboard {
	c.mu.Lock()
	b := c.threads[id]
	c.mu.Unlock()
	if b != nil {
		return b
	}
	t, err := c.cfg.Threads.Find(string(id))
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.threads[id]; b != nil {
		return b
	}
	b = &switchboard{t: t, decided: t.MCP.Clone(), ending: map[string]bool{}, used: map[string]bool{}}
	c.threads[id] = b
	return b
}

// tell tells a thread's agent and the screens that its servers have changed.
func (c *Controller) tell(id thread.ID) {
	c.agents.Changed(id)
	c.cfg.Threads.Changed(id)
}

// save stores what is decided for a thread, soon.
func (c *Controller) save(id thread.ID) {
	c.background(func() {
		c.saving.Lock()
		defer c.saving.Unlock()
		c.mu.Lock()
		b := c.threads[id]
		if b == nil {
			c.mu.Unlock()
			return
		}
		now := b.decided.Clone()
		c.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.ctx, 30*time.Second)
		defer cancel()
		err := c.cfg.Threads.SetMCP(ctx, string(id), func(thread.MCPSwitches) thread.MCPSwitches { return now })
		if err != nil && ctx.Err() == nil {
			c.cfg.Log.Warn("store the switches of MCP servers", "thread", string(id), "err", err)
		}
	})
}

// background does something that nobody waits for.
func (c *Controller) background(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.work.Go(do)
	}
}
