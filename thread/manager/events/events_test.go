package events_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/events"
)

// reader reads a channel of the bus to its end, in a goroutine of a bubble: where publishing blocks, or a pump outlives
// its test, that is a deadlock, and fails.
type reader struct {
	mu   sync.Mutex // guards the fields
	list []thread.Event
	over bool
}

func read(ch <-chan thread.Event) *reader {
	r := &reader{}
	go func() {
		for e := range ch {
			r.mu.Lock()
			r.list = append(r.list, e)
			r.mu.Unlock()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over = true
	}()
	return r
}

// events are what was read so far; over is set when the channel is closed.
func (r *reader) events() (list []thread.Event, over bool) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list, r.over
}

// follow reads what is told of one thread.
func follow(t *testing.T, b *events.Bus, id thread.ID) *reader {
	return read(b.SubscribeTo(t.Context(), id, time.Now()))
}

// notice is an event with a text, of a kind that the event log does not tell.
func notice(id thread.ID, text string) thread.Event {
	return thread.Event{Kind: thread.EventSwitch, ThreadID: id, Notice: &thread.Notice{Text: text}}
}

func speech(id thread.ID, request int64, text string) thread.Event {
	return thread.Event{Kind: thread.EventSpeech, ThreadID: id, Speech: &thread.Speech{Request: request, Text: text}}
}

// told writes down what a reader was told, in order.
func told(list []thread.Event) string {
	var out []string
	for _, e := range list {
		switch {
		case e.Notice != nil:
			out = append(out, e.Notice.Text)
		case e.Speech != nil && e.Speech.Missed:
			out = append(out, fmt.Sprintf("%d missed", e.Speech.Request))
		case e.Speech != nil:
			out = append(out, fmt.Sprintf("%d says %s", e.Speech.Request, e.Speech.Text))
		}
	}
	return strings.Join(out, ", ")
}

// rising says where the numbers of events do not follow after and one another.
func rising(list []thread.Event, after int64) error {
	for i, e := range list {
		if want := after + int64(i) + 1; e.Seq != want {
			return fmt.Errorf("event %d of %d has number %d, want %d", i, len(list), e.Seq, want)
		}
	}
	return nil
}

// TestAllHearTheSame has many publish at once: everybody hears each event, in the one order that the numbers say.
func TestAllHearTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		b.StartAfter(41, time.Now())
		var all, ofA []*reader
		for range 3 {
			all, ofA = append(all, read(b.Subscribe(t.Context()))), append(ofA, follow(t, b, "a"))
		}
		const publishers, each = 8, 30 // fewer than anybody may fall behind
		var wg sync.WaitGroup
		for p := range publishers {
			wg.Go(func() {
				for i := range each {
					e := notice(thread.ID("ab"[p%2:p%2+1]), fmt.Sprint(p, ".", i))
					e.Status = &thread.Status{}
					b.Publish(e)
				}
			})
		}
		wg.Wait()
		first, _ := all[0].events()
		if err := rising(first, 41); err != nil || len(first) != publishers*each || b.Newest() != 41+publishers*each {
			t.Fatalf("heard %d events to number %d: %v", len(first), b.Newest(), err)
		}
		next := make(map[string]int)
		for _, e := range first {
			var p string
			var i int
			if _, err := fmt.Sscanf(e.Notice.Text, "%1s.%d", &p, &i); err != nil || i != next[p] {
				t.Fatalf("publisher %s said %q where %d comes: %v", p, e.Notice.Text, next[p], err)
			}
			next[p]++
			if e.Status.Seq != e.Seq {
				t.Fatalf("event %d carries a status of number %d", e.Seq, e.Status.Seq)
			}
		}
		for _, r := range all[1:] {
			if list, _ := r.events(); told(list) != told(first) {
				t.Errorf("another subscriber heard %d events, or in another order", len(list))
			}
		}
		var want []thread.Event
		for _, e := range first {
			if e.ThreadID == "a" {
				want = append(want, e)
			}
		}
		for _, r := range ofA {
			if list, _ := r.events(); told(list) != told(want) {
				t.Errorf("a follower of one thread heard %d events, want those %d in their order", len(list), len(want))
			}
		}
		b.Close()
	})
}

