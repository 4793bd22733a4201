package outbox_test

import (
	"testing"

	"orchestrator/thread/manager/outbox"
)

// TestTyper tries every step in every phase.
func TestTyper(t *testing.T) {
	reach := map[outbox.Phase]func(typer *outbox.Typer){
		outbox.Idle:    func(*outbox.Typer) {},
		outbox.Waiting: func(typer *outbox.Typer) { typer.Wait() },
		outbox.Typing:  func(typer *outbox.Typer) { typer.Begin("p1") },
		outbox.Recheck: func(typer *outbox.Typer) { typer.Begin("p1"); typer.Recheck() },
	}
	type result struct {
		phase outbox.Phase
		says  bool
	}
	for _, c := range []struct {
		name string
		step func(typer *outbox.Typer) bool
		want map[outbox.Phase]result
	}{
		{"recheck", (*outbox.Typer).Recheck, map[outbox.Phase]result{
			outbox.Idle: {outbox.Idle, false}, outbox.Waiting: {outbox.Waiting, false},
			outbox.Typing: {outbox.Recheck, true}, outbox.Recheck: {outbox.Recheck, true},
		}},
		{"wait", (*outbox.Typer).Wait, map[outbox.Phase]result{
			outbox.Idle: {outbox.Waiting, true}, outbox.Waiting: {outbox.Waiting, false},
			outbox.Typing: {outbox.Typing, false}, outbox.Recheck: {outbox.Recheck, false},
		}},
		{"stop waiting", func(typer *outbox.Typer) bool { typer.StopWaiting(); return false }, map[outbox.Phase]result{
			outbox.Idle: {outbox.Idle, false}, outbox.Waiting: {outbox.Idle, false},
			outbox.Typing: {outbox.Typing, false}, outbox.Recheck: {outbox.Recheck, false},
		}},
		{"begin", func(typer *outbox.Typer) bool { return typer.Begin("p2") }, map[outbox.Phase]result{
			outbox.Idle: {outbox.Typing, true}, outbox.Waiting: {outbox.Waiting, false},
			outbox.Typing: {outbox.Typing, false}, outbox.Recheck: {outbox.Recheck, false},
		}},
		{"end", (*outbox.Typer).End, map[outbox.Phase]result{
			outbox.Idle: {outbox.Idle, false}, outbox.Waiting: {outbox.Waiting, false},
			outbox.Typing: {outbox.Idle, false}, outbox.Recheck: {outbox.Idle, true},
		}},
	} {
		for phase, want := range c.want {
			var typer outbox.Typer
			reach[phase](&typer)
			if typer.Phase() != phase {
				t.Fatalf("phase %d is not reached", phase)
			}
			says := c.step(&typer)
			if typer.Phase() != want.phase || says != want.says {
				t.Errorf("%s in phase %d: %d, %v; want %d, %v", c.name, phase, typer.Phase(), says, want.phase, want.says)
			}
			if types := typer.Phase() == outbox.Typing || typer.Phase() == outbox.Recheck; types != (typer.Prompt() != "") {
				t.Errorf("%s in phase %d: types %q", c.name, phase, typer.Prompt())
			}
		}
	}
}
