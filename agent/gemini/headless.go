package gemini

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// nobody is the name of a server that there is not.
const nobody = "orchestrator-none"

// Headless implements thread.Headless. Without a terminal Gemini CLI asks nothing: it does not offer the tools that would
// ask, and does not start in a folder that the person has not trusted.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	rules := less{never: planning()}
	if spec.Once.ReadOnly {
		rules.never = append(rules.never, changing()...)
		spec.Flags.PermissionMode = "plan"
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
	asks := slices.Contains([]string{"", "default"}, spec.Flags.PermissionMode)
	return thread.HeadlessLaunch{Launch: l, Dialogue: newDialogue(l.Session, asks)}, nil
}
