package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// manyLines is so much text of lines that are each another.
func manyLines(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of a prompt, with `code` and \"quotes\", and [brackets]\n", i)
	}
	return b.String()[:size]
}

// TestRealLongSends sends prompts of many sizes to the real Claude Code, which shows a word in place of the long ones:
// each reaches the model whole, is answered, and is one row and one turn.
func TestRealLongSends(t *testing.T) {
	r := newRealRig(t, realClaude())
	name := r.start("long")
	for i, size := range []int{1 << 10, 5 << 10, 50 << 10, 900 << 10} {
		text := fmt.Sprintf("case-%d. #say:answer-%d.\n", i, i) + manyLines(size) + fmt.Sprintf(" end-%d.", i)
		began := time.Now()
		got := r.Said(text, name, "--timeout", "5m")
		took := time.Since(began)
		if want := fmt.Sprintf("answer-%d.", i); got.Code != 0 || strings.TrimSpace(got.Stdout) != want {
			t.Fatalf("%d KB: %d %q %s, want %s\n%s%s", size>>10, got.Code, got.Stdout, got.Stderr, want, r.Run("why", name).Stdout, r.Run("prompts", name).Stdout)
		}
		q := r.request(fmt.Sprintf("case-%d.", i))
		if q.Turn.Prompt != text {
			t.Errorf("%d KB: the model heard %d bytes, %d were sent", size>>10, len(q.Turn.Prompt), len(text))
		}
		rows := e2e.Get[[]thread.Prompt](r.Rig, "prompts", name)
		if len(rows) != i+1 || rows[i].State != thread.PromptAnswered || rows[i].Turn != i+1 || !strings.HasPrefix(rows[i].Text, fmt.Sprintf("case-%d.", i)) {
			t.Errorf("%d KB: rows %+v", size>>10, rows)
		}
		if list := e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", name); len(list) != i+1 || !strings.HasPrefix(list[0].Prompt, fmt.Sprintf("case-%d.", i)) {
			t.Errorf("%d KB: %d turns, %.200q", size>>10, len(list), list[0].Prompt)
		}
		t.Logf("%d KB: typed whole and answered in %v", size>>10, took.Round(10*time.Millisecond))
	}
	last := func(name string) thread.Checkpoint {
		return e2e.Get[[]thread.Checkpoint](r.Rig, "checkpoint", "list", name)[0]
	}
	if err := e2e.TypeIn(t.Context(), r.Client(), r.Status(name).ID, "\x1b[200~by hand. #say:by hand.\n"+manyLines(2<<10)+"\x1b[201~"); err != nil {
		t.Fatal(err)
	}
	r.request("by hand.")
	e2e.Await(t, "the turn of a paste of the person's", func() bool { return last(name).Answer == "by hand." })
	if c := last(name); !strings.HasPrefix(c.Prompt, "by hand.") || c.Turn != 5 {
		t.Errorf("a paste of the person's: turn %d, %.200q", c.Turn, c.Prompt)
	}
	bare := r.Ok("new", "-a", "claude", "-m", r.cli.Model, "--no-gateway", "bare")
	if got := r.Said("no gateway. #say:read.\n"+manyLines(2<<10), bare, "--timeout", "2m"); got.Code != 0 || strings.TrimSpace(got.Stdout) != "read." {
		t.Errorf("without the gateway: %+v", got)
	}
	if c := last(bare); !strings.HasPrefix(c.Prompt, "no gateway.") {
		t.Errorf("without the gateway: %.200q", c.Prompt)
	}
}

// TestRealQuickAnswers sends twenty prompts to the real Claude Code, one after the other, to each of which the model
// answers at once: each brings its own answer, and the state is true within two seconds.
func TestRealQuickAnswers(t *testing.T) {
	r := newRealRig(t, realClaude())
	name := r.start("quick")
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	var worst, settles time.Duration
	for i := range 20 {
		began := time.Now()
		got := r.Run("send", name, fmt.Sprintf("prompt-%d. #say:answer-%d.", i, i), "--timeout", "2m")
		worst = max(worst, time.Since(began))
		if want := fmt.Sprintf("answer-%d.", i); got.Code != 0 || strings.TrimSpace(got.Stdout) != want {
			t.Fatalf("%d %q %s, want %s", got.Code, got.Stdout, got.Stderr, want)
		}
		began = time.Now()
		for s := r.Status(name).State; s.State != thread.StateIdle && s.State != thread.StateDone; s = r.Status(name).State {
			if time.Since(began) > e2e.Soon {
				t.Fatalf("prompt %d is answered, and %v later the agent is %s (%s)", i, time.Since(began), s.State, s.Why())
			}
		}
		settles = max(settles, time.Since(began))
	}
	rows := e2e.Get[[]thread.Prompt](r.Rig, "prompts", name)
	if len(rows) != 20 {
		t.Errorf("%d rows", len(rows))
	}
	for i, p := range rows {
		if p.State != thread.PromptAnswered || p.Turn != i+1 || !strings.HasPrefix(p.Text, fmt.Sprintf("prompt-%d.", i)) {
			t.Errorf("row %d: %+v", i, p)
		}
	}
	t.Logf("20 prompts: the slowest answered in %v, its state true after %v at most", worst.Round(time.Millisecond), settles.Round(time.Millisecond))
}
