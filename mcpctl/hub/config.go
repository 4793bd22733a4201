package hub

import (
	"context"
	"encoding/json"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/process"
	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// Server is a server to start. The hub starts what it is given: accepting it is up to the caller and to Config.Launch.
type Server struct {
	ID         string
	Hash       string // of its launch
	Definition definition.Definition
	// Dir is where it is started if threads share it; empty for the project's folder.
	Dir string
	// Trusted reports whether the person trusts what the server says of its tools, such as that a call may be repeated.
	Trusted bool
}

// Client is who calls, for one call.
type Client interface {
	Thread() thread.ID
	// Dir is the absolute folder of the thread: where a server of its own is started.
	Dir() string
	// Progress takes the parameters of a progress notification of this call, with the client's own token. It must return
	// soon.
	Progress(params json.RawMessage)
	// Ask sends a request of the server to the client.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Config is what a hub needs. Fields with a default may be left out.
type Config struct {
	Processes *process.Host
	Manifests *manifest.Cache
	// Dir is the folder of the project: where servers are started that its threads share.
	Dir string
	// Launch is asked right before every start, for a thread, or for all that share the server if id is empty. It expands
	// the definition and returns the complete environment, or an error that may wrap ErrUnapproved, ErrNeedsInput or
	// ErrQuarantined: then nothing is started.
	Launch func(ctx context.Context, s Server, id thread.ID, dir string) (l definition.Launch, env []string, err error)
	// Dial connects to a remote server, as its environment says. Its error may wrap ErrNeedsAuth, as may those of the
	// stream.
	Dial func(ctx context.Context, l definition.Launch, env []string) (rpc.Stream, error)
	// Changed is told, in a goroutine of the hub, that the manifest of a hash is new or differs.
	Changed func(hash string)
	// Event is told of every transition, in order, in a goroutine of the hub.
	Event func(State)

	Name, Version string         // what servers are told of us
	Clock         Clock          // time itself by default
	Jitter        func() float64 // of delays, in [-1, 1]; random by default
	Times         Times
}

// Times are limits. Zero values mean the defaults.
type Times struct {
	Start       time.Duration // 30 s
	FirstStart  time.Duration // 120 s: of npx and uvx, which may have to download
	Call        time.Duration // 120 s: so long a server may be silent during a call
	Probe       time.Duration // 30 s without a call
	ProbeAnswer time.Duration // 5 s
	IdleThread  time.Duration // 10 min
	IdleProject time.Duration // 30 min
	Wait        time.Duration // 10 s: of callers for a restart
}

// withDefaults returns the configuration with what was left out.
func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&c.Times.Start, 30*time.Second)
	set(&c.Times.FirstStart, 120*time.Second)
	set(&c.Times.Call, 120*time.Second)
	set(&c.Times.Probe, 30*time.Second)
	set(&c.Times.ProbeAnswer, 5*time.Second)
	set(&c.Times.IdleThread, 10*time.Minute)
	set(&c.Times.IdleProject, 30*time.Minute)
	set(&c.Times.Wait, 10*time.Second)
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Jitter == nil {
		c.Jitter = jitter
	}
	if c.Changed == nil {
		c.Changed = func(string) {}
	}
	if c.Event == nil {
		c.Event = func(State) {}
	}
	if c.Name == "" {
		c.Name, c.Version = "orchestrator", "0"
	}
	return c
}
