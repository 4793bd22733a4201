package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/workfile"
	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Who recorded something in these tests.
const (
	agentA = thread.ID("aaaaaaaaaaaaaaaa")
	agentB = thread.ID("bbbbbbbbbbbbbbbb")
)

// owned is what somebody has recorded.
type owned struct {
	session, execution, bundle string
	run                        string // an execution that is no claim
}

// shared is a record of a person, and of two agents.
type shared struct {
	t     *testing.T
	store *memory.Store
	book  *record.Book
	of    map[string]owned // "person", "A", "B"
}

func newShared(t *testing.T) *shared {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	s := &shared{t: t, store: memory.New(clock), of: map[string]owned{}}
	s.book = record.New(record.Config{Store: s.store, Now: clock, Host: "host", User: "user", Root: t.TempDir()})
	for name, by := range map[string]record.Author{"person": {}, "A": {Agent: true, Thread: agentA}, "B": {Agent: true, Thread: agentB}} {
		s.of[name] = s.records(name, by)
	}
	return s
}

// canary stands in every text that somebody has recorded.
func canary(name string) string { return "canary" + strings.ToLower(name) }

func (s *shared) records(name string, by record.Author) owned {
	s.t.Helper()
	ctx, o := s.t.Context(), owned{session: "orch-" + name, execution: "hand-" + name}
	text := canary(name) + " text"
	_, err := s.book.Sessions.Init(ctx, by, record.InitSession{Name: o.session, Scope: text, Metadata: json.RawMessage(fmt.Sprintf(`{"about":%q}`, text))})
	s.must(err)
	_, err = s.book.Sessions.Task(ctx, by, record.PutTask{Session: o.session, Title: "task of " + text})
	s.must(err)
	made, err := s.book.Bundles.Prepare(ctx, by, record.PrepareRequest{Order: bundle.Order{
		AgentType: "debugger", Scope: text, Session: o.session,
		Items: []bundle.Item{{Type: work.ItemFile, Source: "a.md", Priority: work.Required, Content: []byte(text)}},
	}})
	s.must(err)
	o.bundle = made.Kept.Bundle.ID
	_, err = s.book.Executions.Init(ctx, by, record.InitExecution{
		Name: o.execution, Session: o.session, Type: "debugger", Scope: text, Bundle: &record.BundleArg{Ref: o.bundle}, Prompt: text,
	})
	s.must(err)
	_, err = s.book.Outputs.Collect(ctx, by, record.CollectOutputs{
		Execution: o.execution, Insights: []string{text}, Errors: []string{text}, Validation: "tests:pass", Deliverables: []string{canary(name) + ".go"},
	})
	s.must(err)
	of := by.Thread
	if of == "" {
		of = "cccccccccccccccc"
	}
	x, err := s.store.Add(ctx, work.Execution{ID: thread.NewID[work.ID](), Thread: of, Agent: "demo", Type: "debugger", Scope: text,
		Lost: work.PolicyAsk, Prompt: "p"})
	s.must(err)
	o.run = x.Name
	return o
}

func (s *shared) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// print returns all of the record.
func (s *shared) print() string {
	s.t.Helper()
	var b strings.Builder
	_, err := workfile.Export{From: s.store, Secrets: true}.Write(s.t.Context(), &b)
	s.must(err)
	return b.String()
}

// use is a use case on what somebody has recorded.
type use struct {
	name string // Part.Method
	run  func(s *shared, by record.Author, o owned) (any, error)
	// writes is set if it changes the record of what it names.
	writes bool
}

