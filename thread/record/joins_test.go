package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// task returns the status of a task.
func (h *byHand) task(session, title string) work.TaskStatus {
	h.Helper()
	all, err := h.store.Tasks(h.Context(), session)
	if err != nil {
		h.Fatal(err)
	}
	for _, t := range all {
		if t.Title == title {
			return t.Status
		}
	}
	return ""
}

// TestAgentsMoveTheirOwn: an agent works in the work session of its thread, where what it says moves no task and no work
// session but its own; it sees that one, and none by writing into it.
func TestAgentsMoveTheirOwn(t *testing.T) {
	h := newByHand(t)
	h.session(writer, "work-001")
	if _, err := h.book.Sessions.Task(t.Context(), writer, record.PutTask{Session: "work-001", Title: "Fix login"}); err != nil {
		t.Fatal(err)
	}
	q := record.InitExecution{Session: "work-001", Task: "Fix login", Type: "x", Name: "a-1"}
	_, err := h.book.Executions.Init(t.Context(), anAgent, q)
	h.refused(err, thread.ErrNotGranted, "to that of its thread")
	// As it was recorded before: what it wrote down does not let it see.
	_, err = h.store.Add(t.Context(), work.Execution{ID: thread.NewID[work.ID](), Name: "a-0", Kind: work.KindHand, Thread: agentA, By: agentA, Session: "work-001", State: work.Deployed})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.book.Sessions.Show(t.Context(), anAgent, record.SessionRef{Session: "work-001"})
	h.refused(err, thread.ErrNotGranted, "another's")
	if who, err := h.book.Answers.Who(t.Context(), anAgent, record.WhoRequest{Of: "work-001"}); err == nil && (who.Session != nil || len(who.Tasks) > 0) {
		t.Errorf("it sees %+v", who)
	}
	if of, err := h.book.Answers.Trace(t.Context(), anAgent, record.TraceRequest{Ref: "a-0"}); err != nil || of.Session != nil || of.Task != nil {
		t.Errorf("it sees %+v, %v", of.Session, err)
	}

	h.in[agentA] = "work-001"
	h.begin(anAgent, q)
	h.begin(anAgent, record.InitExecution{Session: "work-001", Task: "its own", Name: "a-2"})
	s, err := h.store.Session(t.Context(), "work-001")
	if got := h.task("work-001", "Fix login"); err != nil || got != work.TaskPending || s.Status != work.SessionPlanning || s.Phase != work.PhaseAnalyze {
		t.Errorf("its claim moved the task to %s, the work session to %+v, %v", got, s, err)
	}
	if _, err := h.complete(anAgent, record.CompleteExecution{Execution: "a-1", Status: work.StatusFailed}); err != nil {
		t.Fatal(err)
	}
	if got := h.task("work-001", "Fix login"); got != work.TaskPending {
		t.Errorf("its claim moved the task to %s", got)
	}
	if got := h.task("work-001", "its own"); got != work.TaskInProgress {
		t.Errorf("its own task is %s", got)
	}
	if v, err := h.book.Sessions.Show(t.Context(), anAgent, record.SessionRef{Session: "work-001"}); err != nil || len(v.Tasks) != 2 {
		t.Errorf("it sees %+v, %v", v, err)
	}
	h.session(anAgent, "its-own")
	h.begin(anAgent, record.InitExecution{Session: "its-own"})
	if s, err := h.store.Session(t.Context(), "its-own"); err != nil || s.Status != work.SessionExecuting {
		t.Errorf("its own work session is %+v, %v", s, err)
	}
	h.begin(writer, record.InitExecution{Session: "work-001", Task: "Fix login", Name: "p-1"})
	if got := h.task("work-001", "Fix login"); got != work.TaskInProgress {
		t.Errorf("a person's execution moved the task to %s", got)
	}
}

