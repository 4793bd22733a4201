package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"orchestrator/agent"
	"orchestrator/agent/demo/program"
	"orchestrator/agent/demo/record"
	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "demo"

// Verb is the command of this program that runs the demo agent.
const Verb = "demo-agent"

// Config configures the adapter.
type Config struct {
	// Program is the command that runs this program; Verb and its arguments are added.
	Program []string
	// Home is where the sessions are kept, absolute, 0700.
	Home string
	// Model is the base URL of the model server; it contains a secret.
	Model string
}

// Agent is the adapter. It is safe for concurrent use.
type Agent struct {
	config Config
	reader *transcript.Reader
}

// New returns the adapter.
func New(c Config) *Agent { return &Agent{config: c, reader: transcript.NewReader()} }

var (
	_ thread.Agent        = (*Agent)(nil)
	_ thread.Transcriber  = (*Agent)(nil)
	_ thread.Rebuilder    = (*Agent)(nil)
	_ thread.Verifier     = (*Agent)(nil)
	_ thread.UsageReader  = (*Agent)(nil)
	_ thread.Slimmer      = (*Agent)(nil)
	_ thread.AccountNamer = (*Agent)(nil)
	_ agent.RuleSource    = (*Agent)(nil)
)

// Main runs the demo agent itself and returns its exit code; args follow Verb.
func Main(args []string, stdin, stdout *os.File, env []string) int {
	return program.Main(args, stdin, stdout, env)
}

// Name returns "demo".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports that the demo agent is always available.
func (a *Agent) Detect(context.Context) thread.AgentInfo {
	info := thread.AgentInfo{Name: Name, Found: true, Path: a.config.Program[0], Version: "built in"}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		info.Version = b.Main.Version
	}
	return info
}

// World implements thread.Agent: its model is built in.
func (a *Agent) World(thread.WorldSpec) (thread.World, error) {
	return thread.World{Upstreams: map[string]string{"": a.config.Model}}, nil
}

// Account implements thread.AccountNamer: nobody pays for its model.
func (a *Agent) Account(thread.WorldSpec) (string, error) { return Name, nil }

// Launch returns how to start the agent.
func (a *Agent) Launch(_ context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	session := spec.Session
	if session == "" {
		if spec.Resume {
			return thread.Launch{}, thread.Kindf(thread.ErrInvalid, "launch demo agent: no session to resume")
		}
		session = launch.UUID()
	}
	if !record.ValidID(session) {
		return thread.Launch{}, fmt.Errorf("launch demo agent: session %q: %w", session, thread.ErrInvalid)
	}
	l := thread.Launch{Path: a.config.Program[0], Dir: spec.Dir, Session: session}
	l.Args = append(append(l.Args, a.config.Program[1:]...), Verb)
	if spec.Resume {
		l.Args = append(l.Args, "--resume", session)
	} else {
		l.Args = append(l.Args, "--session-id", session)
	}
	if spec.Model != "" {
		l.Args = append(l.Args, "--model", spec.Model)
	}
	if spec.Flags.PermissionMode != "" {
		l.Args = append(l.Args, "--permission-mode", spec.Flags.PermissionMode)
	}
	use, unused := slim.Use("the demo agent", levers(), spec.Base, func(thread.Lever) string { return "" })
	if slices.Sort(use); len(use) > 0 {
		l.Args = append(l.Args, "--leave-out", strings.Join(use, ","))
	}
	l.Unused = unused
	if spec.MCP != nil {
		server := map[string]any{"name": spec.MCP.Name, "command": spec.MCP.Command}
		if spec.Once.On {
			server["free"] = thread.MCPOwnTools(spec.Once)
		}
		raw, err := json.Marshal(server)
		if err != nil {
			return thread.Launch{}, fmt.Errorf("launch demo agent: %w", err)
		}
		l.Args = append(l.Args, "--mcp", string(raw))
		l.MCP = thread.MCPReach{Given: true, Live: true}
	}
	l.Args = append(l.Args, spec.Flags.Args...)
	base := spec.BaseURL
	if base == "" {
		base = a.config.Model
	}
	l.Env = launch.Environment(spec).
		With("ANTHROPIC_BASE_URL", base).With("ANTHROPIC_API_KEY", "demo").With(program.HomeVar, a.config.Home)
	return l, nil
}

// TakesServers implements thread.ServerTaker.
func (a *Agent) TakesServers() bool { return true }
