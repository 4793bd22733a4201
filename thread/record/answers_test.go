package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// past is a record with what some test has put into it.
type past struct {
	*testing.T
	store *memory.Store
	book  *record.Book
	now   time.Time
}

const (
	oneThread   = thread.ID("00000000000000aa")
	otherThread = thread.ID("00000000000000bb")
)

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{T: t, now: time.Date(2025, 1, 17, 10, 0, 0, 0, time.UTC)}
	p.store = memory.New(p.clock)
	p.book = record.New(record.Config{Store: p.store, Now: p.clock, Host: "host", User: "tess", Root: "/project"})
	return p
}

// clock goes on by a second each time it is asked.
func (p *past) clock() time.Time {
	p.now = p.now.Add(time.Second)
	return p.now
}

func (p *past) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *past) session(name, scope string, change ...func(*work.Session)) {
	p.Helper()
	s := work.Session{Name: name, Scope: scope, Phase: work.PhaseExecute, Status: work.SessionExecuting, Approval: work.ApproveSuggest}
	for _, c := range change {
		c(&s)
	}
	_, err := p.store.AddSession(p.Context(), s)
	p.ok(err)
}

// ran adds an execution that ended in a state, with events before that.
func (p *past) ran(state work.State, x work.Execution, events ...work.Event) work.Execution {
	p.Helper()
	x.ID = thread.NewID[work.ID]()
	if x.Kind != work.KindHand && x.Thread == "" {
		x.Thread = oneThread
	}
	if x.Kind == work.KindRun {
		x.Prompt, x.Deadline, x.Lost = thread.NewID[thread.PromptID](), time.Minute, work.PolicyAsk
	} else {
		x.State = work.Running
	}
	x.Created = p.clock()
	final := x
	got, err := p.store.Add(p.Context(), x)
	p.ok(err)
	if x.Kind == work.KindRun {
		got, err = p.store.Claim(p.Context(), got.ID, "server", p.clock())
		p.ok(err)
	}
	path := []work.State{state}
	if state == work.Completed && x.Kind == work.KindRun {
		path = []work.State{work.Running, state}
	}
	for _, s := range path {
		got, err = p.store.Change(p.Context(), got.ID, got.Fence, func(x *work.Execution) error {
			x.State, x.Reason, x.Usage, x.Answer, x.Failure = s, final.Reason, final.Usage, final.Answer, final.Failure
			x.Instead, x.For, x.Fallback, x.Model, x.Chosen = final.Instead, final.For, final.Fallback, final.Model, final.Chosen
			x.FellBack, x.Former, x.Counted, x.Result = final.FellBack, final.Former, x.Attempt, final.Result
			if x.Started.IsZero() {
				x.Started = got.Created
			}
			if s.Final() {
				x.Ended = p.clock()
			}
			return nil
		}, events...)
		p.ok(err)
		events = nil
	}
	return got
}

func (p *past) give(x work.Execution, pieces ...work.Allocation) {
	p.Helper()
	p.ok(p.store.Allocate(p.Context(), x.ID, pieces))
}

func (p *past) delivers(x work.Execution, d work.Deliverable) work.Output {
	p.Helper()
	content, err := json.Marshal(d)
	p.ok(err)
	out, err := p.store.AddOutputs(p.Context(), x.ID, []work.Output{{Type: work.OutputDeliverable, Path: d.Path, Content: content}})
	p.ok(err)
	return out[0]
}

func (p *past) bundle(b work.KeptBundle, pieces ...string) work.KeptBundle {
	p.Helper()
	if b.Hash == "" {
		b.Hash = fmt.Sprintf("%064x", len(b.Bundle.ID)+int(p.now.Unix()))
	}
	if b.Bundle.Created.IsZero() {
		b.Bundle.Created = p.clock()
	}
	contents := map[string][]byte{}
	for _, c := range pieces {
		contents[record.HashOf([]byte(c))] = []byte(c)
	}
	got, err := p.store.PutBundle(p.Context(), b, contents)
	p.ok(err)
	return got
}

func (p *past) trace(ref string) record.Trace {
	p.Helper()
	t, err := p.book.Answers.Trace(p.Context(), record.Author{}, record.TraceRequest{Ref: ref})
	p.ok(err)
	return t
}

func executions(list []record.Worked) (out []string) {
	for _, w := range list {
		out = append(out, w.Execution.Execution)
	}
	return out
}

// agent is an agent that sees its own only.
var agent = record.Author{Agent: true, Thread: otherThread}

