package tokens

import (
	"math"
	"slices"
)

// The bounds of what is learned from.
const (
	leastGrowth = 200      // of what the provider counted; less is mostly what surrounds a message
	mostGrowth  = 10 << 20 // no context is larger
	// A ratio outside of these is no error of counting: something else was added, or it is another conversation.
	leastRate, mostRate = 0.25, 6
	// A factor is never outside of these.
	leastFactor, mostFactor = 0.5, 3
	// enough is how many samples a factor needs before it is believed; fewAgree do if they are large and agree this far.
	enough   = 5
	fewAgree = 2
	agreed   = 0.05
	large    = 1_000 // tokens
	// window is how many samples a factor is made of, and mostTokens what one of them weighs at most.
	window     = 48
	mostTokens = 4_000
	// drift is how much of the margin a new sample makes, at least.
	drift = 1.0 / 32
	// leastMargin and mostMargin bound the margin.
	leastMargin, mostMargin = 0.05, 1
)

// sample is what a provider counted over what we counted, and how many tokens we counted, by which it weighs.
type sample struct{ ratio, weight float64 }

// sampleOf returns the sample of two counts, and whether something can be learned from it.
func sampleOf(growth, ours int64) (sample, bool) {
	if growth <= leastGrowth || growth > mostGrowth || ours <= 0 || ours > mostGrowth {
		return sample{}, false
	}
	s := sample{float64(growth) / float64(ours), min(float64(ours), mostTokens)}
	return s, s.sane()
}

// sane reports whether something can be learned from a sample, NaN included.
func (s sample) sane() bool {
	return s.ratio >= leastRate && s.ratio <= mostRate && s.weight >= 1 && s.weight <= mostTokens
}

// samples is what was learned of one model, or of one tool with it. The factor is the median of the newest ones by
// their weight: a few that are wrong, however much, do not move it, and small texts, of which most is what surrounds
// them, count little.
type samples struct {
	seen   []sample // the newest last
	n      int      // how many there have been
	factor float64  // of seen
	margin float64  // mean deviation from the factor, newer ones weigh more
}

// add learns from a sample.
func (s *samples) add(p sample) {
	before := s.factor
	if s.seen = append(s.seen, p); len(s.seen) > window {
		s.seen = slices.Delete(s.seen, 0, len(s.seen)-window)
	}
	s.factor = median(s.seen)
	if s.n++; s.n > enough {
		s.margin += (p.off(before) - s.margin) * max(1/float64(s.n), drift)
		return
	}
	s.margin = 0
	for _, p := range s.seen {
		s.margin += p.off(s.factor) / float64(len(s.seen))
	}
}

// off returns the relative error that a factor had for a sample.
func (s sample) off(factor float64) float64 { return min(math.Abs(s.ratio/factor-1), mostMargin) }

// believed reports whether there have been enough of them.
func (s *samples) believed() bool {
	if s == nil || s.n >= enough || s.n < fewAgree {
		return s != nil && s.n >= enough
	}
	for _, p := range s.seen {
		if p.weight < large || p.off(s.factor) > agreed {
			return false
		}
	}
	return true
}

// median returns the ratio that half of the weight is not above, within the bounds of a factor.
func median(seen []sample) float64 {
	sorted := slices.SortedFunc(slices.Values(seen), func(a, b sample) int {
		switch {
		case a.ratio < b.ratio:
			return -1
		case a.ratio > b.ratio:
			return 1
		default:
			return 0
		}
	})
	half := 0.0
	for _, p := range sorted {
		half += p.weight / 2
	}
	for _, p := range sorted {
		if half -= p.weight; half <= 0 {
			return min(max(p.ratio, leastFactor), mostFactor)
		}
	}
	return 1 // there are none
}
