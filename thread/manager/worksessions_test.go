package manager_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// record returns the store as the record that it is.
func (w *world) record() exec.Record { return w.cfg.Runs.Store.(exec.Record) }

// session makes a work session.
func (w *world) session(name string, change ...func(*exec.Session)) {
	w.t.Helper()
	s := exec.Session{Name: name, Scope: "find it", Status: exec.SessionPlanning, Phase: exec.PhasePlan, Approval: exec.ApproveAuto}
	for _, c := range change {
		c(&s)
	}
	if _, err := w.record().AddSession(context.Background(), s); err != nil {
		w.t.Fatal(err)
	}
}

func inSession(name, task, kind string) func(*thread.NewRequest) {
	return func(r *thread.NewRequest) { r.Once.Session, r.Once.Task, r.Once.Type = name, task, kind }
}

func (w *world) sessionIs(name string) exec.Session {
	w.t.Helper()
	s, err := w.record().Session(context.Background(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// taskIs fails unless the task "Find it" of the work session "search" has a status.
func (w *world) taskIs(want exec.TaskStatus) {
	w.t.Helper()
	synctest.Wait()
	list, err := w.record().Tasks(context.Background(), "search")
	for _, t := range list {
		if t.Title == "Find it" && t.Status == want {
			return
		}
	}
	w.t.Errorf("tasks of %s: %+v (%v), want %s", "search", list, err, want)
}

// TestRunInAWorkSession: a run is in the work session, task and type that are named; what its agent starts and what it is
// asked further is in it, too; the task and the work session follow what runs.
func TestRunInAWorkSession(t *testing.T) {
	inWorld(t, func(w *world) {
		w.session("search")
		s := w.once("find the cause", inSession("search", "Find it", "debugger"))
		x := w.runIs(s.ID, exec.Running)
		if x.Session != "search" || x.Task != "Find it" || x.Type != "debugger" || x.Scope != "find the cause" || x.Context == 0 {
			t.Errorf("%+v", x)
		}
		w.taskIs(exec.TaskInProgress)
		if s := w.sessionIs("search"); s.Status != exec.SessionExecuting || s.Phase != exec.PhaseExecute {
			t.Errorf("the work session is %s in phase %s", s.Status, s.Phase)
		}
		below := w.once("look there", func(r *thread.NewRequest) { r.By, r.Once.Type = s.ID, "explorer" })
		if x := w.runIs(below.ID, exec.Running); x.Session != "search" || x.Task != "Find it" || x.Type != "explorer" {
			t.Errorf("inside: %+v", x)
		}
		w.finish(below.ID, "look there")
		w.taskIs(exec.TaskInProgress)
		w.finish(s.ID, "find the cause")
		w.taskIs(exec.TaskComplete)
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "and now fix it"}); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.Running); x.Session != "search" || x.Task != "Find it" || x.Name == "exec-001" {
			t.Errorf("asked further: %+v", x)
		}
		w.taskIs(exec.TaskInProgress)
		if _, err := w.m.Executions.Cancel(context.Background(), w.execution(s.ID).ID, ""); err != nil {
			t.Fatal(err)
		}
		w.taskIs(exec.TaskComplete) // as the run before has left it
		if in := w.m.Executions.InSessions(); in[s.ID] != "search" || in[below.ID] != "search" {
			t.Errorf("threads in work sessions: %v", in)
		}
	}, withRuns)
}

