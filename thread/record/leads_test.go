package record_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// said returns the texts of what is found of a kind.
func (p *past) said(x work.Execution, code record.FindingCode) string {
	p.Helper()
	var all []string
	for _, f := range p.trace(x.Name).Findings {
		if f.Code == code {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (p *past) says(x work.Execution, code record.FindingCode, parts ...string) {
	p.Helper()
	got := p.said(x, code)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			p.Errorf("%s: %q lacks %q: %+v", x.Name, got, part, p.trace(x.Name).Findings)
		}
	}
}

// TestFindsModelThatTookOver: a fallback that was taken, by the rule that takes it.
func TestFindsModelThatTookOver(t *testing.T) {
	for name, c := range map[string]struct {
		again string
		want  string
	}{
		"asked the same":  {"do it", "it was given the same"},
		"asked to go on":  {"go on", "not given what the first was"},
		"nothing is kept": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPast(t)
			x, err := p.store.Add(t.Context(), work.Execution{ID: thread.NewID[work.ID](), Thread: oneThread, Agent: "demo", Model: "large",
				Fallback: "model:small", Prompt: thread.NewID[thread.PromptID](), Deadline: time.Minute, Lost: work.PolicyAsk, Created: p.clock()})
			p.ok(err)
			var got work.Execution
			for attempt, asked := range []string{"do it", c.again} {
				got, err = p.store.Claim(t.Context(), x.ID, "server", p.clock())
				p.ok(err)
				var events []work.Event
				if c.again != "" {
					events = append(events, work.Event{Attempt: attempt + 1, Kind: work.KindGiven, Text: asked})
				}
				for _, state := range []work.State{work.Running, work.Failed, work.Queued}[:3-attempt] {
					got, err = p.store.Change(t.Context(), got.ID, got.Fence, func(x *work.Execution) error {
						x.State, x.Counted = state, x.Attempt
						switch x.Started = x.Created; state {
						case work.Failed:
							x.Ended, x.Failure = p.clock(), work.Failure{Class: work.ClassAgent, Code: work.CodeAgent, What: "it is overloaded", At: p.now}
						case work.Queued:
							x.FallBack("")
						default:
						}
						return nil
					}, events...)
					p.ok(err)
					events = nil
				}
			}
			p.wrong(got, record.FoundFallback)
			p.says(got, record.FoundFallback, "the model small took over from large at attempt 2", "it is overloaded", c.want)
		})
	}
	p := newPast(t)
	if x := p.ran(work.Failed, work.Execution{Agent: "demo", Model: "large", Fallback: "model:small"}); has(p.found(x), record.FoundFallback) {
		t.Error("one whose fallback was not taken")
	}
}

// TestFallbackHasOtherContext: what a fallback was not given is said with it.
func TestFallbackHasOtherContext(t *testing.T) {
	p := newPast(t)
	first := p.ran(work.Failed, work.Execution{Agent: "demo", Bundle: "", Context: 10})
	p.give(first, work.Allocation{Type: work.ItemFile, Source: "a.md", Included: true}, work.Allocation{Type: work.ItemFile, Source: "b.md", Included: true})
	x := p.ran(work.Completed, work.Execution{Agent: "other", For: first.ID, Context: 10})
	p.give(x, work.Allocation{Type: work.ItemFile, Source: "a.md", Included: true})
	p.says(x, record.FoundFallback, "not given what the first was: b.md")
	same := p.ran(work.Completed, work.Execution{Agent: "other", For: first.ID, Context: 10})
	p.give(same, work.Allocation{Type: work.ItemFile, Source: "a.md", Included: true}, work.Allocation{Type: work.ItemFile, Source: "b.md", Included: true})
	if got := p.said(same, record.FoundFallback); strings.Contains(got, ";") {
		t.Errorf("one with the same: %s", got)
	}
}

// TestKnownCauseComesFirst: beside a cause that is known all else is a remark; where the agent itself failed, it is not.
func TestKnownCauseComesFirst(t *testing.T) {
	p := newPast(t)
	b := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "b", AgentType: "writer", Scope: "poems"}})
	failed := func(f work.Failure) work.Execution {
		x := p.ran(work.Failed, work.Execution{Agent: "demo", Type: "debugger", Scope: "Fix HNSW", Bundle: b.Bundle.ID, Context: 1, Failure: f, Reason: "why"})
		p.delivers(x, work.Deliverable{Path: "a", Added: 1, Validation: &work.Validation{Tests: work.Fail}})
		return x
	}
	x := failed(work.Failure{Class: work.ClassTransport, Code: work.CodeIntegration, What: "no network", At: p.now})
	c := p.trace(x.Name)
	c.Given.Context = []record.GivenPiece{{Piece: work.Allocation{Source: "f"}, Source: "1"}}
	record.Compare(&c, func(string) (string, error) { return "", nil })
	if got := p.found(x); c.Findings[0].Code != record.FoundFailed || got[record.FoundOtherFor] || !has(got, record.FoundOtherFor) || !got[record.FoundRefused] {
		t.Errorf("%+v", c.Findings)
	}
	for _, f := range c.Findings {
		if f.Code == record.FoundGone && !f.Note {
			t.Errorf("%+v", f)
		}
	}
	p.wrong(failed(work.Failure{Class: work.ClassAgent, Code: work.CodeAgent}), record.FoundOtherFor)
}

// TestSaysNotYetWrittenDown: what has just ended is not said to have made nothing.
func TestSaysNotYetWrittenDown(t *testing.T) {
	p := newPast(t)
	x := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 1, Base: strings.Repeat("a", 40), Result: strings.Repeat("b", 40)})
	if c := p.trace(x.Name); !c.Settling || has(p.found(x), record.FoundNoOutput) || !has(p.found(x), record.FoundSettling) {
		t.Errorf("just ended: %+v", c.Findings)
	}
	p.now = p.now.Add(time.Minute)
	if c := p.trace(x.Name); c.Settling || !has(p.found(x), record.FoundNoOutput) {
		t.Errorf("ended long ago: %+v", c.Findings)
	}
	used := p.ran(work.Completed, work.Execution{Agent: "demo", Context: 1, Usage: thread.Usage{Input: 1}})
	if p.trace(used.Name).Settling {
		t.Error("one that has changed nothing")
	}
}

// TestSaysSinceWhenFilesDiffer: since they were read, which is when the bundle was prepared.
func TestSaysSinceWhenFilesDiffer(t *testing.T) {
	at := time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		bundle *record.BundleHead
		want   string
	}{
		{nil, "changed since it was given: f"},
		{&record.BundleHead{ID: "b", Created: at.Add(-time.Hour)}, "changed since bundle b was prepared, 1:00:00 before it was given: f"},
		{&record.BundleHead{ID: "b", Created: at}, "changed since bundle b was prepared: f"},
	} {
		tr := record.Trace{More: work.Execution{Created: at, Started: at}, Given: record.Given{Bundle: c.bundle,
			Context: []record.GivenPiece{{Piece: work.Allocation{Source: "f", Included: true}, Source: "1"}}}}
		record.Compare(&tr, func(string) (string, error) { return "2", nil })
		if !slices.ContainsFunc(tr.Findings, func(f record.Finding) bool { return strings.HasSuffix(f.Text, c.want) }) {
			t.Errorf("%+v, want %s", tr.Findings, c.want)
		}
	}
}
