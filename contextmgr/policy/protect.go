package policy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"orchestrator/thread"
)

// mostStretch bounds how far re-reads stretch what is protected.
const mostStretch = 4

// stretch returns by what factor more is protected because masked results were read again: 1 while at most RereadShare
// of them were, 2 up to twice as many, and so on.
func (s Settings) stretch(c Conversation) int {
	if c.MaskedResults <= 0 || c.Rereads <= 0 || s.RereadShare <= 0 {
		return 1
	}
	share := 100 * float64(c.Rereads) / float64(c.MaskedResults)
	return int(min(mostStretch, max(1, math.Ceil(share/s.RereadShare))))
}

// Why a result is not masked yet, although it may be later.
const (
	yetRule   = "one of the newest that a rule keeps"
	yetNewest = "one of the newest"
	yetTurn   = "its turn is still running"
	yetFile   = "its file is being worked on"
)

// protection returns a function that says why a result is protected, "" if it is not.
func (s Settings) protection(c Conversation) func(i int) string {
	kept := s.newest(c)
	files, rules := s.files(c), s.ruled(c)
	return func(i int) string {
		r := c.Results[i]
		switch {
		case rules.protect(i, false):
			return yetRule
		case r.Kind == KindInput && r.Request >= c.TurnBegins,
			r.Request > c.Request-s.TurnRequests && r.Request >= c.TurnBegins:
			return yetTurn
		case i >= kept:
			return yetNewest
		case files.protect(i, r):
			return yetFile
		default:
			return ""
		}
	}
}

// eligible returns the indexes of the results that may be masked, in order.
func (s Settings) eligible(c Conversation) []int {
	protected := s.protection(c)
	return c.unmasked(s, func(i int) bool { return protected(i) != "" })
}

// Unmasked says of each result that is not masked, and may be one day, why it is not yet: what protects it, "" if only
// the batch that it belongs to does not pay.
func (s Settings) Unmasked(c Conversation) map[ID]string {
	protected := s.protection(c)
	out := make(map[ID]string)
	for i, r := range c.Results {
		if r.Masked || !r.maskable(s) {
			continue
		}
		if why, known := out[r.ID]; !known || why == "" {
			out[r.ID] = protected(i)
		}
	}
	return out
}

// eligibleLate returns what may be masked when the window is almost full: all but the newest result and the inputs of
// the running turn.
func (s Settings) eligibleLate(c Conversation) []int {
	last := len(c.Results) - 1
	for last >= 0 && c.Results[last].Kind == KindInput {
		last--
	}
	rules := s.ruled(c)
	return c.unmasked(s, func(i int) bool {
		r := c.Results[i]
		return rules.protect(i, true) || i == last || r.Kind == KindInput && r.Request >= c.TurnBegins
	})
}

// unmasked returns the indexes of the results that are worth a mask and not protected. The same content may stand in a
// conversation more than once under one id: it is masked everywhere or nowhere.
func (c Conversation) unmasked(s Settings, protected func(i int) bool) []int {
	keep := func(i int) bool { return protected(i) || !c.Results[i].maskable(s) }
	var out []int
	for i, r := range c.Results {
		if !r.Masked && !keep(i) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil
	}
	free := make(map[ID]bool, len(out)) // whether it is kept nowhere; mostly there are few of them
	for _, i := range out {
		free[c.Results[i].ID] = true
	}
	for i, r := range c.Results {
		if !r.Masked && free[r.ID] && keep(i) {
			free[r.ID] = false
		}
	}
	return slices.DeleteFunc(out, func(i int) bool { return !free[c.Results[i].ID] })
}

// maskable reports whether a result may ever be masked.
func (r Result) maskable(s Settings) bool {
	return r.ID != "" && (r.Kind == KindOutput || r.Kind == KindInput) && !r.Error &&
		r.Tokens >= s.MinResult && r.Tokens > s.StubTokens
}

// newest returns the index from which on results are too new to be masked: at least the newest one.
func (s Settings) newest(c Conversation) int {
	stretch := s.stretch(c)
	tokens, count := int64(0), 0
	for i := len(c.Results) - 1; i >= 0; i-- {
		r := c.Results[i]
		if r.Kind == KindInput {
			continue
		}
		if !r.Masked {
			tokens += r.Tokens
		}
		if count >= max(1, s.KeptResults) && tokens > s.KeptTokens*int64(stretch) {
			return i + 1
		}
		count++
	}
	return 0
}

