// Package offers notices when a fork would help a thread, by the rules of package suggest. It observes the responses
// that are recorded, and is not part of recording them.
package offers

import (
	"context"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/manager/recording"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
	"orchestrator/thread/suggest"
)

// The limits on offers.
const (
	offerPause  = 5  // turns between two offers of one rule in one thread
	subjectPast = 50 // turns that a thread's subject is read from
)

// Signals is what is known of a thread to notice when a fork would help. It is used by the steps of the thread's queue.
type Signals struct {
	id   thread.ID
	past past.Reader

	loaded   bool
	subject  suggest.Subject
	prompt   string // of the running turn, not part of the subject yet
	answer   string
	failures int // similar tool failures in a row
	failure  string
	offered  map[suggest.Rule]int // turn of the last offer by rule
}

// NewSignals returns the signals of a thread. They are read when needed.
func NewSignals(id thread.ID, stored past.Reader) *Signals { return &Signals{id: id, past: stored} }

// Observe looks at a response and returns a fork to offer if the rules say so. A fork begins where the turn began,
// except that one for a full context includes the turn. forkPoint is where the thread itself was forked.
func (s *Signals) Observe(
	ctx context.Context, a recording.Response, forkPoint thread.CheckpointID,
) (thread.Offer, bool) {
	s.load(ctx, a.Began)
	failedBefore := s.failures
	s.results(s.past.Entries(a.News))
	in := suggest.Input{Subject: s.subject}
	if a.First {
		if s.prompt != "" {
			s.subject.Add(secret.Redact(s.prompt), s.answer)
			in.Subject = s.subject
		}
		s.prompt, s.answer = plaintext.Cut(a.Prompt, thread.MaxExcerpt), "" // an offered fork needs it unredacted
		in.Prompt = secret.Redact(s.prompt)
	}
	s.answer = plaintext.Cut(s.answer+" "+thread.Excerpt(a.Text), 4*thread.MaxExcerpt)
	if s.failures > failedBefore {
		in.Failures, in.Failure = s.failures, s.failure
	}
	if a.EndsTurn { // a person cannot act on it in the middle of a turn
		in.Share = a.Gauge.Share()
		if Past(thread.Offer{Rule: string(suggest.RuleBand)}, a.Gauge) {
			delete(s.offered, suggest.RuleBand) // when it is full again that is new
		}
	}
	found, ok := suggest.Consider(in)
	at := a.Began
	if found.Rule == suggest.RuleBand {
		at = a.Head
	}
	if !ok || at == "" || leaves(found.Rule) && at == forkPoint {
		return thread.Offer{}, false // a fork's first prompt is what it was created for
	}
	if last, was := s.offered[found.Rule]; was && a.Turn-last < offerPause {
		return thread.Offer{}, false
	}
	if s.offered == nil {
		s.offered = make(map[suggest.Rule]int)
	}
	s.offered[found.Rule] = a.Turn
	o := thread.Offer{
		ID: thread.NewID[string](), Thread: s.id, At: at, Label: found.Label, Rule: string(found.Rule), Why: found.Why,
	}
	if leaves(found.Rule) {
		o.Prompt = s.prompt
	}
	return o, true
}

// Leaves returns the offer of a fork for a prompt that leaves the thread's subject, false for one that belongs to the
// thread. head is the thread's newest checkpoint.
func (s *Signals) Leaves(ctx context.Context, head thread.CheckpointID, prompt string) (suggest.Offer, bool) {
	s.load(ctx, head)
	subject := s.subject.Clone()
	if s.prompt != "" { // the newest turn's prompt is not part of it yet
		subject.Add(secret.Redact(s.prompt), s.answer)
	}
	found, ok := suggest.Consider(suggest.Input{Prompt: thread.Excerpt(prompt), Subject: subject})
	return found, ok && leaves(found.Rule)
}

// Request returns the fork request for an offer. If the context is full the fork gets only a summary.
func Request(o thread.Offer) thread.ForkRequest {
	return thread.ForkRequest{
		Thread: string(o.Thread), At: string(o.At), Label: o.Label, Prompt: o.Prompt, Fresh: Full(o),
	}
}

// Full reports whether an offer is one for a full context.
func Full(o thread.Offer) bool { return o.Rule == string(suggest.RuleBand) }

// Past reports whether an offer for a full context has nothing to say any more: masking or a summary has freed much of it.
func Past(o thread.Offer, now thread.Gauge) bool {
	band := now.Band()
	return Full(o) && (band == thread.BandNormal || band == thread.BandMasking)
}

// Current returns an open offer as it is true now, with so many percent of the context used.
func Current(o *thread.Offer, share float64) *thread.Offer {
	if o == nil || !Full(*o) {
		return o
	}
	now := *o
	now.Why = suggest.Full(share)
	return &now
}

// leaves reports whether a rule is about a prompt that leaves its thread's subject.
func leaves(r suggest.Rule) bool { return r == suggest.RuleApproach || r == suggest.RuleSubject }

// load reads the thread's subject from the stored turns, once.
func (s *Signals) load(ctx context.Context, head thread.CheckpointID) {
	if s.loaded {
		return
	}
	s.loaded = true
	if head == "" {
		return
	}
	list, err := s.past.Store.Lineage(ctx, head, thread.Page{Turns: true, Limit: subjectPast})
	if err != nil {
		s.past.Log.Warn("read the subject of a thread", "thread", string(s.id), "err", err)
		return
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == thread.KindTurn {
			s.subject.Add(list[i].Prompt, list[i].Answer)
		}
	}
}

// results counts similar tool failures.
func (s *Signals) results(entries []thread.Entry) {
	for _, e := range entries {
		switch e.Kind {
		case thread.EntryCall:
			s.subject.AddText(plaintext.Cut(e.Text, 500)) // file names say what a thread is about
		case thread.EntryResult:
			text := plaintext.OneLine(e.Text, 200)
			switch {
			case !e.Error:
				s.failures, s.failure = 0, ""
			case alike(text, s.failure):
				s.failures++
			default:
				s.failures, s.failure = 1, text
			}
		default:
		}
	}
}

// alike reports whether two failures are the same except for numbers.
func alike(a, b string) bool {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	return bare(a) == bare(b)
}
