package bundle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 500, time.FixedZone("", 3600))

// words counts a token for each word.
func words(text string) int64 { return int64(len(strings.Fields(text))) }

func text(n int) []byte { return []byte(strings.Repeat("word ", n)) }

func TestMake(t *testing.T) {
	o := bundle.Order{AgentType: "reviewer", Scope: " look ", Items: []bundle.Item{
		{Source: "a.md", Content: []byte("# A\none two\n# B\nthree\n"), Sections: []string{"B"}},
		{Source: "b.md", Content: text(10)},
		{Type: work.ItemReference, Source: "c.md", Content: text(10), Priority: work.Recommended},
	}}
	to := bundle.Target{Count: words}
	made, err := bundle.Make(o, to, noon)
	if err != nil {
		t.Fatal(err)
	}
	b := made.Kept.Bundle
	if b.Total != 23 || b.Remaining != bundle.UsualBudget-23 || b.Scope != "look" || b.Items[0].Tokens != 3 || len(made.Dropped) > 0 ||
		b.Created.Format(time.RFC3339Nano) != "2026-03-04T11:00:00Z" {
		t.Errorf("%+v", made)
	}
	if got := string(made.Pieces[made.Kept.Pieces[0]]); got != "# B\nthree\n" {
		t.Errorf("%q", got)
	}
	again, err := bundle.Make(o, to, noon.Add(time.Hour))
	if err != nil || again.Kept.Hash != made.Kept.Hash || len(made.Kept.Hash) != 64 {
		t.Errorf("%v: %s, %s", err, again.Kept.Hash, made.Kept.Hash)
	}
	for name, change := range map[string]func(*bundle.Order){
		"content": func(o *bundle.Order) { o.Items[1].Content = text(11) }, "scope": func(o *bundle.Order) { o.Scope = "x" },
		"model": func(o *bundle.Order) { o.Model = "x" }, "section": func(o *bundle.Order) { o.Items[0].Sections = []string{"A"} },
		"budget": func(o *bundle.Order) { o.Budget = 5000 }, "priority": func(o *bundle.Order) { o.Items[2].Priority = work.Required },
	} {
		other := o
		other.Items = append([]bundle.Item{}, o.Items...)
		change(&other)
		if got, err := bundle.Make(other, to, noon); err != nil || got.Kept.Hash == made.Kept.Hash {
			t.Errorf("%s: %v, the same hash", name, err)
		}
	}
}

func TestWhatHasNoRoom(t *testing.T) {
	item := func(name string, n int, p work.Priority) bundle.Item {
		return bundle.Item{Source: name, Content: text(n), Priority: p}
	}
	frame := words(bundle.Frame(work.Bundle{Items: []work.BundleItem{{Source: "a"}, {Source: "b"}, {Source: "c"}}}))
	to := bundle.Target{Count: words, Window: 1000, Base: 100}
	o := bundle.Order{Items: []bundle.Item{item("a", 700, work.Required), item("b", 300, work.Recommended), item("c", 100, work.Recommended)}}
	made, err := bundle.Make(o, to, noon)
	if err != nil || len(made.Dropped) != 1 || made.Dropped[0].Source != "b" || made.Kept.Bundle.Total != 800 || made.Kept.Bundle.Remaining != 100 || made.Most != 801+frame {
		t.Errorf("%v: %+v", err, made)
	}
	if got := fmt.Sprint(made.Kept.Left); !strings.HasPrefix(got, "[b (") {
		t.Errorf("what was left out is not kept: %s", got)
	}
	other := made.Kept
	if other.Left = nil; bundle.Hash(other) == made.Kept.Hash {
		t.Error("a bundle that lacks something is the same as one that does not")
	}
	for _, tc := range []struct {
		n      int
		budget int64
		margin float64
		fits   bool
	}{
		{600, 0, 0, true}, {600, 0, .5, false}, {590, 0, .5, true}, {600, 500, 0, false}, {950, 5000, 0, false}, {890, 5000, 0, true},
	} {
		o := bundle.Order{Budget: tc.budget, Items: []bundle.Item{item("big", tc.n, work.Required)}}
		to.Margin = tc.margin
		made, err := bundle.Make(o, to, noon)
		if fits := err == nil; fits != tc.fits || !fits && !errors.Is(err, thread.ErrLimit) {
			t.Errorf("%+v: %v", tc, err)
		}
		if err == nil && (made.Most > made.Room || made.Room > 900) {
			t.Errorf("%+v: at most %d in %d", tc, made.Most, made.Room)
		}
		if err != nil && !strings.Contains(err.Error(), "big") {
			t.Error(err)
		}
	}
}

