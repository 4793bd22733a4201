package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/checkpoint/worktest/memory"
	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/secret/secrettest"
	"orchestrator/thread/work"
)

// byHand is a record to write into by hand, with a clock that goes where a test sets it.
type byHand struct {
	*testing.T
	store *memory.Store
	book  *record.Book
	now   time.Time
	in    map[thread.ID]string // the work sessions that threads belong to
}

func newByHand(t *testing.T) *byHand {
	t.Helper()
	h := &byHand{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), in: map[thread.ID]string{}}
	h.store = memory.New(func() time.Time { return h.now })
	h.over(h.store)
	return h
}

// over has the record be over a store.
func (h *byHand) over(r work.Record) {
	h.book = record.New(record.Config{
		Store: r, Now: func() time.Time { return h.now }, Host: "host", User: "user",
		Belongs: func(_ context.Context, of thread.ID) (string, error) { return h.in[of], nil },
	})
}

var (
	writer   = record.Author{}
	anAgent  = record.Author{Agent: true, Thread: agentA}
	anOther  = record.Author{Agent: true, Thread: agentB}
	whoReads = record.Author{Agent: true, Thread: agentB, Reads: true}
)

func (h *byHand) session(a record.Author, name string) work.Session {
	h.Helper()
	s, err := h.book.Sessions.Init(h.Context(), a, record.InitSession{Scope: "a scope", Name: name})
	if err != nil {
		h.Fatal(err)
	}
	return s.Session
}

func (h *byHand) begin(a record.Author, q record.InitExecution) work.Row {
	h.Helper()
	if q.Type == "" {
		q.Type = "debugger"
	}
	x, err := h.book.Executions.Init(h.Context(), a, q)
	if err != nil {
		h.Fatal(err)
	}
	return x.Execution
}

func (h *byHand) complete(a record.Author, q record.CompleteExecution) (work.Row, error) {
	x, err := h.book.Executions.Complete(h.Context(), a, q)
	return x.Execution, err
}

func (h *byHand) stored(name string) work.Execution {
	h.Helper()
	x, err := h.store.Execution(h.Context(), name)
	if err != nil {
		h.Fatal(err)
	}
	return x
}

func (h *byHand) refused(err, want error, says string) {
	h.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		h.Errorf("got %v, want %v that says %q", err, want, says)
	}
}

