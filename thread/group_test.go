package thread_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// states returns every state that a thread can be shown in.
func states() []thread.State {
	return []thread.State{
		thread.StateApproval, thread.StateQuestion, thread.StateDone, thread.StateUnauthorised, thread.StateLimited,
		thread.StateUnavailable, thread.StateUnreachable, thread.StateCut, thread.StateFailed, thread.StateSilent,
		thread.StateInterrupted, thread.StateStarting, thread.StateWorking, thread.StateIdle, thread.StateUnknown,
		thread.StateExited, "",
	}
}

func TestGroup(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	cut := func(s *thread.Status) {
		s.Prompts = []thread.Prompt{{State: thread.PromptInterrupted, Text: "go on\nand on", Accepted: at, Ended: at.Add(time.Hour)}}
	}
	for _, c := range []struct {
		name   string
		state  thread.State
		change func(*thread.Status)
		want   thread.Group
		line   string
	}{
		{"asks", thread.StateApproval, func(s *thread.Status) {
			s.State.Question = &thread.Question{Text: "May I?", About: "ls\x1b[0m -la"}
		}, thread.GroupNeedsYou, "ls␛[0m -la"},
		{"asks unread", thread.StateQuestion, func(s *thread.Status) {
			s.State.Evidence = []thread.Evidence{{Detail: "asks for permission"}}
		}, thread.GroupNeedsYou, "asks for permission"},
		{"signs in", thread.StateUnauthorised, func(s *thread.Status) {
			s.State.Evidence = []thread.Evidence{{Detail: "status 401: no"}}
		}, thread.GroupNeedsYou, "sign in: status 401: no"},
		{"was interrupted", thread.StateInterrupted, nil, thread.GroupNeedsYou, "interrupted, can be resumed"},
		{"was interrupted with a prompt", thread.StateInterrupted, cut, thread.GroupNeedsYou, "prompt cut off: go on and on"},
		{"idle with a cut prompt", thread.StateIdle, cut, thread.GroupNeedsYou, "prompt cut off: go on and on"},
		{"refused", thread.StateFailed, func(s *thread.Status) {
			s.State.Stuck = true
			s.Prompts = []thread.Prompt{{State: thread.PromptRefused, Text: "x"}}
		}, thread.GroupNeedsYou, "prompt refused: x"},
		{"cut, but another follows", thread.StateIdle, func(s *thread.Status) { cut(s); s.Queued = 1 }, thread.GroupQuiet, "said"},
		{"cut, and works again", thread.StateWorking, cut, thread.GroupWorking, "said"},
		{"merge with conflicts", thread.StateIdle, func(s *thread.Status) { s.Merging = "main" }, thread.GroupNeedsYou, "merge into main has conflicts"},
		{"works", thread.StateWorking, nil, thread.GroupWorking, "said"},
		{"starts", thread.StateStarting, nil, thread.GroupWorking, "starting"},
		{"silent", thread.StateSilent, nil, thread.GroupWorking, "no answer yet"},
		{"tries again", thread.StateUnavailable, func(s *thread.Status) { s.State.Retrying = true }, thread.GroupWorking, "unavailable, retrying"},
		{"done", thread.StateDone, nil, thread.GroupToRead, "said"},
		{"limited", thread.StateLimited, nil, thread.GroupStuck, "limited"},
		{"gave up", thread.StateFailed, func(s *thread.Status) { s.State.Stuck = true }, thread.GroupStuck, "failed, gave up"},
		{"gave up and seen", thread.StateFailed, func(s *thread.Status) { s.State.Stuck, s.Seen = true, true }, thread.GroupStuck, "failed, gave up"},
		{"failed", thread.StateExited, func(s *thread.Status) {
			s.Exit = thread.Exit{Code: 1, Reason: "exited", Screen: "a\nno network\n"}
		}, thread.GroupStuck, "exited (1): no network"},
		{"stopped", thread.StateExited, func(s *thread.Status) { s.Exit = thread.Exit{Code: 143, Reason: "stopped"} }, thread.GroupQuiet, "said"},
		{"idle", thread.StateIdle, nil, thread.GroupQuiet, "said"},
		{"unknown", thread.StateUnknown, nil, thread.GroupQuiet, "said"},
		{"new", "", nil, thread.GroupQuiet, "said"},
		{"merged", thread.StateDone, func(s *thread.Status) { s.Outcome.Kind = thread.OutcomeMerged }, thread.GroupQuiet, "merged"},
		{"abandoned", thread.StateApproval, func(s *thread.Status) {
			s.Outcome = thread.Outcome{Kind: thread.OutcomeAbandoned, Reason: "too slow"}
		}, thread.GroupQuiet, "abandoned: too slow"},
		{"archived", thread.StateApproval, func(s *thread.Status) { s.Archived = at }, thread.GroupQuiet, "said"},
	} {
		s := thread.Status{Last: "said"}
		s.State = thread.StateReport{State: c.state, Since: at}
		if c.change != nil {
			c.change(&s)
		}
		if got := s.Group(); got != c.want || s.Line() != c.line {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, s.Line(), c.want, c.line)
		}
	}
}

