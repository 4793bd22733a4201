package recording

// phase is where a conversation stands at its newest checkpoint: it decides what the next response is part of, and
// whether an end of its turn is still to come.
type phase uint8

const (
	phaseEnded   phase = iota // the turn has ended: what follows is the next one
	phaseLeft                 // it was closed for its agent, which may go on with it by itself
	phaseRunning              // more of it is to come
	phaseCut                  // its newest answer was cut off: the agent may try again, or leave it
)

// phaseAfter is the phase after a response. unread is set for one that came whole and that nobody could read.
func phaseAfter(ends, interrupted, unread bool) phase {
	switch {
	case interrupted:
		return phaseCut
	case !ends:
		return phaseRunning
	case unread:
		return phaseLeft
	default:
		return phaseEnded
	}
}

// phaseOf is the phase of a stored checkpoint: the process that would have gone on with an unfinished turn is no more.
func phaseOf(whole bool) phase {
	if whole {
		return phaseEnded
	}
	return phaseCut
}

// open reports whether the turn has not ended.
func (p phase) open() bool { return p == phaseRunning || p == phaseCut }

// begins reports whether a response begins a turn. spoke is set where its request holds a word of the person that the
// one before did not, changed where the person's words in it are others than the turn's; asked is set where it is about
// a prompt that no turn answered yet, ours where that one was typed by us.
func (p phase) begins(spoke, changed, asked, ours bool) bool {
	switch p {
	case phaseRunning: // what the person typed in the middle is part of it; ours is not typed into one
		return ours
	case phaseCut:
		return asked || changed
	default:
		return spoke || asked
	}
}
