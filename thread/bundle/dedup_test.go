package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// kept makes a bundle of "name=number of words" or "name=number#section".
func kept(t testing.TB, id string, items ...bundle.Item) work.KeptBundle {
	t.Helper()
	made, err := bundle.Make(bundle.Order{ID: id, AgentType: "of " + id, Scope: "do " + id, Items: items}, bundle.Target{Count: words}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return made.Kept
}

func file(name, content string) bundle.Item {
	return bundle.Item{Source: name, Content: []byte(content)}
}

func TestDedup(t *testing.T) {
	all, two := file("all.md", "a b c d"), file("two.md", "e f g")
	sections := bundle.Item{Source: "all.md", Content: []byte("# A\nx\n# B\ny\n"), Sections: []string{"A"}}
	whole := file("copy.md", "# A\nx\n# B\ny\n")
	s, err := bundle.Dedup([]work.KeptBundle{
		kept(t, "one", file("own.md", "o"), two, all), kept(t, "two", all, two, file("copy of two.md", "e f g")),
		kept(t, "three", sections, whole, file("other name.md", "a b c d")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Items) != 2 || s.Items[0].Source != "all.md" || s.Items[1].Source != "two.md" || !slices.Equal(s.Items[0].Bundles, []string{"one", "two", "three"}) {
		t.Errorf("%+v", s.Items)
	}
	// two has two.md twice (3), three has a section of a file that it has as a whole (3).
	if s.Before != 8+10+13 || s.Doubled != 6 || s.Cached != 7+4 || s.Windows != s.Before-6 || s.After != s.Before-6-11 || s.Apart != 0 {
		t.Errorf("%+v", s)
	}
	var first [][]string
	for i, b := range s.Deduplicated {
		var names []string
		total := int64(0)
		for _, it := range b.Items {
			total += it.Tokens
			if it.Type == work.ItemShared {
				names = append(names, it.Source)
				if slices.Contains(it.SharedWith, b.ID) || len(it.SharedWith) == 0 {
					t.Errorf("%s is shared with %v", it.Source, it.SharedWith)
				}
			}
		}
		first = append(first, names)
		if total != b.Total || b.Total+b.Remaining != bundle.UsualBudget || s.Kept[i].Hash != bundle.Hash(s.Kept[i]) || b.ID != s.Parts[i].As {
			t.Errorf("%+v", b)
		}
	}
	if !slices.Equal(first[0], []string{"all.md", "two.md"}) || !slices.Equal(first[1], first[0]) || !slices.Equal(first[2], first[0][:1]) {
		t.Error(first)
	}
	if _, err := bundle.Dedup(s.Kept[:1]); err == nil {
		t.Error("one alone")
	}
	if _, err := bundle.Dedup([]work.KeptBundle{s.Kept[0], s.Kept[0]}); err == nil {
		t.Error("one twice")
	}
}

// TestSharedBeginsAlike: the briefings of deduplicated bundles begin with the same bytes, for as long as was counted as cached.
func TestSharedBeginsAlike(t *testing.T) {
	all, two := file("all.md", strings.Repeat("a ", 50)), file("two.md", "e f g")
	items := [][]bundle.Item{{file("own.md", "o"), two, all}, {all, two}}
	pieces := map[string][]byte{}
	var kepts []work.KeptBundle
	for i, list := range items {
		made, err := bundle.Make(bundle.Order{ID: string(rune('a' + i)), Scope: "x", Items: list}, bundle.Target{Count: words}, noon)
		if err != nil {
			t.Fatal(err)
		}
		for sum, content := range made.Pieces {
			pieces[sum] = content
		}
		kepts = append(kepts, made.Kept)
	}
	s, err := bundle.Dedup(kepts)
	if err != nil {
		t.Fatal(err)
	}
	var briefs []string
	for _, k := range s.Kept {
		text, err := bundle.Brief(k, pieces, "")
		if err != nil {
			t.Fatal(err)
		}
		briefs = append(briefs, text)
	}
	alike := 0
	for alike < min(len(briefs[0]), len(briefs[1])) && briefs[0][alike] == briefs[1][alike] {
		alike++
	}
	if n := words(briefs[0][:alike]); n < s.Cached || s.Cached != 53 {
		t.Errorf("%d words alike, %d cached:\n%s", n, s.Cached, briefs[0])
	}
}

// TestDedupLosesNothing: of any plan, each agent is given the content that it was given before, and the sums hold.
func TestDedupLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []work.KeptBundle
		for b := range rapid.IntRange(2, 6).Draw(rt, "bundles") {
			var items []bundle.Item
			for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 1, 8, rapid.ID).Draw(rt, "files") {
				items = append(items, file(string(rune('a'+n)), strings.Repeat("w ", n%5+1)+string(rune('a'+n%7))))
			}
			all = append(all, kept(t, string(rune('A'+b)), items...))
		}
		s, err := bundle.Dedup(all)
		if err != nil {
			rt.Fatal(err)
		}
		var before, after int64
		for i, k := range s.Kept {
			was, is := map[string]bool{}, map[string]bool{}
			for _, p := range all[i].Pieces {
				was[p] = true
			}
			for _, p := range k.Pieces {
				if is[p] {
					rt.Fatalf("%s twice", p)
				}
				is[p] = true
			}
			if len(was) != len(is) {
				rt.Fatalf("%d contents were %d", len(is), len(was))
			}
			before, after = before+all[i].Bundle.Total, after+k.Bundle.Total
		}
		if before != s.Before || after != s.Windows || s.Before-s.Doubled-s.Cached != s.After || s.Apart < 0 || s.After <= 0 {
			rt.Fatalf("%+v", s)
		}
	})
}
