package verb

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/contextmgr/replay"
	"orchestrator/thread"
)

// leftOut knows what profiles leave out of agents' bases in a replay: as the agents' tables of levers say, or by a figure
// that was given.
type leftOut struct {
	agents agents.All
	spec   thread.WorldSpec
	config thread.BaseConfig
	said   []savedBase // of the tables that were looked at, in order
}

// savedBase is what a profile saves of an agent's base by the agent's table of levers.
type savedBase struct {
	Agent   string `json:"agent"`
	Base    string `json:"base"`
	Tokens  int64  `json:"tokens"`
	Version string `json:"version,omitempty"` // of the CLI with which it was measured
	Unknown string `json:"unknown,omitempty"` // why nothing is known
}

// bases returns the bases of a flag: names of profiles, and any name with a figure, such as slim=5300 or slim=40%. What is
// recorded is the first of them.
func (l *leftOut) bases(ctx context.Context, flag []string) ([]replay.Base, error) {
	if len(flag) == 0 {
		return nil, nil
	}
	names := l.config.Names()
	out := []replay.Base{{Name: thread.BaseFull}}
	for _, arg := range flag {
		name, figure, given := strings.Cut(arg, "=")
		b := replay.Base{Name: name}
		switch saving, ok := savingOf(figure); {
		case given && (!ok || name == ""):
			return nil, usagef("--base %q: must be NAME=TOKENS or NAME=PERCENT%%, such as slim=5300 or slim=40%%", arg)
		case given:
			b.Saving = func(string) replay.Saving { return saving }
		case !slices.Contains(names, name):
			return nil, usagef("--base %q: must be among %s, or a name with what it saves, such as %[1]s=5300", name, strings.Join(names, ", "))
		case name == thread.BaseFull:
			continue
		default:
			b.Saving = func(agent string) replay.Saving { return replay.Saving{Tokens: l.saves(ctx, agent, name).Tokens} }
		}
		if slices.ContainsFunc(out, func(o replay.Base) bool { return o.Name == name }) {
			return nil, usagef("--base: %q stands there twice", name)
		}
		out = append(out, b)
	}
	return out, nil
}

// savingOf reads a figure: tokens, or a share in percent.
func savingOf(figure string) (replay.Saving, bool) {
	const most = 1 << 30
	if share, isShare := strings.CutSuffix(figure, "%"); isShare {
		n, err := strconv.ParseFloat(share, 64)
		return replay.Saving{Percent: n}, err == nil && n >= 0 && n <= 100
	}
	n, err := strconv.ParseInt(figure, 10, 64)
	return replay.Saving{Tokens: n}, err == nil && n >= 0 && n < most
}

// saves looks in an agent's table of levers, once.
func (l *leftOut) saves(ctx context.Context, agent, profile string) savedBase {
	if i := slices.IndexFunc(l.said, func(s savedBase) bool { return s.Agent == agent && s.Base == profile }); i >= 0 {
		return l.said[i]
	}
	s := savedBase{Agent: agent, Base: profile}
	a, err := l.agents.Agent(agent)
	slimmer, can := a.(thread.Slimmer)
	switch {
	case err != nil || !can:
		s.Unknown = "nothing can be left out of it"
	default:
		levers, err := slimmer.Levers(ctx, l.spec)
		var names []string
		if err == nil {
			names, _, err = thread.ChooseBase(levers, profile, l.config.Profiles, nil)
		}
		if err != nil {
			s.Unknown = err.Error()
			break
		}
		s.Version = levers.Version
		for _, lever := range levers.Named(names) {
			s.Tokens += int64(lever.Saves)
		}
	}
	l.said = append(l.said, s)
	return s
}

// printSaved prints what the figures for an agent stand on.
func printSaved(w io.Writer, all []savedBase, agent string) {
	for _, s := range all {
		switch {
		case s.Agent != agent:
		case s.Unknown != "":
			fmt.Fprintf(w, "  base %s: what it saves is not known: %s\n", s.Base, s.Unknown)
		default:
			fmt.Fprintf(w, "  base %s: %s tokens less in each request, as measured with %s\n", s.Base, thread.Tokens(s.Tokens), s.Version)
		}
	}
}

// definitionsOf reads a flag such as 17400,1200.
func definitionsOf(flag []int) (replay.Definitions, error) {
	const most = 1 << 30
	switch {
	case len(flag) == 0:
		return replay.Definitions{}, nil
	case len(flag) != 2 || flag[1] < 0 || flag[0] < flag[1] || flag[0] >= most:
		return replay.Definitions{}, usagef("--mcp-tokens: must be two numbers, ALL,ON, such as 17400,1200: the tokens of all definitions and of those that are on")
	}
	return replay.Definitions{All: int64(flag[0]), On: int64(flag[1])}, nil
}
