package bases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// bars are the largest shares of a full base that a profile may have in a terminal, in percent.
var bars = map[string]map[string]int{
	"claude":   {thread.BaseSlim: 60, thread.BaseMinimal: 35},
	"codex":    {thread.BaseSlim: 78},
	"gemini":   {thread.BaseSlim: 78},
	"opencode": {thread.BaseSlim: 78},
}

// onceBars are those for a single prompt, which is sent with less from the start.
var onceBars = map[string]map[string]int{
	"claude":   {thread.BaseSlim: 60, thread.BaseMinimal: 36},
	"codex":    {thread.BaseSlim: 80},
	"gemini":   {thread.BaseSlim: 80},
	"opencode": {thread.BaseSlim: 80},
}

// models are those that a CLI is measured with besides its first: other models have other prompts. The bars are not for
// those in unbarred, whose prompts are longer, or order the use of what else would have gone.
var (
	models = map[string][]string{
		"claude": {"claude-opus-4-6"}, "codex": {"gpt-6-sol", "gpt-4.1"}, "gemini": {"gemini-3-pro-preview"}, "opencode": {"fm/fake-1"},
	}
	unbarred = []string{"claude-opus-4-6", "fm/fake-1"}
)

// following are the tools that come and go with others: with the first MCP server, with the first that is searched for.
var following = map[string][]string{
	"codex": {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "tool_search"},
}

// measured is how a CLI is started to measure it: Gemini CLI has fewer tools, and longer texts, in the mode that asks nothing.
func measured(cli clis.CLI) clis.CLI {
	if cli.Name == "gemini" {
		cli.Mode = cli.Asking
	}
	return cli
}

// mentioned are the names that a CLI goes on using after the tool has gone, though nothing asks the model to call it.
var mentioned = map[string][]string{
	"claude": {"NotebookEdit"}, // in the list of agents: that two of them do not have it either
}

// alone are the names that a CLI goes on using if one lever is used without the others of its profile.
var alone = map[string][]string{
	"claude": {"Agent", "TaskStop", "Write", "Monitor", "Skill"}, // in what workflows and its own notes say
}

// TestRealBaseProfiles starts each CLI with each profile, in a terminal and for one prompt: it sends as much less as it
// must, offers no tool that has gone, and names none.
func TestRealBaseProfiles(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			b := newBench(t, measured(cli))
			if l := b.levers(); !l.Known {
				t.Logf("%s %s is not in the table: with what is used of it", cli.Name, l.Version)
				b.profiles("terminal", b.first, nil)
				t.Logf("with all of it")
			}
			b.measure = true
			b.profiles("terminal", b.first, bars[cli.Name])
			b.profiles("once", b.oneShot, onceBars[cli.Name])
			for _, model := range models[cli.Name] {
				b.cli.Model = model
				bar := bars[cli.Name]
				if slices.Contains(unbarred, model) {
					bar = nil
				}
				b.profiles("terminal", b.first, bar)
			}
			b.sameHome()
		})
	}
}

// profiles measures all profiles in one way.
func (b *bench) profiles(way string, first func([]string, ...func(*thread.LaunchSpec)) model.Request, bars map[string]int) {
	b.Helper()
	l := b.levers()
	what := fmt.Sprintf("%s %s %s %s", b.cli.Name, l.Version, b.cli.Model, way)
	known := mentioned[b.cli.Name]
	if !l.Known && !b.measure {
		known = slices.Concat(known, alone[b.cli.Name])
	}
	full := baseOf(b.T, first(nil))
	b.Logf("%s full: %d tokens, %d tools", what, full.size(), len(full.tools))
	for _, profile := range thread.BaseProfiles()[1:] {
		left := b.left(profile)
		got := baseOf(b.T, first(left))
		share := 100 * got.size() / full.size()
		b.Logf("%s %s: %d tokens, %d %%, %d tools %v", what, profile, got.size(), share, len(got.tools), got.names())
		bar, ok := bars[profile]
		if !ok {
			bar = 100
		}
		if 100*got.size() > bar*full.size() {
			b.Errorf("%s %s: %d of %d tokens, more than %d %%", what, profile, got.size(), full.size(), bar)
		}
		b.gone(what+" "+profile, full, got, l.Named(left), known)
	}
}

// gone checks that the tools of levers are not offered, that all others are, and that nothing but what is known names them.
func (b *bench) gone(what string, full, got base, levers []thread.Lever, known []string) {
	b.Helper()
	names := full.names()
	for _, l := range levers {
		for _, name := range l.Tools {
			if !strings.Contains(name, "*") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		left := slices.ContainsFunc(levers, func(l thread.Lever) bool { return l.LeavesOut(name) })
		_, offered := got.tools[name]
		if left && offered {
			b.Errorf("%s: %s is still offered", what, name)
		}
		if _, was := full.tools[name]; was && !left && !offered && !slices.Contains(following[b.cli.Name], name) {
			b.Errorf("%s: %s has gone, and no lever says so", what, name)
		}
		named := slices.ContainsFunc(levers, func(l thread.Lever) bool { return slices.Contains(l.Named, name) })
		if !left || named || slices.Contains(known, name) {
			continue
		}
		if m := got.mentions(name); len(m) > 0 {
			b.Errorf("%s: %s has gone and is named %d times:\n%s", what, name, len(m), strings.Join(m, "\n"))
		}
	}
}

// TestRealBaseLevers measures each lever by itself, with those that it needs: none makes a base larger. What it prints
// is for the table in the adapter.
func TestRealBaseLevers(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			b := newBench(t, measured(cli))
			b.measure = true
			l := b.levers()
			full := baseOf(t, b.first(nil))
			t.Logf("%s %s full: %d tokens", cli.Name, l.Version, full.size())
			for _, name := range full.names() {
				t.Logf("  %s %d", name, counter().Count(full.tools[name]))
			}
			var table []string
			for _, lever := range l.Levers {
				if lever.Kept != "" {
					t.Errorf("%s is kept in a home without settings: %s", lever.Name, lever.Kept)
				}
				base := slices.Sorted(slices.Values(append([]string{lever.Name}, needs(l, lever)...)))
				before := full
				if len(base) > 1 {
					before = baseOf(t, b.first(slices.Sorted(slices.Values(needs(l, lever)))))
				}
				got := baseOf(t, b.first(base))
				saves := before.size() - got.size()
				table = append(table, fmt.Sprintf("%-20s %6d", lever.Name, saves))
				if got.size() > full.size() || saves < 0 {
					t.Errorf("%s makes the base larger: %d to %d, %d in full", lever.Name, before.size(), got.size(), full.size())
				}
				if lever.Saves > 0 && (saves < lever.Saves*8/10-20 || saves > lever.Saves*12/10+20) {
					t.Errorf("%s saves %d tokens, the table says %d", lever.Name, saves, lever.Saves)
				}
				b.gone(lever.Name, full, got, l.Named(base), slices.Concat(mentioned[cli.Name], alone[cli.Name]))
			}
			t.Logf("%s %s saves:\n%s", cli.Name, l.Version, strings.Join(table, "\n"))
			b.sameHome()
		})
	}
}

// needs returns the names of the levers that a lever needs.
func needs(l thread.Levers, lever thread.Lever) []string {
	all := slices.Clone(lever.Needs)
	for i := 0; i < len(all); i++ {
		for _, other := range l.Named(all[i : i+1]) {
			for _, more := range other.Needs {
				if !slices.Contains(all, more) {
					all = append(all, more)
				}
			}
		}
	}
	return all
}
