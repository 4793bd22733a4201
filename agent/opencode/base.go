package opencode

import (
	"context"
	"encoding/json"
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
		return thread.Levers{}, fmt.Errorf("levers of opencode: %w", err)
	}
	out := thread.Levers{Agent: Name, Version: found.Version, Known: slices.Contains(measured(), found.Version)}
	all, own := wishesIn(spec, slim.Everywhere), wishesIn(spec, slim.Outside(spec))
	for _, l := range levers() { // a rule that denies a tool is documented: it lowers the count of any version
		if l.Kept = all.kept(l); l.Acts() {
			l.Kept = own.kept(l)
		}
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// leaveOut adds rules to the person's that leave levers out, and returns why others are not. The last rule that matches
// counts, so the person's keep their order and ours are last.
func leaveOut(env launch.Env, spec thread.LaunchSpec) (launch.Env, map[string]string, error) {
	if len(spec.Base) == 0 {
		return env, nil, nil
	}
	where := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: spec.Env, Flags: spec.Flags, Model: spec.Model}
	own := wishesIn(where, slim.Outside(where)) // what the agent writes into the repository gives nothing back
	all := levers()
	find := func(name string) lever {
		return all[slices.IndexFunc(all, func(l lever) bool { return l.Name == name })]
	}
	var lines []thread.Lever
	for _, l := range all {
		lines = append(lines, l.Lever)
	}
	use, unused := slim.Use("opencode", lines, spec.Base, func(l thread.Lever) string { return own.decided(find(l.Name)) })
	if len(use) == 0 {
		return env, unused, nil
	}
	var permission object
	if rules := env.Value(permissionVar); rules != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(rules)), &permission); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", permissionVar, err)
		}
	}
	var last object
	for _, name := range use {
		for _, rule := range find(name).rules {
			permission.set(rule, "deny")
			// Whatever the repository's files have: no other rule is of this name, so that it comes behind all of theirs.
			behind := rule[:len(rule)-1] + "?"
			permission.set(behind, "deny")
			last.set(behind, "deny")
		}
	}
	raw, err := json.Marshal(permission)
	if err == nil {
		env, err = denyAgent(env, wishesIn(where, slim.Everywhere), last)
	}
	if err != nil {
		return nil, nil, err
	}
	return env.With(permissionVar, string(raw)), unused, nil
}

// denyAgent adds rules to those of an agent of opencode's, which outrank all others, in the configuration in the
// environment, which outranks the repository's files.
func denyAgent(env launch.Env, here wishes, rules object) (launch.Env, error) {
	const variable = "OPENCODE_CONFIG_CONTENT"
	var content object
	if own := env.Value(variable); own != "" {
		if err := json.Unmarshal(launch.StripComments([]byte(own)), &content); err != nil {
			return nil, fmt.Errorf("read %s: %w", variable, err)
		}
	}
	place := "agent"
	if slices.ContainsFunc(here.layers, func(l layer) bool { return members(l.Mode)[here.agent] != nil }) {
		place = "mode" // an older name, whose rules come behind the other's
	}
	err := content.within([]string{place, here.agent, "permission"}, func(own *object) {
		for _, f := range rules {
			own.set(f.key, f.value)
		}
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

// within changes the object at a path of keys, and makes what is missing of it.
func (o *object) within(path []string, change func(*object)) error {
	if len(path) == 0 {
		change(o)
		return nil
	}
	inner, err := o.rules(path[0], "")
	if err == nil {
		err = inner.within(path[1:], change)
	}
	if err == nil {
		o.set(path[0], inner)
	}
	return err
}

// noTool matches the answer to a call of a tool that there is not.
var noTool = pattern.Lazy(`Model tried to call unavailable tool '([A-Za-z][\w.-]{0,127})'`)

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
