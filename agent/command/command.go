// Package command is the adapter for any other program: a shell, a REPL, an agent without an adapter.
//
// The program runs in its terminal as the person specified it. It has no session to resume and no transcript to read.
// Its model requests go through the gateway only if the person's environment contains the address of a model API: that
// variable is then set to the gateway's address. Its MCP server is offered to it in a file that a variable names.
package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/agent/hook"
	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/outward"
)

// Name is the adapter's name.
const Name = "command"

// ServersVar is the variable with the path of a file in the format of .mcp.json, which has the MCP server of the thread.
const ServersVar = "ORCHESTRATOR_MCP_CONFIG"

// Agent is the adapter.
type Agent struct{ hooks []hook.Table }

// New returns the adapter. The tables interpret the hook reports of programs that start one of the supported CLIs: the
// first table that knows an event is used.
func New(_ launch.Config, hooks ...hook.Table) *Agent { return &Agent{hooks: hooks} }

// Name returns "command".
func (*Agent) Name() string { return Name }

// Detect reports that any program can be started.
func (*Agent) Detect(context.Context) thread.AgentInfo {
	return thread.AgentInfo{Name: Name, Found: true, Hint: "runs any program; pass it with its arguments"}
}

// bases are the variables with the address of a model API, by the upstream's name.
var bases = []struct{ name, variable string }{
	{"anthropic", "ANTHROPIC_BASE_URL"},
	{"openai", "OPENAI_BASE_URL"},
	{"openai-base", "OPENAI_API_BASE"},
	{"gemini", "GOOGLE_GEMINI_BASE_URL"},
}

// versions are the suffixes of base URLs that requests repeat in their path.
var versions = []string{"/v1beta", "/v1"}

// World implements thread.Agent: the addresses are those in the environment.
func (*Agent) World(spec thread.WorldSpec) (thread.World, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	w := thread.World{Network: outward.Of(env)}
	for _, b := range bases {
		address := env.Value(b.variable)
		if address == "" {
			continue
		}
		root, _ := launch.SplitVersion(address, versions...)
		if w.Upstreams == nil {
			w.Upstreams = map[string]string{"": root}
		}
		w.Upstreams[b.name] = root
	}
	if w.Upstreams == nil {
		w.Aside = "no variable says where its model is"
	}
	return w, nil
}

// CheckLaunch requires a program.
func (*Agent) CheckLaunch(f thread.Flags) error {
	if len(f.Program) == 0 || f.Program[0] == "" {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "no program given"),
			"pass the program with its arguments after --")
	}
	return nil
}

// Launch returns how to start spec.Flags.Program with spec.Flags.Args.
func (*Agent) Launch(_ context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	if spec.Resume {
		return thread.Launch{}, fmt.Errorf("launch command: cannot resume a session: %w", thread.ErrUnsupported)
	}
	argv := spec.Flags.Program
	if err := (*Agent)(nil).CheckLaunch(spec.Flags); err != nil {
		return thread.Launch{}, fmt.Errorf("launch command: %w", err)
	}
	env := launch.Environment(spec)
	path, err := find(env, spec.Dir, argv[0])
	if err != nil {
		return thread.Launch{}, fmt.Errorf("launch command: %w", err)
	}
	l := thread.Launch{Path: path, Dir: spec.Dir, Args: append(append([]string{}, argv[1:]...), spec.Flags.Args...)}
	if spec.BaseURL != "" {
		for _, b := range bases {
			if address := env.Value(b.variable); address != "" {
				_, version := launch.SplitVersion(address, versions...)
				env = env.With(b.variable, spec.BaseURL+"/@"+b.name+version)
			}
		}
	}
	if spec.HookURL != "" {
		env = env.With(launch.HookURLVar, spec.HookURL)
	}
	env = env.Without(ServersVar) // of an outer thread
	if spec.MCP != nil {
		server := map[string]any{"type": "stdio", "command": spec.MCP.Command[0], "args": spec.MCP.Command[1:]}
		file, err := launch.WriteFile(spec.StateDir, "command-mcp.json",
			map[string]any{"mcpServers": map[string]any{spec.MCP.Name: server}})
		if err != nil {
			return thread.Launch{}, fmt.Errorf("launch command: %w", err)
		}
		env = env.With(ServersVar, file)
		l.MCP = thread.MCPReach{Offered: true, Live: true}
	}
	l.Env = env
	return l, nil
}

// find returns a program's absolute path: of a path, relative to the working folder, or of a name, on PATH. Relative
// entries of PATH are ignored: a repository must not supply programs.
func find(env launch.Env, dir, name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("program %q: %w", name, thread.ErrInvalid)
	}
	var candidates []string
	switch {
	case filepath.IsAbs(name):
		candidates = []string{name}
	case strings.ContainsRune(name, filepath.Separator):
		candidates = []string{filepath.Join(dir, name)}
	default:
		for _, folder := range filepath.SplitList(env.Value("PATH")) {
			if filepath.IsAbs(folder) {
				candidates = append(candidates, filepath.Join(folder, name))
			}
		}
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", thread.Hint(fmt.Errorf("program %q: %w", name, thread.ErrNotFound),
		"searched "+strings.Join(candidates, ", "))
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	for _, t := range a.hooks {
		if r, ok := t.Read(event, payload); ok {
			return r, true
		}
	}
	return thread.HookReport{}, false
}
