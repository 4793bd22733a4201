package codex

import (
	"cmp"
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
		return thread.Levers{}, fmt.Errorf("levers of codex: %w", err)
	}
	out := thread.Levers{Agent: Name, Version: found.Version, Known: slices.Contains(measured(), found.Version)}
	own := wishesIn(spec, slim.Everywhere)
	for _, l := range levers() {
		l.Kept = own.kept(l, found.Version)
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// leaveOut returns the arguments that leave levers out, and why others are not. They stand before the person's own, which
// win. The same names give the same arguments.
func leaveOut(spec thread.LaunchSpec, env launch.Env, version string) ([]string, map[string]string) {
	if len(spec.Base) == 0 {
		return nil, nil
	}
	where := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags}
	own := wishesIn(where, slim.Outside(where)) // what the agent writes into the repository gives nothing back
	here := wishesIn(where, slim.Everywhere)
	all := levers()
	find := func(name string) lever {
		return all[slices.IndexFunc(all, func(l lever) bool { return l.Name == name })]
	}
	var lines []thread.Lever
	for _, l := range all {
		lines = append(lines, l.Lever)
	}
	use, unused := slim.Use("Codex", lines, spec.Base, func(l thread.Lever) string { return own.decided(find(l.Name)) })
	var args []string
	for _, name := range use {
		l := find(name)
		for _, k := range l.passed(cmp.Or(spec.BaseVersion, version)) { // as it was chosen
			if !slices.Contains(l.passed(version), k) {
				if unused == nil {
					unused = map[string]string{}
				}
				unused[name] = "Codex " + version + " may refuse to start with " + k.name + ", which was not measured with it"
				continue
			}
			args = append(args, "-c", k.name+"="+inline(k.value))
			for _, other := range here.against(k) { // the repository's: the person's decide the lever
				args = append(args, "-c", other+"=false")
			}
		}
	}
	return args, unused
}

// noTool matches the answer to a call of a tool that there is not, which is all that it says.
var noTool = pattern.Lazy(`^unsupported call: ([A-Za-z][\w.-]{0,127})$`)

// Missing implements thread.Slimmer.
func (*Agent) Missing(text string) []string {
	if m := noTool().FindStringSubmatch(text); m != nil {
		return []string{m[1]}
	}
	return nil
}
