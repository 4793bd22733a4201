package masking

import (
	"fmt"
	"net/http"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// refusedStatus is the status with which a request is refused: agents show the text of one and do not send the request
// again.
const refusedStatus = http.StatusBadRequest

// full says what must be done because the window is almost full: people are warned once, and a prompt that would fill it
// is refused, with the way out. Inside a turn nothing is refused that still fits. Of an unknown window nothing is known,
// nor of one that the provider took more than: then a count or the window is wrong.
func (r *request) full() (refusal string) {
	c := r.conversation
	size, window := c.decision.Context, c.window
	if window <= 0 || !r.masks() {
		return ""
	}
	switch c.decision.Ask {
	case policy.AskWarn, policy.AskFork:
	default:
		delete(c.told, "full")
		return ""
	}
	share := thread.Percent(float64(size) * 100 / float64(window))
	how := fmt.Sprintf("the context has %s of %s tokens (%s)", thread.Tokens(size), thread.Tokens(window), share)
	r.tell("full", how+": have the agent compact it, or fork the thread with a summary")
	if c.decision.Ask != policy.AskFork || c.larger || r.cfg.WayOut == nil || r.inTurn() && size < window {
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

// inTurn reports whether the request goes on with a turn: its last item is not what a person said.
func (r *request) inTurn() bool { return r.scan.Prompted < len(r.scan.Items)-1 }
