package masking

import (
	"cmp"
	"fmt"
	"strings"
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

// yet says why what is not masked is not masked yet, "" if nothing keeps it.
func (c *conversation) yet(why map[policy.ID]string, res thread.ContextResult) string {
	held, may := why[policy.ID(res.ID)]
	switch {
	case res.Masked || res.Kept != "" || !may:
		return res.Why
	case held != "":
		return held
	case c.wanted[policy.ID(res.ID)]:
		return "masked with the next request"
	default:
		return c.next.Reason.Says()
	}
}

// shown describes a content for people.
func (c *conversation) shown(e entry) thread.ContextResult {
	res := e.result
	out := thread.ContextResult{
		ID: string(res.ID), Tool: res.Tool, File: cmp.Or(res.Reads, res.Writes), Input: res.Kind == policy.KindInput,
		Tokens: res.Tokens, Turn: res.Request, Pinned: c.set.Pinned(res.ID),
	}
	if mask, ok := c.set.Mask(res.ID); ok && !out.Pinned {
		out.Masked, out.Token, out.Path = true, mask.Token, mask.File
		out.Why, out.MaskedIn = policy.Reason(mask.Reason).Says(), mask.Request
	}
	switch {
	case out.Masked:
	case out.Pinned:
		out.Kept = "pinned"
	case res.Error:
		out.Kept = "an error"
	case c.settings.Kept(res) != "":
		out.Kept = c.settings.Kept(res)
	case res.Tokens < c.settings.MinResult:
		out.Kept = "small"
	case c.whole[res.ID]:
		out.Kept = "would not get shorter"
	case res.Kind != policy.KindOutput && res.Kind != policy.KindInput:
		out.Kept = string(res.Kind)
	}
	return out
}

// want has a content masked with the next request, whatever it costs.
func (c *conversation) want(id policy.ID) error {
	if c.set.Pinned(id) {
		if err := c.set.Unpin(id); err != nil {
			return err
		}
	}
	if _, masked := c.set.Mask(id); masked {
		return nil // it is again
	}
	if c.wanted == nil {
		c.wanted = map[policy.ID]bool{}
	}
	c.wanted[id] = true
	return nil
}

// all is what people write for all contents that can be masked.
const all = "all"

// named returns the contents that people name: by the beginning of an id, or by the token of what is masked.
func (c *conversation) named(names []string, pinned bool) ([]policy.ID, error) {
	var out []policy.ID
	for _, name := range names {
		var found []policy.ID
		for _, e := range c.picture.entries {
			id := e.result.ID
			mask, masked := c.set.Mask(id)
			switch {
			case name == all:
				if shown := c.shown(e); shown.Kept == "" || shown.Pinned && pinned {
					found = append(found, id)
				}
			case name != "" && strings.HasPrefix(string(id), name), masked && string(mask.Token) == name:
				found = append(found, id)
			}
		}
		switch {
		case len(found) == 0 && name != all:
			return nil, thread.Hint(fmt.Errorf("no result of a tool is called %q: %w", name, thread.ErrNotFound),
				"`orchestrator context show` lists them")
		case len(found) > 1 && name != all:
			return nil, fmt.Errorf("%q is the beginning of %d ids: write more of it: %w", name, len(found), thread.ErrInvalid)
		}
		out = append(out, found...)
	}
	return out, nil
}
