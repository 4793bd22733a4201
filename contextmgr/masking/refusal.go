package masking

import (
	"fmt"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// GoesOn ends the refusal of a prompt that goes on in a fork.
const GoesOn = "It goes on in a fork that begins with a summary"

// WaysOut ends the refusal of a prompt of a thread with this name, of which people decide what becomes.
func WaysOut(name string) string {
	return fmt.Sprintf("Summarise older turns: s in its context view, or `orchestrator context summary %[1]s --write`. "+
		"Or have the agent compact. Or go on in a fresh fork: a at the list, or `orchestrator fork \"…\" -t %[1]s --fresh`. "+
		"Send anyway: `orchestrator context policy %[1]s observe`", name)
}

// full tells what must be done because the window is almost full: people are warned once, and a prompt that would fill it
// is refused, with the way out. Inside a turn nothing is refused that still fits. Of an unknown window nothing is known,
// nor of one that the provider took more than: then a count or the window is wrong.
func (r *request) full() (refusal string) {
	c := r.conversation
	size, ask, window := c.latest.decision.Context, c.latest.decision.Ask, c.window.tokens
	if window <= 0 || !r.masks() {
		return ""
	}
	if ask != policy.AskWarn && ask != policy.AskFork {
		delete(c.told, "full")
		return ""
	}
	share := thread.Percent(float64(size) * 100 / float64(window))
	how := fmt.Sprintf("context %s full (%s of %s tokens)", share, thread.Tokens(size), thread.Tokens(window))
	refuses := ask == policy.AskFork && !c.window.exceeded && r.cfg.WayOut != nil && (!r.inTurn() || size >= window) && r.sure()
	if refuses && c.refused.again(r.scan, r.cfg.Now()) {
		return c.refused.why
	}
	c.warn(r.outgoing, "full", "context "+share+". Compact, summarise (s) or fork (f)")
	if !refuses {
		return ""
	}
	prompt := ""
	if !r.inTurn() {
		prompt = r.scan.Request.Prompt
	}
	out := r.cfg.WayOut(c.id, prompt)
	if out == "" {
		return ""
	}
	return fmt.Sprintf("orchestrator does not send this request: %s. %s", how, out)
}

// sure reports whether the window is almost full by what the provider counted, or by as little as an estimate can mean.
// Otherwise the provider is asked.
func (r *request) sure() bool {
	c := r.conversation
	if c.count.Input > 0 {
		return true
	}
	least := int64(float64(c.latest.decision.Context) * (1 - c.margin(r.scan.Request.Model)))
	return thread.Gauge{Tokens: least, Window: c.window.tokens}.Band() == thread.BandFull
}

// refuse notes that the last main request is not sent.
func (r *request) refuse(m measurement, why string) {
	c := r.conversation
	if c.refused.again(r.scan, r.cfg.Now()) {
		c.latest = c.refused.seen
		return
	}
	c.latest.picture = r.picture(m)
	c.refused = refused{r.cfg.Now(), len(r.scan.Items), r.scan.Request.Prompt, why, c.latest}
	r.keep(r.stored())
}

// inTurn reports whether the request goes on with a turn: its last item is not what a person said.
func (r *request) inTurn() bool { return r.scan.Prompted < len(r.scan.Items)-1 }
