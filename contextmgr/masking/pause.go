package masking

// pause keeps more of a conversation from being masked by itself. It is 0 if nothing is kept, the number of the request
// with which masking goes on, or untilNextTurn.
type pause int

// untilNextTurn lasts until the turn after the one of the next request: what was masked is lost, and the turn that finds
// that reads it again.
const untilNextTurn pause = -1

// holds reports whether it holds in the turn that begins with a request.
func (p *pause) holds(turn int) bool {
	if *p == untilNextTurn {
		*p = pause(turn + 1)
	}
	if turn >= int(*p) {
		*p = 0
	}
	return *p > 0
}
