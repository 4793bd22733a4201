package claude

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Levers implements thread.Slimmer.
func (a *Agent) Levers(ctx context.Context, spec thread.WorldSpec) (thread.Levers, error) {
	found, err := a.program.Find(ctx, launch.Env(spec.Env).Adding(spec.Flags.Env))
	if err != nil {
		return thread.Levers{}, fmt.Errorf("levers of claude: %w", err)
	}
	out := thread.Levers{Agent: Name, Version: found.Version, Known: slices.Contains(measured(), found.Version)}
	own := wishesIn(spec)
	for _, l := range levers() {
		l.Kept = own.kept(l)
		// What a bare name in a rule does is documented; a key may mean something else, or nothing.
		if l.Kept == "" && !out.Known && len(l.Tools) == 0 {
			l.Kept = "what it does in Claude Code " + found.Version + " was not measured"
		}
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// used are the levers that a start uses, and why others of the names that it was given are not. Those that were chosen
// stay in use for as long as the person's settings do not say otherwise: the tools of a conversation stay the same.
func used(spec thread.LaunchSpec, env launch.Env) (use []lever, unused map[string]string) {
	if len(spec.Base) == 0 {
		return nil, nil
	}
	own := wishesIn(thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags})
	unused = map[string]string{}
	for _, name := range spec.Base {
		unused[name] = "Claude Code has nothing of this name"
	}
	for _, l := range levers() {
		if !slices.Contains(spec.Base, l.Name) {
			continue
		}
		delete(unused, l.Name)
		if why := own.decided(l); why != "" {
			unused[l.Name] = why
			continue
		}
		use = append(use, l)
	}
	for again := true; again; {
		again = false
		for _, l := range use {
			i := slices.IndexFunc(l.Needs, func(name string) bool { return unused[name] != "" })
			if i < 0 || unused[l.Name] != "" {
				continue
			}
			unused[l.Name] = fmt.Sprintf("without %s it would make the base larger", l.Needs[i])
			again = true
		}
	}
	return slices.DeleteFunc(use, func(l lever) bool { return unused[l.Name] != "" }), unused
}

// noTool matches the answer to a call of a tool that there is not.
var noTool = pattern.Lazy(`No such tool available: ([A-Za-z][\w-]{0,63})`)

// Missing implements thread.Slimmer.
func (*Agent) Missing(text string) []string {
	var names []string
	for _, m := range noTool().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}
