package summaries

import (
	"fmt"
	"strings"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

var errBusy = thread.Kindf(thread.ErrRefused, "a summary of this thread is being written")

// Thread has the summaries of a thread. The lock of its conversation is held when it is used.
type Thread struct {
	id           thread.ID
	conversation Conversation

	offer    *thread.SummaryOffer
	writing  bool    // one is being written
	failed   int     // how many failed since one was stored
	unbilled float64 // what they cost in USD and what no exchange was charged for yet
	standing string  // the text of the one in the last main request

	toldOffer, toldFailure bool // people have been told, and need not be again
}

// New returns the summaries of a thread with this conversation.
func New(id thread.ID, c Conversation) *Thread { return &Thread{id: id, conversation: c} }

// Stand notes where a summary stands in a main request. It reports whether it is another than in the one before.
func (t *Thread) Stand(p Place) bool {
	before := t.standing
	t.standing = p.Summary.Text
	return t.standing != before && t.standing != ""
}

// Bill returns what writing summaries cost in USD since it was called before.
func (t *Thread) Bill() float64 {
	usd := t.unbilled
	t.unbilled = 0
	return usd
}

// Pending reports whether something is to be done that is not stored.
func (t *Thread) Pending() bool { return t.writing || t.unbilled > 0 }

// Offer returns what a summary of the older turns would mean, nil if there can be none.
func (t *Thread) Offer() *thread.SummaryOffer { return t.offer }

// List returns the summaries for people, oldest first.
func (t *Thread) List() []thread.ContextSummary {
	var out []thread.ContextSummary
	stored := t.conversation.State().Masks
	for _, s := range stored.Summaries() {
		whole, _ := stored.Mask(wholeOf(s.ID))
		out = append(out, thread.ContextSummary{
			ID: s.ID, Items: s.Items, Tokens: s.Tokens, Replaced: s.Replaced, Text: summary.Own(s.Text), File: whole.File,
			Source: s.Source, At: s.At, Dropped: s.Dropped, Stands: s.Text == t.standing,
		})
	}
	return out
}

// Drop has all be sent again that a summary stands for.
func (t *Thread) Drop(id string) error {
	sum, err := t.find(id)
	if err != nil {
		return err
	}
	sum.Dropped = true
	return t.conversation.State().Masks.SetSummary(sum)
}

// Edit changes the text of a summary; tokens estimates those of so many bytes.
func (t *Thread) Edit(id, text string, tokens func(int) int64) error {
	sum, err := t.find(id)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return thread.Hint(fmt.Errorf("a summary without a text: %w", thread.ErrInvalid), "drop it to have all sent again")
	}
	stored := t.conversation.State().Masks
	sum.Source = "a person"
	whole, _ := stored.Mask(wholeOf(sum.ID))
	sum.Text = summary.Text(summary.Note{Source: sum.Source, Replaced: sum.Replaced, File: whole.File, Text: text})
	sum.Tokens = tokens(len(sum.Text))
	return stored.SetSummary(sum)
}

// find returns a summary by the beginning of its id.
func (t *Thread) find(id string) (masks.Summary, error) {
	var found []masks.Summary
	for _, sum := range t.conversation.State().Masks.Summaries() {
		if id != "" && strings.HasPrefix(sum.ID, id) {
			found = append(found, sum)
		}
	}
	switch len(found) {
	case 0:
		return masks.Summary{}, thread.Hint(fmt.Errorf("summary %.20q: %w", id, thread.ErrNotFound),
			"`orchestrator context summary` lists them")
	case 1:
		return found[0], nil
	default:
		return masks.Summary{}, thread.Kindf(thread.ErrInvalid, "%.20q is the beginning of %d ids: write more of it", id, len(found))
	}
}

// allow refuses a summary that may not be written. The conversation's lock is not held.
func (t *Thread) allow(how Settings, by thread.SummaryAuthor) error {
	t.conversation.Lock()
	defer t.conversation.Unlock()
	switch state := t.conversation.State(); {
	case state.Mode != thread.MaskSafe && state.Mode != thread.MaskLean:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "nothing is replaced in mode %s (%s)", state.Mode, state.Why),
			"set the mode safe or lean first")
	case by == thread.ByProgram && how.Program == nil:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "no program writes summaries"),
			"name one with summary_program in the configuration")
	case by == thread.ByExtract, by == thread.ByProgram:
		return nil
	case by != thread.ByModel:
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "%q does not write summaries", by),
			"use model, extract or program")
	case state.Login && !how.Login:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "the agent uses a subscription login, and a request of the program's own needs consent"), "set summary_login = \"allow\" in the configuration, or make an extract")
	case how.Model == nil:
		return thread.Kindf(thread.ErrRefused, "no model writes summaries")
	}
	return nil
}

