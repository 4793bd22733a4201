package gemini

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// nobody is the name of a server that there is not.
const nobody = "orchestrator-none"

// Headless implements thread.Headless. Without a terminal Gemini CLI asks nothing: it does not offer the tools that would
// ask, and does not start in a folder that the person has not trusted.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	if err := unsandboxed(spec); err != nil {
		return thread.HeadlessLaunch{}, fmt.Errorf("launch gemini: %w", err)
	}
	rules := less{never: planning(), idle: spec.Once.Caps.NoTools, settings: []setting{untried()}}
	spec.Flags.Args = launch.DropOptions(spec.Flags.Args, "--output-format", "-o", "--prompt-interactive", "-i", "--acp", "--experimental-acp")
	if spec.Once.ReadOnly {
		rules.never = append(rules.never, changing()...)
		spec.Flags.PermissionMode = "plan"
		spec.Flags.Args = launch.DropOptions(spec.Flags.Args, "--yolo", "-y", "--approval-mode", "--policy", "--admin-policy", "--allowed-tools",
			"--allowed-mcp-server-names")
		if rules.own = true; spec.MCP != nil {
			rules.server = spec.MCP.Registered
		} else {
			spec.Flags.Args = append([]string{"--allowed-mcp-server-names", nobody}, spec.Flags.Args...)
		}
	}
	l, err := a.launch(ctx, spec, rules)
	if err != nil {
		return thread.HeadlessLaunch{}, err
	}
	if trustOf(launch.Env(l.Env), spec.Dir) != trustFolder {
		return thread.HeadlessLaunch{}, thread.Hint(
			thread.Kindf(thread.ErrRefused, "launch gemini: without a terminal it works in trusted folders only, and this is none"),
			fmt.Sprintf("start it with a terminal in %s once, and trust the folder", spec.Dir))
	}
	l.Args = append(l.Args, "--output-format", "stream-json")
	l.Ready, l.Loaded = 0, nil
	return thread.HeadlessLaunch{Launch: l, Dialogue: newDialogue(l.Session, spec.Flags.PermissionMode, spec.Once.ReadOnly)}, nil
}

// untried is the setting with which it sends no request twice: who starts a run tries it again.
func untried() setting { return setting{"general", "maxAttempts", 1} }

// unsandboxed refuses a run in Gemini CLI's sandbox: it starts itself there with the prompt as an argument, which others on
// the machine can read.
func unsandboxed(spec thread.LaunchSpec) error {
	env := launch.Environment(spec)
	own := func(arg string) bool {
		name, value, _ := strings.Cut(arg, "=")
		return (name == "--sandbox" || name == "-s") && value != "false"
	}
	on := slices.ContainsFunc(spec.Flags.Args, own)
	if by := env.Value("GEMINI_SANDBOX"); by != "" {
		on = on || by != "false" && by != "0"
	} else if s, err := readSettings(env, spec.Dir); err == nil {
		raw := string(s.Tools.Sandbox)
		on = on || raw != "" && raw != "false" && raw != "null"
	}
	if !on {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrUnsupported, "without a terminal its sandbox would get the prompt as an argument"),
		"start it with a terminal, or switch the sandbox off: GEMINI_SANDBOX=false in the thread's environment")
}
