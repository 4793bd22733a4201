package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// bundles returns a record in which a token is a word.
func bundles(t *testing.T) (*record.Book, work.Record) {
	t.Helper()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now := func() time.Time { at = at.Add(time.Second); return at }
	store := memory.New(now)
	return record.New(record.Config{Store: store, Now: now, Target: func(context.Context, string, string) bundle.Target {
		return bundle.Target{Count: func(text string) int64 { return int64(len(strings.Fields(text))) }}
	}}), store
}

func file(name, content string) bundle.Item {
	return bundle.Item{Source: name, Content: []byte(content)}
}

var (
	asThread = record.Author{Agent: true, Thread: "one"}
	asNobody = record.Author{Agent: true}
)

// TestTheSameIsPreparedOnce: it prints the same bytes, whenever it is prepared again.
func TestTheSameIsPreparedOnce(t *testing.T) {
	book, _ := bundles(t)
	q := record.PrepareRequest{Order: bundle.Order{AgentType: "reviewer", Scope: "look", Items: []bundle.Item{file("a.md", "a b c")}}}
	first, err := book.Bundles.Prepare(t.Context(), record.Author{}, q)
	again, err2 := book.Bundles.Prepare(t.Context(), record.Author{}, q)
	if err := errors.Join(err, err2); err != nil || string(bundle.Print(first.Kept.Bundle)) != string(bundle.Print(again.Kept.Bundle)) || first.Kept.Bundle.ID != "bundle-001" {
		t.Errorf("%v\n%+v\n%+v", err, first.Kept.Bundle, again.Kept.Bundle)
	}
	q.Order.Items = []bundle.Item{file("a.md", "a b d")}
	if next, err := book.Bundles.Prepare(t.Context(), record.Author{}, q); err != nil || next.Kept.Bundle.ID != "bundle-002" {
		t.Errorf("%v, %v", next.Kept.Bundle.ID, err)
	}
	q.Order.ID = "bundle-001"
	if _, err := book.Bundles.Prepare(t.Context(), record.Author{}, q); err != nil {
		t.Error(err) // the same content is kept under another id
	}
	q.Order.Scope = "another"
	if _, err := book.Bundles.Prepare(t.Context(), record.Author{}, q); !errors.Is(err, thread.ErrNameTaken) {
		t.Errorf("%v", err)
	}
	q.Order.Session, q.Order.ID = "none", ""
	if _, err := book.Bundles.Prepare(t.Context(), record.Author{}, q); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("%v", err)
	}
	q.Order.Session, q.Measure = "", true
	if got, err := book.Bundles.Prepare(t.Context(), record.Author{}, q); err != nil || got.Kept.Bundle.ID != "" || got.Kept.Bundle.Total != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := book.Bundles.List(t.Context(), record.Author{}, record.BundlesRequest{}); err != nil || len(list) != 2 {
		t.Errorf("%d, %v", len(list), err)
	}
}