// TestRunInNoWorkSession: what cannot be a run's work session is an error before anything is made.
func TestRunInNoWorkSession(t *testing.T) {
	inWorld(t, func(w *world) {
		w.session("search")
		w.session("over", func(s *exec.Session) { s.Status, s.Completed = exec.SessionCompleted, w.now() })
		for name, c := range map[string]struct {
			in   func(*thread.NewRequest)
			kind error
			says string
		}{
			"unknown":               {inSession("serach", "", ""), thread.ErrNotFound, "no work session named \"serach\""},
			"completed":             {inSession("over", "", ""), thread.ErrRefused, "nothing is added to it any more"},
			"a task of none":        {inSession("", "Find it", ""), thread.ErrInvalid, "of no work session"},
			"no name":               {inSession("a b", "", ""), thread.ErrInvalid, "work session"},
			"a task of two lines":   {inSession("search", "a\nb", ""), thread.ErrInvalid, "one line"},
			"a type with an escape": {inSession("search", "", "\x1b[31mred"), thread.ErrInvalid, "agent type"},
		} {
			for _, once := range []bool{true, false} {
				r := thread.NewRequest{Agent: "claude", Prompt: "x", Once: thread.Once{On: once}}
				c.in(&r)
				_, err := w.m.Creation.New(context.Background(), r)
				if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, once %v: %v", name, once, err)
				}
			}
		}
		if list, _ := w.m.Threads.List(context.Background()); len(list) != 0 {
			t.Errorf("%d threads were made", len(list))
		}
		if list, _ := w.record().Recorded(context.Background(), exec.RecordQuery{}); len(list) != 0 {
			t.Errorf("%d executions were made", len(list))
		}
	}, withRuns)
}

// TestWorkSessionIsOver: what a thread of a work session that is over is asked is in none.
func TestWorkSessionIsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.session("search")
		s := w.once("one", inSession("search", "Find it", ""))
		w.finish(s.ID, "one")
		w.changeSession("search", func(s *exec.Session) error { return s.End(exec.SessionCompleted, w.now()) })
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		if x := w.runIs(s.ID, exec.Running); x.Session != "" || x.Task != "" {
			t.Errorf("%+v", x)
		}
	}, withRuns)
}

// TestTerminalOfAWorkSessionThatIsOver: a process in a terminal is recorded in its thread's work session, and in none once
// that is over; its sub-agents are recorded in either case.
func TestTerminalOfAWorkSessionThatIsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		w.session("search")
		s, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Once: thread.Once{Session: "search", Task: "Find it"}})
		if err != nil {
			t.Fatal(err)
		}
		subAgent := func(key string) {
			w.m.Traffic.RequestStarted(s.ID, thread.Begun{Sub: thread.SubAgent{Key: key}, Prompt: "look", At: w.now()})
		}
		processes := func(want ...string) {
			t.Helper()
			synctest.Wait()
			list, err := w.record().Recorded(ctx, exec.RecordQuery{})
			if err != nil || len(list) != len(want) {
				t.Fatalf("%d executions, %v: %+v", len(list), err, list)
			}
			for i, x := range list {
				if got := string(x.Kind) + " " + x.Session + " " + x.Task; got != want[i] {
					t.Errorf("%d: %q, want %q", i, got, want[i])
				}
			}
		}
		processes("terminal search Find it")
		w.changeSession("search", func(s *exec.Session) error { return s.End(exec.SessionCompleted, w.now()) })
		subAgent("k1")
		processes("native search Find it", "terminal search Find it")
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := w.m.Agents.Resume(ctx, s.Name, thread.ResumeRequest{}); err != nil {
			t.Fatal(err)
		}
		subAgent("k2")
		processes("native  ", "terminal  ", "native search Find it", "terminal search Find it")
	}, withRuns)
}

// changeSession changes a work session as another use case does.
func (w *world) changeSession(name string, change func(*exec.Session) error) {
	w.t.Helper()
	if _, err := w.record().ChangeSession(context.Background(), name, change); err != nil {
		w.t.Fatal(err)
	}
	w.m.Executions.Touched(exec.Touched{Session: name})
	synctest.Wait()
}

// TestPolicyOfAWorkSession: by the policy a run waits for the person, who agrees, agrees to all, or cancels it.
func TestPolicyOfAWorkSession(t *testing.T) {
	limit := 5.0
	for policy, waits := range map[exec.Approval][2]bool{ // a person's, an agent's
		exec.ApproveManual: {true, true}, exec.ApproveSuggest: {false, true}, exec.ApproveAuto: {false, false},
	} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.session("search", func(s *exec.Session) { s.Approval, s.Budget = policy, thread.Budget{USD: &limit} })
				mine := w.once("mine", inSession("search", "Find it", "debugger"))
				w.proceeds(mine.ID, waits[0], thread.Approve)
				its := w.once("its", inSession("search", "Find it", ""), func(r *thread.NewRequest) { r.By = mine.ID })
				w.proceeds(its.ID, waits[1], thread.Approve)
			}, withRuns)
		})
	}
}

