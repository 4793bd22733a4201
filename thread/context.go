package thread

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"
)

// MaskMode is how much is masked of a thread's conversation.
type MaskMode string

// The modes. MaskDefault is the project's.
const (
	MaskDefault MaskMode = ""
	MaskSafe    MaskMode = "safe"    // old results, but not of the files that are being worked on
	MaskLean    MaskMode = "lean"    // those too
	MaskObserve MaskMode = "observe" // nothing is masked, only counted
	MaskOff     MaskMode = "off"     // requests are not even read for it
)

// ContextReport describes what fills a thread's context. Tokens are counted by the program and corrected by what the provider
// counted; Margin is by how much they may be wrong.
type ContextReport struct {
	Thread ID     `json:"thread"`
	Name   string `json:"name"`
	// Aside is that of the thread's Status: nothing can be masked if it is set.
	Aside string `json:"aside,omitempty"`
	// Model, Window and Tokens are those of the last request as it was sent; Window is 0 if it is unknown, Tokens if there
	// was no request since the server started.
	Model  string  `json:"model"`
	Window int64   `json:"window"`
	Tokens int64   `json:"tokens"`
	Margin float64 `json:"margin"` // as a fraction: 0.05 is 5 %
	// Masked is how many tokens masks leave out of it, and SavedUSD what that has saved so far, less what it cost.
	Masked   int64   `json:"masked"`
	SavedUSD float64 `json:"savedUSD"`
	// Mode is the mode in force, and Why why: set for the thread, by the configuration, or because of how the agent pays.
	Mode MaskMode `json:"mode"`
	Why  string   `json:"why"`
	// Rules are the configured rules by tool, which keep more than the mode does.
	Rules []ContextRule `json:"rules,omitempty"`
	// SentUSD is about what a token costs that must be written to the provider's cache again, 0 if that is unknown.
	SentUSD float64 `json:"sentUSD,omitempty"`
	// Forecast is what masking now would mean, and Reason why that does not happen by itself.
	Forecast string `json:"forecast"`
	Reason   string `json:"reason"`
	// Rereads is how many masked results the agent read again soon after.
	Rereads int `json:"rereads"`
	// Parts are what fills the context, largest first. Together they have its tokens.
	Parts []ContextPart `json:"parts"`
	// Base are about the tokens of what the agent sent with its first request besides the prompt, and BaseParts what they
	// are, largest first; 0 if it was not seen.
	Base      int64      `json:"base,omitempty"`
	BaseParts []BasePart `json:"baseParts,omitempty"`
	// Results are the results of tools, oldest first.
	Results []ContextResult `json:"results"`
	// Summaries stand in place of older parts of the conversation, oldest first.
	Summaries []ContextSummary `json:"summaries,omitempty"`
	// Offer is the summary of older turns that could be written now, nil if there is none.
	Offer *SummaryOffer `json:"offer,omitempty"`
	// Curve is the size of the context after each response.
	Curve []ContextPoint `json:"curve"`
}

// ContextRule describes what of some tools is not masked.
type ContextRule struct {
	// Tool is a name; * stands for any text.
	Tool string `json:"tool"`
	// Keep is for all results and inputs, MinTokens for those below that size, KeepLast for so many of the newest results.
	Keep      bool  `json:"keep,omitempty"`
	MinTokens int64 `json:"minTokens,omitempty"`
	KeepLast  int   `json:"keepLast,omitempty"`
}

// Matches reports whether a rule is about a tool, whatever the case of its name.
func (r ContextRule) Matches(tool string) bool {
	ok, err := path.Match(strings.ToLower(r.Tool), strings.ToLower(tool))
	return ok && err == nil
}

// Says returns what a rule keeps.
func (r ContextRule) Says() string {
	var keeps []string
	if r.Keep {
		keeps = append(keeps, "all")
	}
	if r.KeepLast > 0 {
		keeps = append(keeps, fmt.Sprintf("the newest %d", r.KeepLast))
	}
	if r.MinTokens > 0 {
		keeps = append(keeps, fmt.Sprintf("below %s tokens", Tokens(r.MinTokens)))
	}
	return r.Tool + " keeps " + strings.Join(keeps, ", ")
}

// ContextSummary stands in place of an older part of a conversation.
type ContextSummary struct {
	ID    string `json:"id"`
	Items int    `json:"items"`
	// Tokens is its own size, and Replaced the size of what it stands for.
	Tokens   int64     `json:"tokens"`
	Replaced int64     `json:"replaced"`
	Text     string    `json:"text"`
	File     string    `json:"file,omitempty"`   // has all that it stands for
	Source   string    `json:"source,omitempty"` // who wrote it; "" if it is an extract
	At       time.Time `json:"at,omitzero"`
	Dropped  bool      `json:"dropped,omitempty"`
	Stands   bool      `json:"stands,omitempty"` // it was in the last request
}

// SummaryAuthor is who writes a summary.
type SummaryAuthor string

// The authors.
const (
	ByNobody  SummaryAuthor = ""
	ByModel   SummaryAuthor = "model"   // that of the conversation
	ByExtract SummaryAuthor = "extract" // nobody: what was said word for word
	ByProgram SummaryAuthor = "program" // the person's own
)

// SummaryOffer is a summary that could be written.
type SummaryOffer struct {
	Turns int `json:"turns"` // that it would replace
	// Replaced is their size in tokens, and Frees by how much the context would become smaller.
	Replaced int64 `json:"replaced"`
	Frees    int64 `json:"frees"`
	// CostUSD is about what it costs to have the model write it; Priced is false if that is not known.
	CostUSD float64 `json:"costUSD"`
	Priced  bool    `json:"priced"`
}

