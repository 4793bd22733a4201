package claude

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/agent/slim"
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
	all, own := wishesIn(spec, slim.Everywhere), wishesIn(spec, slim.Outside(spec))
	for _, l := range levers() {
		if l.Kept = all.kept(l); l.Acts() {
			l.Kept = own.kept(l)
		}
		// What a bare name in a rule does is documented; a key may mean something else, or nothing.
		if l.Kept == "" && !out.Known && len(l.Tools) == 0 {
			l.Kept = "what it does in Claude Code " + found.Version + " was not measured"
		}
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// used are the levers that a start uses, and why others of the names that it was given are not. Those that were chosen
// stay in use for as long as nothing outside of the repository says otherwise: the tools of a conversation stay the same,
// whatever its agent writes into files of settings there.
func used(spec thread.LaunchSpec, env launch.Env) (use []lever, unused map[string]string) {
	where := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags}
	own := wishesIn(where, slim.Outside(where))
	var lines []thread.Lever
	byName := map[string]lever{}
	for _, l := range levers() {
		// A rule that denies a tool is enough without a key that was not measured when the lever was chosen.
		if len(l.Tools) > 0 && spec.BaseVersion != "" && !slices.Contains(measured(), spec.BaseVersion) {
			l.keys = nil
		}
		lines, byName[l.Name] = append(lines, l.Lever), l
	}
	names, unused := slim.Use("Claude Code", lines, spec.Base, func(l thread.Lever) string { return own.decided(byName[l.Name]) })
	for _, name := range names {
		use = append(use, byName[name])
	}
	return use, unused
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
