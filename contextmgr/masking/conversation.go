package masking

import (
	"cmp"
	"sync"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// conversation is what is known about a thread's conversation. Requests of one thread wait for each other while they
// are read and rewritten, not while they are sent.
type conversation struct {
	id  thread.ID
	cfg *Config

	sync.Mutex                 // guards the rest
	masks      *masks.Set      // nil until something is asked about the thread
	settings   policy.Settings // of the last request
	login      bool            // whether a subscription pays for it

	scan     *wire.Scan // of the last main request, nil if there was none
	latest   assessment // of it
	before   *stored    // what an earlier process kept of it, nil once there is one
	refused  refused    // the last one that was not sent
	contents contents
	cache    cache
	count    count
	window   window

	wanted  map[policy.ID]bool   // what people want masked with the next request
	longer  map[policy.ID]bool   // contents of which a mask would be no shorter
	stubs   map[policy.ID][]byte // in place of what is masked, as they are written in the agent's format
	pause   pause
	rereads rereads
	owed    float64         // what masks cost requests that failed, in tokens as a measurement has it
	told    map[string]bool // what people have been told

	summaries *summaries.Thread
}

// inForce returns the settings in force for the conversation: those of the person, in the mode of the thread if it has one.
func (c *conversation) inForce() policy.Settings {
	s := c.cfg.Settings(c.id, c.login)
	s.Mode = cmp.Or(policy.Mode(c.masks.Mode()), s.Mode)
	return s
}

// mode returns the mode in force, and why it is.
func (c *conversation) mode() (mode thread.MaskMode, why string) {
	mode = thread.MaskMode(c.inForce().Mode)
	own, lost := c.masks.Mode() != "", c.masks.LostWhy()
	switch {
	case own && lost != "":
		return mode, lost
	case lost != "":
		return mode, "as configured; " + lost
	case own:
		return mode, "set for this thread"
	case c.login && mode == thread.MaskObserve:
		return mode, "the agent uses a subscription login"
	default:
		return mode, "as configured"
	}
}

// State implements summaries.Conversation.
func (c *conversation) State() summaries.State {
	mode, why := c.mode()
	return summaries.State{Masks: c.masks, Mode: mode, Why: why, Login: c.login, Answered: c.count.request}
}

// begin prepares for the next main request. What was counted before this process started is taken up by the request that
// goes on from there; what was counted for another session of the agent says nothing about this one.
func (c *conversation) begin(q wire.Request, items int) {
	if c.cache.session != q.Session {
		c.cache.session, c.cache.model, c.cache.tools = q.Session, "", 0
		c.count.forget()
	}
	if c.before != nil && c.before.Model == q.Model {
		c.count.recall(c.before.Counted, items)
	}
}

// margin returns the relative error of a context of which nothing more is known than what was counted.
func (c *conversation) margin(model string) float64 {
	_, learned, _ := c.cfg.Calibration.Factor(model, "")
	return c.count.margin(learned)
}

// warn warns people of something once.
func (c *conversation) warn(o gateway.Outgoing, what, text string) {
	if !c.told[what] {
		c.told[what] = true
		o.Notice(thread.LevelWarn, text)
	}
}
