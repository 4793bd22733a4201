package claude

import (
	"context"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// memoryOfFolders has Claude Code read the CLAUDE.md of folders that --add-dir names.
const memoryOfFolders = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"

// Headless implements thread.Headless: one process that speaks stream-json both ways. Without a terminal Claude Code does
// not ask whether a folder is trusted, and runs the hooks and the MCP servers of its settings. So a run takes the
// person's settings only, and no MCP server but ours; of the repository it takes its instructions, which are text. What
// would be asked reaches the dialogue, which asks a person or refuses it; in a read-only run it does not get there.
//
// It gets no hooks of ours: the lines tell more and sooner, and the hook that may answer a question waits for a person.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	spec.Once.On = true
	spec.HookURL = ""
	own := spec.Flags.Args
	if end := slices.Index(own, "--"); end >= 0 {
		own = own[:end] // what follows would be a prompt
	}
	own = launch.DropOptions(own, "--input-format", "--output-format", "--permission-prompt-tool")
	how := manner{asks: spec.Once.Asks == thread.AsksPerson, silent: spec.Once.Caps.NoTools}
	switch {
	case spec.Once.ReadOnly:
		spec.Flags.PermissionMode, how.asks = "dontAsk", false
		own = launch.DropOptions(own, widening()...)
	case how.silent: // its tools stay, or the provider would read the whole conversation again
		spec.Flags.PermissionMode = "dontAsk"
		own = launch.DropOptions(own, "--permission-mode", "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions")
	}
	args := slices.Concat(own, []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--permission-prompt-tool", "stdio", personal(own), "--add-dir", spec.Dir,
	})
	if spec.Once.ReadOnly {
		args = append(args, "--tools", strings.Join(readingTools(), ","))
	}
	if spec.MCP == nil {
		args = append(args, "--strict-mcp-config")
	}
	spec.Flags.Args = args
	spec.Flags.Env = append(slices.Clone(spec.Flags.Env), memoryOfFolders+"=1")
	l, err := a.Launch(ctx, spec)
	if err != nil {
		return thread.HeadlessLaunch{}, err
	}
	// What fails on the way to the model is tried again in one place, which knows of all runs. What the person sets counts,
	// also in their settings: those are read later.
	env := launch.Env(l.Env)
	for _, kv := range [][2]string{{"CLAUDE_CODE_MAX_RETRIES", "0"}, {"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK", "1"}} {
		env = env.Default(kv[0], kv[1])
	}
	l.Env = env
	return thread.HeadlessLaunch{Launch: l, Dialogue: newDialogue(how)}, nil
}

// readingTools are all tools of Claude Code's own that a read-only run has.
func readingTools() []string { return []string{"Read", "Glob", "Grep"} }

// widening are the options that would give a read-only run more than it may.
func widening() []string {
	return []string{
		"--tools", "--allowedTools", "--allowed-tools", "--mcp-config", "--permission-mode", "--agents", "--agent", "--plugin-dir",
		"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions",
	}
}