// ContextPart is one kind of what fills a context.
type ContextPart struct {
	// Kind is "system", "tools", "messages", "results" or "inputs"; Name tells more: a server of tools, a tool.
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`
	Tokens int64  `json:"tokens"` // as sent
	Masked int64  `json:"masked,omitempty"`
	Count  int    `json:"count"`
}

// ContextResult is a result of a tool, or the input of one, in a context.
type ContextResult struct {
	ID     string `json:"id"`
	Tool   string `json:"tool"`
	File   string `json:"file,omitempty"` // that was read or written
	Input  bool   `json:"input,omitempty"`
	Tokens int64  `json:"tokens"` // unmasked
	Turn   int    `json:"turn"`   // number of the request that had it first
	Masked bool   `json:"masked,omitempty"`
	Pinned bool   `json:"pinned,omitempty"` // never masked: the person wants it so
	// Token and Path are of the content of what is masked.
	Token Token  `json:"token,omitempty"`
	Path  string `json:"path,omitempty"`
	// Kept is why it cannot be masked, "" if it can.
	Kept string `json:"kept,omitempty"`
	// Why is why it is masked, and MaskedIn since which request; or why it is not masked yet.
	Why      string `json:"why,omitempty"`
	MaskedIn int    `json:"maskedIn,omitempty"`
}

// keptBy begins what Kept says of a result that a rule keeps.
const keptBy = "by rule"

// KeptByRule is what Kept says of a result that a rule keeps.
func KeptByRule(tool string) string { return keptBy + " for " + tool }

// Says returns what becomes of the result: masked, pinned, kept or sent, and why.
func (r ContextResult) Says() string {
	switch {
	case r.Masked && r.Why != "":
		return fmt.Sprintf("masked at %d: %s", r.MaskedIn, r.Why)
	case r.Masked:
		return "masked"
	case r.Pinned:
		return "pinned"
	case strings.HasPrefix(r.Kept, keptBy):
		return "kept " + r.Kept
	case r.Kept != "":
		return "kept: " + r.Kept
	case r.Why != "":
		return "sent: " + r.Why
	default:
		return "sent"
	}
}

// NothingToMask says of results none of which can be masked what keeps most of them.
func NothingToMask(all []ContextResult) string {
	counts := map[string]int{}
	for _, r := range all {
		if !r.Masked {
			counts[r.Says()]++
		}
	}
	said := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	const most = 2
	for i, s := range said[:min(len(said), most)] {
		results := ""
		if i == 0 {
			results = " result"
			if counts[s] > 1 {
				results = " results"
			}
		}
		said[i] = fmt.Sprintf("%d%s %s", counts[s], results, s)
	}
	if len(said) == 0 {
		return "nothing to mask"
	}
	return "nothing to mask: " + strings.Join(said[:min(len(said), most)], "; ")
}

// The turns that a forecast is made from: of fewer nothing can be said.
const (
	fewestTurns = 3
	newestTurns = 5
	farTurns    = 99
)

// TurnsTo returns in about how many turns a context has so many percent of its window, if it grows as in its newest
// turns since something was left out of it; false if that cannot be said.
func TurnsTo(curve []ContextPoint, window int64, percent float64) (turns int, known bool) {
	var ends []int64 // sizes at the ends of turns, newest first
	for i, p := range slices.Backward(curve) {
		if i < len(curve)-1 && p.Turn == curve[i+1].Turn {
			continue
		}
		if n := len(ends); n > newestTurns || n > 0 && p.Tokens > ends[n-1] {
			break
		}
		ends = append(ends, p.Tokens)
	}
	grown := len(ends) - 1
	if grown < fewestTurns || window <= 0 {
		return 0, false
	}
	each := float64(ends[0]-ends[grown]) / float64(grown)
	left := percent*float64(window)/100 - float64(ends[0])
	if each <= 0 || left <= 0 || left/each > farTurns {
		return 0, false
	}
	return int(math.Ceil(left / each)), true
}

// ContextPoint is the size of a context at a moment.
type ContextPoint struct {
	At     time.Time `json:"at"`
	Turn   int       `json:"turn"`
	Tokens int64     `json:"tokens"`
	Masked int64     `json:"masked,omitempty"`
}

// ContextChange changes what is masked of a thread's conversation, from its next request on.
type ContextChange struct {
	Thread string `json:"thread"`
	// Mask, Unmask, Pin and Unpin name results by their ids or tokens; "all" stands for all that can be. What is unmasked
	// is pinned.
	Mask   []string `json:"mask,omitempty"`
	Unmask []string `json:"unmask,omitempty"`
	Pin    []string `json:"pin,omitempty"`
	Unpin  []string `json:"unpin,omitempty"`
	// Summarise has a summary of older turns written by an author; "default" is for the one that the settings name. The
	// answer comes when it is there.
	Summarise SummaryAuthor `json:"summarise,omitempty"`
	// DropSummary names a summary that is not used any more, and EditSummary gives one another text.
	DropSummary string       `json:"dropSummary,omitempty"`
	EditSummary *SummaryEdit `json:"editSummary,omitempty"`
	// Mode sets the thread's mode; nil leaves it as it is.
	Mode *MaskMode `json:"mode,omitempty"`
}

// SummaryEdit is another text for a summary.
type SummaryEdit struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}