// proceeds fails unless a run waits for the person, and then starts once they agree, or starts by itself.
func (w *world) proceeds(id thread.ID, waits bool, means thread.Meaning) {
	w.t.Helper()
	if !waits {
		w.runIs(id, exec.Running)
		return
	}
	x := w.runIs(id, exec.Queued)
	s := w.status(id)
	q := s.State.Question
	if q == nil || s.Group() != thread.GroupNeedsYou || !s.Run.Asks || s.Run.Word() != "proceed?" || !strings.Contains(x.Reason, "proceed?") {
		w.t.Fatalf("%s does not ask: %+v, %+v", x.Name, s.State, s.Run)
	}
	for _, says := range []string{x.Name, "at least", "tokens", "$5.00 of $5.00 left of search"} {
		if !strings.Contains(q.About, says) {
			w.t.Errorf("it asks %q, want %q", q.About, says)
		}
	}
	if items := thread.Inbox([]thread.Status{s}, nil, nil); len(items) != 1 || items[0].Kind != thread.InboxQuestion || items[0].Question == nil {
		w.t.Errorf("in the inbox: %+v", items)
	}
	if _, err := w.m.Questions.Answer(context.Background(), string(id), thread.AnswerRequest{Question: "another", Means: means}); !errors.Is(err, thread.ErrRefused) {
		w.t.Errorf("answered what is not asked: %v", err)
	}
	if _, err := w.m.Questions.Answer(context.Background(), string(id), thread.AnswerRequest{Question: q.ID, Means: means}); err != nil {
		w.t.Fatal(err)
	}
	if means != thread.Deny {
		w.runIs(id, exec.Running)
	}
}

// TestProceedOrNot: who denies cancels the run; who approves for good has all that follows start; several in a thread are
// asked about one after the other; what waits waits over a restart, and what was agreed is not asked again.
func TestProceedOrNot(t *testing.T) {
	limit := 5.0
	manual := func(s *exec.Session) { s.Approval, s.Budget = exec.ApproveManual, thread.Budget{USD: &limit} }
	t.Run("denied", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.session("search", manual)
			s := w.once("mine", inSession("search", "Find it", ""))
			w.proceeds(s.ID, true, thread.Deny)
			if x := w.runIs(s.ID, exec.Cancelled); !strings.Contains(x.Reason, "did not agree") {
				t.Errorf("%q", x.Reason)
			}
			if s := w.status(s.ID); s.State.Question != nil {
				t.Errorf("it still asks: %+v", s.State)
			}
			w.taskIs(exec.TaskCancelled)
		}, withRuns)
	})
	t.Run("for good", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.session("search", manual)
			one, two := w.once("one", inSession("search", "", "")), w.once("two", inSession("search", "", ""))
			w.proceeds(one.ID, true, thread.ApproveAlways)
			if s := w.sessionIs("search"); s.Approval != exec.ApproveAuto {
				t.Errorf("policy %s", s.Approval)
			}
			time.Sleep(6 * time.Second)
			w.runIs(two.ID, exec.Running)
		}, withRuns)
	})
	t.Run("several, and a restart", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.session("search", manual)
			s := w.once("one", inSession("search", "", ""))
			if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
				t.Fatal(err)
			}
			w.reopen()
			synctest.Wait()
			q := w.status(s.ID).State.Question
			if q == nil || !strings.Contains(q.About, "exec-001") {
				t.Fatalf("asked first: %+v", q)
			}
			if _, err := w.m.Questions.Answer(context.Background(), string(s.ID), thread.AnswerRequest{Question: q.ID, Means: thread.Approve}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if first, err := w.m.Executions.Execution(context.Background(), "exec-001"); err != nil || first.State != exec.Running || !first.Agreed {
				t.Fatalf("%+v, %v", first, err)
			}
			w.finish(s.ID, "one")
			if q := w.status(s.ID).State.Question; q == nil || !strings.Contains(q.About, "exec-002") {
				t.Errorf("asked then: %+v", q)
			}
		}, withRuns)
	})
}

