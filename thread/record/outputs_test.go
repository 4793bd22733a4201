package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// knownFiles are files whose state a test decides.
type knownFiles struct {
	now  map[string]work.Deliverable
	last record.FileQuery
	err  error
	more int // files that are not told
}

func (f *knownFiles) Holds(dir string) bool                        { return !strings.HasPrefix(dir, "/elsewhere") }
func (f *knownFiles) Base(context.Context, string) (string, error) { return "base", nil }
func (f *knownFiles) Deliverables(_ context.Context, q record.FileQuery) ([]work.Deliverable, error) {
	f.last = q
	if f.err != nil {
		return nil, f.err
	}
	var out []work.Deliverable
	for _, p := range q.Paths {
		d, known := f.now[p]
		if !known {
			d = work.Deliverable{Path: p, What: work.FileMissing}
		}
		out = append(out, d)
	}
	if len(q.Paths) == 0 {
		if f.more > 0 {
			q.Cut(f.more)
		}
		for _, d := range f.now {
			out = append(out, d)
		}
	}
	return out, nil
}

// knownChecks are checks whose results a test decides.
type knownChecks struct {
	says work.Validation
	err  error
	ran  int
}

func (c *knownChecks) Check(context.Context, record.CheckRun) (work.Validation, error) {
	if c.err == nil {
		c.ran++
	}
	return c.says, c.err
}

// produce is a record with files and checks, and an execution by hand in it.
type produce struct {
	*testing.T
	store  *memory.Store
	book   *record.Book
	files  *knownFiles
	checks *knownChecks
}

func newProduce(t *testing.T) *produce {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	p := &produce{T: t, store: memory.New(clock), files: &knownFiles{now: map[string]work.Deliverable{}}, checks: &knownChecks{}}
	p.book = record.New(record.Config{Store: p.store, Now: clock, Root: t.TempDir(), Files: p.files, Checks: p.checks, Belongs: inS})
	if _, err := p.book.Sessions.Init(t.Context(), record.Author{}, record.InitSession{Name: "s", Scope: "all of it"}); err != nil {
		t.Fatal(err)
	}
	p.begin("x-1", record.Author{})
	return p
}

func (p *produce) begin(name string, by record.Author) {
	p.Helper()
	if _, err := p.book.Executions.Init(p.Context(), by, record.InitExecution{Name: name, Session: "s", Type: "writer", Scope: "write"}); err != nil {
		p.Fatal(err)
	}
}

func (p *produce) collect(q record.CollectOutputs) []work.Output {
	p.Helper()
	if q.Execution == "" {
		q.Execution = "x-1"
	}
	list, err := p.book.Outputs.Collect(p.Context(), record.Author{}, q)
	if err != nil {
		p.Fatal(err)
	}
	return list
}

func (p *produce) query(q record.QueryOutputs) []work.Output {
	p.Helper()
	list, err := p.book.Outputs.Query(p.Context(), record.Author{}, q)
	if err != nil {
		p.Fatal(err)
	}
	return list
}

// TestCollectedOnce: what is collected again is there once; what has changed is a new version.
func TestCollectedOnce(t *testing.T) {
	p := newProduce(t)
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 3, Blob: "1"}
	q := record.CollectOutputs{Deliverables: []string{"a.go", "gone.go"}, Insights: []string{"found", " "}, Validation: "tests:pass"}
	first := p.collect(q)
	again := p.collect(q)
	if len(first) != 4 || fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%+v\n%+v", first, again)
	}
	if a, gone := first[0], first[1]; a.Metadata.Claimed || !gone.Metadata.Claimed || a.Metadata.AgentType != "writer" || len(a.Metadata.Related) != 1 || a.Path != "a.go" {
		t.Errorf("%+v", first)
	}
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 4, Blob: "2"}
	p.begin("x-2", record.Author{})
	if two := p.collect(record.CollectOutputs{Execution: "x-2", Deliverables: []string{"a.go"}}); two[0].Version != 2 || !two[0].Current {
		t.Errorf("%+v", two)
	}
	if all := p.query(record.QueryOutputs{Path: "a.go"}); len(all) != 2 || all[1].Current || all[1].Version != 1 {
		t.Errorf("%+v", all)
	}
	if now := p.query(record.QueryOutputs{Path: "a.go", Current: true, Session: "s"}); len(now) != 1 || now[0].Execution != "x-2" {
		t.Errorf("%+v", now)
	}
}