// TestWorkSessionLives: its phase and state follow what happens, and once it has ended nothing is added.
func TestWorkSessionLives(t *testing.T) {
	h := newByHand(t)
	s := h.session(writer, "")
	if s.Name != "work-001" || s.Phase != 1 || s.Status != work.SessionPlanning || s.Approval != work.ApproveSuggest || s.Host != "host" || s.User != "user" {
		t.Errorf("begun as %+v", s)
	}
	phase := func(p work.Phase) work.Session {
		t.Helper()
		a, err := h.book.Sessions.SetPhase(t.Context(), writer, record.PhaseSession{Session: s.Name, Phase: p})
		if err != nil {
			t.Fatal(err)
		}
		return a.Session
	}
	if got := phase(2); got.Phase != 2 || got.Status != work.SessionPlanning {
		t.Errorf("planning: %+v", got)
	}
	x := h.begin(writer, record.InitExecution{Session: s.Name, Scope: "find it"})
	h.begin(writer, record.InitExecution{Session: s.Name, Scope: "find more"})
	if got, err := h.store.Session(t.Context(), s.Name); err != nil || got.Phase != 3 || got.Status != work.SessionExecuting {
		t.Errorf("once something has begun: %+v, %v", got, err)
	}
	if got := phase(1); got.Phase != 1 || got.Status != work.SessionExecuting {
		t.Errorf("back to its first phase: %+v", got)
	}
	if _, err := h.complete(writer, record.CompleteExecution{Execution: x.Execution}); err != nil {
		t.Error(err)
	}
	end, err := h.book.Sessions.Complete(t.Context(), writer, record.CompleteSession{Session: s.Name})
	if err != nil || end.Status != work.SessionCompleted || end.Phase != 5 || !slices.Equal(end.Open, []string{"exec-002"}) {
		t.Errorf("ended as %+v, %v", end, err)
	}
	_, err = h.book.Sessions.Complete(t.Context(), writer, record.CompleteSession{Session: s.Name, Status: work.SessionFailed})
	h.refused(err, thread.ErrRefused, "completed since")
	_, err = h.book.Sessions.SetPhase(t.Context(), writer, record.PhaseSession{Session: s.Name, Phase: 2})
	h.refused(err, thread.ErrRefused, "nothing is added")
	_, err = h.book.Executions.Init(t.Context(), writer, record.InitExecution{Session: s.Name, Type: "x", Scope: "late"})
	h.refused(err, thread.ErrRefused, "nothing is added")
	_, err = h.book.Sessions.Task(t.Context(), writer, record.PutTask{Session: s.Name, Title: "late"})
	h.refused(err, thread.ErrRefused, "nothing is added")
	if _, err := h.complete(writer, record.CompleteExecution{Execution: "exec-002", Error: "gave up"}); err != nil {
		t.Errorf("what was open can still be completed: %v", err)
	}
	v, err := h.book.Sessions.Show(t.Context(), writer, record.SessionRef{Session: s.Name})
	if err != nil || len(v.Executions) != 2 || v.Sums.Completed != 1 || v.Sums.Failed != 1 || v.Sums.Open != 0 {
		t.Errorf("shown as %+v, %v", v, err)
	}
}

