package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// settings returns the content of our settings file: the hooks, the gateway's address, the project's MCP servers, which
// are not to be asked about, what levers leave out, and the person's own --settings, since Claude Code accepts only one.
// env is the environment as Claude Code sees it, variable the one with the address of its model.
func (a *Agent) settings(spec thread.LaunchSpec, env launch.Env, variable string, own map[string]any, use []lever) map[string]any {
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
	allow, deny := readRules(spec.ReadDirs)
	if spec.Once.On && spec.MCP != nil {
		allow = append(allow, ownToolRules(spec)...)
	}
	if len(allow) > 0 {
		merged := map[string]any{}
		theirs, _ := own["permissions"].(map[string]any)
		maps.Copy(merged, theirs)
		for key, more := range map[string][]any{"allow": allow, "deny": deny} {
			list, _ := theirs[key].([]any)
			merged[key] = slices.Concat(list, more)
		}
		s["permissions"] = merged
	}
	leaveOut(s, use)
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

// ownSettings removes --settings from the person's arguments and reads it: a file or JSON.
func ownSettings(dir string, args []string) (rest []string, own map[string]any, err error) {
	rest, values := settingsArguments(args)
	for _, value := range values {
		own = map[string]any{}
		if path := settingsPath(dir, value); path == "" {
			err = json.Unmarshal([]byte(value), &own)
		} else {
			var found bool
			if found, err = world.ReadJSON(path, &own); err == nil && !found {
				err = fmt.Errorf("%s: %w", path, thread.ErrNotFound)
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read --settings: %w", err)
		}
	}
	return rest, own, nil
}

// settingsArguments divides arguments into the values of --settings, of which the last counts, and the rest.
func settingsArguments(args []string) (rest, values []string) {
	for i := 0; i < len(args); i++ {
		value, ok := strings.CutPrefix(args[i], "--settings=")
		if !ok && args[i] == "--settings" && i+1 < len(args) {
			i++
			value, ok = args[i], true
		}
		if ok {
			values = append(values, value)
		} else {
			rest = append(rest, args[i])
		}
	}
	return rest, values
}

// settingsPath returns the file that a value of --settings names, "" if it has the settings themselves.
func settingsPath(dir, value string) string {
	switch {
	case strings.HasPrefix(strings.TrimSpace(value), "{"):
		return ""
	case filepath.IsAbs(value):
		return value
	}
	return filepath.Join(dir, value)
}
