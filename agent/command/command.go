// Package command is the adapter of any other program: a shell, a REPL, an agent that has no adapter.
//
// The program runs in its terminal as the person gave it. It has no session to resume and no
// transcript to read. Its model requests go through the gateway only where the person's environment
// names the address of a model API: then that variable points at the gateway instead.
package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"orchestrator/agent"
	"orchestrator/agent/hook"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "command"

// Agent is the adapter.
type Agent struct{ hooks []hook.Table }

// New makes the adapter. A program that reports by the hooks of a CLI, as one that starts it does, is understood by
// the first of the tables that knows what it says.
func New(_ launch.Config, hooks ...hook.Table) *Agent { return &Agent{hooks: hooks} }

// Name returns "command".
func (*Agent) Name() string { return Name }

// Detect says that programs can be started.
func (*Agent) Detect(context.Context) thread.AgentInfo {
	return thread.AgentInfo{Name: Name, Found: true, Hint: "runs any program: give it with its arguments"}
}

// bases are the variables that name the address of a model API, by the upstream's name.
var bases = []struct{ name, variable string }{
	{"anthropic", "ANTHROPIC_BASE_URL"},
	{"openai", "OPENAI_BASE_URL"},
	{"openai-base", "OPENAI_API_BASE"},
	{"gemini", "GOOGLE_GEMINI_BASE_URL"},
}

// versions are the endings of base URLs that requests keep in their path.
var versions = []string{"/v1beta", "/v1"}

// Upstreams returns the addresses that the environment names; nil where it names none.
func (*Agent) Upstreams(env []string) map[string]string {
	var all map[string]string
	for _, b := range bases {
		address := launch.Env(env).Value(b.variable)
		if address == "" {
			continue
		}
		root, _ := launch.SplitVersion(address, versions...)
		if all == nil {
			all = map[string]string{"": root}
		}
		all[b.name] = root
	}
	return all
}

// CheckLaunch refuses to start without a program.
func (*Agent) CheckLaunch(f thread.Flags) error {
	if len(f.Program) == 0 || f.Program[0] == "" {
		return thread.Hint(fmt.Errorf("no program given: %w", thread.ErrInvalid), "give the program with its arguments after --")
	}
	return nil
}

// Launch lays out the start of spec.Flags.Program with the arguments of spec.Flags.Args.
func (*Agent) Launch(_ context.Context, spec thread.LaunchSpec) (thread.Launch, error) {
	if spec.Resume {
		return thread.Launch{}, fmt.Errorf("launch command: it cannot resume a session: %w", thread.ErrUnsupported)
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
	l.Env = env
	return l, nil
}

// find returns a program's absolute path: as it is, from the working folder, or on PATH. Relative
// entries of PATH are left out: a repository must not bring programs.
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
	return "", thread.Hint(fmt.Errorf("program %q: %w", name, thread.ErrNotFound), "looked at "+strings.Join(candidates, ", "))
}

// rules know the questions of any program: what is typed there answers them.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{State: thread.StateQuestion, Lines: 1, Pattern: regexp.MustCompile(`(?i)[\[(](y/n|y/n/\S{1,8}|yes/no)[\])]\s*[:?]?\s*$`), Detail: "asks yes or no"},
		{State: thread.StateQuestion, Lines: 1, Pattern: regexp.MustCompile(`(?i)\b(password|passphrase|passcode)\b.{0,80}:\s*$`), Detail: "asks for a password"},
		{State: thread.StateQuestion, Lines: 3, Pattern: regexp.MustCompile(`(?i)\b(enter|return) to (confirm|select|continue|save|submit)\b.*\besc\b|\besc to (cancel|close|go back)\b|\(use (enter to select|arrow[ -]keys)`), Detail: "a menu is open"},
	}
})

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	for _, t := range a.hooks {
		if r, ok := t.Read(event, payload); ok {
			return r, true
		}
	}
	return thread.HookReport{}, false
}

// Rules returns the rules of any program's screen.
func (*Agent) Rules() []agent.Rule { return rules() }
