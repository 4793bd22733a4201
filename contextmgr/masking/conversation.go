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

	scan  *wire.Scan // of the last main request
	model string
	tools int
	asked time.Time     // when the last main request was sent, or an answer came before this server started
	ttl   time.Duration // how long the provider keeps the cache, 0 if unknown

	// What the provider counted for a main request, and what was estimated for the same request. A later request is
	// estimated by how its estimate differs.
	counted, estimated int64
	window             int64

	last     measured           // of the last main request
	picture  picture            // likewise, for people
	wanted   map[policy.ID]bool // what people want masked with the next request
	decision policy.Decision
	whole    map[policy.ID]bool // contents that do not become shorter
	stubs    map[policy.ID][]byte
	rereads  int
	maskedAt map[part]int // what was read and is masked, since which request
}

// part is a part of a file that was read.
type part struct{ file, part string }

// context returns how many tokens a request has that is estimated to have so many.
func (c *conversation) context(estimate int64) int64 {
	if c.counted == 0 {
		return estimate
	}
	return max(0, c.counted+estimate-c.estimated)
}

// tell tells people something once.
func (r *request) tell(what, text string) {
	if !r.conversation.told[what] {
		r.conversation.told[what] = true
		r.outgoing.Notice(thread.LevelWarn, text)
	}
}
