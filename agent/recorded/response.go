package recorded

import "orchestrator/thread"

// Responses puts the provider's counts in front of the responses they belong to: agents write a response in parts, and
// its counts with any of them.
type Responses struct {
	// To takes the pieces, in order, and reports whether it wants more.
	To func(Piece) bool

	held    []Piece          // since the first piece of the response
	now     *thread.Exchange // the response that is held
	counted bool             // its counts are known
	prompt  string
	begins  bool // a turn has begun
	stopped bool
}

// Stopped reports whether no more pieces are wanted.
func (r *Responses) Stopped() bool { return r.stopped }

// Turn notes that a turn begins.
func (r *Responses) Turn() { r.begins = true }

// Asked tells what the person asked.
func (r *Responses) Asked(prompt string) { r.prompt = prompt }

// Now returns the response that is held, to add what is known of it; nil if there is none.
func (r *Responses) Now() *thread.Exchange { return r.now }

// Begin begins a response: what comes now is held until it ends.
func (r *Responses) Begin(e thread.Exchange) {
	r.End()
	e.Status, e.Prompt = 200, r.prompt
	r.now, r.counted = &e, false
}

// Add adds a piece.
func (r *Responses) Add(p Piece) {
	if r.now == nil {
		r.give(p)
		return
	}
	r.held = append(r.held, p)
	switch {
	case p.Own && p.Kind == Text:
		r.now.Text += p.Text
	case p.Own && p.Kind == Call:
		r.now.Tools = append(r.now.Tools, p.Tool)
	}
}

// Count tells what the provider counted of the response that is held.
func (r *Responses) Count(u thread.Usage) { r.now.Usage, r.counted = u, true }

// End ends the response that is held.
func (r *Responses) End() {
	held, e := r.held, r.now
	r.held, r.now = nil, nil
	if e != nil && r.counted && (len(held) == 0 || !held[0].Own) {
		held = append([]Piece{{Kind: Text, Own: true}}, held...) // the file does not have what was written
		if len(held) > 1 {
			held[0].At = held[1].At
		}
	}
	for i, p := range held {
		if i == 0 && r.counted {
			p.Response = e
		}
		r.give(p)
	}
}

func (r *Responses) give(p Piece) { r.stopped = r.stopped || !r.To(p) }
