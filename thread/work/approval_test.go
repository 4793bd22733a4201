package work_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread/work"
)

func TestApprovalWaits(t *testing.T) {
	person, agent := work.Execution{}, work.Execution{By: "0123456789abcdef"}
	for _, c := range []struct {
		policy        work.Approval
		person, agent bool
	}{
		{work.ApproveManual, true, true}, {work.ApproveSuggest, false, true}, {"", false, true}, {work.ApproveAuto, false, false},
	} {
		for _, x := range []struct {
			x    work.Execution
			want bool
		}{{person, c.person}, {agent, c.agent}} {
			if got := c.policy.Waits(x.x); got != x.want {
				t.Errorf("%q, by %q: waits %v", c.policy, x.x.By, got)
			}
			agreed, again := x.x, x.x
			agreed.Agreed, again.Attempt = true, 1
			if c.policy.Waits(agreed) || c.policy.Waits(again) {
				t.Errorf("%q: it waits again after it was agreed", c.policy)
			}
		}
	}
}

func TestTaskStatusOf(t *testing.T) {
	at := func(state work.State, ended int) work.Execution {
		x := work.Execution{ID: work.ID(string(state)), State: state}
		if ended > 0 {
			x.Ended = time.Unix(int64(ended), 0)
		}
		return x
	}
	for _, c := range []struct {
		want work.TaskStatus
		all  []work.Execution
	}{
		{work.TaskPending, nil},
		{work.TaskPending, []work.Execution{at(work.Queued, 0)}},
		{work.TaskInProgress, []work.Execution{at(work.Queued, 0), at(work.Running, 0)}},
		{work.TaskInProgress, []work.Execution{at(work.NeedsInput, 0), at(work.Failed, 5)}},
		{work.TaskInProgress, []work.Execution{at(work.Queued, 0), at(work.Completed, 5)}},
		{work.TaskComplete, []work.Execution{at(work.Failed, 5), at(work.Completed, 6)}},
		{work.TaskComplete, []work.Execution{at(work.Completed, 6), at(work.Failed, 5)}},
		{work.TaskFailed, []work.Execution{at(work.Completed, 6), at(work.Failed, 7)}},
		{work.TaskFailed, []work.Execution{at(work.Lost, 7)}},
		{work.TaskComplete, []work.Execution{at(work.Cancelled, 7), at(work.Completed, 6)}},
		{work.TaskComplete, []work.Execution{at(work.Completed, 6), at(work.Lost, 7), at(work.Cancelled, 8)}},
		{work.TaskCancelled, []work.Execution{at(work.Failed, 6), at(work.Cancelled, 7)}},
		{work.TaskCancelled, []work.Execution{at(work.Completed, 5), at(work.Failed, 6), at(work.Cancelled, 7)}},
	} {
		if got := work.TaskStatusOf(c.all); got != c.want {
			t.Errorf("%+v: %s, want %s", c.all, got, c.want)
		}
	}
}

func TestCheckBelongs(t *testing.T) {
	for _, c := range []struct {
		session, task, kind string
		ok                  bool
	}{
		{"", "", "", true}, {"orch-2025-01-17-001", "Write it", "task-implementor", true}, {"work-001", "", "", true},
		{"", "", "debugger", true}, {"", "a task", "", false}, {"a b", "", "", false}, {"-x", "", "", false},
		{"s", "two\nlines", "", false}, {"s", "an \x1b[31mescape", "", false}, {"s", " padded", "", false},
		{"s", strings.Repeat("x", 201), "", false}, {"s", strings.Repeat("\u00e4", 200), "", true}, {"s", "", strings.Repeat("x", 61), false},
		{"s", "", "a\u202eb", false}, {"s", "\xff", "", false},
	} {
		if err := work.CheckBelongs(c.session, c.task, c.kind); (err == nil) != c.ok {
			t.Errorf("%q %q %q: %v", c.session, c.task, c.kind, err)
		}
	}
}