// TestBudgetOfAWorkSession: it is that of its row, pays for runs, for what they start and for terminals in it, warns where it
// says so, ends and holds what is in it, and lets it go on once it is raised.
func TestBudgetOfAWorkSession(t *testing.T) {
	inWorld(t, func(w *world) {
		w.session("search", func(s *exec.Session) { limit := 1.0; s.Budget, s.WarnAt = thread.Budget{USD: &limit}, 0.5 })
		s := w.once("one", inSession("search", "", ""))
		screen := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello", Once: thread.Once{Session: "search"}})
		synctest.Wait()
		below := w.once("below", func(r *thread.NewRequest) { r.By = s.ID })
		other := w.once("other")
		synctest.Wait()
		w.spend(other.ID, 9)
		w.spend(s.ID, 0.3)
		w.spend(screen.ID, 0.1)
		w.spend(below.ID, 0.15)
		if a := w.account("session:search"); a.Spent.USD < 0.54 || a.Spent.USD > 0.56 || a.Level != budget.Warned {
			t.Errorf("%+v", a)
		}
		if told := w.budgetsTold(); len(told) != 1 || !strings.Contains(told[0], "the budget of the work session search is 50 % used: $0.55 of $1.00") {
			t.Errorf("people were told %q", told)
		}
		w.spend(below.ID, 0.4)
		if _, err := w.reserve(below.ID, 0.3); err == nil || !strings.Contains(err.Error(), "orchestrator budget set session:search --usd N") {
			t.Errorf("%v", err)
		}
		w.runIs(s.ID, exec.Failed)
		w.runIs(below.ID, exec.Failed)
		w.runIs(other.ID, exec.Running)
		waits := w.once("waits", inSession("search", "", ""))
		if x := w.runIs(waits.ID, exec.Queued); !strings.Contains(x.Reason, "the budget of the work session search is used up") {
			t.Errorf("it waits because %q", x.Reason)
		}
		w.setBudget("session:search", 3)
		w.runIs(waits.ID, exec.Running)
		if b := w.sessionIs("search").Budget; b.USD == nil || *b.USD != 3 {
			t.Errorf("the row has %+v", b)
		}
		n := 1.0
		if _, err := w.m.Budgets.Set(context.Background(), budget.Change{Scope: "session:nobody", USD: &n}); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("of none: %v", err)
		}
		w.finish(waits.ID, "waits")
		w.reopen()
		if a := w.account("session:search"); a.Spent.USD < 0.44 { // the answer of that; the others stored none
			t.Errorf("after a restart: %+v", a)
		}
	}, withRuns)
}

// TestNoTerminalAroundThePolicy: where a person agrees before an agent has work done, an agent can neither have it done in a new
// terminal, nor in one that is there. A person can, and so can an agent by the policy auto.
func TestNoTerminalAroundThePolicy(t *testing.T) {
	for policy, refused := range map[exec.Approval]bool{"": true, exec.ApproveManual: true, exec.ApproveSuggest: true, exec.ApproveAuto: false} {
		t.Run("policy "+string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				ctx := context.Background()
				w.session("search", func(s *exec.Session) { s.Approval = policy })
				mine := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello", Once: thread.Once{Session: "search"}})
				other := w.create(thread.NewRequest{Agent: "claude", Prompt: "hello"})
				tries := func(what string, err error) {
					t.Helper()
					if refused != errors.Is(err, thread.ErrRefused) || !refused && err != nil || refused && !strings.Contains(err.Error(), "search") {
						t.Errorf("%s: %v", what, err)
					}
				}
				_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "do it", By: mine.ID})
				tries("a terminal in the work session of its own", err)
				_, err = w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "do it", By: other.ID, Once: thread.Once{Session: "search"}})
				tries("a terminal in one that it names", err)
				_, err = w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(mine.ID), Prompt: "do it", By: mine.ID})
				tries("a fork", err)
				_, err = w.m.Prompts.Ask(ctx, string(mine.ID), thread.AskRequest{Text: "do it", By: other.ID})
				tries("what is typed into one", err)
				if _, err := w.m.Prompts.Ask(ctx, string(mine.ID), thread.AskRequest{Text: "do it"}); err != nil {
					t.Errorf("a person: %v", err)
				}
				if _, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "do it", By: other.ID}); err != nil {
					t.Errorf("in no work session: %v", err)
				}
			}, withRuns)
		})
	}
}

