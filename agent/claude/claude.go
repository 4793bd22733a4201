// Package claude is the adapter for Claude Code.
//
// It starts Claude Code as the person has configured it: with their login, settings and permission rules. A launch adds
// one settings file of ours, passed with --settings; the person's own files are never written, except that Rebuild
// writes session files in Claude Code's own folder. Session ids are chosen in advance.
//
// Behind the gateway, Claude Code is told that it talks to Anthropic if it does
// (_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL), because it disables tool search and the 1M window for other base URLs.
// Its Remote Control does not work with any custom base URL.
package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// Name is the adapter's name.
const Name = "claude"

// firstParty is Claude Code's default base URL.
const firstParty = "https://api.anthropic.com"

// Agent is the adapter. It is safe for concurrent use.
type Agent struct {
	env     launch.Env
	hook    []string
	program *launch.Program
	reader  *transcript.Reader
}

// New returns the adapter.
func New(c launch.Config) *Agent {
	return &Agent{
		env: c.Env, hook: c.Hook, reader: transcript.NewReader(),
		program: &launch.Program{
			Agent: Name, Command: "claude", Package: "@anthropic-ai/claude-code", Minimum: "2.1.0",
			Folders: []string{".claude/local", ".claude/local/node_modules/.bin"},
			Install: "npm install -g @anthropic-ai/claude-code",
			Native:  native,
		},
	}
}

// native returns the program inside an npm package whose install script did not run: in that case the command is a stub
// that only prints an error.
func native(path string) (string, []string) {
	const stub = 64 << 10
	if !launch.Smaller(path, stub) {
		return path, nil
	}
	if inner := launch.InModules(path, "@anthropic-ai/claude-code-"+launch.NodeArch()+"/claude"); inner != "" {
		return inner, nil
	}
	return path, nil // a script made by the installer
}

// Name returns "claude".
func (a *Agent) Name() string { return Name }

// Prompted implements thread.Prompted.
func (*Agent) Prompted() {}

// Detect reports whether Claude Code can be started here.
func (a *Agent) Detect(ctx context.Context) thread.AgentInfo { return a.program.Info(ctx, a.env) }

// settings returns the content of our settings file: the hooks, the gateway's address, the project's MCP servers, which
// are not to be asked about, and the person's own --settings, since Claude Code accepts only one. env is the environment as Claude
// Code sees it, variable the one with the address of its model.
func (a *Agent) settings(spec thread.LaunchSpec, env launch.Env, variable string, own map[string]any) map[string]any {
	s := map[string]any{}
	for k, v := range own {
		s[k] = v
	}
	if spec.HookURL != "" && len(a.hook) > 0 {
		merged := a.hooks()
		theirs, _ := own["hooks"].(map[string]any)
		for event, list := range theirs {
			theirList, _ := list.([]any)
			ourList, _ := merged[event].([]any)
			merged[event] = append(append([]any{}, theirList...), ourList...)
		}
		s["hooks"] = merged
	}
	if allow, deny := readRules(spec.ReadDirs); len(allow) > 0 {
		merged := map[string]any{}
		theirs, _ := own["permissions"].(map[string]any)
		maps.Copy(merged, theirs)
		for key, more := range map[string][]any{"allow": allow, "deny": deny} {
			list, _ := theirs[key].([]any)
			merged[key] = slices.Concat(list, more)
		}
		s["permissions"] = merged
	}
	if names := projectServers(spec.Dir); spec.MCP != nil && len(names) > 0 {
		theirs, _ := own["disabledMcpjsonServers"].([]any)
		s["disabledMcpjsonServers"] = slices.Concat(theirs, names)
	}
	if spec.BaseURL != "" {
		// Settings outrank the environment, and other settings would outrank the gateway if ours did not set it.
		merged := map[string]any{}
		theirs, _ := own["env"].(map[string]any)
		maps.Copy(merged, theirs)
		for name, list := range world.DirectValues(env) {
			merged[name] = list
		}
		merged[variable] = spec.BaseURL
		s["env"] = merged
	}
	return s
}

// readRules returns permission rules that let folders be read without asking and never written. Folders whose names
// would be read as patterns are left out; Claude Code asks about them.
func readRules(dirs []string) (allow, deny []any) {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "*?[]{}()!\\") {
			continue
		}
		all := "/" + filepath.ToSlash(dir) + "/**" // two slashes begin an absolute path
		allow, deny = append(allow, "Read("+all+")"), append(deny, "Edit("+all+")")
	}
	return allow, deny
}

// ConfigFiles returns the files of a project that configure Claude Code.
func (a *Agent) ConfigFiles() []string {
	return []string{
		"CLAUDE.md", "CLAUDE.local.md", ".mcp.json", ".claude/CLAUDE.md", ".claude/settings.json",
		".claude/settings.local.json", ".claude/agents/", ".claude/commands/", ".claude/hooks/",
		".claude/output-styles/", ".claude/rules/", ".claude/skills/",
	}
}

// LocalFiles returns those that the person may keep out of git. Claude Code finds the main worktree's
// settings.local.json by itself (2.1.330).
func (a *Agent) LocalFiles() []string { return []string{"CLAUDE.md", "CLAUDE.local.md"} }

// ownSettings removes --settings from the person's arguments and reads it: a file or JSON.
func ownSettings(dir string, args []string) (rest []string, own map[string]any, err error) {
	for i := 0; i < len(args); i++ {
		value, ok := strings.CutPrefix(args[i], "--settings=")
		if !ok && args[i] == "--settings" && i+1 < len(args) {
			i++
			value, ok = args[i], true
		}
		if !ok {
			rest = append(rest, args[i])
			continue
		}
		own = map[string]any{}
		if strings.HasPrefix(strings.TrimSpace(value), "{") {
			err = json.Unmarshal([]byte(value), &own)
		} else {
			if !filepath.IsAbs(value) {
				value = filepath.Join(dir, value)
			}
			var found bool
			if found, err = world.ReadJSON(value, &own); err == nil && !found {
				err = fmt.Errorf("%s: %w", value, thread.ErrNotFound)
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read --settings: %w", err)
		}
	}
	return rest, own, nil
}