// files are the files that are being worked on: for each one the index of its last read, -1 if there is none.
type files map[string]int

// worth returns for how many requests a read of a file is worth keeping. Each of them reads its tokens T from the cache,
// at the price Read. If it is masked and needed again, T are written, at the price Write, and one more request reads the
// whole context C. Both cost the same after Write/Read + C/T requests, so that small files are kept long and large ones
// only while they are in use; not every file is needed again, so that a share of it is spent.
func (s Settings) worth(c Conversation, tokens int64, changed bool) float64 {
	n := s.FileShare * (c.Prices.Write/c.Prices.Read + float64(c.Context+s.RereadTokens)/float64(tokens))
	if changed {
		n *= s.FileChanged
	}
	if most := float64(s.FileRequests); !(n < most) { // prices that say nothing make no number
		return most
	}
	return n
}

// files returns the files that are being worked on, in the modes that keep them, as far as they fit.
func (s Settings) files(c Conversation) files {
	if s.Mode == ModeLean {
		return nil
	}
	stretch := s.stretch(c)
	after := c.Request - s.FileRequests*stretch
	touched, last, changed := make(map[string]int), make(files), make(map[string]bool)
	for i, r := range c.Results {
		for _, name := range []string{r.Reads, r.Writes} {
			if name != "" && r.Request > after {
				touched[name] = i
			}
		}
		if r.Writes != "" {
			changed[r.Writes] = true
		}
		if r.Reads != "" && r.Kind == KindOutput && !r.Error {
			last[r.Reads] = i
		}
	}
	names := slices.SortedFunc(maps.Keys(touched), func(a, b string) int {
		return cmp.Or(touched[b]-touched[a], strings.Compare(a, b))
	})
	out, left := make(files), s.FileTokens*int64(stretch)
	for _, name := range names {
		at, read := last[name]
		switch {
		case !read:
			out[name] = -1
		case c.Results[at].Masked || c.Results[at].Tokens > left:
		case float64(c.Request-c.Results[touched[name]].Request) <= s.worth(c, c.Results[at].Tokens, changed[name])*float64(stretch):
			out[name] = at
			left -= c.Results[at].Tokens
		}
	}
	return out
}

// protect reports whether a result is the last read of a file that is being worked on, or a later change of it, without
// which that read would mislead.
func (f files) protect(i int, r Result) bool {
	if at, ok := f[r.Reads]; ok && i == at {
		return true
	}
	at, ok := f[r.Writes]
	return ok && i >= at
}

// Kept returns why a rule never lets a result be masked, "" if none does.
func (s Settings) Kept(r Result) string {
	for _, rule := range s.Rules {
		switch {
		case !rule.Matches(r.Tool):
		case rule.Keep:
			return thread.KeptByRule(rule.Tool)
		case r.Tokens < rule.MinTokens:
			return thread.KeptByRule(rule.Tool) + " (small)"
		}
	}
	return ""
}

// ruled are the results of a conversation that rules protect, by index.
type ruled struct{ always, newest []bool }

// ruled finds what the rules protect: for good, and the newest results of a rule's tools. Without rules that is nothing.
func (s Settings) ruled(c Conversation) ruled {
	if len(s.Rules) == 0 {
		return ruled{}
	}
	out := ruled{make([]bool, len(c.Results)), make([]bool, len(c.Results))}
	matching := make(map[string][]int) // tools to the indexes of their rules
	seen := make([]int, len(s.Rules))  // how many results of a rule's tools
	for i := len(c.Results) - 1; i >= 0; i-- {
		r := c.Results[i]
		rules, known := matching[r.Tool]
		if !known {
			for at, rule := range s.Rules {
				if rule.Matches(r.Tool) {
					rules = append(rules, at)
				}
			}
			matching[r.Tool] = rules
		}
		for _, at := range rules {
			rule := s.Rules[at]
			out.always[i] = out.always[i] || rule.Keep || r.Tokens < rule.MinTokens
			if r.Kind != KindInput {
				out.newest[i] = out.newest[i] || seen[at] < rule.KeepLast
				seen[at]++
			}
		}
	}
	return out
}

// protect reports whether a result is protected; late, the newest ones are not.
func (p ruled) protect(i int, late bool) bool {
	return p.always != nil && (p.always[i] || !late && p.newest[i])
}
