package eventlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/eventlog"
)

// story tells a teller what a thread goes through, a second apart, and has what it told as "kind text".
type story struct {
	teller eventlog.Teller
	now    time.Time
	s      thread.Status
	told   []string
	later  bool
}

func begin() *story {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	y := &story{teller: eventlog.Teller{Start: at}, now: at}
	y.s.ID, y.s.Name, y.s.Title, y.s.Agent, y.s.Created = "a", "docs-1234", "docs", "claude", at.Add(-time.Hour)
	y.s.State = thread.StateReport{State: thread.StateIdle, Since: at.Add(-time.Hour)}
	y.s.Execution = &thread.Execution{ID: "run"}
	y.change(func(*thread.Status) {})
	y.told = nil
	return y
}

func (y *story) hear(e thread.Event) {
	y.now = y.now.Add(time.Second)
	e.At = y.now
	var told []thread.Happening
	told, y.later = y.teller.Tell(e)
	for _, h := range told {
		y.told = append(y.told, strings.TrimSpace(string(h.Kind)+" "+h.Text))
		if h.Thread == "a" && y.s.Title == "docs" && h.Label != "docs" {
			y.told = append(y.told, "of "+h.Label)
		}
	}
}

func (y *story) change(f func(*thread.Status)) {
	f(&y.s)
	s := y.s
	y.hear(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

func (y *story) state(r thread.StateReport) { y.change(func(s *thread.Status) { s.State = r }) }

func (y *story) is(s thread.State) { y.state(thread.StateReport{State: s, Since: y.now}) }

func (y *story) prompt(state thread.PromptState, reason string) {
	y.hear(thread.Event{Kind: thread.EventPrompt, ThreadID: "a", Prompt: &thread.Prompt{ID: "p1", State: state, Text: "fix it", Reason: reason}})
}

func (y *story) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(y.told, want) {
		t.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(y.told, "\n\t"), strings.Join(want, "\n\t"))
	}
	y.told = nil
}

// TestTurn: a turn with what it took, told once.
func TestTurn(t *testing.T) {
	y := begin()
	y.prompt(thread.PromptTyping, "")
	y.prompt(thread.PromptOpen, "")
	y.prompt(thread.PromptOpen, "")
	y.is(thread.StateWorking)
	y.change(func(s *thread.Status) { s.Usage = thread.Usage{CostUSD: 0.12, Priced: true} })
	y.hear(thread.Event{Kind: thread.EventCheckpoint, ThreadID: "a",
		Checkpoint: &thread.Checkpoint{Kind: thread.KindTurn, Snapshot: &thread.Snapshot{Insertions: 31, Deletions: 4}}})
	y.prompt(thread.PromptAnswered, "")
	y.is(thread.StateDone)
	y.is(thread.StateIdle)
	y.want(t, "sent fix it", "done 0:04, $0.12, +31 −4")
	y.is(thread.StateWorking)
	y.is(thread.StateIdle) // somebody is looking
	y.want(t, "done 0:01")
}

