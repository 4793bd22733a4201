package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestTraceFinds: one query leads from a check, a file, a bundle or an execution to the whole chain.
func TestTraceFinds(t *testing.T) {
	p := newPast(t)
	p.session("orch-1", "Vector search")
	_, err := p.store.ChangeTask(t.Context(), "orch-1", "Index", func(t *work.Task) error { t.Status = work.TaskInProgress; return nil })
	p.ok(err)
	b := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "bundle-001", AgentType: "implementor", Scope: "HNSW"}})
	before := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "before", Session: "orch-1", Task: "Index", Type: "planner", Scope: "plan"})
	old := p.delivers(before, work.Deliverable{Path: "lib/search.ts", Added: 1})
	x := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Task: "Index", Type: "implementor", Scope: "HNSW", Bundle: b.Bundle.ID},
		work.Event{Kind: work.KindGiven, Text: "do it"}, work.Event{Kind: "tool", Text: "Read {}"}, work.Event{Kind: work.KindSaid, Text: "done, all of it"})
	o := p.delivers(x, work.Deliverable{Path: "lib/search.ts", Added: 150, Validation: &work.Validation{Tests: work.Pass}})
	for ref, found := range map[string]record.Linked{
		x.Name: record.LinkedExecution, string(x.ID): record.LinkedExecution, fmt.Sprint(o.N): record.LinkedOutput, fmt.Sprintf("#%d", o.N): record.LinkedOutput,
		"lib/search.ts": record.LinkedFile, "./lib/search.ts": record.LinkedFile, "bundle-001": record.LinkedBundle, b.Hash: record.LinkedBundle,
	} {
		c := p.trace(ref)
		if c.Found != found || c.More.ID != x.ID || c.Session == nil || c.Session.Name != "orch-1" || c.Task == nil || c.Task.Title != "Index" ||
			c.Given.Bundle == nil || c.Given.Bundle.ID != "bundle-001" || c.Given.Asked != "do it" || c.Said != "done, all of it" ||
			len(c.Given.Outputs) != 1 || c.Given.Outputs[0].Output != o.N || !c.Given.Outputs[0].Checked.Passed() ||
			len(c.Before) != 1 || c.Before[0].Execution != "before" {
			t.Errorf("%s leads to %+v", ref, c)
		}
	}
	if c := p.trace(fmt.Sprint(old.N)); c.More.Name != "before" || c.Output != old.N {
		t.Errorf("an older output leads to %+v", c)
	}
	if c := p.trace("lib/search.ts"); len(c.Versions) != 2 || c.Versions[0].Version != 2 || c.Versions[1].Execution != "before" {
		t.Errorf("a file has the versions %+v", c.Versions)
	}
	for _, ref := range []string{"nothing", "999", "0", "#", "", "lib/none.ts", strings.Repeat("x", 10_000)} {
		if _, err := p.book.Answers.Trace(t.Context(), record.Author{}, record.TraceRequest{Ref: ref}); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%.20q: %v", ref, err)
		}
	}
	for _, ref := range []string{x.Name, fmt.Sprint(o.N), "lib/search.ts", "bundle-001", "nothing"} {
		if c, err := p.book.Answers.Trace(t.Context(), agent, record.TraceRequest{Ref: ref}); !errors.Is(err, thread.ErrNotGranted) {
			t.Errorf("another's agent traces %s: %+v, %v", ref, c, err)
		}
	}
	if _, err := p.book.Answers.Trace(t.Context(), record.Author{Agent: true, Thread: oneThread}, record.TraceRequest{Ref: x.Name}); err != nil {
		t.Errorf("its own agent: %v", err)
	}
}

// TestTraceTail: the last things of a record of any length are found.
func TestTraceTail(t *testing.T) {
	for _, n := range []int{0, 1, 2, 60, 61, 62, 63, 64, 126, 1500} {
		p := newPast(t)
		var events []work.Event
		for i := range n {
			events = append(events, work.Event{Kind: "text", Text: fmt.Sprint(i)})
		}
		x := p.ran(work.Completed, work.Execution{Agent: "demo"}, events...)
		c := p.trace(x.Name)
		last := c.Last[len(c.Last)-1]
		all, err := p.store.Events(t.Context(), x.ID, 0, 10_000)
		if p.ok(err); c.Events != int64(len(all)) || last.State != work.Completed || n > 10 && !slices.ContainsFunc(c.Last, func(e work.Event) bool { return e.Text == fmt.Sprint(n-1) }) {
			t.Errorf("%d events: %d of %d, %+v", n, c.Events, len(all), c.Last)
		}
	}
}