// TestWorkSessionIsChecked: what cannot be a work session is refused, what is odd is said.
func TestWorkSessionIsChecked(t *testing.T) {
	h := newByHand(t)
	minus := -1.0
	for name, c := range map[string]struct {
		a    record.Author
		q    record.InitSession
		err  error
		says string
	}{
		"no scope":         {q: record.InitSession{Scope: " \n"}, err: thread.ErrInvalid, says: "scope is empty"},
		"a page of scope":  {q: record.InitSession{Scope: strings.Repeat("x ", 5000)}, err: thread.ErrInvalid, says: "the limit is 8"},
		"a long scope":     {q: record.InitSession{Scope: strings.Repeat("ä", 201)}, says: "201 characters"},
		"a path":           {q: record.InitSession{Scope: "x", Name: "../up"}, err: thread.ErrInvalid, says: "letters, digits"},
		"an option":        {q: record.InitSession{Scope: "x", Name: "-x"}, err: thread.ErrInvalid, says: "begin with"},
		"an escape":        {q: record.InitSession{Scope: "x", Name: "a\x1b[2J"}, err: thread.ErrInvalid, says: "letters, digits"},
		"an id":            {q: record.InitSession{Scope: "x", Name: "0123456789abcdef"}, err: thread.ErrInvalid, says: "are an id"},
		"a long name":      {q: record.InitSession{Scope: "x", Name: strings.Repeat("a", 65)}, err: thread.ErrInvalid, says: "limit is 64"},
		"the seed's name":  {q: record.InitSession{Scope: "x", Name: "orch-2025-01-17-001"}},
		"taken":            {q: record.InitSession{Scope: "x", Name: "taken"}, err: thread.ErrNameTaken, says: "taken already"},
		"an odd policy":    {q: record.InitSession{Scope: "x", Policy: "never"}, err: thread.ErrInvalid, says: "Take manual"},
		"a minus":          {q: record.InitSession{Scope: "x", Budget: thread.Budget{USD: &minus}}, err: thread.ErrInvalid, says: "0 or more"},
		"a warning at 75":  {q: record.InitSession{Scope: "x", WarnAt: 75}, err: thread.ErrInvalid, says: "between 0 and 1"},
		"a list":           {q: record.InitSession{Scope: "x", Metadata: json.RawMessage(`[1]`)}, err: thread.ErrInvalid, says: "no JSON object"},
		"half an object":   {q: record.InitSession{Scope: "x", Metadata: json.RawMessage(`{"a":`)}, err: thread.ErrInvalid, says: "no JSON"},
		"a large object":   {q: record.InitSession{Scope: "x", Metadata: json.RawMessage(`{"a":"` + strings.Repeat("x", 70_000) + `"}`)}, err: thread.ErrInvalid, says: "limit is 64"},
		"an agent":         {a: anAgent, q: record.InitSession{Scope: "x"}},
		"an agent's money": {a: anAgent, q: record.InitSession{Scope: "x", Policy: work.ApproveAuto}, err: thread.ErrNotGranted, says: "only the user"},
		"a stranger":       {a: record.Author{Agent: true}, q: record.InitSession{Scope: "x"}, err: thread.ErrNotGranted, says: "in no thread"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newByHand(t)
			h.session(writer, "taken")
			s, err := h.book.Sessions.Init(t.Context(), c.a, c.q)
			if c.err != nil {
				h.refused(err, c.err, c.says)
				return
			}
			if err != nil || s.By != c.a.Thread || !strings.Contains(strings.Join(s.Warnings, "\n"), c.says) || c.says == "" && len(s.Warnings) > 0 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	s := h.session(writer, "one")
	for _, p := range []work.Phase{0, 6, -1} {
		_, err := h.book.Sessions.SetPhase(t.Context(), writer, record.PhaseSession{Session: s.Name, Phase: p})
		h.refused(err, thread.ErrInvalid, "Phases are 1")
	}
	_, err := h.book.Sessions.Complete(t.Context(), writer, record.CompleteSession{Session: s.Name, Status: work.SessionExecuting})
	h.refused(err, thread.ErrInvalid, "Take completed")
	_, err = h.book.Sessions.Show(t.Context(), writer, record.SessionRef{Session: "onee"})
	h.refused(err, thread.ErrNotFound, "Did you mean one?")
	_, err = h.book.Sessions.SetPhase(t.Context(), writer, record.PhaseSession{Session: "nothing", Phase: 2})
	h.refused(err, thread.ErrNotFound, "no work session named")
}

// TestTasksFollow: a task's state follows the executions that name it, and what a person says of it.
func TestTasksFollow(t *testing.T) {
	h := newByHand(t)
	s := h.session(writer, "")
	status := func(title string) work.TaskStatus {
		all, err := h.store.Tasks(t.Context(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if one.Title == title {
				return one.Status
			}
		}
		return ""
	}
	body := "in short \x1b[2J words"
	made, err := h.book.Sessions.Task(t.Context(), writer, record.PutTask{Session: s.Name, Title: "index", Body: &body})
	if err != nil || made.Status != work.TaskPending || strings.Contains(made.Body, "\x1b") {
		t.Fatal(made, err)
	}
	h.in[agentA] = s.Name
	h.begin(writer, record.InitExecution{Session: s.Name, Task: "index", Scope: "x", Name: "one"})
	if got := status("index"); got != work.TaskInProgress {
		t.Errorf("while it is worked on: %s", got)
	}
	if _, err := h.complete(writer, record.CompleteExecution{Execution: "one", Status: work.StatusFailed}); err != nil {
		t.Fatal(err)
	}
	if got := status("index"); got != work.TaskFailed {
		t.Errorf("after a failure: %s", got)
	}
	h.begin(writer, record.InitExecution{Session: s.Name, Task: "tests", Name: "two"})
	if got := status("tests"); got != work.TaskInProgress || h.stored("two").Scope != "tests" {
		t.Errorf("one that was not there: %s", got)
	}
	_, err = h.book.Sessions.Task(t.Context(), anAgent, record.PutTask{Session: s.Name, Title: "index", Status: work.TaskComplete})
	h.refused(err, thread.ErrNotGranted, "recorded by another")
	if _, err := h.book.Sessions.Task(t.Context(), writer, record.PutTask{Session: s.Name, Title: "index", Status: work.TaskComplete}); err != nil || status("index") != work.TaskComplete {
		t.Error(err)
	}
	for _, q := range []record.PutTask{{Title: ""}, {Title: strings.Repeat("x", 300)}, {Title: "x", Status: "odd"}} {
		q.Session = s.Name
		_, err := h.book.Sessions.Task(t.Context(), writer, q)
		h.refused(err, thread.ErrInvalid, "")
	}
}

// TestCompletedOnce: how an execution by hand ended is written once, by who wrote it down or by a person, and no end is
// before its beginning.
func TestCompletedOnce(t *testing.T) {
	h := newByHand(t)
	_, err := h.complete(writer, record.CompleteExecution{Execution: "exec-001"})
	h.refused(err, thread.ErrNotFound, "Write it down before it begins")
	x := h.begin(anAgent, record.InitExecution{Name: "exec-001", Scope: "find it", Model: "sonnet", Context: 15_000, Prompt: "find the bug"})
	if x.Status != "deployed" || x.Success != nil || x.Origin != work.OriginHand || x.By != agentA || x.Deployed.IsZero() || x.Context != 15_000 || x.Cost != nil {
		t.Errorf("written down as %+v", x)
	}
	given, err := h.store.Events(t.Context(), x.ID, h.stored("exec-001").Given-1, 1)
	if err != nil || len(given) != 1 || given[0].Text != "find the bug" {
		t.Errorf("it was asked %v, %v", given, err)
	}
	_, err = h.complete(anOther, record.CompleteExecution{Execution: "exec-001"})
	h.refused(err, thread.ErrNotGranted, "recorded by another")
	_, err = h.complete(whoReads, record.CompleteExecution{Execution: "exec-001"})
	h.refused(err, thread.ErrNotGranted, "recorded by another")
	_, err = h.complete(writer, record.CompleteExecution{Execution: "exec-001", At: x.Deployed.Add(-time.Second)})
	h.refused(err, thread.ErrInvalid, "cannot have ended before")
	_, err = h.complete(writer, record.CompleteExecution{Execution: "exec-001", At: h.now.Add(time.Hour)})
	h.refused(err, thread.ErrInvalid, "in the future")
	_, err = h.complete(anAgent, record.CompleteExecution{Execution: "exec-001", At: h.now})
	h.refused(err, thread.ErrNotGranted, "records what happens now")
	_, err = h.complete(writer, record.CompleteExecution{Execution: "exec-001", Status: "deployed"})
	h.refused(err, thread.ErrInvalid, "Take completed or failed")
	_, err = h.complete(writer, record.CompleteExecution{Execution: "exec-001", Status: work.StatusCompleted, Error: "why"})
	h.refused(err, thread.ErrInvalid, "has no error")
	h.now = h.now.Add(-24 * time.Hour)
	done, err := h.complete(writer, record.CompleteExecution{Execution: "exec-001", Message: "found"})
	if err != nil || done.Status != "completed" || done.Message != "found" || !*done.Success || done.Completed.Before(done.Deployed) {
		t.Errorf("with the clock back by a day: %+v, %v", done, err)
	}
	for _, a := range []record.Author{writer, anAgent} {
		_, err = h.complete(a, record.CompleteExecution{Execution: "exec-001", Message: "found again"})
		h.refused(err, thread.ErrRefused, "written once")
	}
	run := work.Execution{ID: "00000000000000aa", Thread: "00000000000000aa", Lost: work.PolicyAsk}
	ran, err := h.store.Add(t.Context(), run)
	if err != nil || ran.Name == "exec-001" {
		t.Fatalf("a run is called %s, %v", ran.Name, err)
	}
	_, err = h.complete(writer, record.CompleteExecution{Execution: ran.Name})
	h.refused(err, thread.ErrRefused, "not written down by hand")
	failed := h.begin(writer, record.InitExecution{Scope: "x", At: h.now.Add(-48 * time.Hour)})
	failed, err = h.complete(writer, record.CompleteExecution{Execution: failed.Execution, Error: "no idea", At: h.now.Add(-47 * time.Hour)})
	if err != nil || failed.Status != "failed" || failed.Error != "no idea" || failed.Took() != time.Hour {
		t.Errorf("written down later: %+v, %v", failed, err)
	}
}

// TestTextsAreHarmless: nothing that is written down has a secret, what a terminal obeys, or bytes that are no text.
func TestTextsAreHarmless(t *testing.T) {
	h := newByHand(t)
	for _, c := range secrettest.All() {
		text := "it is " + c.Text + " there"
		s, err := h.book.Sessions.Init(t.Context(), writer, record.InitSession{Scope: text[:min(len(text), 8000)]})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		x := h.begin(writer, record.InitExecution{Session: s.Name, Scope: text[:min(len(text), 8000)], Prompt: text})
		if _, err := h.complete(writer, record.CompleteExecution{Execution: x.Execution, Message: text, Error: text, Status: work.StatusFailed}); err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal([]any{h.stored(x.Execution), s})
		events, eventErr := h.store.Events(t.Context(), x.ID, 0, 100)
		if err != nil || eventErr != nil {
			t.Fatal(err, eventErr)
		}
		all := string(kept) + fmt.Sprint(events)
		if c.In(all) {
			t.Errorf("%s is kept: %s", c.Name, all)
		}
	}
	odd := "one \x1b]0;title\x07\x1b[2J two \xff\xfe three \u202e four"
	x := h.begin(anAgent, record.InitExecution{Scope: odd, Type: "t", Prompt: odd})
	if _, err := h.complete(anAgent, record.CompleteExecution{Execution: x.Execution, Message: odd + strings.Repeat("long ", 300_000)}); err != nil {
		t.Fatal(err)
	}
	rows, err := h.book.Executions.Query(t.Context(), anAgent, record.QueryExecutions{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for _, text := range []string{rows[0].Message, rows[0].Scope} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "four") {
			t.Errorf("kept as %.80q", text)
		}
	}
	if n := len(rows[0].Message); n > 1<<20 || n < 1<<20-10 {
		t.Errorf("of a long message %d bytes are kept", n)
	}
}

// TestOneAgentIsBounded: an agent that records for ever is stopped, and only it.
func TestOneAgentIsBounded(t *testing.T) {
	h := newByHand(t)
	rows := 0
	for ; rows < 10_100; rows++ {
		if _, err := h.book.Executions.Init(t.Context(), anAgent, record.InitExecution{Type: "loop", Scope: "again"}); err != nil {
			h.refused(err, thread.ErrLimit, "not record more than 10000")
			break
		}
	}
	if rows != 10_000 {
		t.Errorf("it has recorded %d rows", rows)
	}
	_, err := h.book.Sessions.Init(t.Context(), anAgent, record.InitSession{Scope: "more"})
	h.refused(err, thread.ErrLimit, "10000")
	x := h.begin(anOther, record.InitExecution{Scope: "fine"})
	if _, err := h.complete(anOther, record.CompleteExecution{Execution: x.Execution}); err != nil {
		t.Error(err)
	}
	big := strings.Repeat("word ", 200_000)
	said := 0
	for ; said < 80; said++ {
		if _, err = h.book.Executions.Init(t.Context(), anOther, record.InitExecution{Type: "talker", Scope: "talk", Prompt: big}); err != nil {
			break
		}
	}
	h.refused(err, thread.ErrLimit, "not record more than 64")
	if said < 50 || said > 70 {
		t.Errorf("it has recorded %d texts of a million bytes", said)
	}
	h.begin(writer, record.InitExecution{Scope: "a person goes on"})
}

// TestOneOfTwoAtOnce: of two who choose the same name at once, one has it.
func TestOneOfTwoAtOnce(t *testing.T) {
	h := newByHand(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	made, taken := 0, 0
	for i := range 8 {
		wait.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = h.book.Sessions.Init(t.Context(), writer, record.InitSession{Scope: "x", Name: "one"})
			} else {
				_, err = h.book.Executions.Init(t.Context(), writer, record.InitExecution{Type: "x", Scope: "x", Name: "exec-001"})
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, thread.ErrNameTaken):
				taken++
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if made != 2 || taken != 6 {
		t.Errorf("%d were made, %d were taken", made, taken)
	}
	x := h.stored("exec-001")
	ends := make(chan error, 4)
	for range cap(ends) {
		go func() {
			_, err := h.complete(writer, record.CompleteExecution{Execution: "exec-001", Message: "done"})
			ends <- err
		}()
	}
	ended := 0
	for range cap(ends) {
		if err := <-ends; err == nil {
			ended++
		} else if !errors.Is(err, thread.ErrRefused) {
			t.Error(err)
		}
	}
	said, err := h.store.Events(t.Context(), x.ID, 0, 100)
	if ended != 1 || err != nil || len(slices.DeleteFunc(said, func(e work.Event) bool { return e.Kind != work.KindSaid })) != 1 {
		t.Errorf("%d have ended it: %v, %v", ended, said, err)
	}
}

// TestQueryByHand: executions are found by what is asked for, and agents see theirs.
func TestQueryByHand(t *testing.T) {
	h := newByHand(t)
	h.session(writer, "orch-1")
	h.in[agentA] = "orch-1"
	h.begin(writer, record.InitExecution{Name: "p-1", Session: "orch-1", Type: "debugger", Scope: "x"})
	h.now = h.now.Add(time.Hour)
	h.begin(anAgent, record.InitExecution{Name: "a-1", Session: "orch-1", Type: "tester", Scope: "y"})
	if _, err := h.complete(anAgent, record.CompleteExecution{Execution: "a-1", Message: "all of it"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.Add(t.Context(), work.Execution{ID: "00000000000000aa", Thread: "00000000000000aa", Lost: work.PolicyAsk}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		a    record.Author
		q    record.QueryExecutions
		want string
	}{
		"all that have begun": {want: "a-1 p-1"},
		"of a session":        {q: record.QueryExecutions{Session: "orch-1"}, want: "a-1 p-1"},
		"of a type":           {q: record.QueryExecutions{Type: "debugger"}, want: "p-1"},
		"open":                {q: record.QueryExecutions{Status: work.StatusDeployed}, want: "p-1"},
		"completed":           {q: record.QueryExecutions{Status: work.StatusCompleted}, want: "a-1"},
		"failed":              {q: record.QueryExecutions{Status: work.StatusFailed}},
		"claims":              {q: record.QueryExecutions{Origin: work.OriginHand}, want: "a-1 p-1"},
		"ours":                {q: record.QueryExecutions{Origin: work.OriginOurs}},
		"since":               {q: record.QueryExecutions{Since: h.now.Add(-time.Minute)}, want: "a-1"},
		"until":               {q: record.QueryExecutions{Until: h.now.Add(-time.Minute)}, want: "p-1"},
		"one":                 {q: record.QueryExecutions{Limit: 1}, want: "a-1"},
		"an agent's":          {a: anAgent, want: "a-1"},
		"another agent's":     {a: anOther},
		"a stranger's":        {a: record.Author{Agent: true}},
		"a reader's":          {a: whoReads, want: "a-1 p-1"},
	} {
		rows, err := h.book.Executions.Query(t.Context(), c.a, c.q)
		var names []string
		for _, r := range rows {
			names = append(names, r.Execution)
			if r.Execution == "a-1" && r.Message != "all of it" {
				t.Errorf("%s: it said %q", name, r.Message)
			}
		}
		if got := strings.Join(names, " "); err != nil || got != c.want || rows == nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	for _, q := range []record.QueryExecutions{{Status: "running"}, {Origin: "odd"}} {
		_, err := h.book.Executions.Query(t.Context(), writer, q)
		h.refused(err, thread.ErrInvalid, "Take")
	}
	_, err := h.book.Executions.Query(t.Context(), writer, record.QueryExecutions{Session: "orch-2"})
	h.refused(err, thread.ErrNotFound, "Did you mean orch-1?")
	_, err = h.book.Sessions.Show(t.Context(), anOther, record.SessionRef{Session: "orch-1"})
	h.refused(err, thread.ErrNotGranted, `"read"`)
	v, err := h.book.Sessions.Show(t.Context(), anAgent, record.SessionRef{Session: "orch-1"})
	if err != nil || len(v.Executions) != 1 || v.Executions[0].Execution != "a-1" || v.Sums.Runs != 1 {
		t.Errorf("an agent sees %+v, %v", v, err)
	}
}

// TestWhoHasItsFilesHasTheBundle: an agent is told of a bundle that a person has prepared if it has the bundle's file and
// those that it is made of; to know what it is called, or what it looks like, is not enough.
func TestWhoHasItsFilesHasTheBundle(t *testing.T) {
	h := newByHand(t)
	made, err := h.book.Bundles.Prepare(t.Context(), writer, record.PrepareRequest{Order: bundle.Order{
		AgentType: "tester", Scope: "test it", Items: []bundle.Item{{Type: work.ItemFile, Source: "a.md", Priority: work.Required, Content: []byte("a secret plan\n")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	form := made.Kept.Bundle
	item := func(source, content, missing string) record.BundleArg {
		return record.BundleArg{Form: &form, Items: []bundle.Item{{Type: work.ItemFile, Source: source, Priority: work.Required, Content: []byte(content), Missing: missing}}}
	}
	for name, c := range map[string]struct {
		arg  record.BundleArg
		told bool
	}{
		"its files": {arg: item("a.md", "a secret plan\n", ""), told: true}, "another content": {arg: item("a.md", "what is it?\n", "")},
		"another file": {arg: item("b.md", "a secret plan\n", "")}, "no file": {arg: item("a.md", "a secret plan\n", "gone")},
		"its form": {arg: record.BundleArg{Form: &form}}, "its id": {arg: record.BundleArg{Ref: form.ID}},
	} {
		x, err := h.book.Executions.Init(t.Context(), anAgent, record.InitExecution{Type: "tester", Scope: "x", Bundle: &c.arg})
		if told := err == nil && x.Execution.Bundle == form.ID; told != c.told {
			t.Errorf("who has %s is told: %v, %+v", name, err, x)
		}
	}
}

// refuses is a store that takes no pieces of context and changes no work session.
type refuses struct {
	work.Record
	err error
}

func (r refuses) Allocate(context.Context, work.ID, []work.Allocation) error { return r.err }

func (r refuses) ChangeSession(context.Context, string, func(*work.Session) error) (work.Session, error) {
	return work.Session{}, r.err
}

// TestBegunOnce: once an execution is stored, what cannot be stored beside it is a warning: an error would have its author
// begin it again.
func TestBegunOnce(t *testing.T) {
	h := newByHand(t)
	h.session(writer, "s1")
	h.over(refuses{h.store, thread.ErrUnreachable})
	got, err := h.book.Executions.Init(t.Context(), writer, record.InitExecution{Session: "s1", Type: "tester", Scope: "try"})
	if err != nil || got.Execution.Execution == "" || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "do not show yet") {
		t.Fatalf("%+v %v", got, err)
	}
	if list, err := h.store.Recorded(t.Context(), work.RecordQuery{}); err != nil || len(list) != 1 {
		t.Errorf("%d rows: %v", len(list), err)
	}
}