// TestGroupsAndInboxAgree: whatever is in a group that calls the person is in the inbox, and the other way round.
func TestGroupsAndInboxAgree(t *testing.T) {
	needs := []thread.InboxKind{thread.InboxQuestion, thread.InboxSignIn, thread.InboxMerge, thread.InboxPrompt, thread.InboxInterrupted}
	changes := []func(*thread.Status){
		func(*thread.Status) {},
		func(s *thread.Status) { s.State.Stuck = s.State.State.Trouble() },
		func(s *thread.Status) { s.State.Stuck, s.Seen = s.State.State.Trouble(), true },
		func(s *thread.Status) { s.State.Retrying = s.State.State.Trouble() },
		func(s *thread.Status) { s.Prompts = []thread.Prompt{{State: thread.PromptInterrupted}} },
		func(s *thread.Status) { s.Prompts, s.Queued = []thread.Prompt{{State: thread.PromptInterrupted}}, 1 },
		func(s *thread.Status) { s.Merging = "main" },
		func(s *thread.Status) { s.Outcome.Kind = thread.OutcomeMerged },
		func(s *thread.Status) { s.Archived = time.Now() },
		func(s *thread.Status) { s.Exit.Code = 1 },
	}
	for _, st := range states() {
		for i, change := range changes {
			s := thread.Status{State: thread.StateReport{State: st}}
			change(&s)
			var kinds []thread.InboxKind
			for _, item := range thread.Inbox([]thread.Status{s}, nil, nil) {
				kinds = append(kinds, item.Kind)
			}
			open := slices.ContainsFunc(kinds, func(k thread.InboxKind) bool { return slices.Contains(needs, k) })
			if needs := s.Group() == thread.GroupNeedsYou; needs != open {
				t.Errorf("%q, change %d: in group %q, and in the inbox as %v", st, i, s.Group(), kinds)
			}
			if s.Group() == thread.GroupToRead && !slices.Contains(kinds, thread.InboxUnread) {
				t.Errorf("%q, change %d: to read, and in the inbox as %v", st, i, kinds)
			}
			if s.Waits() && len(kinds) == 0 {
				t.Errorf("%q, change %d: it waits, and the inbox does not have it", st, i)
			}
		}
	}
}

func TestOrderOfPlaces(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(int64(minutes)*60, 0) }
	want := []thread.Place{
		{Group: thread.GroupNeedsYou, Since: at(1)}, {Group: thread.GroupNeedsYou, Since: at(2), Pinned: true},
		{Group: thread.GroupWorking, Since: at(9), Pinned: true}, {Group: thread.GroupWorking, Since: at(3)},
		{Group: thread.GroupToRead, Since: at(1)}, {Group: thread.GroupToRead, Since: at(2)},
		{Group: thread.GroupStuck, Since: at(0)},
		{Group: thread.GroupQuiet, Since: at(0), Pinned: true}, {Group: thread.GroupQuiet, Since: at(7)}, {Group: thread.GroupQuiet, Since: at(6)},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, thread.Place.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted %+v, want %+v", got, want)
	}
	a, b := thread.Place{Group: thread.GroupWorking, Since: at(1)}, thread.Place{Group: thread.GroupWorking, Since: at(2)}
	if a.Compare(b) != 0 {
		t.Error("threads at work change places while they work")
	}
}

func TestCountGroups(t *testing.T) {
	of := func(st thread.State) *thread.Status { return &thread.Status{State: thread.StateReport{State: st}} }
	away := of(thread.StateApproval)
	away.Archived = time.Now()
	got := thread.CountGroups([]*thread.Status{of(thread.StateApproval), of(thread.StateIdle), of(thread.StateIdle), away})
	if got[thread.GroupNeedsYou] != 1 || got[thread.GroupQuiet] != 2 || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestLineOf(t *testing.T) {
	call := func(tool, arguments string) thread.Entry {
		return thread.Entry{Kind: thread.EntryCall, Tool: tool, Text: arguments}
	}
	key := "sk-ant-api03-" + strings.Repeat("Ab1", 30)
	for _, c := range []struct {
		entries []thread.Entry
		want    string
	}{
		{nil, ""},
		{[]thread.Entry{{Kind: thread.EntryAnswer, Text: "\n\nAll 212 pass.\nMore."}}, "All 212 pass."},
		{[]thread.Entry{{Kind: thread.EntryAnswer, Text: "I look."}, call("Bash", `{"description":"d","command":"go test\n./..."}`)}, "go test"},
		{[]thread.Entry{call("Edit", `{"old_string":"a","file_path":"/p/auth/auth.go"}`)}, "Edit auth.go"},
		{[]thread.Entry{call("shell", `{"command":["bash","-lc","make all"]}`)}, "make all"},
		{[]thread.Entry{call("shell", `{"command":["ls","-la"]}`)}, "ls -la"},
		{[]thread.Entry{call("apply_patch", "*** Begin Patch\nx")}, "apply_patch *** Begin Patch"},
		{[]thread.Entry{call("list", `{}`)}, "list"},
		{[]thread.Entry{call("odd", `{"a":{"b":1},"c":"d"}`)}, "odd d"},
		{[]thread.Entry{call("torn", `{"a":`)}, "torn"},
		{[]thread.Entry{{Kind: thread.EntryThinking, Text: "hm"}}, ""},
	} {
		if got := thread.LineOf(c.entries); got != c.want {
			t.Errorf("%+v: %q, want %q", c.entries, got, c.want)
		}
	}
	bad := thread.LineOf([]thread.Entry{call("Bash", `{"command":"curl -H '`+key+`' \u001b[31m\u202e`+strings.Repeat("x", 5000)+`"}`)})
	if strings.Contains(bad, key) || strings.ContainsAny(bad, "\x1b\u202e\n") || len(bad) > 400 {
		t.Errorf("%d bytes: %q", len(bad), bad)
	}
	if got := thread.LineOfPrompt("fix it\nnow"); got != "› fix it" {
		t.Errorf("%q", got)
	}
}