// found returns the kinds of what was found of an execution, with a mark for what is wrong in any case.
func (p *past) found(x work.Execution) map[record.FindingCode]bool {
	p.Helper()
	out := map[record.FindingCode]bool{}
	for _, f := range p.trace(x.Name).Findings {
		out[f.Code] = !f.Note || out[f.Code]
	}
	return out
}

// wrong fails the test unless something is found to be wrong.
func (p *past) wrong(x work.Execution, code record.FindingCode) {
	p.Helper()
	if got := p.found(x); !got[code] {
		p.Errorf("%s is not found to be %q: %v", x.Name, code, p.trace(x.Name).Findings)
	}
}

func TestFindsHowItEnded(t *testing.T) {
	p := newPast(t)
	p.wrong(p.ran(work.Failed, work.Execution{Agent: "demo", Reason: "it broke", Failure: work.Failure{Code: work.CodeAgent}}), record.FoundFailed)
	p.wrong(p.ran(work.Cancelled, work.Execution{Agent: "demo", Reason: "enough"}), record.FoundCancelled)
	lost := p.ran(work.Lost, work.Execution{Agent: "demo"})
	p.wrong(lost, record.FoundLost)
	if f := p.trace(lost.Name).Findings[0]; f.Do != "orchestrator exec resume "+lost.Name {
		t.Errorf("of a lost one: %+v", f)
	}
	fine := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 5})
	p.delivers(fine, work.Deliverable{Path: "a", Added: 1})
	if f := p.trace(fine.Name).Findings; len(f) != 0 {
		t.Errorf("one that is fine: %+v", f)
	}
	open, err := p.store.Add(t.Context(), work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, Name: "forgotten", State: work.Deployed, Created: p.now.Add(-48 * time.Hour)})
	p.ok(err)
	p.wrong(open, record.FoundOpen)
}

func TestFindsChecks(t *testing.T) {
	for _, c := range []struct {
		said, ours *work.Validation
		want       record.FindingCode
		wrong      bool
	}{
		{&work.Validation{Tests: work.Pass}, &work.Validation{Tests: work.Fail}, record.FoundLied, true},
		{nil, &work.Validation{Lint: work.Fail}, record.FoundRefused, true},
		{&work.Validation{Tests: work.Fail}, nil, record.FoundRefused, true},
		{&work.Validation{Tests: work.Pass}, nil, record.FoundUnchecked, false},
		{&work.Validation{Tests: work.Pass, Lint: work.Pass}, &work.Validation{Lint: work.Pass}, record.FoundUnchecked, false},
		{&work.Validation{Tests: work.Pass}, &work.Validation{Tests: work.Pass}, "", false},
	} {
		p := newPast(t)
		x := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 1})
		p.delivers(x, work.Deliverable{Path: "a", Added: 1, Claimed: c.said, Validation: c.ours})
		got := p.found(x)
		if wrong, has := got[c.want]; c.want == "" && len(got) > 0 || c.want != "" && (!has || wrong != c.wrong) {
			t.Errorf("said %+v, checked %+v: %v", c.said, c.ours, got)
		}
	}
}

// TestNewestCheckCounts: a check that failed and passes now is no failure any more.
func TestNewestCheckCounts(t *testing.T) {
	p := newPast(t)
	x := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 1})
	for i, v := range []work.Verdict{work.Fail, work.Pass} {
		p.delivers(x, work.Deliverable{Path: "a", Added: i, Validation: &work.Validation{Tests: v, At: p.now.Add(time.Duration(i) * time.Hour)}})
	}
	if got := p.found(x); has(got, record.FoundRefused) {
		t.Errorf("%v", got)
	}
}

func TestFindsMoney(t *testing.T) {
	p := newPast(t)
	tokens, usd := int64(1000), 1.0
	p.session("dear", "x", func(s *work.Session) { s.Budget.USD = &usd })
	p.wrong(p.ran(work.Completed, work.Execution{Agent: "demo", Budget: thread.Budget{Tokens: &tokens}, Usage: thread.Usage{Input: 1001}}), record.FoundOver)
	p.wrong(p.ran(work.Completed, work.Execution{Agent: "demo", Session: "dear", Usage: thread.Usage{Input: 1, CostUSD: 1.5, Priced: true}}), record.FoundOver)
	near := p.found(p.ran(work.Completed, work.Execution{Agent: "demo", Budget: thread.Budget{Tokens: &tokens}, Usage: thread.Usage{Input: 950}}))
	if wrong, has := near[record.FoundNear]; !has || wrong {
		t.Errorf("nearly used up: %v", near)
	}
	b := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "large", Total: 210_000, Remaining: -10_000}})
	p.wrong(p.ran(work.Completed, work.Execution{Agent: "demo", Bundle: b.Bundle.ID}), record.FoundFull)
	b = p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "fits", Total: 10, Remaining: 10}, Budget: 20})
	p.wrong(p.ran(work.Completed, work.Execution{Agent: "demo", Bundle: b.Bundle.ID, Context: 21}), record.FoundFull)
}