// TestBundlesByHand: a form that somebody wrote is measured as far as its files are there, and kept.
func TestBundlesByHand(t *testing.T) {
	book, _ := bundles(t)
	form := work.Bundle{ID: "mine", AgentType: "x", Scope: "y", Items: []work.BundleItem{
		{Type: work.ItemFile, Source: "a.md", Tokens: 1000, Priority: work.Required}, {Type: work.ItemFile, Source: "gone.md", Tokens: 7, Priority: work.Required},
	}, Total: 1007, Remaining: 993}
	items := []bundle.Item{{Source: "a.md", Content: []byte("a b"), Claimed: 1000}, {Source: "gone.md", Missing: "no such file", Claimed: 7}}
	arg := record.BundleArg{Form: &form, Items: items}
	got, err := book.Bundles.Show(t.Context(), record.Author{}, arg)
	if err != nil || got.Kept.Bundle.Total != 9 || got.Kept.Bundle.Remaining != 1991 || got.Kept.Pieces[1] != "" || string(got.Pieces[got.Kept.Pieces[0]]) != "a b" {
		t.Errorf("%v: %+v", err, got)
	}
	b, err := book.Bundles.Budget(t.Context(), record.Author{}, record.BudgetRequest{Bundles: []record.BundleArg{arg}, Budget: 10})
	if err != nil || b.Level != bundle.LevelCritical || !b.Parts[0].Claimed {
		t.Errorf("%v: %+v", err, b)
	}
	arg.Fresh = true
	if _, err := book.Bundles.Show(t.Context(), record.Author{}, arg); !errors.Is(err, thread.ErrNotFound) || !strings.Contains(err.Error(), "gone.md") {
		t.Errorf("%v", err)
	}
	for _, bad := range []record.BundleArg{{}, {Ref: "nothing"}} {
		if _, err := book.Bundles.Show(t.Context(), record.Author{}, bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}

// TestFreshBundles: one whose files have changed is refused before the run, as it was prepared it is given.
func TestFreshBundles(t *testing.T) {
	book, _ := bundles(t)
	made, err := book.Bundles.Prepare(t.Context(), record.Author{}, record.PrepareRequest{Order: bundle.Order{Items: []bundle.Item{file("a.md", "a")}}})
	if err != nil {
		t.Fatal(err)
	}
	arg := record.BundleArg{Form: &made.Kept.Bundle, Items: []bundle.Item{file("a.md", "b")}, Fresh: true}
	if _, err := book.Bundles.Show(t.Context(), record.Author{}, arg); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("%v", err)
	}
	arg.Fresh = false
	if got, err := book.Bundles.Show(t.Context(), record.Author{}, arg); err != nil || string(got.Pieces[got.Kept.Pieces[0]]) != "a" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBundlesOfOthers: an agent sees what it recorded, and records in its own thread only.
func TestBundlesOfOthers(t *testing.T) {
	book, store := bundles(t)
	order := bundle.Order{Items: []bundle.Item{file("a.md", "a")}}
	made, err := book.Bundles.Prepare(t.Context(), asThread, record.PrepareRequest{Order: order})
	if err != nil || made.Kept.By != "one" {
		t.Fatalf("%+v, %v", made, err)
	}
	arg := record.BundleArg{Ref: made.Kept.Bundle.ID}
	for _, c := range []struct {
		by   record.Author
		sees bool
	}{{record.Author{}, true}, {asThread, true}, {record.Author{Agent: true, Thread: "other"}, false}, {record.Author{Agent: true, Thread: "other", Reads: true}, true}, {asNobody, false}} {
		_, err := book.Bundles.Show(t.Context(), c.by, arg)
		if (err == nil) != c.sees || err != nil && !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%+v: %v", c.by, err)
		}
		list, err := book.Bundles.List(t.Context(), c.by, record.BundlesRequest{})
		if err != nil || (len(list) == 1) != c.sees {
			t.Errorf("%+v: %d, %v", c.by, len(list), err)
		}
	}
	if _, err := book.Bundles.Prepare(t.Context(), asNobody, record.PrepareRequest{Order: order}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("%v", err)
	}
	now := time.Now()
	for name, x := range map[string]work.Execution{
		"hers": {Kind: work.KindHand, By: "other"}, "run": {By: "one", Thread: "one", Lost: work.PolicyAsk}, "mine": {Kind: work.KindHand, By: "one"}, "persons": {Kind: work.KindHand},
	} {
		x.ID, x.Name, x.Created, x.State, x.Attempt, x.Started = thread.NewID[work.ID](), name, now, work.Queued, 0, time.Time{}
		if x.Kind != work.KindRun {
			x.State, x.Attempt, x.Started = work.Deployed, 1, now
		}
		if _, err := store.Add(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		got, err := book.Bundles.Allocate(t.Context(), asThread, record.AllocateRequest{Execution: name, Bundle: arg})
		switch {
		case name != "mine" && !errors.Is(err, thread.ErrNotGranted):
			t.Errorf("%s: %v", name, err)
		case name == "mine" && (err != nil || len(got) != 1 || !got[0].Claimed || !got[0].Included || got[0].Hash == ""):
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	x, err := store.Execution(t.Context(), "mine")
	if err != nil || x.Bundle != "bundle-001" || x.Context != 1 {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestBudgetOfAWorkSession sums up what executions were given, and the bundles that none was given yet.
func TestBudgetOfAWorkSession(t *testing.T) {
	book, store := bundles(t)
	if _, err := store.AddSession(t.Context(), work.Session{Name: "s", Scope: "x", WarnAt: 0.5}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"a b c", "a b c d"} {
		made, err := book.Bundles.Prepare(t.Context(), record.Author{}, record.PrepareRequest{Order: bundle.Order{Session: "s", AgentType: "t", Items: []bundle.Item{file("a", text)}}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			x := work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, State: work.Deployed, Attempt: 1, Session: "s", Bundle: made.Kept.Bundle.ID, Context: 3, Type: "t"}
			if _, err := store.Add(t.Context(), x); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := book.Bundles.Budget(t.Context(), record.Author{}, record.BudgetRequest{Session: "s", Budget: 14, Phase: 3})
	if err != nil || b.Given != 3 || b.Planned != 4 || b.Level != bundle.LevelWarning || b.Warn != 0.5 || len(b.Parts) != 2 {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range []record.BudgetRequest{{}, {Session: "none"}, {Session: "s", Phase: 9}, {Session: "s", Warn: 3}} {
		if _, err := book.Bundles.Budget(t.Context(), record.Author{}, bad); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}

// TestDedupIsKept: the bundles without what they share are kept under names of their own, the same ones each time.
func TestDedupIsKept(t *testing.T) {
	book, _ := bundles(t)
	var args []record.BundleArg
	for _, own := range []string{"x", "y"} {
		made, err := book.Bundles.Prepare(t.Context(), record.Author{}, record.PrepareRequest{Order: bundle.Order{Items: []bundle.Item{file(own, own), file("all", "a b c")}}})
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, record.BundleArg{Ref: made.Kept.Bundle.ID})
	}
	first, err := book.Bundles.Dedup(t.Context(), record.Author{}, record.DedupRequest{Bundles: args})
	again, err2 := book.Bundles.Dedup(t.Context(), record.Author{}, record.DedupRequest{Bundles: args})
	if err := errors.Join(err, err2); err != nil || first.Cached != 3 || len(first.Deduplicated) != 2 ||
		string(bundle.Print(first.Deduplicated[1])) != string(bundle.Print(again.Deduplicated[1])) {
		t.Fatalf("%v\n%+v", err, first)
	}
	got, err := book.Bundles.Show(t.Context(), record.Author{}, record.BundleArg{Ref: first.Deduplicated[0].ID})
	if err != nil || len(got.Pieces) != 2 || got.Kept.Bundle.Items[0].Type != work.ItemShared {
		t.Errorf("%+v, %v", got, err)
	}
}