// TestSlowOnesCostNobodyAnything: two that do not read stop neither who publishes nor the others. They lose the oldest
// or the newest, and can tell.
func TestSlowOnesCostNobodyAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		slow, slowFollower := b.Subscribe(t.Context()), b.SubscribeTo(t.Context(), "a", time.Now())
		quick, quickFollower := read(b.Subscribe(t.Context())), follow(t, b, "a")
		const n = 5000
		for i := range n {
			b.Publish(notice("a", fmt.Sprint("n", i)))
			synctest.Wait()
		}
		for who, r := range map[string]*reader{"subscriber": quick, "follower": quickFollower} {
			if list, _ := r.events(); len(list) != n || rising(list, 0) != nil {
				t.Errorf("the quick %s heard %d of %d events: %v", who, len(list), n, rising(list, 0))
			}
		}
		b.Close()
		list, over := read(slow).events()
		last, gaps := int64(0), 0
		for _, e := range list {
			if e.Seq <= last {
				t.Fatalf("number %d follows %d", e.Seq, last)
			}
			if e.Seq != last+1 {
				gaps++
			}
			last = e.Seq
		}
		if !over || last != n || gaps == 0 || len(list) > n/2 {
			t.Errorf("the slow subscriber heard %d events with %d gaps, the last is %d, over %v", len(list), gaps, last, over)
		}
		list, over = read(slowFollower).events()
		if len(list) == 0 {
			t.Fatal("the slow follower heard nothing")
		}
		end := len(list) - 1
		if !over || list[end].Speech == nil || !list[end].Speech.Missed || end > n/2 || rising(list[:end], 0) != nil {
			t.Errorf("the slow follower heard %d events, over %v, and not at their end that it missed some: %v",
				len(list), over, rising(list[:end], 0))
		}
	})
}

// TestSpeechKeepsItsPlace: what a model says and what happens meanwhile come in one order, to its thread's followers
// alone; who comes in the middle of a response hears it from its begin.
func TestSpeechKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		all, one, other := read(b.Subscribe(t.Context())), follow(t, b, "a"), follow(t, b, "b")
		b.Say(speech("a", 1, "I"))
		synctest.Wait()
		b.Say(speech("a", 1, " look"))
		b.Publish(notice("a", "a tool runs"))
		b.Say(speech("b", 9, "else"))
		b.Say(speech("a", 1, " again"))
		late := follow(t, b, "a")
		b.Publish(notice("a", "stored"))
		for who, c := range map[string]struct {
			r    *reader
			want string
		}{
			"all":   {all, "a tool runs, stored"},
			"one":   {one, "1 says I, 1 says  look, a tool runs, 1 says  again, stored"},
			"other": {other, "9 says else"},
			"late":  {late, "1 says I look again, stored"},
		} {
			if list, _ := c.r.events(); told(list) != c.want {
				t.Errorf("%s heard %q, want %q", who, told(list), c.want)
			}
		}
		if b.Newest() != 2 {
			t.Errorf("speech has numbers: the newest is %d", b.Newest())
		}
		b.Close()
	})
}

// TestLostSpeechIsNotResumed: of a response that a follower lost a part of it hears no more, but that it missed some;
// the next response it hears from its begin.
func TestLostSpeechIsNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		slow := b.SubscribeTo(t.Context(), "a", time.Now())
		const piece = 8 << 10
		for range 64 { // more than anybody may fall behind
			b.Say(speech("a", 1, strings.Repeat("x", piece)))
		}
		r := read(slow)
		before, _ := r.events()
		before = slices.Clone(before)
		b.Say(speech("a", 1, " goes on"))
		b.Say(speech("a", 2, "next"))
		all, _ := r.events()
		if n := len(before); n == 0 || !strings.HasSuffix(told(before), "1 missed") {
			t.Errorf("of what it could not keep it heard %d events, and not at their end that it missed some", n)
		}
		if after := told(all[len(before):]); after != "2 says next" {
			t.Errorf("afterwards it heard %q", after)
		}
		b.Close()
	})
}

// TestNumbersGoOn: an event that nobody hears has its number too, so that who lists before it subscribes can tell.
func TestNumbersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		b.Publish(notice("a", "unheard"))
		r := read(b.Subscribe(t.Context()))
		b.Publish(notice("a", "heard"))
		if list, _ := r.events(); b.Newest() != 2 || len(list) != 1 || list[0].Seq != 2 {
			t.Errorf("the newest is %d, heard is %+v", b.Newest(), list)
		}
		b.Close()
	})
}

// TestCloseEndsAll: everybody reads what was told before, and then the end; nothing comes after it.
func TestCloseEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		waits := []*reader{read(b.Subscribe(t.Context())), follow(t, b, "a"), follow(t, b, "b")}
		behind := []<-chan thread.Event{b.Subscribe(t.Context()), b.SubscribeTo(t.Context(), "a", time.Now())}
		for i := range 3 {
			b.Publish(notice("a", fmt.Sprint(i)))
		}
		synctest.Wait()
		b.Close()
		b.Close() // once more changes nothing
		b.Publish(notice("a", "too late"))
		b.Say(speech("a", 1, "too late"))
		for i, want := range []string{"0, 1, 2", "0, 1, 2", ""} {
			if list, over := waits[i].events(); told(list) != want || !over {
				t.Errorf("reader %d heard %q, over %v", i, told(list), over)
			}
		}
		for i, ch := range behind {
			if list, over := read(ch).events(); told(list) != "0, 1, 2" || !over {
				t.Errorf("%d, which had read nothing, heard %q, over %v", i, told(list), over)
			}
		}
		for i, ch := range []<-chan thread.Event{b.Subscribe(t.Context()), b.SubscribeTo(t.Context(), "a", time.Now())} {
			if list, over := read(ch).events(); len(list) != 0 || !over {
				t.Errorf("%d, which came after the end, heard %q, over %v", i, told(list), over)
			}
		}
		if b.Newest() != 3 {
			t.Errorf("the newest number is %d", b.Newest())
		}
	})
}

