package runner

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
)

// Base is the field that chooses the profile of what the agent leaves out. It is hidden for an agent of which nothing can
// be.
type Base struct {
	Input  *dialog.Input
	agents []thread.AgentInfo
	// unset is the choice of none, given the agent.
	unset func(thread.AgentInfo) dialog.Option
}

// NewBase returns the field for an agent.
func NewBase(agents []thread.AgentInfo, agent string, unset func(thread.AgentInfo) dialog.Option) *Base {
	b := &Base{Input: &dialog.Input{Label: "Base", Notes: 4}, agents: agents, unset: unset}
	b.Input.Hidden = func() bool { return len(b.Input.Options) < 2 }
	b.For(agent)
	return b
}

// For has the field offer what an agent has; the profile that is chosen stays.
func (b *Base) For(agent string) {
	chosen := b.Choice()
	b.Input.Options = nil
	i := slices.IndexFunc(b.agents, func(a thread.AgentInfo) bool { return a.Name == agent })
	if i < 0 || len(b.agents[i].Bases) == 0 {
		b.Input.Pick = 0
		return
	}
	b.Input.Options = []dialog.Option{b.unset(b.agents[i])}
	for _, o := range b.agents[i].Bases {
		b.Input.Options = append(b.Input.Options, dialog.Option{Value: o.Profile, Note: o.Says()})
	}
	b.Choose(chosen)
}

// Choose chooses a profile; BaseDefault, and one that there is not, is none.
func (b *Base) Choose(profile string) {
	b.Input.Pick = 0
	if i := slices.IndexFunc(b.Input.Options, func(o dialog.Option) bool { return o.Value == profile }); i > 0 {
		b.Input.Pick = i
	}
}

// Choice returns the profile, BaseDefault if none is chosen.
func (b *Base) Choice() string {
	if b.Input.Pick == 0 {
		return thread.BaseDefault
	}
	return b.Input.Choice()
}

// Says returns what a profile means for an agent, "" if that is not known.
func Says(a thread.AgentInfo, profile string) string {
	for _, o := range a.Bases {
		if o.Profile == profile {
			return o.Profile + ": " + o.Says()
		}
	}
	return ""
}
