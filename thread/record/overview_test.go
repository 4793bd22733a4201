package record_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// TestGlance: the newest work sessions first, what is in those that are open, and what is in none; of one that is asked for
// alone no more. An agent sees its own.
func TestGlance(t *testing.T) {
	h := newByHand(t)
	for n := range 52 {
		h.now = h.now.Add(time.Minute)
		h.session(writer, fmt.Sprintf("s-%02d", n))
	}
	h.now = h.now.Add(time.Minute)
	h.session(anAgent, "its")
	add := func(a record.Author, session, scope string) work.Execution {
		h.now = h.now.Add(time.Second)
		x, err := h.book.Executions.Init(h.Context(), a, record.InitExecution{Session: session, Type: "debugger", Scope: scope, Task: map[bool]string{true: "Find it"}[session != ""]})
		if err != nil {
			t.Fatal(err)
		}
		return stored(h, x.Execution.Execution)
	}
	long := strings.Repeat("x", 5000)
	add(writer, "s-51", long)
	add(writer, "", "loose")
	mine := add(anAgent, "its", "its own")
	g, err := h.book.Overview.Glance(h.Context(), writer, record.OverviewRequest{Newest: true, Open: []string{"s-51"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Sessions) != 50 || !g.More || g.Sessions[0].Session.Name != "its" || g.Sessions[1].Session.Name != "s-51" {
		t.Fatalf("%d work sessions, more: %v, %+v", len(g.Sessions), g.More, g.Sessions[0].Session)
	}
	if one := g.Sessions[1]; one.Sum.Runs != 1 || one.Sum.Open != 1 || len(one.Tasks) != 1 || len(one.Executions) != 1 || len(one.Executions[0].Scope) > 300 {
		t.Errorf("s-51: %+v", one)
	}
	if len(g.Sessions[0].Executions) != 1 || len(g.Sessions[2].Executions) != 0 || len(g.Loose) != 1 || g.Loose[0].Scope != "loose" {
		t.Errorf("%+v, loose %+v", g.Sessions[0], g.Loose)
	}
	some, err := h.book.Overview.Glance(h.Context(), writer, record.OverviewRequest{Only: []string{"s-03", "gone"}})
	if err != nil || len(some.Sessions) != 1 || some.Loose != nil {
		t.Errorf("one alone: %+v, %v", some, err)
	}
	for _, a := range []struct {
		who  record.Author
		want int
	}{{anAgent, 1}, {anOther, 0}, {whoReads, 50}} {
		g, err := h.book.Overview.Glance(h.Context(), a.who, record.OverviewRequest{Newest: true})
		if err != nil || len(g.Sessions) != a.want {
			t.Errorf("%+v sees %d work sessions, want %d (%v)", a.who, len(g.Sessions), a.want, err)
		}
		if g, _ := h.book.Overview.Glance(h.Context(), a.who, record.OverviewRequest{Only: []string{"s-03"}}); len(g.Sessions) != min(1, a.want/50) {
			t.Errorf("%+v sees s-03: %+v", a.who, g.Sessions)
		}
	}
	if _, err := h.book.Overview.Page(h.Context(), anOther, record.PageRequest{Execution: mine.Name}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("another's page: %v", err)
	}
	if p, err := h.book.Overview.Page(h.Context(), anAgent, record.PageRequest{Execution: mine.Name}); err != nil || p.Row.Scope != "its own" {
		t.Errorf("its own page: %+v, %v", p, err)
	}
	if _, err := record.New(record.Config{}).Overview.Glance(h.Context(), writer, record.OverviewRequest{}); !errors.Is(err, thread.ErrUnsupported) {
		t.Errorf("without a record: %v", err)
	}
}

// asked counts the questions to a record.
type asked struct {
	work.Record
	n int
}

func (r *asked) Stats(ctx context.Context, q work.StatsQuery) ([]work.Stat, error) {
	r.n++
	return r.Record.Stats(ctx, q)
}

func (r *asked) Recorded(ctx context.Context, q work.RecordQuery) ([]work.Execution, error) {
	r.n++
	return r.Record.Recorded(ctx, q)
}

// TestSumsOfManySessions: work sessions are summed up by as many questions however many they are; what their sub-agents of CLIs
// have used is not added to what the parents have, here and where one is shown.
func TestSumsOfManySessions(t *testing.T) {
	h := newByHand(t)
	for n := range 40 {
		name := fmt.Sprintf("s-%02d", n)
		h.session(writer, name)
		add := func(x work.Execution) work.Execution {
			x.ID, x.Session, x.Agent, x.Created, x.Lost = thread.NewID[work.ID](), name, "demo", h.now, work.PolicyAsk
			x, err := h.store.Add(h.Context(), x)
			if err == nil && x.State != work.Queued {
				x, err = h.store.Change(h.Context(), x.ID, x.Fence, func(x *work.Execution) error {
					x.Usage = thread.Usage{Input: 100, Output: int64(n), CostUSD: 0.5, Priced: true}
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		p := add(work.Execution{Kind: work.KindTerminal, State: work.Running, Thread: agentA})
		add(work.Execution{Kind: work.KindNative, Parent: p.ID, State: work.Running, Thread: agentA})
		add(work.Execution{Thread: agentB})
	}
	counts := &asked{Record: h.store}
	g, err := record.New(record.Config{Store: counts}).Overview.Glance(h.Context(), writer, record.OverviewRequest{})
	if err != nil || len(g.Sessions) != 40 || counts.n > 5 {
		t.Fatalf("%d work sessions by %d questions, %v", len(g.Sessions), counts.n, err)
	}
	for _, one := range g.Sessions {
		show, err := h.book.Sessions.Show(h.Context(), writer, record.SessionRef{Session: one.Session.Name})
		if err != nil {
			t.Fatal(err)
		}
		for _, sum := range []work.Stat{one.Sum, show.Sums} {
			if sum.Runs != 2 || one.Queued != 1 || sum.Usage.CostUSD != 0.5 || sum.Usage.Input != 100 || one.Session.Name != fmt.Sprintf("s-%02d", sum.Usage.Output) {
				t.Errorf("%s: %+v, %d queued", one.Session.Name, sum, one.Queued)
			}
		}
	}
}

func stored(h *byHand, ref string) work.Execution {
	h.Helper()
	x, err := h.store.Execution(h.Context(), ref)
	if err != nil {
		h.Fatal(err)
	}
	return x
}

// TestPage: an execution with what it was given, said and made, texts in full up to a bound.
func TestPage(t *testing.T) {
	h := newByHand(t)
	x, err := h.store.Add(h.Context(), work.Execution{ID: "00112233445566aa", Thread: agentA, Agent: "claude", Lost: work.PolicyAsk})
	if err != nil {
		t.Fatal(err)
	}
	given, said := strings.Repeat("g", 70<<10), "all\nof it"
	x, err = h.store.Change(h.Context(), x.ID, x.Fence, func(x *work.Execution) error { x.State, x.Reason = work.Cancelled, "why"; return nil },
		work.Event{Kind: work.KindGiven, Text: given}, work.Event{Kind: work.KindSaid, Text: said})
	if err != nil || x.Given == 0 || x.Said == 0 {
		t.Fatalf("%+v, %v", x, err)
	}
	if err := h.store.Allocate(h.Context(), x.ID, []work.Allocation{{Type: work.ItemFile, Source: "a.md", Tokens: 3, Included: true}}); err != nil {
		t.Fatal(err)
	}
	p, err := h.book.Overview.Page(h.Context(), writer, record.PageRequest{Execution: x.Name})
	if err != nil || len(p.Given) != 64<<10 || p.GivenMore != 6<<10 || p.Said != said || p.SaidMore != 0 || len(p.Allocations) != 1 || p.Reason != "why" {
		t.Errorf("given %d and %d more, said %q and %d more, %+v, %q, %v", len(p.Given), p.GivenMore, p.Said, p.SaidMore, p.Allocations, p.Reason, err)
	}
	if _, err := h.book.Overview.Page(h.Context(), writer, record.PageRequest{Execution: "nothing"}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
}
