package policy

import "orchestrator/thread"

// Reason is why a batch is masked, or why not.
type Reason string

// The reasons.
const (
	ReasonOff       Reason = "off"
	ReasonNothing   Reason = "nothing to mask"
	ReasonCold      Reason = "cold cache"
	ReasonPays      Reason = "pays"
	ReasonEmergency Reason = "emergency"
	ReasonPerson    Reason = "by you"   // never of a batch
	ReasonRepeated  Reason = "repeated" // likewise: it stands there already
	ReasonSmall     Reason = "context is small"
	ReasonFew       Reason = "batch is small"
	ReasonCosts     Reason = "does not pay"
)

// Says returns a reason in words for people, of why something is masked.
func (r Reason) Says() string {
	switch r {
	case ReasonCold:
		return "the cache was lost"
	case ReasonPays:
		return "it pays"
	case ReasonEmergency:
		return "the window was almost full"
	case ReasonRepeated:
		return "it stands above, unchanged"
	case ReasonPerson, ReasonOff, ReasonNothing, ReasonSmall, ReasonFew, ReasonCosts:
	}
	return string(r)
}

// masks reports whether a batch is masked for this reason.
func (r Reason) masks() bool { return r == ReasonCold || r == ReasonPays || r == ReasonEmergency }

// Ask is what a conversation needs that masking does not do.
type Ask string

// What is asked for, by the share of the window that is filled when the masks are applied.
const (
	AskNothing   Ask = ""
	AskSummarise Ask = "summarise"
	AskWarn      Ask = "warn"
	AskFork      Ask = "fork"
)

// Decision describes what to do before a request is sent.
type Decision struct {
	// Mask has the ids that are masked from this request on, besides those that are masked already. It is empty in modes
	// observe and off.
	Mask []ID
	// Batch is what is masked, or the best that could be, and Reason why it is or is not.
	Batch  Batch
	Reason Reason
	Ask    Ask
	// Context is the size of the request in tokens when Mask is applied.
	Context int64
}

// Decide decides what to mask of a conversation.
func Decide(c Conversation, s Settings) Decision {
	d := Decision{Reason: ReasonOff, Context: c.Context}
	switch s.Mode {
	case ModeSafe, ModeLean, ModeObserve:
		d.Batch, d.Reason = s.batch(c)
	case ModeOff:
	}
	if d.Reason.masks() && s.Mode != ModeObserve {
		d.Mask = d.Batch.IDs
		d.Context -= d.Batch.Frees
	}
	d.Ask = ask(d.Context, c.Window)
	return d
}

// batch returns the best batch, and whether it is masked.
func (s Settings) batch(c Conversation) (Batch, Reason) {
	if late(c) {
		if b := s.whole(c, s.eligibleLate(c)); b.Frees >= s.MinBatchCold {
			return b, ReasonEmergency
		}
	}
	b := s.best(c, s.eligible(c))
	switch {
	case b.Frees <= 0:
		return b, ReasonNothing
	case c.cold() && b.Frees >= s.MinBatchCold:
		return b, ReasonCold
	case c.Context < s.trigger(c.Window):
		return b, ReasonSmall
	case b.Frees < s.batchSize(c):
		return b, ReasonFew
	case !b.Pays():
		return b, ReasonCosts
	default:
		return b, ReasonPays
	}
}

// late reports whether the window is almost full.
func late(c Conversation) bool {
	band := bandOf(c.Context, c.Window)
	return band == thread.BandEmergency || band == thread.BandFull
}

func ask(context, window int64) Ask {
	switch bandOf(context, window) {
	case thread.BandSummarising:
		return AskSummarise
	case thread.BandEmergency:
		return AskWarn
	case thread.BandFull:
		return AskFork
	default:
		return AskNothing
	}
}

// bandOf returns the band of a context. Of an unknown window nothing is said.
func bandOf(context, window int64) thread.Band {
	return thread.Gauge{Tokens: context, Window: window}.Band()
}