// TestAsks: a question is told once, with what is asked, also if that is known a moment later; or not at all.
func TestAsks(t *testing.T) {
	y := begin()
	ask := func(id, about string) thread.StateReport {
		return thread.StateReport{State: thread.StateApproval, Question: &thread.Question{ID: id, Kind: thread.QuestionPermission, About: about}}
	}
	y.is(thread.StateWorking)
	y.state(ask("q1", "ls -la"))
	y.state(ask("q1", "ls -la"))
	y.state(ask("q2", "rm -rf /"))
	y.state(ask("q3", "rm -rf /"))
	y.is(thread.StateWorking)
	y.want(t, "asks ls -la", "asks rm -rf /", "asks rm -rf /")
	y.state(ask("q4", "ls"))
	y.now = y.now.Add(50*time.Millisecond - time.Second)
	y.state(ask("q5", "ls")) // drawn in pieces
	y.now = y.now.Add(50*time.Millisecond - time.Second)
	y.is(thread.StateWorking)
	y.now = y.now.Add(50*time.Millisecond - time.Second)
	y.state(ask("q5", "ls"))
	y.now = y.now.Add(50*time.Millisecond - time.Second)
	y.state(ask("q6", "ls -la"))
	y.is(thread.StateWorking)
	y.want(t, "asks ls", "asks ls -la")
	y.is(thread.StateApproval)
	if !y.later {
		t.Error("nothing is to follow")
	}
	y.state(ask("q7", "make"))
	if _, silent := y.teller.Silent("a", y.now); silent || y.later {
		t.Error("it is told twice")
	}
	y.want(t, "asks make")
	y.is(thread.StateWorking)
	y.is(thread.StateQuestion)
	if h, silent := y.teller.Silent("a", y.now); !silent || h.Kind != thread.HappenedAsks || h.Label != "docs" {
		t.Errorf("%+v, %v", h, silent)
	}
	if _, silent := y.teller.Silent("a", y.now); silent {
		t.Error("it is told twice")
	}
	y.is(thread.StateWorking)
	y.is(thread.StateQuestion)
	y.is(thread.StateWorking) // answered before anything was told
	if _, silent := y.teller.Silent("a", y.now); silent {
		t.Error("what does not ask any more asks")
	}
	y.is(thread.StateDone)
	y.want(t, "done 0:15") // waiting for the person included
}

// TestTrouble: limits, giving up, signing in, and prompts that were cut off.
func TestTrouble(t *testing.T) {
	y := begin()
	y.is(thread.StateWorking)
	limit := thread.StateReport{State: thread.StateLimited, Retrying: true}
	y.state(limit)
	y.state(limit)
	limit.Retrying, limit.Stuck = false, true
	limit.Evidence = []thread.Evidence{{Detail: "status 429: slow down"}}
	y.state(limit)
	y.state(limit)
	y.prompt(thread.PromptInterrupted, "429")
	y.prompt(thread.PromptInterrupted, "429")
	y.is(thread.StateIdle)
	y.want(t, "limited limited, retrying", "stuck limited: status 429: slow down", "cut fix it · 429")
	y.prompt(thread.PromptOpen, "")
	y.is(thread.StateUnauthorised)
	y.is(thread.StateUnauthorised)
	y.want(t, "sent fix it", "stuck unauthorised")
}

// TestLife: threads that are made, start, end, are merged and go; MCP servers and masks.
func TestLife(t *testing.T) {
	y := begin()
	y.hear(thread.Event{Kind: thread.EventThread, ThreadID: "b", Status: &thread.Status{Thread: thread.Thread{
		ID: "b", Name: "try-1", Title: "try", Agent: "codex", Parent: "a", Created: y.now}}})
	y.hear(thread.Event{Kind: thread.EventThread, ThreadID: "c", Status: &thread.Status{Thread: thread.Thread{
		ID: "c", Name: "new-1", Agent: "demo", Created: y.now}}})
	y.hear(thread.Event{Kind: thread.EventRemoved, ThreadID: "c"})
	y.hear(thread.Event{Kind: thread.EventRemoved, ThreadID: "c"})
	y.want(t, "forked forked from docs", "new demo", "removed deleted")

	y.change(func(s *thread.Status) {
		s.Execution, s.State = nil, thread.StateReport{State: thread.StateExited, Evidence: []thread.Evidence{{Detail: "exited with code 1"}}}
	})
	y.change(func(s *thread.Status) {
		s.Execution, s.State.State = &thread.Execution{ID: "run2"}, thread.StateStarting
	})
	y.want(t, "ended exited with code 1", "started claude")

	y.change(func(s *thread.Status) {
		s.MCP = thread.MCPSwitches{}.SwitchOn(thread.MCPSwitch{Server: "github", By: thread.MCPPattern, Why: "matched `pull request`"}).
			SwitchOn(thread.MCPSwitch{Server: "pg", By: thread.MCPPerson}).SwitchOn(thread.MCPSwitch{Server: "old", By: thread.MCPInherited})
	})
	y.change(func(s *thread.Status) { s.MCP = s.MCP.SwitchOff("pg") })
	y.want(t, "mcp github switched on: matched `pull request`", "mcp pg switched on: by you", "mcp pg switched off")

	for _, n := range []int64{900, 1200, 1300, 2500, 0, 5000} {
		y.change(func(s *thread.Status) { s.Gauge.Masked = n })
	}
	y.want(t, "context masks 1.2k tokens of old results, 1.2k in all", "context masks 1.3k tokens of old results, 2.5k in all",
		"context masks 5.0k tokens of old results, 5.0k in all")

	y.change(func(s *thread.Status) { s.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Into: "b", At: y.now} })
	y.change(func(s *thread.Status) { s.Archived = y.now })
	y.want(t, "merged merged into try", "removed archived")
}

