package restarts

import (
	"bufio"
	"encoding/json"
	"slices"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestEventsAfterARestart: what happened is listed after the server has restarted, with the numbers that it had; whoever
// follows reads on, and gets each event once.
func TestEventsAfterARestart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("docs")
	cmd := r.Command("events", "--follow", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var followed []thread.Happening
	rows := bufio.NewScanner(out)
	until := func(kind thread.HappeningKind) {
		t.Helper()
		for rows.Scan() {
			var h thread.Happening
			if err := json.Unmarshal(rows.Bytes(), &h); err != nil {
				t.Fatalf("%q: %v", rows.Text(), err)
			}
			if followed = append(followed, h); h.Kind == kind {
				return
			}
		}
		t.Fatalf("it ended before %s: %v", kind, followed)
	}
	until(thread.HappenedStarted)
	r.Turn(name, "hello")
	until(thread.HappenedDone)
	before := e2e.Get[thread.HappeningList](r, "events")
	r.Ok("stop")
	until(thread.HappenedEnded)
	r.Run("send", name, "hello") // refused, by another server
	r.Ok("resume", name)
	until(thread.HappenedStarted)
	after := e2e.Get[thread.HappeningList](r, "events")
	if n := len(before.Happenings); n < 4 || !slices.Equal(after.Happenings[:n], before.Happenings) {
		t.Errorf("before %+v\nafter %+v", before.Happenings, after.Happenings)
	}
	more := e2e.Get[thread.HappeningList](r, "events", "--since", jsonOf(t, before.Newest), "--kind", "ended,started")
	if len(more.Happenings) != 2 || more.Happenings[0].Kind != thread.HappenedEnded || more.Happenings[1].Kind != thread.HappenedStarted {
		t.Errorf("since then %+v", more.Happenings)
	}
	if want := after.Happenings[:len(followed)]; !slices.Equal(followed, want) {
		t.Errorf("followed %+v\nof %+v", followed, after.Happenings)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
