package work

import (
	"strings"
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	var b Breakers
	now := time.Unix(1e9, 0)
	w, other := Way{"claude", "login-1"}, Way{"claude", "login-2"}
	b.Failed(w, "busy", now)
	b.Failed(w, "busy", now)
	b.Failed(other, "busy", now)
	if len(b.Open(now)) > 0 {
		t.Fatal("it opens too soon")
	}
	b.Worked(w, now) // in a row
	for n := range 3 {
		if opened := b.Failed(w, "busy", now); opened != (n == 2) {
			t.Fatalf("failure %d: opened %v", n+1, opened)
		}
	}
	if open := b.Open(now); len(open) != 1 || open[w].Left != firstPause || !strings.Contains(open[w].What, "3 attempts in a row failed: busy") {
		t.Fatalf("%+v", open)
	}
	b.Failed(w, "busy", now.Add(time.Second)) // one that was under way
	b.Worked(w, now.Add(time.Second))
	if b.Answered(w, now.Add(time.Second)) || b.Open(now)[w].Left != firstPause {
		t.Error("what was under way changes the pause")
	}
	now = now.Add(firstPause)
	if left := b.Open(now)[w].Left; left != 0 {
		t.Errorf("after its pause: %s", left)
	}
	b.Failed(w, "busy", now) // the probe
	if left := b.Open(now)[w].Left; left != 2*firstPause {
		t.Errorf("after a failed probe: %s", left)
	}
	for range 10 {
		now = now.Add(lastPause)
		b.Failed(w, "busy", now)
	}
	if left := b.Open(now)[w].Left; left != lastPause {
		t.Errorf("the longest pause: %s", left)
	}
	now = now.Add(lastPause)
	if !b.Answered(w, now) || len(b.Open(now)) > 0 {
		t.Error("an answer does not close it")
	}
	if b.Failed(w, "busy", now); len(b.Open(now)) > 0 {
		t.Error("it opens at the first failure")
	}
}

// TestBreakerInARow: what fails three times a day closes nothing, also where no attempt ends well in between.
func TestBreakerInARow(t *testing.T) {
	w := Way{"claude", "a"}
	for apart, opens := range map[time.Duration]bool{8 * time.Hour: false, inRow + 1: false, inRow: true, lastWait: true} {
		var b Breakers
		now, opened := time.Unix(1e9, 0), false
		for range 6 {
			now = now.Add(apart)
			opened = b.Failed(w, "cut", now) || opened
		}
		if opened != opens {
			t.Errorf("%v apart: opened %v", apart, opened)
		}
	}
}

// TestBreakerOpensAtHalf: where every second attempt gets through nothing fails three times in a row, and it opens all the
// same; what failed long ago, or rarely, does not count.
func TestBreakerOpensAtHalf(t *testing.T) {
	w := Way{"claude", "a"}
	for name, c := range map[string]struct {
		every  int // so many attempts end well for one that fails
		apart  time.Duration
		opened int // at which attempt, 0 if it does not
	}{
		"every second": {1, time.Second, 8}, "every third": {2, time.Second, 0}, "every second, each minute": {1, time.Minute, 0},
		"all at once": {1, 0, 8},
	} {
		var b Breakers
		now, opened := time.Unix(1e9, 0), 0
		for n := 1; n <= 60 && opened == 0; n++ {
			now = now.Add(c.apart)
			if n%(c.every+1) != 0 {
				b.Worked(w, now)
			} else if b.Failed(w, "busy", now) {
				opened = n
			}
		}
		if opened != c.opened {
			t.Errorf("%s: opens at %d", name, opened)
		}
		if open := b.Open(now); opened > 0 && (open[w].Left != firstPause || open[w].What != "3 of the last 6 attempts failed: busy") {
			t.Errorf("%s: %+v", name, open)
		}
	}
}

// TestDecideBreaks: nothing starts on a way in its pause, one at a time after it, and other ways are not concerned.
func TestDecideBreaks(t *testing.T) {
	now := time.Unix(1e9, 0)
	w := Way{"claude", "a"}
	on := func(id string, s State) Execution {
		return Execution{ID: ID(id), Name: "exec-" + id, Thread: "t" + "-" + "x", Agent: "claude", Account: "a", State: s}
	}
	one, two := on("1", Queued), on("2", Queued)
	one.Thread, two.Thread = "t1", "t2"
	free := Execution{ID: "3", Name: "exec-3", Thread: "t3", Agent: "claude", Account: "b", State: Queued}
	q := Queue{Breaks: map[Way]Break{w: {Way: w, What: "busy", Left: time.Minute}}, Now: now}
	d := q.Decide([]Execution{one, two, free})
	if len(d.Start) != 1 || d.Start[0].ID != "3" || len(d.Waits) != 2 ||
		d.Waits[0].Reason != "claude runs start again at "+now.Add(time.Minute).Local().Format(time.TimeOnly)+": busy" {
		t.Errorf("in its pause: %+v", d)
	}
	q.Breaks[w] = Break{Way: w, What: "busy"}
	d = q.Decide([]Execution{one, two, free})
	if len(d.Start) != 2 || d.Start[0].ID != "1" || d.Waits[0].Reason != "waits for exec-1, which finds out whether claude works again" {
		t.Errorf("after it: %+v", d)
	}
	one.State, one.Started = Running, now
	if d = q.Decide([]Execution{one, two}); len(d.Start) > 0 {
		t.Errorf("beside the probe: %+v", d)
	}
	for _, x := range []Execution{{State: NeedsInput, Started: now}, {State: Running, Started: now.Add(-2 * time.Minute)},
		{State: Running, Started: now.Add(time.Hour)}} { // as a clock that was set back has it
		busy := one
		if busy.State, busy.Started = x.State, x.Started; len(q.Decide([]Execution{busy, two}).Start) != 1 {
			t.Errorf("%s since %v keeps the way closed", x.State, x.Started)
		}
	}
	two.By = "t1" // the one that asked for it may wait for it, and would say nothing until then
	if d = q.Decide([]Execution{one, two}); len(d.Start) != 1 {
		t.Errorf("asked for by the one that is on the way: %+v", d)
	}
}

// TestDecideLater: what is tried again later waits with its reason, and holds up its thread only.
func TestDecideLater(t *testing.T) {
	x := Execution{ID: "1", Name: "exec-1", Thread: "t1", State: Queued}
	next := Execution{ID: "2", Name: "exec-2", Thread: "t1", State: Queued, Created: time.Unix(5, 0)}
	other := Execution{ID: "3", Name: "exec-3", Thread: "t3", State: Queued}
	d := Queue{Later: map[ID]string{"1": "tried again at noon"}, Limits: Limits{All: 1}}.Decide([]Execution{x, next, other})
	if len(d.Start) != 1 || d.Start[0].ID != "3" || d.Waits[0].Reason != "tried again at noon" || d.Waits[1].Reason != "waits for exec-1 of the same thread" {
		t.Errorf("%+v", d)
	}
}
