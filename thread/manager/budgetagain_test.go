package manager_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// spender is a world in which threads do what costs something, in any order.
type spender struct {
	*world
	r *rand.Rand
	// stored is what is stored of each thread's spending.
	stored map[thread.ID]budget.Spent
	n      int
}

// spent implements the port of budgets.
func (s *spender) spent(of budget.Scope) (sum budget.Spent, err error) {
	for id, spent := range s.stored {
		if of.Kind == budget.Project || of.ID == string(id) {
			sum = sum.Plus(spent)
		}
	}
	return sum, nil
}

// TestBudgetsAreAsBeforeARestart: whatever runs, inner runs, fallbacks, retries, terminals, take-overs and sub-agents of CLIs
// spend, each scope has the same sum after a restart as before it.
func TestBudgetsAreAsBeforeARestart(t *testing.T) {
	stores := map[string]func(*world){"memory": func(*world) {}, "SQLite": func(w *world) {
		s, err := workdb.Open(context.Background(), filepath.Join(w.dir, "work.db"), workdb.Options{Now: w.now})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = s.Close() })
		w.cfg.Runs.Store = s
	}}
	for name, store := range stores {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				s := &spender{r: rand.New(rand.NewPCG(seed, 1)), stored: map[thread.ID]budget.Spent{}}
				inWorld(t, func(w *world) {
					for _, name := range []string{"a", "b"} {
						w.session(name)
					}
					for range 3 {
						for range 30 {
							s.step()
						}
						s.again()
					}
				}, func(w *world) {
					withRuns(w)
					store(w)
					s.world, w.cfg.Budget.Spent = w, s.spent
					w.cfg.Runs.Limits, w.cfg.Runs.Server = exec.Limits{All: 100}, "server-0"
				})
			})
		}
	}
}