func TestHistory(t *testing.T) {
	p := newPast(t)
	p.session("orch-1", "Vector search")
	first := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "one", Session: "orch-1", Type: "implementor", Scope: "Implement HNSW"})
	p.delivers(first, work.Deliverable{Path: "lib/search.ts", Added: 150})
	p.delivers(first, work.Deliverable{Path: "lib/extra.ts", Added: 1})
	second := p.ran(work.Failed, work.Execution{Kind: work.KindHand, Name: "two", Type: "debugger", Scope: "Debug HNSW", By: otherThread, Thread: otherThread, Reason: "no idea"})
	p.delivers(second, work.Deliverable{Path: "lib/search.ts", Modified: 3})
	p.ran(work.Completed, work.Execution{Agent: "demo", Scope: "write a poem"})
	ask := func(by record.Author, q record.HistoryRequest) []string {
		t.Helper()
		list, err := p.book.Answers.History(t.Context(), by, q)
		p.ok(err)
		return executions(list)
	}
	for _, c := range []struct {
		by   record.Author
		q    record.HistoryRequest
		want []string
	}{
		{q: record.HistoryRequest{}, want: []string{"exec-001", "two", "one"}},
		{q: record.HistoryRequest{Words: "HNSW"}, want: []string{"two", "one"}},
		{q: record.HistoryRequest{Words: "hnsw implement"}, want: []string{"one"}},
		{q: record.HistoryRequest{Words: "extra.ts"}, want: []string{"one"}},
		{q: record.HistoryRequest{Words: "nothing has this"}},
		{q: record.HistoryRequest{Path: "./lib/search.ts"}, want: []string{"two", "one"}},
		{q: record.HistoryRequest{Path: `lib\search.ts`, Session: "orch-1"}, want: []string{"one"}},
		{q: record.HistoryRequest{Type: "debugger"}, want: []string{"two"}},
		{q: record.HistoryRequest{Limit: 1}, want: []string{"exec-001"}},
		{by: agent, want: []string{"two"}},
		{by: record.Author{Agent: true}},
		{by: record.Author{Agent: true, Thread: otherThread, Reads: true}, want: []string{"exec-001", "two", "one"}},
	} {
		if got := ask(c.by, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%+v of %+v: %v, want %v", c.q, c.by, got, c.want)
		}
	}
	list, err := p.book.Answers.History(t.Context(), record.Author{}, record.HistoryRequest{Path: "lib/search.ts"})
	p.ok(err)
	if len(list[1].Outputs) != 1 || list[1].Outputs[0].Added != 150 || list[0].Outputs[0].Version == 0 {
		t.Errorf("who touched a file has %+v", list)
	}
}

func TestContext(t *testing.T) {
	p := newPast(t)
	hash, source := record.HashOf([]byte("a part")), strings.Repeat("b", 64)
	b := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "bundle-007", AgentType: "debugger", Scope: "Debug", Total: 5000, Remaining: 195000,
		Items: []work.BundleItem{{Type: work.ItemFile, Source: "a.md", Tokens: 5000}}}, Pieces: []string{hash}, Sources: []string{source}}, "a part")
	long := strings.Repeat("look at all of it. ", 200)
	p.ran(work.Completed, work.Execution{Type: "debugger", Agent: "demo"}, work.Event{Kind: work.KindGiven, Text: "an earlier one"})
	x := p.ran(work.Failed, work.Execution{Type: "debugger", Agent: "demo", Bundle: b.Bundle.ID, Reason: "tests fail"}, work.Event{Kind: work.KindGiven, Text: long})
	p.give(x, work.Allocation{Type: work.ItemFile, Source: "a.md", Tokens: 5000, Included: true, Bundle: "bundle-007", Sections: []string{"Some"}, Hash: hash},
		work.Allocation{Type: work.ItemReference, Source: "b.md", Tokens: 7, Priority: work.Recommended})
	p.delivers(x, work.Deliverable{Path: "c.go", Added: 1})
	p.ran(work.Completed, work.Execution{Type: "writer", Agent: "demo"})
	list, err := p.book.Answers.Context(t.Context(), record.Author{}, record.ContextRequest{Type: "debugger"})
	p.ok(err)
	g := list[0]
	if len(list) != 1 || g.Execution.ID != x.ID || g.Bundle == nil || g.Bundle.Tokens != 5000 || len(g.Context) != 2 || g.Context[0].Source != source ||
		!g.Context[0].Piece.Included || g.Context[1].Piece.Included || !g.Cut || !strings.HasPrefix(long, g.Asked) || len(g.Outputs) != 1 {
		t.Errorf("the last debugger was given %+v", g)
	}
	list, err = p.book.Answers.Context(t.Context(), record.Author{}, record.ContextRequest{Type: "debugger", Limit: 5, Full: true})
	p.ok(err)
	if len(list) != 2 || list[0].Asked != long || list[0].Cut || list[1].Asked != "an earlier one" {
		t.Errorf("the last debuggers were given %+v", list)
	}
	if _, err := p.book.Answers.Context(t.Context(), record.Author{}, record.ContextRequest{Type: "debuger"}); !errors.Is(err, thread.ErrNotFound) || !strings.Contains(err.Error(), "Did you mean debugger?") {
		t.Errorf("a mistyped type: %v", err)
	}
	if _, err := p.book.Answers.Context(t.Context(), agent, record.ContextRequest{Type: "debugger"}); !errors.Is(err, thread.ErrNotFound) || strings.Contains(err.Error(), "writer") {
		t.Errorf("an agent that has none: %v", err)
	}
}