func TestFindsContext(t *testing.T) {
	p := newPast(t)
	b := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "b", AgentType: "writer", Scope: "Write poems"}})
	x := p.ran(work.Completed, work.Execution{Agent: "demo", Type: "debugger", Scope: "Fix HNSW", Bundle: b.Bundle.ID})
	p.give(x, work.Allocation{Type: work.ItemFile, Source: "a.md", Included: true}, work.Allocation{Type: work.ItemReference, Source: "b.md", Priority: work.Recommended})
	p.wrong(x, record.FoundLeftOut)
	p.wrong(x, record.FoundOtherFor)
	cut := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "cut"}, Left: []string{"big.md (5.0k tokens)"}})
	p.wrong(p.ran(work.Completed, work.Execution{Agent: "demo", Bundle: cut.Bundle.ID}), record.FoundLeftOut)
	p.delivers(x, work.Deliverable{Path: "c.go", Modified: 2})
	y := p.ran(work.Failed, work.Execution{Agent: "demo", Type: "debugger", Scope: "Fix HNSW"})
	p.wrong(y, record.FoundLacks)
	if got := p.found(x); !has(got, record.FoundUntold) {
		t.Errorf("%v", got)
	}
	if got := p.found(y); !has(got, record.FoundNothing) {
		t.Errorf("%v", got)
	}
}

func has(found map[record.FindingCode]bool, code record.FindingCode) bool {
	_, has := found[code]
	return has
}

func TestFindsVersions(t *testing.T) {
	p := newPast(t)
	p.session("orch-1", "x")
	// What was given is told by its content.
	v1, v2 := "one\n", "two\n"
	first := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Context: 1})
	p.delivers(first, work.Deliverable{Path: "lib/a.ts", Added: 1, Blob: record.BlobOf([]byte(v1))})
	second := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Context: 1})
	p.delivers(second, work.Deliverable{Path: "lib/a.ts", Added: 1, Blob: record.BlobOf([]byte(v2))})
	given := func(content string) work.Execution {
		hash := record.HashOf([]byte(content))
		p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "of-" + content[:3], Items: []work.BundleItem{{Type: work.ItemFile, Source: "lib/a.ts"}}},
			Hash: hash, Pieces: []string{hash}, Sources: []string{hash}}, content)
		x := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Bundle: "of-" + content[:3], Context: 1})
		p.give(x, work.Allocation{Type: work.ItemFile, Source: "lib/a.ts", Included: true, Hash: hash, Bundle: "of-" + content[:3]})
		return x
	}
	p.wrong(given(v1), record.FoundOld)
	if x := given(v2); has(p.found(x), record.FoundOld) {
		t.Errorf("the newest version is found to be old: %v", p.trace(x.Name).Findings)
	}
	// Or, where only a part was given, by the time of its bundle.
	early := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "early"}})
	third := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Context: 1})
	p.delivers(third, work.Deliverable{Path: "lib/a.ts", Added: 1, Blob: record.BlobOf([]byte("three"))})
	x := p.ran(work.Completed, work.Execution{Agent: "demo", Session: "orch-1", Bundle: early.Bundle.ID, Context: 1})
	p.give(x, work.Allocation{Type: work.ItemFile, Source: "lib/a.ts", Sections: []string{"A"}, Included: true, Hash: "00", Bundle: "early"})
	p.wrong(x, record.FoundOld)
	if !has(p.found(first), record.FoundSuperseded) || has(p.found(third), record.FoundSuperseded) {
		t.Error("which version is the newest is not found")
	}
}

