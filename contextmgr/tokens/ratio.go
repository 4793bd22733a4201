package tokens

import "math"

// The bounds of a ratio, in bytes per token, and what is assumed before anything was counted.
const (
	usualRatio = 3.5
	leastRatio = 1
	mostRatio  = 8

	// assumed is how many tokens the assumption weighs, and remembered how many are remembered: so the ratio follows what
	// an agent works on.
	assumed    = 4_000
	remembered = 200_000
	// mostWeight is the length in bytes of which a longer text has the weight: a single file of one letter says little.
	mostWeight = 64 << 10
)

// ratio is how many bytes a token has, learned from the texts that were counted.
type ratio struct{ bytes, tokens float64 }

func newRatio() ratio { return ratio{usualRatio * assumed, assumed} }

// add learns from a text.
func (r *ratio) add(bytes, tokens int64) {
	if bytes <= 0 || tokens <= 0 {
		return
	}
	b, t := float64(bytes), float64(tokens)
	if b > mostWeight {
		b, t = mostWeight, t*mostWeight/b
	}
	if r.bytes, r.tokens = r.bytes+b, r.tokens+t; r.tokens > remembered {
		r.bytes, r.tokens = r.bytes/2, r.tokens/2
	}
}

// estimate returns how many tokens a text of some length probably has.
func (r ratio) estimate(bytes int) int64 {
	if bytes <= 0 {
		return 0
	}
	per := min(max(r.bytes/r.tokens, leastRatio), mostRatio)
	return int64(math.Ceil(float64(bytes) / per))
}

// sane reports whether adding could have made this ratio.
func (r ratio) sane() bool {
	return r.bytes >= 1 && r.tokens >= 1 && r.bytes < 1e12 && r.tokens < 1e12 // NaN is not
}
