package reading

import "orchestrator/ui/intent"

// maxCount limits the number before a motion.
const maxCount = 99999

// Digit adds a digit to the number before a motion.
func (r *Text) Digit(d int) { r.count = min(r.count*10+d, maxCount) }

// Count returns the number that was typed so far.
func (r *Text) Count() int { return r.count }

// Act does what a key asks for, and reports whether that was something to read with.
func (r *Text) Act(a intent.Action) bool {
	n := r.count
	if a == intent.LineStart && n > 0 { // the key 0
		r.Digit(0)
		return true
	}
	r.count = 0
	switch a {
	case intent.SelectText:
		r.Select(Cells)
	case intent.SelectLines:
		r.Select(Lines)
	case intent.SelectBlock:
		r.Select(Block)
	case intent.SelectOutput:
		r.SelectOutput()
	case intent.NextHit, intent.PrevHit:
		r.nextHit(r.find.back == (a == intent.NextHit), max(n, 1))
	default:
		return r.motion(a, n)
	}
	return true
}
