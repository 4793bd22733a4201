package policy

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"orchestrator/thread"
)

// Stub returns the text that stands in place of a masked result. After it come the path of a file with the content and
// the token that gives it back, if they are not empty. It never changes for the same result, because providers cache
// requests by their bytes.
func Stub(tool string, lines int, tokens int64, path, token string) string {
	text := fmt.Sprintf("[Masked: %s returned %d lines, %d tokens]", word(tool), lines, tokens)
	for _, more := range []string{path, token} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}

// word returns a tool's name as one short word, whatever the tool is called.
func word(tool string) string {
	const most = 100
	name := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != ' ' && r != '[' && r != ']' && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, strings.ToValidUTF8(tool, ""))
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	if name == "" {
		return "tool"
	}
	return name
}

// Forecast says for people what masking a batch now would mean. usd is the price of a token of input that goes past the
// cache, 0 if it is unknown.
func (b Batch) Forecast(usd float64) string {
	frees := "masking now frees " + thread.Tokens(b.Frees)
	switch {
	case b.Frees <= 0:
		return "nothing to mask"
	case b.Cost <= 0:
		return frees + " and costs nothing"
	case math.IsInf(b.BreakEven, 0):
		return frees + " and never pays back"
	}
	cost := "of " + thread.Tokens(b.Rewrites) + " tokens"
	if usd > 0 {
		cost = fmt.Sprintf("of $%.2f", b.Cost*usd)
	}
	requests := "requests"
	back := int64(math.Ceil(b.BreakEven))
	if back == 1 {
		requests = "request"
	}
	return fmt.Sprintf("%s, costs one cache write %s, pays back in %d %s", frees, cost, back, requests)
}