func TestWhatCannotBeGiven(t *testing.T) {
	many := make([]bundle.Item, bundle.MostItems+1)
	for i := range many {
		many[i] = bundle.Item{Source: fmt.Sprint(i), Content: []byte("x")}
	}
	large := make([]byte, bundle.MostContent/2+1)
	for i := range large {
		large[i] = 'a'
	}
	for says, items := range map[string][]bundle.Item{
		"a.md: no such file": {{Source: "a.md", Missing: "no such file"}}, "is not text": {{Source: "a", Content: []byte("a\x00b")}},
		"b is not text": {{Source: "b", Content: []byte("\xff\xfe")}}, "without items": nil, "1001 items": many,
		"more than 11": {{Source: "a", Content: large}, {Source: "b", Content: large}}, "use file": {{Source: "a", Type: "x"}},
	} {
		if _, err := bundle.Make(bundle.Order{Items: items}, bundle.Target{Count: func(string) int64 { return 1 }}, noon); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	made, err := bundle.Make(bundle.Order{Items: []bundle.Item{{Source: "a", Content: []byte("x")}, {Source: "a", Content: []byte("x")}}}, bundle.Target{Count: words}, noon)
	if err != nil || len(made.Kept.Bundle.Items) != 1 || len(made.Dropped) != 1 {
		t.Errorf("%+v, %v", made, err)
	}
}

func TestChanged(t *testing.T) {
	items := []bundle.Item{{Source: "a", Content: []byte("x")}, {Source: "b.md", Content: []byte("# A\nx\n# B\ny\n"), Sections: []string{"A"}}}
	made, err := bundle.Make(bundle.Order{Items: items}, bundle.Target{Count: words}, noon)
	if err != nil {
		t.Fatal(err)
	}
	with := func(i int, change func(*bundle.Item)) []bundle.Item {
		now := append([]bundle.Item{}, items...)
		change(&now[i])
		return now
	}
	for _, tc := range []struct {
		now  []bundle.Item
		kind error
		says string
	}{
		{items, nil, ""}, {with(0, func(i *bundle.Item) { i.Content = []byte("y") }), thread.ErrRefused, "prepared: a"},
		{with(1, func(i *bundle.Item) { i.Content = []byte("# A\nx\n# B\nother\n") }), nil, ""}, // not in the section that it has
		{with(1, func(i *bundle.Item) { i.Content = []byte("# A\nother\n") }), thread.ErrRefused, "b.md"},
		{with(0, func(i *bundle.Item) { i.Missing = "no such file" }), thread.ErrNotFound, "a: no such file"},
	} {
		err := bundle.Changed(made.Kept, tc.now)
		if !errors.Is(err, tc.kind) || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v, want %v %q", err, tc.kind, tc.says)
		}
	}
}

func TestFits(t *testing.T) {
	for _, tc := range []struct {
		n            int
		window, base int64
		margin       float64
		fits         bool
	}{{1000, 0, 0, 1, true}, {99, 100, 0, 0, true}, {100, 100, 0, 0, false}, {50, 100, 51, 0, false}, {70, 100, 0, .5, false}, {1, 10, 20, 0, false}} {
		err := bundle.Fits(string(text(tc.n)), bundle.Target{Count: words, Window: tc.window, Base: tc.base, Margin: tc.margin})
		if (err == nil) != tc.fits || err != nil && !errors.Is(err, thread.ErrLimit) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}
