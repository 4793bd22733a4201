package thread_test

import (
	"testing"
	"time"

	"orchestrator/thread"
)

func TestInbox(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	of := func(name string, st thread.State, minutes int, change func(*thread.Status)) thread.Status {
		s := thread.Status{Thread: thread.Thread{ID: thread.ID(name), Name: name, Label: name}}
		s.State = thread.StateReport{State: st, Since: at.Add(-time.Duration(minutes) * time.Minute)}
		if change != nil {
			change(&s)
		}
		return s
	}
	list := []thread.Status{
		of("quiet", thread.StateIdle, 1, nil), of("works", thread.StateWorking, 1, nil),
		of("unread", thread.StateDone, 1, nil),
		of("asks later", thread.StateQuestion, 2, nil),
		of("asks", thread.StateApproval, 9, func(s *thread.Status) {
			s.State.Question = &thread.Question{ID: "1", Text: "May I?", About: "rm x"}
		}),
		of("stuck", thread.StateFailed, 1, func(s *thread.Status) { s.State.Stuck = true }),
		of("stuck and seen", thread.StateFailed, 1, func(s *thread.Status) { s.State.Stuck, s.Seen = true, true }),
		of("sign in", thread.StateUnauthorised, 1, nil), of("limited", thread.StateLimited, 1, nil), of("killed", thread.StateInterrupted, 1, nil),
		of("cut", thread.StateIdle, 1, func(s *thread.Status) {
			s.Prompts = []thread.Prompt{{State: thread.PromptInterrupted, Text: "go on"}}
		}),
		of("merging", thread.StateIdle, 1, func(s *thread.Status) { s.Merging = "main" }),
		of("offered", thread.StateIdle, 1, func(s *thread.Status) { s.Offer = &thread.Offer{Label: "try jwt"} }),
		of("full", thread.StateIdle, 1, func(s *thread.Status) {
			s.Offer = &thread.Offer{Label: "continue fresh", Rule: thread.OfferFull, Why: "the context is 90% full"}
			s.Gauge = thread.Gauge{Tokens: 96, Window: 100}
		}),
		of("archived", thread.StateApproval, 1, func(s *thread.Status) { s.Archived = at }),
		of("merged", thread.StateDone, 1, func(s *thread.Status) { s.Outcome.Kind = thread.OutcomeMerged }),
	}
	want := []struct {
		name string
		kind thread.InboxKind
		text string
	}{
		{"asks", thread.InboxQuestion, "rm x"}, {"asks later", thread.InboxQuestion, ""},
		{"task-001/ship", thread.InboxTask, "ship it?"}, {"task-002/docs", thread.InboxTask, "go on without api?"}, {"sign in", thread.InboxSignIn, ""},
		{"merging", thread.InboxMerge, "merge into main has conflicts"},
		{"stuck", thread.InboxStuck, "failed, gave up"}, {"cut", thread.InboxPrompt, "go on"},
		{"docs", thread.InboxServer, "npx docs-mcp from .mcp.json (repository)"}, {"killed", thread.InboxInterrupted, "can be resumed"},
		{"limited", thread.InboxLimited, "limited"}, {"offered", thread.InboxOffer, "fork: try jwt"}, {"full", thread.InboxOffer, "context 96%: go on in a fresh fork"}, {"unread", thread.InboxUnread, ""},
	}
	servers := []thread.MCPServer{
		{ID: "s1", Name: "docs", Hash: "ab", Target: "npx docs-mcp", Sources: []thread.MCPSource{{File: "/p/.mcp.json"}}},
		{ID: "s2", Name: "accepted", Hash: "ab", Accepted: true}, {ID: "s3", Name: "broken", Hash: "ab", Problem: "no such program"},
	}
	nodes := []thread.NodeQuestion{
		{Task: "task-002", Agent: "docs", Text: "go on without api?", Since: at}, {Task: "task-001", Agent: "ship", Text: "ship it?", Since: at.Add(-time.Hour)},
	}
	got := thread.Inbox(list, nodes, servers)
	if len(got) != len(want) {
		t.Fatalf("%d items, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i]; g.Name != w.name || g.Kind != w.kind || g.Text != w.text {
			t.Errorf("%d: %+v, want %+v", i, g, w)
		}
	}
}
