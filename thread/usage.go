package thread

import (
	"fmt"
	"math"
)

// Usage is the cost of one model response, in tokens as the provider counted them. The kinds of input are disjoint:
// Input is what was neither read from nor written to a cache.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	// CacheWriteHour is the part of CacheWrite that the cache keeps for an hour, which costs more than the usual minutes.
	CacheWriteHour int64 `json:"cacheWriteHour,omitempty"`
	Output         int64 `json:"output"`
	// CostUSD is the price of the response by the price table; 0 if Priced is false.
	CostUSD float64 `json:"costUSD"`
	Priced  bool    `json:"priced"`
	// Unknown counts, in a sum, the responses whose cost is not known: CostUSD is the least then.
	Unknown int64 `json:"unknown,omitempty"`
}

// Context returns the tokens in the model's context after the response: all kinds of input and the output.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheWriteHour: u.CacheWriteHour + v.CacheWriteHour,
		Output:         u.Output + v.Output, CostUSD: u.CostUSD + v.CostUSD, Priced: u.Priced || v.Priced,
		Unknown: u.Unknown + v.Unknown,
	}
}

// mostOfOne is more tokens than any model reads or writes for one response.
const mostOfOne = 100_000_000

// Sane reports whether the numbers can be those of one response: none is negative, none is larger than any model's.
func (u Usage) Sane() bool {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteHour, u.Output} {
		if n < 0 || n > mostOfOne {
			return false
		}
	}
	return u.CostUSD >= 0 && u.CostUSD <= math.MaxFloat64
}

// Money formats what a sum of responses cost: "?" stands for what is not known. "" if there was none.
func (u Usage) Money() string {
	switch {
	case u.Context() == 0 && u.CostUSD == 0 && u.Unknown == 0:
		return ""
	case !u.Priced && u.CostUSD == 0:
		return "?"
	default:
		return Money(u.CostUSD, u.Unknown)
	}
}

// Gauge describes how full a thread's context is.
type Gauge struct {
	Tokens int64  `json:"tokens"`
	Window int64  `json:"window"` // the model's, in tokens; 0 is unknown
	Model  string `json:"model"`
	// Estimated is set if the number is not from the provider's usage.
	Estimated bool `json:"estimated"`
	// Margin is by how much an estimated number may be wrong, as a fraction: 0.05 is 5 %.
	Margin float64 `json:"margin,omitempty"`
	// Masked is how many tokens masks leave out of the context, and SavedUSD what masks have saved so far, less what they
	// cost; both over the thread's own responses.
	Masked   int64   `json:"masked,omitempty"`
	SavedUSD float64 `json:"savedUSD,omitempty"`
	// Base is about how many of the tokens the agent sent before a word was said, 0 if that is not known.
	Base int64 `json:"base,omitempty"`
	// CostUSD is the sum over the thread's responses, side requests included.
	CostUSD float64 `json:"costUSD"`
	// Source is where the tokens come from: "gateway", "transcript" or "none".
	Source string `json:"source"`
}

// Share returns tokens over window in percent, 0 if the window is unknown.
func (g Gauge) Share() float64 {
	if g.Window <= 0 {
		return 0
	}
	return float64(g.Tokens) * 100 / float64(g.Window)
}

// History returns about how many tokens the conversation has, 0 if it is not known what is besides.
func (g Gauge) History() int64 {
	if g.Base <= 0 {
		return 0
	}
	return max(0, g.Tokens-g.Base)
}

// Percent formats a share. It rounds down, as bands do: 29.9 % is not yet in the band that begins at 30.
func Percent(share float64) string { return fmt.Sprintf("%.0f%%", math.Floor(share)) }

// Band returns the band of the gauge.
func (g Gauge) Band() Band { return BandOf(g.Share()) }

// Band is a range of the context gauge.
type Band string

// The bands by share of the window: below 30, 60, 90, 95 %, and above.
const (
	BandNormal      Band = "normal"
	BandMasking     Band = "masking"
	BandSummarising Band = "summarising"
	BandEmergency   Band = "emergency"
	BandFull        Band = "full"
)

// BandOf returns the band of a share in percent.
func BandOf(percent float64) Band {
	switch {
	case percent < 30:
		return BandNormal
	case percent < 60:
		return BandMasking
	case percent < 90:
		return BandSummarising
	case percent < 95:
		return BandEmergency
	default:
		return BandFull
	}
}

// Tokens formats a count for people: 950, 8.4k, 84k, 1.2M.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
}

// USD formats dollars for people: what is less than a cent is not nothing.
func USD(usd float64) string {
	switch cents := math.Abs(usd) < 0.005; {
	case cents && usd > 0:
		return "<$0.01"
	case cents:
		return "$0.00"
	case usd < 0:
		return fmt.Sprintf("−$%.2f", -usd)
	default:
		return fmt.Sprintf("$%.2f", usd)
	}
}

// Money formats what is known of a cost, and that some of it is not: "$0.12", "$0.12 + ?", "?".
func Money(usd float64, unknown int64) string {
	switch {
	case unknown <= 0:
		return USD(usd)
	case usd == 0:
		return "?"
	default:
		return USD(usd) + " + ?"
	}
}
