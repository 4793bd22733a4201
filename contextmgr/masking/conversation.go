package masking

import (
	"sync"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// conversation is what is known about a thread's conversation. Requests of one thread wait for each other while they
// are read and rewritten, not while they are sent.
type conversation struct {
	id thread.ID

	mu       sync.Mutex
	set      *masks.Set
	settings policy.Settings // of the last request
	login    bool            // likewise
	told     map[string]bool // what people have been told
	shorter  bool            // what was masked is lost: in the turn that finds it nothing more is masked by itself
	heldIn   int             // where the turn after that begins, 0 if it is not known yet

	scan    *wire.Scan // of the last main request
	session string     // of the last main request, likewise the next two
	model   string
	tools   int
	asked   time.Time     // when the last main request was sent, or an answer came before this server started
	ttl     time.Duration // how long the provider keeps the cache, 0 if unknown

	counted  counted // of the last main request that was answered; a later one is estimated by how its estimate differs
	answered int64   // with the answer to it
	owed     float64 // what masking cost requests that failed, in tokens as in measured
	asking   int     // its number
	window   int64
	larger   bool // the provider counted more for a request that it answered than the window has

	contents map[key]content     // that were described
	order    []described         // those of the last request
	last     measured            // of the last main request
	picture  picture             // likewise, for people
	before   *last               // what was kept of it by an earlier process, nil if there was a request since
	wanted   map[policy.ID]bool  // what people want masked with the next request
	decision policy.Decision     // about it
	refused  refused             // the last one that was not sent
	next     policy.Decision     // what masking more would mean
	judged   policy.Conversation // what that is about
	whole    map[policy.ID]bool  // contents that do not become shorter
	stubs    map[policy.ID][]byte
	rereads  int
	offer    *planned     // the summary that could be written, nil if there is none
	writing  bool         // one is being written
	failed   int          // how many failed since one was stored
	spent    float64      // what summaries cost in USD and what is not yet told
	stood    string       // the text of the summary in the last main request
	maskedAt map[part]int // what was read and is masked, since which request
}

// part is a part of a file that was read.
type part struct{ file, part string }

// changed reports whether the provider's cache is lost because another model is asked, or other tools are offered.
func (c *conversation) changed(q wire.Request) bool {
	return c.model != "" && c.session == q.Session && (c.model != q.Model || c.tools != len(q.Tools))
}

// begin prepares for the next main request. What was counted for another session of the agent says nothing about it.
func (c *conversation) begin(q wire.Request) {
	if c.session != q.Session {
		c.session, c.model, c.tools = q.Session, "", 0
		c.counted, c.answered = counted{}, 0
	}
}

// recall takes over what the provider counted before this process started, if a request goes on with that conversation.
// Without it, what is only estimated may seem to fill the window.
func (c *conversation) recall(model string, items int) {
	if was := c.before; was != nil && c.counted.Input == 0 && was.Model == model && was.Counted.Items <= items {
		c.counted = was.Counted
	}
}

// context returns how many tokens a request has that is estimated to have so many.
func (c *conversation) context(estimate int64) int64 {
	if c.counted.Input == 0 {
		return estimate
	}
	return max(0, c.counted.Input+estimate-c.counted.Estimate)
}

// aloneMargin is by how much the size of a whole conversation can be wrong of which the provider has counted nothing: what
// was learned of others says little about it.
const aloneMargin = 0.3

// margin returns the relative error of what context returns.
func (c *conversation) margin(of Calibration, model string) float64 {
	_, learned, _ := of.Factor(model, "")
	if c.counted.Input == 0 {
		return max(learned, aloneMargin)
	}
	return learned
}

// ratio returns how many tokens the provider counts for one that is estimated.
func (c *conversation) ratio() float64 {
	if c.counted.Input <= 0 || c.counted.Estimate <= 0 {
		return 1
	}
	return float64(c.counted.Input) / float64(c.counted.Estimate)
}

// added returns how many tokens a request adds to the one before, 0 if that is unknown.
func (c *conversation) added(estimate int64) int64 {
	if c.counted.Input == 0 {
		return 0
	}
	return max(0, estimate-c.counted.Estimate)
}

// The lifetimes of prompt caches. Without a sign of either, the longer one is assumed: to believe that a cache is lost
// although it is not costs a cache write.
const (
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// lifetime returns how long the provider keeps the conversation's cache.
func (c *conversation) lifetime() time.Duration {
	if c.ttl == 0 {
		return longLife
	}
	return c.ttl
}

// mode returns the mode in force, and why it is.
func (c *conversation) mode(s policy.Settings) (thread.MaskMode, string) {
	switch {
	case c.set.Mode() != "" && c.set.LostWhy() != "":
		return thread.MaskMode(c.set.Mode()), c.set.LostWhy()
	case c.set.LostWhy() != "":
		return thread.MaskMode(s.Mode), "as configured; " + c.set.LostWhy()
	case c.set.Mode() != "":
		return thread.MaskMode(c.set.Mode()), "set for this thread"
	case c.login && s.Mode == policy.ModeObserve:
		return thread.MaskMode(s.Mode), "the agent uses a subscription login"
	default:
		return thread.MaskMode(s.Mode), "as configured"
	}
}
