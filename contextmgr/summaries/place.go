package summaries

import (
	"crypto/sha256"
	"slices"
	"strings"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread/pattern"
)

// Place is where a summary stands in a request; without items, none does.
type Place struct {
	From, To  int // the items that it replaces, To excluded
	wire.Span     // of them in the body
	Summary   masks.Summary
}

// Stands reports whether a summary stands there.
func (p Place) Stands() bool { return p.To > p.From }

// Has reports whether an item is replaced.
func (p Place) Has(item int) bool { return item >= p.From && item < p.To }

// Find returns where the newest of these summaries stands that stands for items of a request. One whose items are not
// there any more, because the agent went back or compacted them, or because a person did, does not stand.
func Find(scan *wire.Scan, reader wire.Reader, all []masks.Summary) Place {
	its := items{scan, reader}
	from := its.answered()
	if from < 0 {
		return Place{}
	}
	for _, sum := range slices.Backward(all) {
		// What follows must not be an answer or a result that belongs to what is replaced: it begins a turn.
		to := from + sum.Items
		if !sum.Dropped && sum.Text != "" && its.matches(sum, from) && its.begins(to) {
			return Place{from, to, wire.Span{Start: scan.Items[from].Start, End: scan.Items[to-1].End}, sum}
		}
	}
	return Place{}
}

// items are the items of a request.
type items struct {
	scan   *wire.Scan
	reader wire.Reader
}

// matches reports whether the items that a summary stands for are there, and something behind them.
func (its items) matches(sum masks.Summary, from int) bool {
	last := from + sum.Items - 1
	return sum.Items > 0 && last >= from && last < len(its.scan.Items)-1 &&
		its.hash(last) == sum.Last && its.hash(from) == sum.First
}

// dropped reports whether a person wants items sent that a summary stood for. Then no other is made of them.
func (its items) dropped(all []masks.Summary, from int) bool {
	return slices.ContainsFunc(all, func(sum masks.Summary) bool {
		return sum.Dropped && its.matches(sum, from)
	})
}

// answered returns the first item that the model wrote, -1 if there is none or items cannot be replaced.
func (its items) answered() int {
	if its.scan.List == (wire.Span{}) || len(its.scan.Items) != len(its.scan.Request.Items) {
		return -1
	}
	for i := range its.scan.Items {
		if its.scan.ByModel(i) {
			return i
		}
	}
	return -1
}

// begins reports whether an item begins a turn.
func (its items) begins(item int) bool {
	return len(its.reader.Turns(its.scan.Request.Items[item:item+1])) > 0
}

// marks matches what agents move from item to item for the provider's cache. Quotes in texts are escaped.
var marks = pattern.Lazy(`"cache_control"\s*:\s*\{[^{}]*\}`)

// hash returns the hash of an item without its marks for the cache. Commas do not count: a mark has one before or
// behind it.
func (its items) hash(item int) masks.Hash {
	raw := its.scan.Request.Items[item].Raw
	if strings.Contains(string(raw), `"cache_control"`) {
		raw = marks().ReplaceAll(raw, nil)
	}
	return sha256.Sum256([]byte(strings.ReplaceAll(string(raw), ",", "")))
}