// step has something happen.
func (s *spender) step() {
	s.t.Helper()
	var works, rests []thread.Status
	list, err := s.m.Threads.List(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range list {
		if t.Execution != nil {
			works = append(works, t)
		} else {
			rests = append(rests, t)
		}
	}
	switch n := s.r.IntN(12); {
	case len(works) == 0 || n < 3:
		s.begin(works)
	case n < 8:
		s.request(works[s.r.IntN(len(works))])
	case n == 8:
		s.end(works[s.r.IntN(len(works))])
	case n == 9 && len(rests) > 0: // a person opens it in a terminal, or lets it try once more
		t := rests[s.r.IntN(len(rests))]
		if t.Run != nil && t.Run.State == string(exec.Failed) && s.r.IntN(2) == 0 {
			_, _ = s.m.Executions.Retry(context.Background(), s.execution(t.ID).ID) // what was passed on is not tried again
		} else {
			_, _ = s.m.Agents.Start(context.Background(), string(t.ID), 80, 24) // not what is queued
		}
		synctest.Wait()
	case n == 10:
		s.sum(s.scopes()[s.r.IntN(len(s.scopes()))]) // it is asked for early
	default:
		time.Sleep(time.Minute)
	}
}

// begin begins a run or a terminal, by a person or by the agent of a thread.
func (s *spender) begin(works []thread.Status) {
	s.t.Helper()
	s.n++
	r := thread.NewRequest{Agent: "claude", Prompt: fmt.Sprintf("do %d", s.n), Once: thread.Once{
		On: s.r.IntN(3) > 0, Group: []string{"", "", "x", "y"}[s.r.IntN(4)], Session: []string{"", "", "a", "b"}[s.r.IntN(4)],
	}}
	if r.Once.On && s.r.IntN(3) == 0 {
		onCodex(&r)
	}
	if len(works) > 0 && s.r.IntN(3) > 0 {
		r.By = works[s.r.IntN(len(works))].ID
	}
	s.create(r)
}

// request has a thread's agent, or a sub-agent of its CLI, make a request.
func (s *spender) request(t thread.Status) {
	s.t.Helper()
	x := s.sess.of(t.ID)
	if x.spec.Dialogue != nil && t.Session == "" {
		x.spec.OnRun(thread.RunEvent{Kind: thread.RunSession, Session: "of-" + string(t.ID)})
	}
	cost := float64(1+s.r.IntN(99)) / 100
	u := thread.Usage{Input: int64(s.r.IntN(1000)), Output: 10, CostUSD: cost, Priced: true}
	h, err := s.reserve(t.ID, cost)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.r.IntN(3) == 0 {
		sub := thread.SubAgent{Key: fmt.Sprintf("sub-%d", s.r.IntN(3))}
		s.m.Traffic.RequestStarted(t.ID, thread.Begun{Sub: sub, Model: "m1", At: time.Now()})
		s.m.Traffic.ExchangeEnded(t.ID, thread.Exchange{
			Sub: sub, Purpose: "subagent", Model: "m1", Status: 200, Started: time.Now(), Ended: time.Now(), Usage: u, Text: "found",
		})
	} else {
		s.usage = &u
		s.respond(t.ID, "go on", "call", false)
	}
	h.Settle(u)
	s.stored[t.ID] = s.stored[t.ID].Plus(budget.Spent{Amount: budget.Amount{Tokens: u.Context(), USD: cost}, Answers: 1})
	synctest.Wait()
}

// end ends what a thread's agent does.
func (s *spender) end(t thread.Status) {
	s.t.Helper()
	x := s.sess.of(t.ID)
	switch {
	case x.spec.Dialogue == nil:
		if err := s.m.Agents.Stop(context.Background(), string(t.ID)); err != nil {
			s.t.Fatal(err)
		}
	case s.r.IntN(2) == 0:
		s.refused(t.ID, thread.Exchange{Status: 429, Err: "limit", Until: time.Now().Add(5 * time.Hour)})
	default:
		x.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		x.exit(0)
	}
	synctest.Wait()
}

// scopes returns all there are.
func (s *spender) scopes() []budget.Scope {
	s.t.Helper()
	all := []budget.Scope{
		budget.All(), budget.OfSession("a"), budget.OfSession("b"), {Kind: budget.Group, ID: "x"}, {Kind: budget.Group, ID: "y"},
	}
	threads, err := s.m.Threads.List(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range threads {
		all = append(all, budget.Scope{Kind: budget.Thread, ID: string(t.ID)})
	}
	runs, err := s.m.Executions.List(context.Background(), exec.Query{Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, x := range runs {
		all = append(all, budget.Scope{Kind: budget.Execution, ID: string(x.ID)})
	}
	return all
}

func (s *spender) sum(of budget.Scope) budget.Spent {
	s.t.Helper()
	spent, err := s.m.SpentBy(of)
	if err != nil {
		s.t.Fatal(err)
	}
	return spent
}

// again starts the server again, and fails unless all sums are the same.
func (s *spender) again() {
	s.t.Helper()
	cut := s.r.IntN(2) == 0 // what runs is cut off
	list, err := s.m.Threads.List(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range list {
		if t.Execution != nil && !cut {
			s.end(t)
		}
	}
	before := map[budget.Scope]budget.Spent{}
	for _, of := range s.scopes() {
		before[of] = s.sum(of)
	}
	s.n++
	time.Sleep(2 * time.Second) // what was used beside the conversations is stored
	s.close()
	s.cfg.Runs.Server = fmt.Sprintf("server-%d", s.n)
	s.open()
	time.Sleep(time.Second)
	some := 0
	for of := range maps.Keys(before) {
		was, is := before[of], s.sum(of)
		if was.USD > 0 {
			some++
		}
		if !near(was.USD, is.USD) || was.Tokens != is.Tokens {
			s.t.Errorf("%s %s had spent %+v, and after a restart %+v", of.Kind, of.ID, was, is)
		}
	}
	if some < 3 {
		s.t.Errorf("%d scopes have spent something", some)
	}
}