// TestLeavingEndsOne: a subscriber whose context ends is let go, in the middle of what it does not read too, and the
// others hear on.
func TestLeavingEndsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &events.Bus{}
		ctx, leave := context.WithCancel(t.Context())
		stays, staysFollowing := read(b.Subscribe(t.Context())), follow(t, b, "a")
		idle := []*reader{read(b.Subscribe(ctx)), read(b.SubscribeTo(ctx, "b", time.Now()))}
		stuck := []<-chan thread.Event{b.Subscribe(ctx), b.SubscribeTo(ctx, "a", time.Now())}
		b.Publish(notice("a", "before"))
		synctest.Wait()
		leave()
		synctest.Wait()
		b.Publish(notice("a", "after"))
		for i, r := range idle {
			if list, over := r.events(); strings.Contains(told(list), "after") || !over {
				t.Errorf("reader %d heard %q after it left, over %v", i, told(list), over)
			}
		}
		for i, ch := range stuck {
			if list, over := read(ch).events(); len(list) != 0 || !over {
				t.Errorf("%d, which read nothing, heard %q after it left, over %v", i, told(list), over)
			}
		}
		for i, r := range []*reader{stays, staysFollowing} {
			if list, over := r.events(); told(list) != "before, after" || over {
				t.Errorf("reader %d, which stays, heard %q, over %v", i, told(list), over)
			}
		}
		b.Close()
	})
}

// TestHappenings: what an event means follows it, with the next number, for all readers and in the log; a slow reader
// loses the events and finds everything in the log.
func TestHappenings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b events.Bus
		b.StartAfter(41, time.Now())
		changed := b.Keep([]thread.Happening{{Seq: 50, Kind: thread.HappenedDone, Thread: "a"}})
		all, one := read(b.Subscribe(t.Context())), follow(t, &b, "a")
		slow := b.Subscribe(t.Context())
		tell := func(id thread.ID, text string) {
			b.Publish(thread.Event{Kind: thread.EventNotice, ThreadID: id, Notice: &thread.Notice{Text: text}})
		}
		tell("a", "first")
		tell("b", "second")
		heard, _ := all.events()
		if len(heard) != 4 || heard[1].Kind != thread.EventHappened || heard[1].Seq != 52 || heard[1].Happening.Seq != 52 || heard[3].Happening.Text != "second" {
			t.Errorf("heard %+v", heard)
		}
		if own, _ := one.events(); len(own) != 2 || own[1].Happening.Text != "first" {
			t.Errorf("the thread's follower heard %+v", own)
		}
		select {
		case <-changed:
		default:
			t.Error("nobody is told that the log has changed")
		}
		for range 1500 {
			tell("a", "more")
		}
		b.Publish(thread.Event{Kind: thread.EventThread, ThreadID: "c", Status: &thread.Status{Thread: thread.Thread{ID: "c", Name: "c-1"},
			State: thread.StateReport{State: thread.StateApproval}}})
		time.Sleep(time.Minute) // past Settle
		var last thread.Happening
		n := 0
		for e := range slow {
			if n++; e.Happening != nil {
				last = *e.Happening
			}
			if last.Kind == thread.HappenedAsks {
				break
			}
		}
		got := b.Happenings(thread.HappeningQuery{Since: 50, Limit: 2000}, "")
		if n >= 3000 || len(got.Happenings) != 1503 || got.Lost || got.Newest != b.Newest() || last != got.Happenings[1502] {
			t.Errorf("read %d slowly, the log has %d up to %d of %d, the last %+v", n, len(got.Happenings), got.Newest, b.Newest(), last)
		}
		b.Forget("a")
		if got := b.Happenings(thread.HappeningQuery{}, ""); len(got.Happenings) != 2 || b.Forgot() != 1 {
			t.Errorf("%+v is left", got.Happenings)
		}
		b.Close()
		tell("a", "after the end")
		for range changed {
		}
		if got := b.Happenings(thread.HappeningQuery{}, ""); len(got.Happenings) != 2 {
			t.Errorf("%+v is left", got.Happenings)
		}
	})
}