func TestFindsBase(t *testing.T) {
	p := newPast(t)
	p.session("orch-1", "x")
	at := func(base string, state work.State) work.Execution {
		return p.ran(state, work.Execution{Agent: "demo", Session: "orch-1", Base: base, Context: 1})
	}
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	if x := at(a, work.Failed); has(p.found(x), record.FoundBase) {
		t.Error("the first of all")
	}
	at(a, work.Completed)
	if got := p.found(at(b, work.Completed)); has(got, record.FoundBase) {
		t.Errorf("one that goes on: %v", got)
	}
	p.wrong(at(a, work.Completed), record.FoundBase) // it went back
	if got := p.found(at(strings.Repeat("c", 40), work.Failed)); has(got, record.FoundBase) {
		t.Errorf("one of which nothing is known: %v", got)
	}
}

func TestFindsOthers(t *testing.T) {
	p := newPast(t)
	parent := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 1})
	p.ran(work.Failed, work.Execution{Kind: work.KindNative, Agent: "demo", Type: "explore", Parent: parent.ID, Key: "k", Reason: "it gave up"})
	p.wrong(parent, record.FoundNative)
	if text := p.trace(parent.Name).Findings[0].Text; !strings.Contains(text, "says itself that it completed") || !strings.Contains(text, "it gave up") {
		t.Error(text)
	}
	failed := p.ran(work.Failed, work.Execution{Agent: "demo", Model: "large", Reason: "overloaded"})
	instead := p.ran(work.Failed, work.Execution{Agent: "other", Model: "small", For: failed.ID, Context: 1})
	p.wrong(instead, record.FoundFallback)
	hand := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "by-hand", Type: "x"})
	if got := p.found(hand); !has(got, record.FoundClaim) || !has(got, record.FoundNoOutput) {
		t.Errorf("%v", got)
	}
}

// TestCompare: what has become of the files is said by who prints the chain.
func TestCompare(t *testing.T) {
	piece := func(source, hash string) record.GivenPiece {
		return record.GivenPiece{Piece: work.Allocation{Source: source, Included: true}, Source: hash}
	}
	c := record.Trace{Findings: []record.Finding{{Code: record.FoundFailed}, {Code: record.FoundClaim, Note: true}},
		Given: record.Given{Context: []record.GivenPiece{piece("same", "1"), piece("changed", "1"), piece("gone", "1"), piece("unknown", ""), piece("/etc/shadow", "1")}}}
	record.Compare(&c, func(path string) (string, error) {
		switch path {
		case "same":
			return "1", nil
		case "changed":
			return "2", nil
		case "gone":
			return "", nil
		}
		return "", errors.New("not in the project")
	})
	var codes []record.FindingCode
	for _, f := range c.Findings {
		codes = append(codes, f.Code)
	}
	var now []record.FileNow
	for _, p := range c.Given.Context {
		now = append(now, p.Now)
	}
	if !slices.Equal(codes, []record.FindingCode{record.FoundFailed, record.FoundGone, record.FoundChanged, record.FoundClaim}) ||
		!slices.Equal(now, []record.FileNow{record.Same, record.Differs, record.Gone, "", ""}) {
		t.Errorf("%v, %v", codes, now)
	}
}

// TestFindsNothingOfOthers: what others made in the same work session is no finding for an agent that sees its own only.
func TestFindsNothingOfOthers(t *testing.T) {
	p := newPast(t)
	usd := .01
	p.session("orch-1", "x", func(s *work.Session) { s.Budget.USD = &usd })
	early := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "early"}})
	other := p.ran(work.Completed, work.Execution{Agent: "demo", Type: "t", Thread: otherThread, Session: "orch-1", Context: 1, Base: strings.Repeat("a", 40), Usage: thread.Usage{Input: 1, CostUSD: 1, Priced: true}})
	p.give(other, work.Allocation{Type: work.ItemFile, Source: "secret.md", Included: true})
	p.delivers(other, work.Deliverable{Path: "lib/a.ts", Added: 1})
	x := p.ran(work.Failed, work.Execution{Agent: "demo", Type: "t", Session: "orch-1", Bundle: early.Bundle.ID, Context: 1, Base: strings.Repeat("b", 40)})
	p.give(x, work.Allocation{Type: work.ItemFile, Source: "lib/a.ts", Included: true, Bundle: "early"})
	for _, code := range []record.FindingCode{record.FoundOld, record.FoundOver, record.FoundLacks} {
		p.wrong(x, code) // to the person
	}
	c, err := p.book.Answers.Trace(t.Context(), record.Author{Agent: true, Thread: oneThread}, record.TraceRequest{Ref: x.Name})
	p.ok(err)
	for _, f := range c.Findings {
		if f.Code != record.FoundFailed {
			t.Errorf("its agent is told %+v", f)
		}
	}
	if len(c.Before) != 0 {
		t.Errorf("its agent sees %+v", c.Before)
	}
}