// TestClaimsAndChecks: claims of several times add up, a changed one counts, and what checks say stands beside them.
func TestClaimsAndChecks(t *testing.T) {
	p := newProduce(t)
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 3, Blob: "1"}
	p.collect(record.CollectOutputs{Deliverables: []string{"a.go"}, Validation: "tests:pass,coverage:90"})
	p.collect(record.CollectOutputs{Validation: "lint:pass"})
	p.checks.says = work.Validation{Tests: work.Fail, Output: "tests: FAIL sk-ant-api03-" + strings.Repeat("a1B2", 24) + " \x1b[31m"}
	got, err := p.book.Outputs.Check(t.Context(), record.Author{}, record.CheckOutputs{Execution: "x-1"})
	if err != nil || got.Denied != 1 || !got.Failed || got.Claimed.Says("lint") != "pass" || len(got.Since) > 0 || strings.Contains(got.Checked.Output, "a1B2a1B2") || strings.Contains(got.Checked.Output, "\x1b") {
		t.Errorf("%+v, %v", got, err)
	}
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 3, Blob: "2"}
	p.checks.says = work.Validation{Lint: work.Pass}
	got, err = p.book.Outputs.Check(t.Context(), record.Author{}, record.CheckOutputs{Execution: "x-1", Only: []string{"lint"}})
	if err != nil || got.Checked.Tests != work.Fail || got.Checked.Lint != work.Pass || len(got.Since) != 1 {
		t.Errorf("the check of one takes back another: %+v, %v", got, err)
	}
	p.checks.says = work.Validation{Tests: work.Pass}
	if _, err = p.book.Outputs.Check(t.Context(), record.Author{}, record.CheckOutputs{Execution: "x-1"}); err != nil {
		t.Error(err)
	}
	p.collect(record.CollectOutputs{Validation: "tests:fail"})
	p.collect(record.CollectOutputs{Validation: "tests:pass"}) // as it was said before, and yet it is the newest
	var d work.Deliverable
	if err := json.Unmarshal(p.query(record.QueryOutputs{Types: []work.OutputType{work.OutputDeliverable}})[0].Content, &d); err != nil {
		t.Fatal(err)
	}
	if d.Claimed.Says("tests") != "pass" || d.Claimed.Says("coverage") != "90%" || d.Validation.Says("tests") != "pass" || d.Validation.Says("lint") != "" {
		t.Errorf("%+v, %+v", d.Claimed, d.Validation)
	}
	p.checks.err = thread.ErrRefused
	n := len(p.query(record.QueryOutputs{}))
	if _, err := p.book.Outputs.Check(t.Context(), record.Author{}, record.CheckOutputs{Execution: "x-1"}); !errors.Is(err, thread.ErrRefused) || len(p.query(record.QueryOutputs{})) != n {
		t.Errorf("what was not accepted: %v", err)
	}
}

// inS has agentA's thread belong to the work session.
func inS(_ context.Context, of thread.ID) (string, error) {
	return map[thread.ID]string{agentA: "s"}[of], nil
}

