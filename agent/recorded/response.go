package recorded

import "orchestrator/thread"

// Responses puts the provider's counts in front of the responses they belong to: agents write a response in parts, and
// its counts with any of them.
type Responses struct {
	// To takes the pieces, in order, and reports whether it wants more.
	To func(Piece) bool

	held    []Piece // since the first piece of the response
	open    bool    // a response is held
	stopped bool
}

// Stopped reports whether no more pieces are wanted.
func (r *Responses) Stopped() bool { return r.stopped }

// Open reports whether a response is held.
func (r *Responses) Open() bool { return r.open }

// Begin begins a response: what comes now is held until it ends.
func (r *Responses) Begin() {
	r.End(nil, "")
	r.open = true
}

// Add adds a piece.
func (r *Responses) Add(p Piece) {
	if r.open {
		r.held = append(r.held, p)
		return
	}
	r.give(p)
}

// End ends the response, of which these are the counts; nil if they are not known.
func (r *Responses) End(u *thread.Usage, model string) {
	held := r.held
	r.held, r.open = nil, false
	if u != nil && (len(held) == 0 || !held[0].Own) {
		held = append([]Piece{{Kind: Text, Own: true}}, held...) // the file does not have what was written
		if len(held) > 1 {
			held[0].At = held[1].At
		}
	}
	for i, p := range held {
		if i == 0 {
			p.Usage, p.Model = u, model
		}
		r.give(p)
	}
}

func (r *Responses) give(p Piece) { r.stopped = r.stopped || !r.To(p) }
