package manager_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// listener follows a thread and reads only when it is told to.
type listener struct {
	ch   <-chan thread.Event
	stop context.CancelFunc
}

func (w *world) follow(id thread.ID) *listener {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w.t.Cleanup(stop)
	ch, err := w.m.Threads.Speech(ctx, string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return &listener{ch, stop}
}

// read takes all that is there.
func (l *listener) read() (events []thread.Event) {
	for {
		synctest.Wait()
		select {
		case e, ok := <-l.ch:
			if !ok {
				return events
			}
			events = append(events, e)
		default:
			return events
		}
	}
}

// heard writes down what a follower was told, in order.
func heard(events []thread.Event) string {
	var out []string
	for _, e := range events {
		switch s := e.Speech; {
		case s == nil:
			if e.Checkpoint != nil {
				out = append(out, "checkpoint "+string(e.Checkpoint.Kind))
			}
		case s.Missed:
			out = append(out, "missed")
		case s.Done && s.Cut:
			out = append(out, s.Text+"|cut")
		case s.Done:
			out = append(out, s.Text+"|done")
		default:
			out = append(out, s.Text)
		}
	}
	return strings.Join(out, ", ")
}

func (w *world) say(id thread.ID, request int64, text string) {
	w.m.Traffic.Spoke(id, thread.Speech{Request: request, Text: text})
}

func TestSpeechAndEventsComeInOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		s, other := w.create(thread.NewRequest{Name: "a"}), w.create(thread.NewRequest{Name: "b"})
		l := w.follow(s.ID)
		w.say(s.ID, 1, "I ")
		synctest.Wait()
		w.say(other.ID, 1, "not this")
		w.say(s.ID, 1, "say")
		w.m.Traffic.Spoke(s.ID, thread.Speech{Request: 1, Done: true})
		w.respond(s.ID, "x", "I say", true)
		w.respond(other.ID, "x", "not this", true)
		if got := heard(l.read()); got != "I , say|done, checkpoint response, checkpoint turn" {
			t.Errorf("heard %s", got)
		}
		l.stop()
		synctest.Wait()
		if _, open := <-l.ch; open {
			t.Error("the stream outlives its reader")
		}
	})
}

// TestLateListenerHearsTheWholeResponse joins in the middle of an answer, and of one that is too long to be kept.
func TestLateListenerHearsTheWholeResponse(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Name: "a"})
		w.say(s.ID, 1, "first ")
		w.say(s.ID, 1, "words ")
		l := w.follow(s.ID)
		w.say(s.ID, 1, "and more")
		if got := heard(l.read()); got != "first words , and more" && got != "first words and more" {
			t.Errorf("heard %s", got)
		}
		w.m.Traffic.Spoke(s.ID, thread.Speech{Request: 1, Done: true, Cut: true})
		l.read()
		late := w.follow(s.ID)
		w.say(s.ID, 2, "again")
		if got := heard(late.read()); got != "again" {
			t.Errorf("after the first one's end: %s", got)
		}
		w.say(s.ID, 2, strings.Repeat("x", 70<<10))
		later := w.follow(s.ID)
		w.say(s.ID, 2, "the rest of what has no beginning")
		w.m.Traffic.Spoke(s.ID, thread.Speech{Request: 2, Done: true})
		w.say(s.ID, 3, "next")
		if got := heard(later.read()); got != "missed, |done, next" {
			t.Errorf("of a long one: %.80s", got)
		}
	})
}

// TestSlowListenerLosesAndIsTold reads nothing while a model says far more than is kept, beside one that reads all.
func TestSlowListenerLosesAndIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Name: "a"})
		slow, quick := w.follow(s.ID), w.follow(s.ID)
		word := strings.Repeat("word ", 200)
		all, got := 0, 0
		count := func(events []thread.Event) (n int) {
			for _, e := range events {
				if e.Speech != nil {
					n += len(e.Speech.Text)
				}
			}
			return n
		}
		for range 2000 {
			w.say(s.ID, 1, word)
			all += len(word)
			got += count(quick.read())
		}
		if got != all {
			t.Errorf("the quick one heard %d of %d bytes", got, all)
		}
		w.m.Traffic.Spoke(s.ID, thread.Speech{Request: 1, Done: true})
		events := slow.read()
		if n := count(events); n < 100<<10 || n > 600<<10 || !strings.HasSuffix(heard(events), ", missed") {
			t.Errorf("the slow one heard %d of %d bytes and ends with %.40q", n, all, tail(heard(events)))
		}
		w.say(s.ID, 2, "and then")
		if got := heard(slow.read()); got != "and then" {
			t.Errorf("afterwards it heard %q", got)
		}
	})
}

// TestListenerThatMissedAPieceGetsNoRest falls behind in the middle of a response and reads on before its end.
func TestListenerThatMissedAPieceGetsNoRest(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Name: "a"})
		l := w.follow(s.ID)
		for range 400 {
			w.say(s.ID, 1, strings.Repeat("x", 4000))
		}
		l.read()
		w.say(s.ID, 1, "the end without its middle")
		w.m.Traffic.Spoke(s.ID, thread.Speech{Request: 1, Done: true})
		w.say(s.ID, 2, "whole")
		if got := heard(l.read()); got != "|done, whole" {
			t.Errorf("heard %s", got)
		}
	})
}

func tail(s string) string { return s[max(0, len(s)-40):] }
