package outbox

import (
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// The limits of a Glance.
const (
	maxListed = 8
	// MaxText is the most bytes of one prompt's text.
	MaxText = 200
)

// Glance is what others see of an Outbox.
type Glance struct {
	Prompts []thread.Prompt // for lists: those that wait, those that the agent has, and those that can be asked again
	Queued  int
	Open    bool   // the agent has a prompt
	First   bool   // the first prompt of a run is being typed
	ToType  bool   // there is something to type
	Waits   string // why the oldest one is not typed
}

// Glance returns what others see; waits is why the oldest prompt is not typed.
func (o *Outbox) Glance(waits string) Glance {
	g := Glance{Open: o.Open(), ToType: o.primer != ""}
	for _, p := range o.prompts {
		switch {
		case p.State == thread.PromptQueued:
			g.Queued++
			g.ToType, g.Waits = true, waits
		case p.State == thread.PromptTyping:
			g.First = p.From == thread.FromFirst || p.From == thread.FromPrimer
		case p.State.Over() && !p.State.Again():
			continue
		}
		if len(g.Prompts) < maxListed {
			b := p.Brief()
			if len(b.Text) > MaxText {
				b.Text, b.Cut = plaintext.Cut(b.Text, MaxText), true
			}
			g.Prompts = append(g.Prompts, b)
		}
	}
	return g
}
