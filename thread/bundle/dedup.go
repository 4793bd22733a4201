package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Shared is what several bundles have alike, and what telling it apart saves. In JSON it is the content of
// shared-context.json.
//
// Each agent has a window of its own, so a shared item is sent to each of them whatever is done: it fills each window. What
// is saved is (1) what a bundle had twice, which is not sent at all, and (2) money: shared items come first, in an order that
// is the same for all, so that the provider reads what it has just read from its cache, where the agents have the same
// model, system prompt and tools and begin within minutes.
type Shared struct {
	Bundles []string `json:"bundles"` // the ids of those that were compared, in the order in which they are used
	// Items are what two or more have, in the order in which they begin their briefings.
	Items []SharedItem `json:"shared_context"`
	// Before is the sum of what the bundles have. After is what of it is read in full: Before without what is doubled in a
	// bundle and without what is read from a cache.
	Before int64 `json:"tokens_before"`
	After  int64 `json:"tokens_after"`
	// Doubled is sent no more. Cached is sent all the same, and fills the windows: it is only cheaper.
	Doubled int64 `json:"doubled_tokens"`
	Cached  int64 `json:"cached_tokens"`
	// Apart is what is shared and yet not cached: other items stand before it.
	Apart int64 `json:"shared_not_cached_tokens"`
	// Windows is the sum of what fills the windows afterwards: Before without Doubled.
	Windows int64      `json:"window_tokens_after"`
	Parts   []ShareOne `json:"by_bundle"`
	// Deduplicated are the bundles in their printed form with their shared items first.
	Deduplicated []work.Bundle `json:"deduplicated"`
	// Kept are the same to be stored.
	Kept []work.KeptBundle `json:"-"`
}

// SharedItem is an item that several bundles have.
type SharedItem struct {
	Type     work.ItemType `json:"type"` // what it is where it is not shared
	Source   string        `json:"source"`
	Tokens   int64         `json:"token_count"`
	Sections []string      `json:"sections,omitempty"`
	Hash     string        `json:"content_hash,omitempty"` // "" if its content is not known: then its name counts
	Bundles  []string      `json:"bundles"`
}

// ShareOne is what a bundle saves.
type ShareOne struct {
	Bundle  string `json:"bundle_id"`
	As      string `json:"deduplicated_as"`
	Before  int64  `json:"tokens_before"`
	Doubled int64  `json:"doubled_tokens"`
	Cached  int64  `json:"cached_tokens"`
}

// Percent is how much less is read in full.
func (s Shared) Percent() float64 {
	if s.Before == 0 {
		return 0
	}
	return 100 * float64(s.Before-s.After) / float64(s.Before)
}

// item is one of a bundle, with what tells that another is the same.
type item struct {
	form          work.BundleItem
	key           string
	piece, source string
}

// Dedup tells apart what several bundles have alike. They are used in the order in which they are given.
func Dedup(all []work.KeptBundle) (Shared, error) {
	out := Shared{Items: []SharedItem{}}
	if len(all) < 2 || len(all) > mostNames {
		return Shared{}, thread.Kindf(thread.ErrInvalid, "%d bundles to compare: 2 to %d", len(all), mostNames)
	}
	lists := make([][]item, len(all))
	for i, k := range all {
		if slices.Contains(out.Bundles, k.Bundle.ID) {
			return Shared{}, thread.Kindf(thread.ErrInvalid, "%s is named twice", k.Bundle.ID)
		}
		out.Bundles = append(out.Bundles, k.Bundle.ID)
		list, doubled := once(k)
		lists[i] = list
		out.Parts = append(out.Parts, ShareOne{Bundle: k.Bundle.ID, Before: k.Bundle.Total, Doubled: doubled})
		out.Before, out.Doubled = out.Before+k.Bundle.Total, out.Doubled+doubled
	}
	out.Items = shared(lists, out.Bundles)
	for i := range lists {
		lists[i] = first(lists[i], out.Items)
	}
	out.cache(lists)
	out.Windows = out.Before - out.Doubled
	out.After = out.Windows - out.Cached
	out.rewrite(all, lists)
	return out, nil
}

// once returns the items of a bundle, each content once, and how many tokens it had twice: as another file with the same
// content, or as a section of a file that it has as a whole.
func once(k work.KeptBundle) (list []item, doubled int64) {
	whole := map[string]bool{}
	all := itemsOf(k)
	for _, it := range all {
		if len(it.form.Sections) == 0 && it.source != "" {
			whole[it.source] = true
		}
	}
	seen := map[string]bool{}
	for _, it := range all {
		if seen[it.key] || len(it.form.Sections) > 0 && whole[it.source] {
			doubled += it.form.Tokens
			continue
		}
		seen[it.key] = true
		list = append(list, it)
	}
	return list, doubled
}