// TestOwnOutputsOnly: an agent collects and checks for its own executions, and sees what came of those.
func TestOwnOutputsOnly(t *testing.T) {
	p := newProduce(t)
	agent, rival := record.Author{Agent: true, Thread: agentA}, record.Author{Agent: true, Thread: agentB, Reads: true}
	p.begin("a-1", agent)
	p.collect(record.CollectOutputs{Insights: []string{"the person's"}})
	if list, err := p.book.Outputs.Collect(t.Context(), agent, record.CollectOutputs{Execution: "a-1", Insights: []string{"its own"}}); err != nil || list[0].By != agentA {
		t.Errorf("%+v, %v", list, err)
	}
	for _, by := range []record.Author{agent, rival, {Agent: true}} {
		if _, err := p.book.Outputs.Collect(t.Context(), by, record.CollectOutputs{Execution: "x-1", Insights: []string{"x"}}); !errors.Is(err, thread.ErrNotGranted) {
			t.Errorf("%+v: %v", by, err)
		}
		if _, err := p.book.Outputs.Check(t.Context(), by, record.CheckOutputs{Execution: "x-1"}); !errors.Is(err, thread.ErrNotGranted) || p.checks.ran > 0 {
			t.Errorf("%+v: %v", by, err)
		}
	}
	if list, err := p.book.Outputs.Query(t.Context(), agent, record.QueryOutputs{}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	r, err := p.book.Outputs.Report(t.Context(), agent, record.MakeReport{Session: "s"})
	if err != nil || len(r.Executions) != 1 || r.Executions[0].Row.Execution != "a-1" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSettledOnce: what a run has made is written down by itself, once, whoever tries it how often; one that fails at git
// leaves the others.
func TestSettledOnce(t *testing.T) {
	p := newProduce(t)
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 3, Blob: "1"}
	var runs []work.Execution
	for i, state := range []work.State{work.Completed, work.Failed, work.Running} {
		x, err := p.store.Add(t.Context(), work.Execution{ID: work.ID(fmt.Sprintf("%016d", i+1)), Thread: agentA, Agent: "demo", State: work.Queued, Prompt: "p", Lost: work.PolicyAsk, Created: time.Now()})
		if err == nil {
			x, err = p.store.Claim(t.Context(), x.ID, "server", time.Now())
		}
		for _, s := range []work.State{work.Running, state} {
			if err == nil && x.State != s {
				x, err = p.store.Change(t.Context(), x.ID, x.Fence, func(x *work.Execution) error {
					x.State, x.Base, x.Result = s, "b", "r"
					if s == work.Failed {
						x.Reason = "it gave up"
					}
					return nil
				})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, x)
	}
	p.files.err = errors.New("git is away")
	if err := p.book.Outputs.Settle(t.Context(), runs[0]); err == nil {
		t.Error("an error of git is kept secret")
	}
	p.files.err = nil
	for range 3 {
		for _, x := range runs {
			if err := p.book.Outputs.Settle(t.Context(), x); err != nil {
				t.Error(err)
			}
		}
		if err := p.book.Outputs.SettleAll(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for i, want := range []int{1, 2, 0} { // a file; a file and why it failed; nothing while it runs
		if list := p.query(record.QueryOutputs{Execution: runs[i].Name}); len(list) != want {
			t.Errorf("%s: %+v", runs[i].State, list)
		}
	}
	if q := p.files.last; q.From != "b" || q.To != "r" || q.Unbased || len(q.Paths) > 0 {
		t.Errorf("%+v", q)
	}
}

// TestSettledAfterAKill: what came of executions that an earlier server has ended is written down however many there are,
// also if its agent has named a file before, or nothing but the reason is left; what is marked is not looked at again.
func TestSettledAfterAKill(t *testing.T) {
	p := newProduce(t)
	p.files.now["a.go"] = work.Deliverable{Path: "a.go", Added: 3, Blob: "1"}
	p.files.now["b.go"] = work.Deliverable{Path: "b.go", Added: 4, Blob: "2"}
	ended := func(state work.State, change func(*work.Execution)) work.Execution {
		x, err := p.store.Add(t.Context(), work.Execution{ID: thread.NewID[work.ID](), Thread: agentA, Agent: "demo", State: work.Queued, Prompt: "p", Lost: work.PolicyAsk, Created: time.Now()})
		if err == nil {
			x, err = p.store.Claim(t.Context(), x.ID, "server", time.Now())
		}
		for _, s := range []work.State{work.Running, state} {
			if err == nil {
				x, err = p.store.Change(t.Context(), x.ID, x.Fence, func(x *work.Execution) error { x.State = s; change(x); return nil })
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	both := ended(work.Completed, func(x *work.Execution) { x.Base, x.Result = "b", "r" })
	p.collect(record.CollectOutputs{Execution: both.Name, Deliverables: []string{"a.go"}})
	reason := ended(work.Failed, func(x *work.Execution) { x.Reason = "it gave up" })
	for range 250 {
		ended(work.Completed, func(*work.Execution) {})
	}
	if err := p.book.Outputs.SettleAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for x, want := range map[string]int{both.Name: 2, reason.Name: 1} {
		if list := p.query(record.QueryOutputs{Execution: x}); len(list) != want {
			t.Errorf("%s: %+v", x, list)
		}
		if x, err := p.store.Execution(t.Context(), x); err != nil || !x.Settled {
			t.Errorf("%s is not marked: %v", x.Name, err)
		}
	}
	p.files.more = 4000
	large := ended(work.Completed, func(x *work.Execution) { x.Base, x.Result = "b", "r" })
	if err := p.book.Outputs.Settle(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if said := p.query(record.QueryOutputs{Execution: large.Name, Types: []work.OutputType{work.OutputInsight}}); len(said) != 1 || record.Text(said[0]) != "4002 files have changed: 4000 of them are not written down" {
		t.Errorf("what is left out is not told: %+v", said)
	}
	p.files.more, p.files.last = 0, record.FileQuery{}
	if err := p.book.Outputs.SettleAll(t.Context()); err != nil || p.files.last.To != "" {
		t.Errorf("it looks again: %+v, %v", p.files.last, err)
	}
	p.files.err = thread.ErrUnreachable
	later := ended(work.Completed, func(x *work.Execution) { x.Base, x.Result = "b", "r" })
	if err := p.book.Outputs.SettleAll(t.Context()); err == nil {
		t.Error("an error of git is kept secret")
	}
	p.files.err = nil
	if err := p.book.Outputs.SettleAll(t.Context()); err != nil || len(p.query(record.QueryOutputs{Execution: later.Name})) != 2 {
		t.Errorf("it is not tried again: %v", err)
	}
}

// TestLargeOutputs: an answer has so many bytes of texts, and says of which it has the beginning only.
func TestLargeOutputs(t *testing.T) {
	p := newProduce(t)
	for i := range 12 {
		p.collect(record.CollectOutputs{Execution: "x-1", Insights: []string{fmt.Sprint(i, strings.Repeat(" word", 190_000))}})
	}
	size := func(list []work.Output) (n, cut int) {
		for _, o := range list {
			n += len(o.Content)
			if strings.Contains(record.Text(o), "bytes in all: ask for fewer") {
				cut++
			}
		}
		return n, cut
	}
	if n, cut := size(p.query(record.QueryOutputs{Execution: "x-1"})); n > 9<<20 || cut != 4 {
		t.Errorf("%d bytes, %d cut", n, cut)
	}
	if _, cut := size(p.query(record.QueryOutputs{Execution: "x-1", Limit: 1})); cut != 0 {
		t.Error("one alone is cut")
	}
	r, err := p.book.Outputs.Report(t.Context(), record.Author{}, record.MakeReport{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	n, cut := 0, 0
	for _, x := range r.Executions {
		bytes, some := size(x.Outputs)
		n, cut = n+bytes, cut+some
	}
	if n > 9<<20 || cut != 4 {
		t.Errorf("a report has %d bytes, %d cut", n, cut)
	}
}

// TestBadOutputs: what cannot be is refused, with nothing stored.
func TestBadOutputs(t *testing.T) {
	p := newProduce(t)
	many := make([]string, 101)
	for i, q := range []record.CollectOutputs{
		{}, {Insights: []string{"", " "}}, {Insights: many}, {Errors: many}, {Validation: "speed:pass"}, {Execution: "nothing", Insights: []string{"x"}},
	} {
		if q.Execution == "" {
			q.Execution = "x-1"
		}
		if list, err := p.book.Outputs.Collect(t.Context(), record.Author{}, q); err == nil {
			t.Errorf("%d: %+v", i, list)
		}
	}
	for _, q := range []record.QueryOutputs{{Limit: -1}, {Limit: 1001}, {Types: []work.OutputType{"odd"}}, {Session: "nothing"}, {Execution: "nothing"}} {
		if list, err := p.book.Outputs.Query(t.Context(), record.Author{}, q); err == nil {
			t.Errorf("%+v: %+v", q, list)
		}
	}
	if list := p.query(record.QueryOutputs{}); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	hostile := p.collect(record.CollectOutputs{Insights: []string{"\x1b]0;x\a key sk-ant-api03-" + strings.Repeat("a1B2", 24) + " \xff end"}, Deliverables: []string{"a\x1b[31m\n.go"}})
	for _, o := range hostile {
		if s := string(o.Content) + o.Path; strings.ContainsAny(s, "\x1b\a\n") || strings.Contains(s, `\u001b`) || strings.Contains(s, "a1B2a1B2") {
			t.Errorf("%q", s)
		}
	}
	p.files.now = nil
	if _, err := p.book.Executions.Init(t.Context(), record.Author{}, record.InitExecution{Name: "far", Type: "x", Scope: "y", Dir: "/elsewhere"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.book.Outputs.Check(t.Context(), record.Author{}, record.CheckOutputs{Execution: "far"}); err == nil || p.checks.ran > 0 {
		t.Errorf("checks outside of the project: %v", err)
	}
}