func TestWho(t *testing.T) {
	p := newPast(t)
	p.session("orch-1", "Vector search")
	for i, task := range []string{"Index", "Query", "Index"} {
		x := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: fmt.Sprintf("x-%d", i), Session: "orch-1", Task: task, Type: "implementor", Scope: "part"})
		p.delivers(x, work.Deliverable{Path: fmt.Sprintf("f%d.go", i), Added: 1})
	}
	for _, c := range []struct {
		of, found string
		want      []string
	}{
		{"Index", "task", []string{"x-0", "x-2"}}, {"orch-1", "session", []string{"x-0", "x-1", "x-2"}}, {"f1.go", "words", []string{"x-1"}},
	} {
		w, err := p.book.Answers.Who(t.Context(), record.Author{}, record.WhoRequest{Of: c.of})
		if p.ok(err); w.Found != c.found || !slices.Equal(executions(w.Worked), c.want) || len(w.Worked[0].Outputs) != 1 {
			t.Errorf("%s: %+v", c.of, w)
		}
	}
	w, err := p.book.Answers.Who(t.Context(), record.Author{}, record.WhoRequest{Of: "orch-1", Limit: 2})
	if p.ok(err); !w.More || !slices.Equal(executions(w.Worked), []string{"x-1", "x-2"}) {
		t.Errorf("the newest two: %+v", w)
	}
	for _, by := range []record.Author{agent, {Agent: true}} {
		for _, of := range []string{"Index", "orch-1", "nothing", " "} {
			if w, err := p.book.Answers.Who(t.Context(), by, record.WhoRequest{Of: of}); !errors.Is(err, thread.ErrNotFound) {
				t.Errorf("%+v asks for %q: %+v, %v", by, of, w, err)
			}
		}
	}
}

func TestProduced(t *testing.T) {
	p := newPast(t)
	good, bad := p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "good", AgentType: "debugger"}}), p.bundle(work.KeptBundle{Bundle: work.Bundle{ID: "bad"}})
	for i := range 3 {
		x := p.ran(work.Completed, work.Execution{Type: "debugger", Agent: "demo", Bundle: good.Bundle.ID, Usage: thread.Usage{Input: 10, CostUSD: .5, Priced: true}})
		p.delivers(x, work.Deliverable{Path: fmt.Sprint(i), Validation: &work.Validation{Tests: work.Pass}})
	}
	x := p.ran(work.Failed, work.Execution{Type: "debugger", Agent: "demo", Bundle: bad.Bundle.ID})
	p.delivers(x, work.Deliverable{Path: "x", Validation: &work.Validation{Tests: work.Fail, Lint: work.Pass}, Claimed: &work.Validation{Tests: work.Pass}})
	p.ran(work.Completed, work.Execution{Type: "writer", Agent: "demo"})
	list, err := p.book.Answers.Produced(t.Context(), record.Author{}, record.ProducedRequest{})
	p.ok(err)
	if len(list) != 2 || list[0].Bundle.ID != "good" || list[0].Uses != 3 || list[0].Completed != 3 || list[0].Passed != 3 || list[0].Spent.Money() != "$1.50" ||
		list[0].Outputs != 3 || list[1].Failed != 1 || list[1].Refused != 1 || list[1].Passed != 0 || list[1].Last.ID != x.ID {
		t.Errorf("%+v", list)
	}
	if list, err = p.book.Answers.Produced(t.Context(), agent, record.ProducedRequest{}); err != nil || len(list) != 0 {
		t.Errorf("another's agent sees %+v, %v", list, err)
	}
}

