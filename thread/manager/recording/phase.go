package recording

// phase is the phase of a conversation at its newest checkpoint: it decides which turn the next response belongs to,
// and whether the turn still has to be ended.
type phase uint8

const (
	phaseEnded   phase = iota // the turn has ended: the next response begins another
	phaseLeft                 // it was ended on behalf of its agent, which may still continue it
	phaseRunning              // the turn continues
	phaseCut                  // its newest answer was cut off: the agent may retry or give up
)

// phaseAfter is the phase after a response. unread is set for a complete response that could not be read.
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

// phaseOf is the phase of a stored checkpoint: the process that would have continued an unfinished turn is gone.
func phaseOf(whole bool) phase {
	if whole {
		return phaseEnded
	}
	return phaseCut
}

// open reports whether the turn has not ended.
func (p phase) open() bool { return p == phaseRunning || p == phaseCut }

// begins reports whether a response begins a turn. spoke is set if its request contains words of the person that the
// previous one did not, changed if the person's words in it differ from the turn's; asked is set if it is about an
// unanswered prompt, ours if we typed that prompt, and not into a turn.
func (p phase) begins(spoke, changed, asked, ours bool) bool {
	switch p {
	case phaseRunning: // a prompt that the person types in the middle is part of the turn; ours are not typed then
		return ours
	case phaseCut:
		return asked || changed
	default:
		return spoke || asked
	}
}