func uses() []use {
	form := func(o owned) record.BundleArg { return record.BundleArg{Ref: o.bundle} }
	body := "other"
	return []use{
		{"Sessions.SetPhase", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Sessions.SetPhase(s.t.Context(), by, record.PhaseSession{Session: o.session, Phase: 4})
		}, true},
		{"Sessions.Complete", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Sessions.Complete(s.t.Context(), by, record.CompleteSession{Session: o.session})
		}, true},
		{"Executions.Init", func(s *shared, by record.Author, o owned) (any, error) {
			task := "task of " + canary(strings.TrimPrefix(o.session, "orch-")) + " text"
			return s.book.Executions.Init(s.t.Context(), by, record.InitExecution{Session: o.session, Type: "x", Task: task})
		}, true},
		{"Bundles.Prepare", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Prepare(s.t.Context(), by, record.PrepareRequest{Order: bundle.Order{AgentType: "x", Scope: "x", Session: o.session,
				Items: []bundle.Item{{Type: work.ItemFile, Source: "b.md", Priority: work.Required, Content: []byte("b")}}}})
		}, true},
		{"Sessions.Task", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Sessions.Task(s.t.Context(), by, record.PutTask{Session: o.session, Title: "one more"})
		}, true},
		{"Sessions.Task", func(s *shared, by record.Author, o owned) (any, error) {
			title := "task of " + canary(strings.TrimPrefix(o.session, "orch-")) + " text"
			return s.book.Sessions.Task(s.t.Context(), by, record.PutTask{Session: o.session, Title: title, Body: &body, Status: work.TaskFailed})
		}, true},
		{"Executions.List", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Executions.List(s.t.Context(), by, work.Query{})
		}, false},
		{"Executions.Complete", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Executions.Complete(s.t.Context(), by, record.CompleteExecution{Execution: o.execution, Message: "done", Deliverables: []string{"x.go"}})
		}, true},
		{"Outputs.Collect", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Outputs.Collect(s.t.Context(), by, record.CollectOutputs{Execution: o.execution, Insights: []string{"another"}})
		}, true},
		{"Outputs.Check", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Outputs.Check(s.t.Context(), by, record.CheckOutputs{Execution: o.execution})
		}, true},
		{"Bundles.Allocate", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Allocate(s.t.Context(), by, record.AllocateRequest{Execution: o.execution, Bundle: form(o)})
		}, true},
		{"Sessions.List", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Sessions.List(s.t.Context(), by, record.QuerySessions{})
		}, false},
		{"Sessions.Show", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Sessions.Show(s.t.Context(), by, record.SessionRef{Session: o.session})
		}, false},
		{"Executions.Query", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Executions.Query(s.t.Context(), by, record.QueryExecutions{})
		}, false},
		{"Executions.List", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Executions.List(s.t.Context(), by, work.Query{})
		}, false},
		{"Outputs.Report", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Outputs.Report(s.t.Context(), by, record.MakeReport{Session: o.session})
		}, false},
		{"Outputs.Query", func(s *shared, by record.Author, o owned) (any, error) {
			all, err := s.book.Outputs.Query(s.t.Context(), by, record.QueryOutputs{})
			one, err2 := s.book.Outputs.Query(s.t.Context(), by, record.QueryOutputs{Execution: o.execution})
			return []any{all, one}, errors.Join(err, err2)
		}, false},
		{"Bundles.Show", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Show(s.t.Context(), by, form(o))
		}, false},
		{"Bundles.Find", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Find(s.t.Context(), by, form(o))
		}, false},
		{"Bundles.List", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Bundles.List(s.t.Context(), by, record.BundlesRequest{})
		}, false},
		{"Bundles.Dedup", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Dedup(s.t.Context(), by, record.DedupRequest{Bundles: []record.BundleArg{form(o), form(o)}})
		}, false},
		{"Bundles.Budget", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Bundles.Budget(s.t.Context(), by, record.BudgetRequest{Session: o.session})
		}, false},
		{"Answers.Context", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Answers.Context(s.t.Context(), by, record.ContextRequest{Type: "debugger", Full: true})
		}, false},
		{"Answers.History", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Answers.History(s.t.Context(), by, record.HistoryRequest{Words: "text"})
		}, false},
		{"Answers.Produced", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Answers.Produced(s.t.Context(), by, record.ProducedRequest{})
		}, false},
		{"Answers.Stats", func(s *shared, by record.Author, _ owned) (any, error) {
			return s.book.Answers.Stats(s.t.Context(), by, record.StatsRequest{By: work.StatBySession})
		}, false},
		{"Answers.Who", func(s *shared, by record.Author, o owned) (any, error) {
			return s.book.Answers.Who(s.t.Context(), by, record.WhoRequest{Of: o.session})
		}, false},
		{"Overview.Glance", func(s *shared, by record.Author, o owned) (any, error) {
			all, err := s.book.Overview.Glance(s.t.Context(), by, record.OverviewRequest{Open: []string{o.session}})
			one, err2 := s.book.Overview.Glance(s.t.Context(), by, record.OverviewRequest{Only: []string{o.session}, Open: []string{o.session}})
			return []any{all, one}, errors.Join(err, err2)
		}, false},
		{"Overview.Page", func(s *shared, by record.Author, o owned) (any, error) {
			one, err := s.book.Overview.Page(s.t.Context(), by, record.PageRequest{Execution: o.execution})
			run, err2 := s.book.Overview.Page(s.t.Context(), by, record.PageRequest{Execution: o.run})
			return []any{one, run}, errors.Join(err, err2)
		}, false},
		{"Answers.Trace", func(s *shared, by record.Author, o owned) (any, error) {
			var all []any
			var errs []error
			for _, ref := range []string{o.execution, o.run, o.bundle, "1", "2", "3", "4", "5", canary(strings.TrimPrefix(o.session, "orch-")) + ".go"} {
				one, err := s.book.Answers.Trace(s.t.Context(), by, record.TraceRequest{Ref: ref, Full: true})
				all, errs = append(all, one), append(errs, err)
			}
			return all, errors.Join(errs...)
		}, false},
	}
}