func itemsOf(k work.KeptBundle) []item {
	all := make([]item, len(k.Bundle.Items))
	for i, it := range k.Bundle.Items {
		all[i] = item{form: it, key: "name:" + it.Source + "\x00" + strings.Join(it.Sections, "\x00")}
		if i < len(k.Pieces) && k.Pieces[i] != "" {
			all[i].piece, all[i].key = k.Pieces[i], k.Pieces[i]
		}
		if i < len(k.Sources) {
			all[i].source = k.Sources[i]
		}
	}
	return all
}

// shared returns the items that two or more bundles have: those that most have first.
func shared(lists [][]item, ids []string) []SharedItem {
	at, out := map[string]int{}, []SharedItem{}
	for i, list := range lists {
		for _, it := range list {
			n, ok := at[it.key]
			if !ok {
				n = len(out)
				at[it.key] = n
				out = append(out, SharedItem{Type: it.form.Type, Source: it.form.Source, Tokens: it.form.Tokens, Sections: it.form.Sections, Hash: it.piece})
			}
			out[n].Bundles = append(out[n].Bundles, ids[i])
		}
	}
	out = slices.DeleteFunc(out, func(s SharedItem) bool { return len(s.Bundles) < 2 })
	slices.SortStableFunc(out, func(a, b SharedItem) int {
		return cmp.Or(cmp.Compare(len(b.Bundles), len(a.Bundles)), byName(a.Source, b.Source, a.Sections, b.Sections))
	})
	return out
}

func (s SharedItem) key() string {
	if s.Hash != "" {
		return s.Hash
	}
	return "name:" + s.Source + "\x00" + strings.Join(s.Sections, "\x00")
}

// first returns the items of a bundle with the shared ones first, in their order and under one name.
func first(list []item, all []SharedItem) []item {
	at := map[string]int{}
	for i, s := range all {
		at[s.key()] = i
	}
	var before, after []item
	for _, it := range list {
		i, ok := at[it.key]
		if !ok {
			after = append(after, it)
			continue
		}
		it.form.Source, it.form.Sections, it.form.Type = all[i].Source, all[i].Sections, work.ItemShared
		before = append(before, it)
	}
	slices.SortStableFunc(before, func(a, b item) int { return cmp.Compare(at[a.key], at[b.key]) })
	return slices.Concat(before, after)
}

// cache counts what of each bundle a provider has read before in the same order from the beginning.
func (s *Shared) cache(lists [][]item) {
	seen := map[string]bool{}
	for i, list := range lists {
		var most, again int64
		for _, earlier := range lists[:i] {
			var alike int64
			for n := 0; n < min(len(list), len(earlier)) && list[n].key == earlier[n].key && list[n].form.Type == work.ItemShared; n++ {
				alike += list[n].form.Tokens
			}
			most = max(most, alike)
		}
		for _, it := range list {
			if seen[it.key] {
				again += it.form.Tokens
			}
			seen[it.key] = true
		}
		s.Parts[i].Cached = most
		s.Cached += most
		s.Apart += again - most
	}
}

// rewrite makes the bundles with their shared items first. Their names tell of which they are made: the same ones get the
// same names.
func (s *Shared) rewrite(all []work.KeptBundle, lists [][]item) {
	h := sha256.New()
	for _, k := range all {
		fmt.Fprintf(h, "%s\n%s\n", k.Bundle.ID, k.Hash)
	}
	mark := hex.EncodeToString(h.Sum(nil))[:6]
	as := map[string]string{}
	for i, id := range s.Bundles {
		as[id] = id[:min(len(id), 50)] + "-shared-" + mark
		s.Parts[i].As = as[id]
	}
	who := map[string][]string{}
	for _, it := range s.Items {
		who[it.key()] = it.Bundles
	}
	for i, k := range all {
		now := k
		now.Bundle.ID, now.Bundle.Items, now.Bundle.Total, now.Pieces, now.Sources = as[k.Bundle.ID], nil, 0, nil, nil
		for _, it := range lists[i] {
			it.form.SharedWith = nil
			for _, id := range who[it.key] {
				if id != k.Bundle.ID {
					it.form.SharedWith = append(it.form.SharedWith, as[id])
				}
			}
			now.Bundle.Items = append(now.Bundle.Items, it.form)
			now.Bundle.Total += it.form.Tokens
			now.Pieces, now.Sources = append(now.Pieces, it.piece), append(now.Sources, it.source)
		}
		now.Bundle.Remaining = k.Bundle.Remaining + k.Bundle.Total - now.Bundle.Total
		now.Hash = Hash(now)
		s.Deduplicated, s.Kept = append(s.Deduplicated, now.Bundle), append(s.Kept, now)
	}
}
