package masking

import (
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// assessment is what is found out about a main request.
type assessment struct {
	measured measurement
	picture  picture             // for people
	decision policy.Decision     // about it
	next     policy.Decision     // what masking more would mean
	judged   policy.Conversation // what that is about
}

// againWithin is how soon an agent repeats by itself what was refused: Claude Code does once, with all its tools.
const againWithin = 30 * time.Second

// refused is a request that was not sent, with what people see of it.
type refused struct {
	at     time.Time
	items  int
	prompt string
	why    string
	seen   assessment
}

// again reports whether a request is the same prompt once more, which its agent repeats: people see one refusal, and the
// size that it was about.
func (f *refused) again(scan *wire.Scan, now time.Time) bool {
	return f.why != "" && f.items == len(scan.Items) && f.prompt == scan.Request.Prompt && now.Sub(f.at) < againWithin
}
