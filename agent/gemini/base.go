package gemini

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

var _ thread.Slimmer = (*Agent)(nil)

// Levers implements thread.Slimmer.
func (a *Agent) Levers(ctx context.Context, spec thread.WorldSpec) (thread.Levers, error) {
	found, err := a.program.Find(ctx, launch.Env(spec.Env).Adding(spec.Flags.Env))
	if err != nil {
		return thread.Levers{}, fmt.Errorf("levers of gemini: %w", err)
	}
	out := thread.Levers{Agent: Name, Version: found.Version, Known: slices.Contains(measured(), found.Version)}
	all, own := wishesIn(spec, slim.Everywhere), wishesIn(spec, slim.Outside(spec))
	for _, l := range levers() {
		if l.Kept = all.kept(l); l.Acts() {
			l.Kept = own.kept(l)
		}
		// A rule that denies a tool is documented. A setting may mean something else, or nothing, while the tool is gone.
		if l.Kept == "" && !out.Known && len(l.settings) > 0 {
			l.Kept = "what it does in Gemini CLI " + found.Version + " was not measured"
		}
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// less is what a start leaves out.
type less struct {
	tools    []string
	never    []string // tools that no other rule gives back
	own      bool     // of MCP servers, none but our own tools are allowed
	server   string   // the server that has them, "" if there is none
	idle     bool     // every call fails, though the tools are offered
	settings []setting
}

// leaveOut returns what a start leaves out, and why levers of the names that it was given are not used.
func leaveOut(spec thread.LaunchSpec, env launch.Env) (less, map[string]string) {
	var out less
	if len(spec.Base) == 0 {
		return out, nil
	}
	where := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags}
	own := wishesIn(where, slim.Outside(where)) // what the agent writes into the repository gives nothing back
	all := levers()
	find := func(name string) lever {
		return all[slices.IndexFunc(all, func(l lever) bool { return l.Name == name })]
	}
	var lines []thread.Lever
	for _, l := range all {
		lines = append(lines, l.Lever)
	}
	use, unused := slim.Use("Gemini CLI", lines, spec.Base, func(l thread.Lever) string { return own.decided(find(l.Name)) })
	here := wishesIn(where, slim.Everywhere)
	for _, name := range use {
		l := find(name)
		// The settings of a folder win over ours. What takes tools out of the request does not stand there.
		if why := here.decided(l); why != "" && len(l.settings) > 0 {
			if unused == nil {
				unused = map[string]string{}
			}
			unused[name] = why + ", and only its tools are left out"
		}
		out.tools = append(out.tools, l.Tools...)
		out.settings = append(out.settings, l.settings...)
	}
	return out, unused
}

// change makes the settings in the person's own, as they are in our copy of them.
func (l less) change(own map[string]any) {
	for _, s := range l.settings {
		group := map[string]any{}
		if theirs, ok := own[s.group].(map[string]any); ok {
			group = theirs
		}
		own[s.group] = group
		more, ok := s.value.([]string)
		if !ok {
			group[s.key] = s.value
			continue
		}
		list, _ := group[s.key].([]any)
		for _, name := range more {
			if !slices.Contains(list, any(name)) {
				list = append(list, name)
			}
		}
		group[s.key] = list
	}
}

// noTool matches the answer to a call of a tool that there is not.
var noTool = pattern.Lazy(`Tool \\?"([A-Za-z][\w.-]{0,127})\\?" not found\b`)

// Missing implements thread.Slimmer.
func (*Agent) Missing(text string) []string {
	var all []string
	for _, m := range noTool().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}