// TestManyOutputs: an execution of which very much came hides nothing of others; of itself the newest are there.
func TestManyOutputs(t *testing.T) {
	p := newPast(t)
	few := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "few", Type: "writer", Bundle: "b"})
	p.delivers(few, work.Deliverable{Path: "first"})
	lots := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "lots", Type: "writer", Bundle: "b"})
	const n = 1100
	all := make([]work.Output, n)
	for i := range all {
		all[i] = work.Output{Type: work.OutputDeliverable, Path: fmt.Sprint("f", i), Content: json.RawMessage("{}")}
	}
	_, err := p.store.AddOutputs(t.Context(), lots.ID, all)
	p.ok(err)
	none := p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "none", Type: "writer"})
	list, err := p.book.Answers.History(t.Context(), record.Author{}, record.HistoryRequest{})
	p.ok(err)
	if !slices.Equal(executions(list), []string{none.Name, "lots", "few"}) || list[0].Outputs == nil || len(list[0].Outputs) != 0 {
		t.Fatalf("%+v", list)
	}
	if of := list[1].Outputs; len(of) != 100 || of[0].Path != fmt.Sprint("f", n-100) || of[99].Path != fmt.Sprint("f", n-1) || of[0].Execution != "lots" {
		t.Errorf("%d outputs: %+v", len(of), of[:1])
	}
	if of := list[2].Outputs; len(of) != 1 || of[0].Path != "first" {
		t.Errorf("%+v", of)
	}
	produced, err := p.book.Answers.Produced(t.Context(), record.Author{}, record.ProducedRequest{})
	if p.ok(err); len(produced) != 1 || produced[0].Outputs != 101 || produced[0].Counted != 2 {
		t.Errorf("%+v", produced)
	}
}

// TestStats: what a sub-agent used is a part of what its parent used, and counted once.
func TestStats(t *testing.T) {
	p := newPast(t)
	cents := func(n float64, in int64) thread.Usage {
		return thread.Usage{Input: in, CacheRead: 1, CostUSD: n / 100, Priced: true}
	}
	parent := p.ran(work.Completed, work.Execution{Agent: "demo", Type: "lead", Model: "large", Usage: cents(30, 300)})
	p.ran(work.Failed, work.Execution{Kind: work.KindNative, Agent: "demo", Type: "explore", Model: "small", Parent: parent.ID, Key: "a", Usage: cents(10, 100)})
	p.ran(work.Completed, work.Execution{Agent: "other", Type: "lead", Usage: thread.Usage{Input: 50, Unknown: 1}})
	p.ran(work.Completed, work.Execution{Kind: work.KindHand, Name: "x", Type: "writer"})
	ask := func(q record.StatsRequest) record.Sums {
		t.Helper()
		s, err := p.book.Answers.Stats(t.Context(), record.Author{}, q)
		p.ok(err)
		return s
	}
	s := ask(record.StatsRequest{})
	if tot := s.Total; tot.Runs != 4 || tot.Natives != 1 || tot.Completed != 3 || tot.Failed != 1 || tot.Spent.Money() != "$0.30 + ?" || tot.Spent.In != 351 || *tot.Success != 75 {
		t.Errorf("the total is %+v", s.Total)
	}
	rows := map[string]record.Sum{}
	for _, r := range s.Rows {
		rows[r.Key] = r
	}
	if r := rows["explore"]; !r.Within || r.Spent.Money() != "$0.10" || r.Natives != 1 {
		t.Errorf("sub-agents are %+v", r)
	}
	if r := rows["lead"]; r.Within || r.Runs != 2 || r.Spent.In != 351 {
		t.Errorf("leads are %+v", r)
	}
	if s := ask(record.StatsRequest{Type: "explore"}); s.Total.Spent.Money() != "$0.10" || s.Rows[0].Within {
		t.Errorf("of sub-agents alone: %+v", s)
	}
	for _, by := range record.Grouped() {
		if s := ask(record.StatsRequest{By: by}); s.Total.Runs != 4 || s.Total.Spent.In != 351 || len(s.Rows) == 0 {
			t.Errorf("by %s: %+v", by, s)
		}
	}
	if _, err := p.book.Answers.Stats(t.Context(), record.Author{}, record.StatsRequest{By: "color"}); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("by color: %v", err)
	}
	if s, err := p.book.Answers.Stats(t.Context(), agent, record.StatsRequest{}); err != nil || s.Total.Runs != 0 || s.Total.Success != nil {
		t.Errorf("an agent that has none: %+v, %v", s, err)
	}
}
