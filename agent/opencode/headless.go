package opencode

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// Headless implements thread.Headless. What opencode would ask it refuses by itself then, and ends the turn.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	own := "" // an agent of ours, of a name that no file of the repository can have rules for
	var rules object
	spec.Flags.Args = launch.DropOptions(spec.Flags.Args, elsewhere()...)
	switch {
	case spec.Once.Caps.NoTools:
		own, rules = "reporting-"+launch.UUID()[:8], denyingCalls()
	case spec.Once.ReadOnly:
		own, rules = "read-only-"+launch.UUID()[:8], onlyReading(spec)
	}
	if own != "" {
		spec.Flags.PermissionMode = own
		spec.Flags.Args = launch.DropOptions(spec.Flags.Args, "--agent", "--auto", "--yolo")
	}
	if spec.Once.ReadOnly {
		// What is in the repository's .opencode folder is loaded as code, which no rule binds.
		spec.Flags.Env = append(slices.Clone(spec.Flags.Env), "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	}
	l, err := a.launch(ctx, spec, "run", "--format", "json")
	if err != nil {
		return thread.HeadlessLaunch{}, err
	}
	if own != "" {
		if l.Env, err = withAgent(l.Env, spec, own, rules); err != nil {
			return thread.HeadlessLaunch{}, fmt.Errorf("launch opencode: %w", err)
		}
	}
	l.Ready = 0
	return thread.HeadlessLaunch{
		Launch: l, Dialogue: &dialogue{asked: l.Session, model: spec.Model, reads: spec.Once.ReadOnly},
		Insists: true, // five times, each after the time that the provider names, however long
	}, nil
}

// elsewhere are options of the person's own arguments with which it would not work on this session, in this folder, or not
// print what is read here.
func elsewhere() []string {
	return []string{"--attach", "--password", "-p", "--username", "-u", "--continue", "-c", "--fork", "--share", "--command", "--format",
		"--interactive", "-i", "--dir"}
}

// denyingCalls has every call fail, though the tools are offered: a rule whose pattern is "*" would take them out of the
// request.
func denyingCalls() object {
	var each, rules object
	each.set("**", "deny")
	rules.set("*", each)
	return rules
}

// onlyReading allows the tools for reading, and of our server those that are our own. opencode's agent "plan" does not do:
// it runs commands.
func onlyReading(spec thread.LaunchSpec) object {
	var rules object
	rules.set("*", "deny") // the last rule that matches counts
	for _, tool := range []string{"read", "grep", "glob", "list"} {
		rules.set(tool, "allow")
	}
	if len(spec.ReadDirs) > 0 {
		var outside object
		outside.set("*", "deny")
		for _, dir := range spec.ReadDirs {
			outside.set(filepath.Clean(dir)+"/*", "allow")
		}
		rules.set("external_directory", outside)
	}
	if spec.MCP != nil {
		for _, tool := range thread.MCPOwnTools(spec.Once) {
			rules.set(spec.MCP.Name+"_"+tool, "allow")
		}
	}
	return rules
}

// withAgent adds an agent of opencode's with these rules to the configuration in the environment.
func withAgent(env launch.Env, spec thread.LaunchSpec, name string, rules object) (launch.Env, error) {
	const variable = "OPENCODE_CONFIG_CONTENT"
	var content object
	if own := env.Value(variable); own != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(own)), &content); err != nil {
			return nil, fmt.Errorf("read %s: %w", variable, err)
		}
	}
	if spec.Once.ReadOnly {
		if err := instruct(&content, spec.Dir); err != nil {
			return nil, fmt.Errorf("read %s: %w", variable, err)
		}
	}
	err := content.within([]string{"agent", name}, func(agent *object) {
		agent.set("mode", "primary")
		agent.set("permission", rules)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", variable, err)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return env.With(variable, string(raw)), nil
}

// instruct adds the repository's instructions, which are text and not read with its configuration off.
func instruct(content *object, dir string) error {
	var all []string
	if i := slices.IndexFunc(*content, func(f field) bool { return f.key == "instructions" }); i >= 0 {
		if err := json.Unmarshal((*content)[i].value, &all); err != nil {
			return err
		}
	}
	n := len(all)
	for _, folder := range ancestors(dir) {
		for _, name := range []string{"AGENTS.md", "CLAUDE.md"} { // the second is for those without the first
			path := filepath.Join(folder, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				all = append(all, path)
				break
			}
		}
	}
	if len(all) > n {
		content.set("instructions", all)
	}
	return nil
}
