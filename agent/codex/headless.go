package codex

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"orchestrator/agent/slim"
	"orchestrator/thread"
)

var _ thread.Headless = (*Agent)(nil)

// Headless implements thread.Headless, by "codex app-server". Its sessions are those of the TUI, which resumes them, and
// it is resumed by what the TUI made; "codex exec" would do that, too, but it says texts only when they are whole, refuses
// without a word what would be asked, counts tokens of the whole session, and is interrupted by signals only.
//
// An app-server writes into the person's config.toml that it trusts a repository of which they have not said so, as soon
// as a session there may write. So it is always told what they have said of the folder, and that it is not trusted if
// they have said nothing: the repository's configuration is not read then.
func (a *Agent) Headless(ctx context.Context, spec thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	spec.Once.On = true
	own := spec.Flags.Args
	if end := slices.Index(own, "--"); end >= 0 {
		own = own[:end] // what follows would be a prompt
	}
	mode, err := permission(spec.Flags.PermissionMode)
	if err != nil {
		return thread.HeadlessLaunch{}, fmt.Errorf("launch codex: %w", err)
	}
	s, err := a.prepare(ctx, spec)
	if err != nil {
		return thread.HeadlessLaunch{}, fmt.Errorf("launch codex: %w", err)
	}
	o := opening{dir: spec.Dir, model: spec.Model, resume: s.launch.Session}
	o.asking, o.reads = spec.Once.Asks == thread.AsksPerson, spec.Once.ReadOnly
	rest := o.take(slices.Concat(mode, own))
	bound := spec.Once.ReadOnly || spec.Once.Caps.NoTools
	if bound {
		o.sandbox, o.profile, o.approval, o.reviewer = "", readOnly, "on-request", "user"
	}
	said := s.config.trust(o.dir, spec.Origin)
	if o.strange = said == ""; o.strange {
		said = untrusted
	}
	if o.resume != "" && o.profile == "" {
		o.asConfigured(spec, s.launch.Env, said)
	}
	l := s.launch
	l.Args = slices.Concat(l.Args, []string{"app-server"}, s.args, rest, s.gateway, []string{
		"-c", "projects=" + inline(map[string]any{o.dir: map[string]any{"trust_level": said}}),
	})
	patience, patient := s.config.patience()
	l.Args, o.patient = append(l.Args, patience...), patient
	if spec.Once.Caps.NoTools {
		o.silent, o.asking, spec.MCP = true, false, nil
		l.Args = append(l.Args, noTools()...)
	}
	if bound {
		l.Args = append(l.Args, onlyReading(spec.StateDir)...)
		if spec.MCP == nil {
			l.Args = append(l.Args, noServers(spec, l.Env)...)
		}
	}
	return thread.HeadlessLaunch{Launch: l, Dialogue: newDialogue(o), Insists: !patient && len(patience) == 0}, nil
}

// patience returns the arguments that have Codex ask a provider once where it would try again, unless the person has set
// how often, and reports whether they have. Its own providers cannot be configured: its run is ended at the first failure
// that the gateway sees, and by the dialogue when one of them is to be asked again after the first five requests.
func (c config) patience() (args []string, patient bool) {
	name := cmp.Or(c.provider, "openai")
	p, own := table(c.all, "model_providers")[name].(map[string]any)
	for _, key := range []string{"request_max_retries", "stream_max_retries"} {
		if _, set := p[key]; set {
			patient = true
		} else if own && plain().MatchString(name) {
			args = append(args, "-c", "model_providers."+name+"."+key+"=0")
		}
	}
	return args, patient
}

// noTools returns the arguments that leave Codex no tool but those to ask, to look at a picture and to change files. What
// would be asked is declined, and nothing may be written.
func noTools() []string {
	var args []string
	for _, name := range []string{"shell_tool", "unified_exec", "goals", "multi_agent", "multi_agent_v2", "view_image", "image_generation", "apps", "sleep_tool"} {
		args = append(args, "-c", "features."+name+"=false")
	}
	return append(args, "-c", `web_search="disabled"`)
}

// noServers returns the arguments that switch off every MCP server of the files that Codex reads.
func noServers(spec thread.LaunchSpec, env []string) []string {
	off := map[string]any{}
	w := wishesIn(thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: env, Flags: spec.Flags}, slim.Everywhere)
	for _, l := range w.layers {
		for name, v := range table(l.all, "mcp_servers") {
			server, _ := v.(map[string]any)
			off[name] = switchedOff(server["url"] != nil)
		}
	}
	if len(off) == 0 {
		return nil
	}
	return []string{"-c", "mcp_servers=" + inline(off)}
}
