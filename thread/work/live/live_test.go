package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

func text(s string) thread.RunPiece {
	return thread.RunPiece{Execution: "exec-001", Event: &thread.RunEvent{Kind: thread.RunText, Text: s}}
}

// told writes down what came.
func told(events []thread.Event) string {
	var out []string
	for _, e := range events {
		word := e.Run.State
		if ev := e.Run.Event; ev != nil {
			word = strings.TrimPrefix(string(ev.Kind)+" "+ev.Text, "text ")
		}
		if e.Run.Missed > 0 {
			word += fmt.Sprintf("(-%d)", e.Run.Missed)
		}
		out = append(out, word)
	}
	return strings.Join(out, ",")
}

// drain reads a channel to its end.
func drain(ch <-chan thread.Event) (all []thread.Event) {
	for e := range ch {
		all = append(all, e)
	}
	return all
}

// TestFollowersHearTheirs: each hears what its execution reports while it listens, in order, and then the end.
func TestFollowersHearTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		h.Report("z", text("before")) // nobody follows
		one, other, gone := h.Follow(t.Context(), "a"), h.Follow(t.Context(), "b"), h.Follow(t.Context(), "a")
		at := time.Now()
		p := text("x")
		p.Event.At = at
		h.Report("a", p)
		h.Report("b", text("y"))
		h.Report("a", thread.RunPiece{State: "completed"})
		h.End("a")
		got := drain(one)
		if told(got) != "x,completed" || !got[0].At.Equal(at) || got[0].Kind != thread.EventRun {
			t.Errorf("one heard %s: %+v", told(got), got)
		}
		if got := told(drain(gone)); got != "x,completed" {
			t.Errorf("its other follower heard %s", got)
		}
		h.Close()
		if got := told(drain(other)); got != "y" {
			t.Errorf("the other heard %s", got)
		}
		if got := told(drain(h.Follow(t.Context(), "b"))); got != "" {
			t.Errorf("after the end: %s", got)
		}
		if len(h.followers) != 0 || len(h.kept) != 1 { // z has not ended
			t.Errorf("left: %v, %v", h.followers, h.kept)
		}
	})
}

// TestLateFollower: who comes later hears what the running attempt has said so far, as far as that is kept.
func TestLateFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		tool := func(name string) thread.RunPiece {
			return thread.RunPiece{Attempt: 2, Event: &thread.RunEvent{Kind: thread.RunTool, Text: name}}
		}
		say := func(s string) thread.RunPiece {
			p := text(s)
			p.Attempt = 2
			return p
		}
		h.Report("a", text("an attempt before"))
		h.Report("a", thread.RunPiece{Attempt: 2, State: "running"})
		first := say("a")
		for _, p := range []thread.RunPiece{first, say("b"), tool("ls"), say("c"), say("d")} {
			h.Report("a", p)
		}
		late := h.Follow(t.Context(), "a")
		h.Report("a", say("e"))
		h.End("a")
		if got := told(drain(late)); got != "running,ab,tool ls,cd,e" {
			t.Errorf("it heard %s", got)
		}
		if first.Event.Text != "a" {
			t.Error("a piece that was passed on has changed")
		}
		for range 1000 {
			h.Report("b", tool(strings.Repeat("x", 1000)))
		}
		late = h.Follow(t.Context(), "b")
		h.End("b")
		got, bytes := drain(late), 0
		for _, e := range got {
			bytes += len(e.Run.Event.Text)
		}
		if bytes > mostKept || bytes < mostKept/2 || got[0].Run.Missed+len(got) != 1000 {
			t.Errorf("kept %d pieces of %d bytes, missed %d", len(got), bytes, got[0].Run.Missed)
		}
	})
}

// TestSlowFollower: who does not read costs nobody anything, holds a bounded part, and is told what was dropped.
func TestSlowFollower(t *testing.T) {
	for name, c := range map[string]struct {
		piece string
		n     int
	}{"many": {"x", 50_000}, "large": {strings.Repeat("x", 100_000), 500}, "one that is too large": {strings.Repeat("x", 3<<20), 5}} {
		synctest.Test(t, func(t *testing.T) {
			h := &Hub{}
			slow := h.Follow(t.Context(), "a")
			var quick []thread.Event
			var wg sync.WaitGroup
			ch := h.Follow(t.Context(), "a")
			wg.Go(func() { quick = drain(ch) })
			for range c.n {
				h.Report("a", text(c.piece))
				synctest.Wait()
			}
			h.Report("a", thread.RunPiece{Event: &thread.RunEvent{Kind: thread.RunEnd}})
			h.Report("a", thread.RunPiece{State: "completed"})
			h.End("a")
			wg.Wait()
			if len(quick) != c.n+2 || strings.Contains(told(quick), "(-") {
				t.Errorf("%s: who reads heard %d of %d", name, len(quick), c.n+2)
			}
			got := drain(slow)
			missed, bytes := 0, 0
			for _, e := range got {
				if missed += e.Run.Missed; e.Run.Event != nil {
					bytes += len(e.Run.Event.Text)
				}
			}
			if missed == 0 || missed+len(got) != c.n+2 || len(got) > mostPieces+4 || bytes > mostBytes+2*len(c.piece) {
				t.Errorf("%s: heard %d pieces of %d bytes, missed %d of %d", name, len(got), bytes, missed, c.n)
			}
			if end := told(got[len(got)-2:]); end != fmt.Sprintf("end (-%d),completed", missed) {
				t.Errorf("%s: it ended with %s", name, end)
			}
		})
	}
}

// TestFollowerGoes: one whose context ends is forgotten, in whichever order that comes with the end of the execution.
func TestFollowerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			ch := h.Follow(ctx, work.ID(fmt.Sprint(i)))
			h.Report(work.ID(fmt.Sprint(i)), text("x"))
			if i%2 == 0 {
				h.End(work.ID(fmt.Sprint(i)))
			}
			cancel()
			drain(ch)
		}
		synctest.Wait()
		if len(h.followers) != 0 {
			t.Errorf("left: %v", h.followers)
		}
	})
}