// slowRecord is a record of which reading a work session waits.
type slowRecord struct {
	exec.Record
	read func()
}

func (r *slowRecord) Session(ctx context.Context, name string) (exec.Session, error) {
	s, err := r.Record.Session(ctx, name)
	if r.read != nil {
		r.read()
	}
	return s, err
}

// TestPolicyThatChangesWhileItIsRead: what was read before a change is not believed after it.
func TestPolicyThatChangesWhileItIsRead(t *testing.T) {
	slow := &slowRecord{}
	inWorld(t, func(w *world) {
		w.session("search")
		slow.read = func() {
			slow.read = nil
			w.changeSession("search", func(s *exec.Session) error { s.Approval = exec.ApproveManual; return nil })
		}
		if _, err := w.m.Executions.WorkSession(context.Background(), "search"); err != nil {
			t.Fatal(err)
		}
		if s, err := w.m.Executions.WorkSession(context.Background(), "search"); err != nil || s.Approval != exec.ApproveManual {
			t.Errorf("the policy is %s, %v", s.Approval, err)
		}
		w.runIs(w.once("mine", inSession("search", "", "")).ID, exec.Queued)
	}, func(w *world) { withRuns(w); slow.Record = w.record(); w.cfg.Runs.Store = slow })
}

// TestRecordIsToldOf: clients are told of changes of the record, gathered, and whose they are.
func TestRecordIsToldOf(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		events, _ := w.m.Threads.Events(ctx)
		var told []thread.Recorded
		go func() {
			for e := range events {
				if e.Kind == thread.EventRecord {
					told = append(told, *e.Record)
				}
			}
		}()
		for range 50 {
			w.m.Executions.Touched(exec.Touched{Session: "a", Execution: "1"})
			w.m.Executions.Touched(exec.Touched{Session: "b"})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(told) != 1 || len(told[0].Sessions) != 2 {
			t.Fatalf("told %+v", told)
		}
		w.m.Executions.Touched(exec.Touched{Session: "a"})
		w.m.Executions.Touched(exec.Touched{Execution: "in none"})
		time.Sleep(time.Second)
		synctest.Wait()
		if len(told) != 2 || told[1].Sessions != nil {
			t.Errorf("told %+v", told)
		}
	}, withRuns)
}

// TestRecordIsToldOfByAFlood: however much is written in a second, clients are told a few times, of at most a few work sessions
// by name, and of the last write after it.
func TestRecordIsToldOfByAFlood(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		events, _ := w.m.Threads.Events(ctx)
		told, last := 0, time.Time{}
		go func() {
			for e := range events {
				if e.Kind != thread.EventRecord {
					continue
				}
				if told, last = told+1, e.At; len(e.Record.Sessions) > 16 {
					t.Errorf("%d work sessions by name", len(e.Record.Sessions))
				}
			}
		}()
		for n := range 10_000 {
			w.m.Executions.Touched(exec.Touched{Session: strings.Repeat("s", 1+n%100), Execution: "1"})
			time.Sleep(100 * time.Microsecond)
		}
		written := w.now()
		time.Sleep(time.Second)
		synctest.Wait()
		if told < 1 || told > 10 || last.Before(written) {
			t.Errorf("told %d times, the last %v after the last write", told, last.Sub(written))
		}
	}, withRuns)
}
