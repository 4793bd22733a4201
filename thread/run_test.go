package thread

import (
	"testing"
	"time"
)

// TestRunsInLists: what lists, the inbox and notifications say of runs, and of one that the person has taken over.
func TestRunsInLists(t *testing.T) {
	for _, c := range []struct {
		state, reason string
		seen, open    bool // it is open in a terminal
		part          bool // it works for a task of a plan
		group         Group
		item          InboxKind
		line          string
		waits         bool
	}{
		{state: "queued", reason: "4 of 4 runs are running", group: GroupWorking, line: "queued: 4 of 4 runs are running"},
		{state: "completed", group: GroupToRead, item: InboxUnread, line: "make test", waits: true},
		{state: "completed", seen: true, group: GroupQuiet, line: "make test"},
		{state: "failed", reason: "limit\nreached", group: GroupNeedsYou, item: InboxStuck, line: "failed: limit reached", waits: true},
		{state: "failed", seen: true, group: GroupStuck, line: "failed"},
		{state: "cancelled", reason: "Ctrl+C", group: GroupQuiet, line: "cancelled: Ctrl+C"},
		{state: "lost", group: GroupNeedsYou, item: InboxInterrupted, line: "lost", waits: true},
		{state: "completed", part: true, group: GroupQuiet, line: "make test"},
		{state: "lost", part: true, group: GroupQuiet, line: "lost"},
		{state: "failed", part: true, group: GroupNeedsYou, item: InboxStuck, line: "failed", waits: true},
		{state: "completed", open: true, group: GroupWorking, line: "make test"},
		{state: "lost", open: true, group: GroupWorking, line: "make test"},
	} {
		s := Status{Last: "make test", Run: &RunStatus{Execution: "exec-001", State: c.state, Reason: c.reason, Started: time.Unix(1, 0)}}
		s.Once.On, s.Seen = true, c.seen
		if c.part {
			s.Once.Part = Part{Task: "task-001", Agent: "a", Round: 1}
		}
		s.State = StateReport{State: StateExited}
		s.Prompts = []Prompt{{ID: "p", State: PromptInterrupted}} // its execution tells
		if c.open {
			s.Execution, s.State.State = &Execution{ID: "x"}, StateWorking
		}
		if got := s.Group(); got != c.group || s.Waits() != c.waits {
			t.Errorf("%+v: group %q, waits %v", c, got, s.Waits())
		}
		if got := s.Line(); got != c.line {
			t.Errorf("%+v: line %q", c, got)
		}
		kind := InboxKind("")
		for _, i := range Inbox([]Status{s}, nil, nil) {
			kind = i.Kind
		}
		if kind != c.item {
			t.Errorf("%+v: in the inbox as %q", c, kind)
		}
	}
}
