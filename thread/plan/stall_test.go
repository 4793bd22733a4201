package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// a stretch of time in which an agent reports things, one after the other, and then nothing for a while.
type stretch struct {
	events []thread.RunEvent
	then   time.Duration
	busy   bool
	files  string // what they are at its end, if somebody asks
}

func calls(n int, tool, args string) (all []thread.RunEvent) {
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		all = append(all, thread.RunEvent{Kind: thread.RunTool, Tool: tool, Text: args, Call: id}, thread.RunEvent{Kind: thread.RunResult, Call: id})
	}
	return all
}

func says(tokens int64) []thread.RunEvent {
	return []thread.RunEvent{{Kind: thread.RunText, Text: "x"}, {Kind: thread.RunUsage, Usage: &thread.Usage{Output: tokens}}}
}

func TestStalls(t *testing.T) {
	begins := []thread.RunEvent{{Kind: thread.RunSession}}
	build := thread.RunEvent{Kind: thread.RunTool, Tool: "Bash", Text: "make", Call: "b"}
	asks := thread.RunEvent{Kind: thread.RunAsks, Question: &thread.Question{ID: "q"}}
	off, none, zero, short := plan.Duration(0), 0, int64(0), plan.Duration(time.Minute)
	var thinking []stretch
	for range 100 {
		thinking = append(thinking, stretch{events: []thread.RunEvent{{Kind: thread.RunThinking, Text: "hm"}}, then: 9 * time.Minute})
	}
	for _, c := range []struct {
		name   string
		stall  plan.Stall
		writes bool
		when   []stretch
		want   string // in what is said at the end, "" for nothing
	}{
		{name: "silence", when: []stretch{{events: begins, then: 11 * time.Minute}}, want: "nothing was heard of it for"},
		{name: "nearly", when: []stretch{{events: begins, then: 9 * time.Minute}}},
		{name: "silence that ends", when: []stretch{{events: begins, then: 11 * time.Minute}, {events: says(1), then: time.Minute}}},
		{name: "a shorter one", stall: plan.Stall{Silence: &short}, when: []stretch{{events: begins, then: 2 * time.Minute}}, want: "nothing"},
		{name: "a long build as one call", when: []stretch{{events: append(begins, build), then: 50 * time.Minute}}},
		{name: "a call that never ends", when: []stretch{{events: append(begins, build), then: 61 * time.Minute}}, want: "nothing"},
		{name: "a build that ended", when: []stretch{{events: append(begins, build, thread.RunEvent{Kind: thread.RunResult, Call: "b"}), then: 11 * time.Minute}}, want: "nothing"},
		{name: "its model works", when: []stretch{{events: begins, then: 50 * time.Minute, busy: true}}},
		{name: "a long stream of thoughts", when: thinking},
		{name: "a person is asked", when: []stretch{{events: append(begins, asks), then: 300 * time.Hour}}},
		{name: "the person has answered", when: []stretch{{events: append(begins, asks, thread.RunEvent{Kind: thread.RunAnswered, Question: asks.Question}), then: 11 * time.Minute}}, want: "nothing"},
		{name: "silence is off", stall: plan.Stall{Silence: &off}, when: []stretch{{events: begins, then: 300 * time.Hour}}},

		{name: "the same call", when: []stretch{{events: calls(5, "Bash", "ls"), then: time.Second}}, want: "it called Bash 5 times in a row with the same arguments"},
		{name: "four of them", when: []stretch{{events: calls(4, "Bash", "ls"), then: time.Second}}},
		{name: "other arguments between", when: []stretch{{events: append(append(calls(4, "Bash", "ls"), calls(1, "Bash", "ls -l")...), calls(4, "Bash", "ls")...), then: time.Second}}},
		{name: "another call after", when: []stretch{{events: append(calls(9, "Bash", "ls"), calls(1, "Read", "a")...), then: time.Second}}},
		{name: "a wait for its run", when: []stretch{{events: calls(40, "mcp__orch__orch__status", "{}"), then: time.Second}}},
		{name: "repeats are off", stall: plan.Stall{Repeats: &none}, when: []stretch{{events: calls(50, "Bash", "ls"), then: time.Second}}},
		{name: "control characters", when: []stretch{{events: calls(5, "\x1b[2Jx\n", "ls"), then: time.Second}}, want: "5 times"},

		{name: "talk without files", writes: true, when: []stretch{{events: begins, files: "a"}, {events: says(60_000), files: "a"}}, want: "it has said 60k tokens and changed no file"},
		{name: "talk with files", writes: true, when: []stretch{{events: begins, files: "a"}, {events: says(60_000), files: "b"}, {events: says(40_000), files: "b"}}},
		{name: "talk, files, talk", writes: true, when: []stretch{{events: begins, files: "a"}, {events: says(60_000), files: "b"}, {events: says(60_000), files: "b"}}, want: "no file"},
		{name: "files after all", writes: true, when: []stretch{{events: begins, files: "a"}, {events: says(60_000), files: "a"}, {events: says(1), files: "b"}}},
		{name: "talk of one that reads", when: []stretch{{events: begins, files: "a"}, {events: says(600_000), files: "a"}}},
		{name: "tokens are off", stall: plan.Stall{Tokens: &zero}, writes: true, when: []stretch{{events: begins, files: "a"}, {events: says(600_000), files: "a"}}},
	} {
		w, now, got := plan.NewWatch(c.stall, c.writes), time.Unix(1e9, 0), ""
		for _, s := range c.when {
			for _, e := range s.events {
				w.Report(e)
			}
			for passed := time.Duration(0); passed <= s.then; passed += 5 * time.Second {
				if w.Doubts() {
					w.Files(s.files)
				}
				now = now.Add(5 * time.Second)
				got = w.Look(now, s.busy)
			}
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.ContainsAny(got, "\x1b\n") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSleepIsNoSilence: what passes while the machine is asleep, or the clock jumps, is nobody's silence.
func TestSleepIsNoSilence(t *testing.T) {
	w, now := plan.NewWatch(plan.Stall{}, false), time.Unix(1e9, 0)
	w.Report(thread.RunEvent{Kind: thread.RunText})
	for i, jump := range []time.Duration{0, 5 * time.Second, 8 * time.Hour, -24 * time.Hour, 5 * time.Second, 400 * 24 * time.Hour} {
		now = now.Add(jump)
		if why := w.Look(now, false); why != "" {
			t.Errorf("after step %d: %s", i, why)
		}
	}
}

// TestWatchIsBounded: whatever an agent reports, it is watched in little memory.
func TestWatchIsBounded(t *testing.T) {
	w := plan.NewWatch(plan.Stall{}, true)
	for i := range 200_000 {
		w.Report(thread.RunEvent{Kind: thread.RunTool, Tool: "t", Text: fmt.Sprint(i), Call: fmt.Sprint(i), Sub: fmt.Sprint(i)})
	}
	if n := plan.Known(w); n > 3000 {
		t.Errorf("%d things are known", n)
	}
}