// others are the use cases that name nothing of another's, or that no caller reaches.
func others() []string {
	return []string{"Sessions.Init", "Bundles.Fits", "Outputs.Settle", "Outputs.SettleAll"}
}

// TestUsesAreKnown holds that the tables of this test have all use cases.
func TestUsesAreKnown(t *testing.T) {
	t.Parallel()
	var known []string
	for _, u := range uses() {
		known = append(known, u.name)
	}
	known = append(known, others()...)
	book := reflect.TypeFor[record.Book]()
	for i := range book.NumField() {
		part := book.Field(i)
		for j := range part.Type.NumMethod() {
			if name := part.Name + "." + part.Type.Method(j).Name; !slices.Contains(known, name) {
				t.Errorf("%s is in no table: add it to uses or others", name)
			}
		}
	}
}

// TestOwners has agents do everything to what others have recorded: nothing of it changes, and nothing of it is seen
// without the grant to read.
func TestOwners(t *testing.T) {
	t.Parallel()
	authors := map[string]record.Author{
		"A": {Agent: true, Thread: agentA}, "A with read": {Agent: true, Thread: agentA, Reads: true}, "in no thread": {Agent: true},
	}
	for _, u := range uses() {
		for who, by := range authors {
			for whose := range map[string]bool{"person": true, "B": true} {
				t.Run(fmt.Sprintf("%s of %s by %s", u.name, whose, who), func(t *testing.T) {
					t.Parallel()
					s := newShared(t)
					before := s.print()
					out, err := u.run(s, by, s.of[whose])
					if after := s.print(); u.writes && after != before {
						t.Errorf("the record changed: %v", err)
					}
					if u.writes && err == nil {
						t.Error("it was not refused")
					}
					if by.Reads {
						return
					}
					said, jerr := json.Marshal(out)
					if jerr != nil {
						t.Fatal(jerr)
					}
					for name := range s.of {
						if name == "A" && by.Thread == agentA {
							continue
						}
						if strings.Contains(string(said), canary(name)) {
							t.Errorf("what %s recorded is seen: %s", name, said)
						}
						if err != nil && u.name != "Sessions.Task" && strings.Contains(err.Error(), canary(name)+" text") { // it names the title itself
							t.Errorf("what %s recorded stands in an error: %v", name, err)
						}
					}
				})
			}
		}
	}
}

// TestOwn has an agent do everything to what it has recorded itself.
func TestOwn(t *testing.T) {
	t.Parallel()
	for _, u := range uses() {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t)
			if _, err := u.run(s, record.Author{Agent: true, Thread: agentA}, s.of["A"]); err != nil &&
				!slices.Contains([]string{"Outputs.Check", "Answers.Trace", "Bundles.Dedup"}, u.name) { // none of these here; numbers of others; two of one
				t.Error(err)
			}
		})
	}
}

// TestRunsAreNotByHand holds that nobody completes an execution of ours, nor says that it was given something.
func TestRunsAreNotByHand(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	for who, by := range map[string]record.Author{"person": {}, "A": {Agent: true, Thread: agentA}} {
		if _, err := s.book.Executions.Complete(t.Context(), by, record.CompleteExecution{Execution: s.of["A"].run}); err == nil {
			t.Errorf("%s completed a run", who)
		}
	}
	if _, err := s.book.Bundles.Allocate(t.Context(), record.Author{Agent: true, Thread: agentA},
		record.AllocateRequest{Execution: s.of["A"].run, Bundle: record.BundleArg{Ref: s.of["A"].bundle}}); err == nil {
		t.Error("an agent said what a run was given")
	}
}