// TestCompletedAtOnce: of several who complete the same at once, one has said how it ended and what came of it.
func TestCompletedAtOnce(t *testing.T) {
	h := newByHand(t)
	h.begin(writer, record.InitExecution{Name: "one", Scope: "x"})
	var wait sync.WaitGroup
	start, won := make(chan struct{}), make(chan string, 16)
	for i := range 16 {
		wait.Go(func() {
			file := fmt.Sprintf("%d.go", i)
			<-start
			_, err := h.complete(writer, record.CompleteExecution{Execution: "one", Deliverables: []string{file}})
			if err == nil {
				won <- file
			} else if !errors.Is(err, thread.ErrRefused) {
				t.Error(err)
			}
		})
	}
	close(start)
	wait.Wait()
	close(won)
	var has, said []string
	for file := range won {
		said = append(said, file)
	}
	list, err := h.book.Outputs.Query(t.Context(), writer, record.QueryOutputs{Execution: "one"})
	for _, o := range list {
		has = append(has, o.Path)
	}
	if err != nil || len(said) != 1 || !slices.Equal(has, said) {
		t.Errorf("it has %q, %v; %q was said", has, err, said)
	}
}

// between is a store in which something else happens between what a caller reads and what it writes.
type between struct {
	work.Record
	then func()
}

func (b *between) Recorded(ctx context.Context, q work.RecordQuery) ([]work.Execution, error) {
	list, err := b.Record.Recorded(ctx, q)
	b.happens()
	return list, err
}

func (b *between) Tasks(ctx context.Context, session string) ([]work.Task, error) {
	list, err := b.Record.Tasks(ctx, session)
	b.happens()
	return list, err
}

func (b *between) End(
	ctx context.Context, id work.ID, fence int64, change func(*work.Execution) error, outputs []work.Output, events ...work.Event,
) (work.Execution, []work.Output, error) {
	b.happens()
	return b.Record.End(ctx, id, fence, change, outputs, events...)
}

func (b *between) happens() {
	if then := b.then; then != nil {
		b.then = nil
		then()
	}
}

// TestTwoWriteOneTask: nothing of what two write of a task at once is lost, and its status is that of all its executions.
func TestTwoWriteOneTask(t *testing.T) {
	h := newByHand(t)
	h.session(writer, "s")
	b := &between{Record: h.store}
	other := h.book
	h.over(b)
	h.begin(writer, record.InitExecution{Session: "s", Task: "part", Name: "one"})
	h.begin(writer, record.InitExecution{Session: "s", Task: "part", Name: "two"})
	put := func(to *record.Book, q record.PutTask) {
		t.Helper()
		q.Session, q.Title = "s", "part"
		if _, err := to.Sessions.Task(t.Context(), writer, q); err != nil {
			t.Error(err)
		}
	}
	body := "what it is"
	b.then = func() { put(other, record.PutTask{Body: &body}) }
	put(h.book, record.PutTask{Status: work.TaskFailed})
	b.happens() // unless it has
	if all, err := h.store.Tasks(t.Context(), "s"); err != nil || all[0].Body != body || all[0].Status != work.TaskFailed {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := h.complete(writer, record.CompleteExecution{Execution: "one", Deliverables: []string{"a.go"}}); err != nil {
		t.Fatal(err)
	}
	// The last but one reads what there is, then the last ends.
	h.begin(writer, record.InitExecution{Session: "s", Task: "part", Name: "three"})
	end := func() {
		b.then = func() { // once the end of two is stored and its executions are read
			if _, err := other.Executions.Complete(t.Context(), writer, record.CompleteExecution{Execution: "three"}); err != nil {
				t.Error(err)
			}
		}
	}
	b.then = end
	if _, err := h.complete(writer, record.CompleteExecution{Execution: "two"}); err != nil {
		t.Fatal(err)
	}
	if got := h.task("s", "part"); got != work.TaskComplete {
		t.Errorf("once all have ended it is %s", got)
	}
}

// TestRefusedEndLeavesNothing: what would have come of an execution is not stored if another has ended it meanwhile.
func TestRefusedEndLeavesNothing(t *testing.T) {
	h := newByHand(t)
	b := &between{Record: h.store}
	other := h.book
	h.over(b)
	h.begin(writer, record.InitExecution{Name: "one", Scope: "x"})
	b.then = func() {
		if _, err := other.Executions.Complete(t.Context(), writer, record.CompleteExecution{Execution: "one", Deliverables: []string{"first.go"}}); err != nil {
			t.Error(err)
		}
	}
	_, err := h.complete(writer, record.CompleteExecution{Execution: "one", Deliverables: []string{"second.go"}})
	h.refused(err, thread.ErrRefused, "written once")
	list, err := h.book.Outputs.Query(t.Context(), writer, record.QueryOutputs{Execution: "one"})
	if err != nil || len(list) != 1 || list[0].Path != "first.go" {
		t.Errorf("it has %+v, %v", list, err)
	}
}