// TestOld: what was so before the server started is no news, but for agents that ended with a crash of the server.
func TestOld(t *testing.T) {
	start := time.Now()
	for _, c := range []struct {
		state thread.StateReport
		want  int
	}{
		{thread.StateReport{State: thread.StateDone, Since: start.Add(-time.Hour)}, 0},
		{thread.StateReport{State: thread.StateInterrupted, Since: start.Add(-time.Hour)}, 0},
		{thread.StateReport{State: thread.StateInterrupted, Since: start.Add(time.Second)}, 1},
	} {
		teller := eventlog.Teller{Start: start}
		s := thread.Status{Thread: thread.Thread{ID: "a", Created: start.Add(-2 * time.Hour), Archived: start.Add(-time.Minute),
			Outcome: thread.Outcome{Kind: thread.OutcomeMerged}}, State: c.state}
		s.Gauge.Masked = 1 << 20
		s.MCP = thread.MCPSwitches{On: []thread.MCPSwitch{{Server: "x", By: thread.MCPPerson}}}
		if told, _ := teller.Tell(thread.Event{ThreadID: "a", Status: &s, At: start.Add(2 * time.Second)}); len(told) != c.want {
			t.Errorf("%+v: %+v", c.state, told)
		}
	}
}

// TestText: whatever agents, models and people write is one short harmless line without secrets.
func TestText(t *testing.T) {
	y := begin()
	key := "sk-ant-api03-" + strings.Repeat("Ab3dEf6h", 12)
	for _, text := range []string{"\x1b]0;title\x07\nsecond", strings.Repeat("long ", 1000), "my key is " + key, "\u202ereversed", strings.Repeat("x", 3950) + key} {
		y.hear(thread.Event{Kind: thread.EventNotice, ThreadID: "a", Notice: &thread.Notice{Level: thread.LevelWarn, Text: y.s.Title + ": " + text}})
		y.change(func(s *thread.Status) { s.Title = text })
		y.is(thread.StateWorking)
		y.state(thread.StateReport{State: thread.StateQuestion, Question: &thread.Question{ID: text, Text: text}})
	}
	if len(y.told) != 10 {
		t.Errorf("%d are told", len(y.told))
	}
	for _, said := range y.told {
		if len([]rune(said)) > 260 || strings.ContainsAny(said, "\x1b\x07\n\u202e") || strings.Contains(said, key[:40]) || strings.HasPrefix(said, "notice docs: ") {
			t.Errorf("told %q", said)
		}
	}
	y.hear(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelError, Text: "disk full", Kind: thread.HappenedMCP}})
	y.hear(thread.Event{Kind: thread.EventNotice, Notice: &thread.Notice{Level: thread.LevelWarn, Text: "x", Kind: thread.HappenedMCP}})
	if got := fmt.Sprint(y.told[len(y.told)-2:]); got != "[error disk full mcp x]" {
		t.Errorf("told %s", got)
	}
}