// begin plans a summary with the masks that are in force now, and marks the thread as being summarised, until end.
func (t *Thread) begin(
	how Settings, by thread.SummaryAuthor, o gateway.Outgoing, scanner wire.Scanner, scan *wire.Scan,
) (p plan, d summary.Draft, err error) {
	t.conversation.Lock()
	defer t.conversation.Unlock()
	if t.writing {
		return p, d, errBusy
	}
	p, err = newPlan(t.conversation.Sent(o, scanner, scan), t.conversation.State().Masks.Summaries())
	if err != nil {
		return p, d, err
	}
	if by == thread.ByModel && how.MostUSD > 0 && p.usd > how.MostUSD {
		return p, d, thread.Hint(fmt.Errorf("the model would cost about $%.2f, more than the $%.2f that a summary may: %w",
			p.usd, how.MostUSD, thread.ErrLimit), "raise summary_usd in the configuration, or make an extract")
	}
	t.writing = true
	return p, p.draft(how.Also), nil
}

// end ends what begin began.
func (t *Thread) end() {
	t.conversation.Lock()
	defer t.conversation.Unlock()
	t.writing = false
}

// written takes over what an author wrote of a plan, and stores it with all that it replaces. It says what has become of
// the turns; err is why what was written is not used.
func (t *Thread) written(p plan, replaced string, w summary.Written, err error) (string, error) {
	t.conversation.Lock()
	defer t.conversation.Unlock()
	t.unbilled += w.CostUSD
	if err != nil {
		return "", err
	}
	state, sum := t.conversation.State(), p.sum
	sum.Source = w.Source
	note := summary.Note{Source: w.Source, Replaced: sum.Replaced, Text: w.Text}
	sum.Tokens = p.of.Tokens([]byte(summary.Text(note))) + p.of.Settings.StubTokens
	whole := masks.New{
		Mask:    masks.Mask{ID: wholeOf(sum.ID), Tokens: sum.Replaced, At: sum.At, Reason: "summary", Request: state.Answered},
		Content: []byte(replaced),
		Text: func(file string, _ thread.Token) string {
			note.File = file
			return summary.Text(note)
		},
	}
	if err := state.Masks.Add([]masks.New{whole}); err != nil {
		return "", err
	}
	stored, ok := state.Masks.Mask(whole.ID)
	if !ok {
		return "", fmt.Errorf("what it replaces is not stored: %w", thread.ErrNotFound)
	}
	note.File = stored.File
	sum.Text = summary.Text(note)
	if err := state.Masks.AddSummary(sum); err != nil {
		return "", err
	}
	t.offer, t.failed, t.toldOffer, t.toldFailure = nil, 0, false, false
	return become(p, sum, w), nil
}

// wholeOf returns the id under which all that a summary replaces is kept.
func wholeOf(id string) policy.ID { return policy.ID("summary-" + id) }

// offered returns what a summary would mean, and how to have it written.
func offered(p plan) string {
	cost := ""
	if p.priced {
		cost = " (" + thread.USD(p.usd) + ")"
	}
	share := thread.Gauge{Tokens: p.of.Context, Window: p.of.Window}.Share()
	return fmt.Sprintf("context %s. A summary would free %s%s. s in context", thread.Percent(share), thread.Tokens(p.gain.Frees), cost)
}

// become returns what has become of older turns.
func become(p plan, sum masks.Summary, w summary.Written) string {
	what := "an extract"
	if sum.Source != "" {
		what = "a summary by " + sum.Source
	}
	cost := ""
	if w.CostUSD > 0 {
		cost = fmt.Sprintf("; writing it cost $%.2f", w.CostUSD)
	}
	return fmt.Sprintf("%s, %s tokens, are replaced by %s of %s tokens%s",
		turns(p.turns), thread.Tokens(sum.Replaced), what, thread.Tokens(sum.Tokens), cost)
}

// turns names the oldest turns.
func turns(n int) string {
	if n == 1 {
		return "the oldest turn"
	}
	return fmt.Sprintf("the %d oldest turns", n)
}
