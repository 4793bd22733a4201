package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/demo/record"
	"orchestrator/thread"
)

// typingVar names the variable that says how many prompts are sent while keys are typed.
const typingVar = "ORCHESTRATOR_TYPING"

// prompts are what the agent was asked, by its own transcript.
func (s *stage) prompts(r *run) []string {
	s.t.Helper()
	raw, err := os.ReadFile(record.Path(filepath.Join(filepath.Dir(s.dir), "demo"), r.id))
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for l := range strings.Lines(string(raw)) {
		var one record.Line
		var m record.Message
		read := json.Unmarshal([]byte(l), &one) == nil && json.Unmarshal(one.Message, &m) == nil
		if read && m.Role == "user" && m.Text() != "" {
			all = append(all, m.Text())
		}
	}
	return all
}

// TestSendWhileTyping sends prompts one after another while a person types, deletes, recalls and sends: every one of
// ours and every one of theirs arrives, once, and no two are joined.
func TestSendWhileTyping(t *testing.T) {
	count := 12
	if v := os.Getenv(typingVar); v != "" {
		var err error
		if count, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	s := newStage(t)
	r := s.start(thread.LaunchSpec{})
	r.state(thread.StateIdle)
	done := make(chan struct{})
	var theirs []string
	var person sync.WaitGroup
	person.Go(func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		for n := 0; ; n++ {
			text := fmt.Sprintf("say theirs %d.", n)
			for _, c := range text {
				r.key(string(c))
				time.Sleep(time.Duration(rnd.IntN(4000)) * time.Microsecond) // as a person types
			}
			switch rnd.IntN(5) {
			case 0:
				r.key("\x15")
			case 1:
				r.key(strings.Repeat("\x7f", len(text)))
			case 2:
				r.key("\x03\x15") // while it works, ctrl+c is for the turn
			case 3:
				r.key("\x15\x1b[A") // recall the newest prompt, and delete it
				time.Sleep(5 * time.Millisecond)
				r.key("\x15")
			default:
				r.key("\r")
				theirs = append(theirs, text)
			}
			select {
			case <-done:
				return
			case <-time.After(time.Duration(rnd.IntN(80)) * time.Millisecond):
			}
		}
	})
	var ours []string
	refused := 0
	for n := range count {
		text := fmt.Sprintf("say ours %d.", n)
		ours = append(ours, text)
		refused += r.send(text)
	}
	close(done)
	person.Wait()
	if refused == 0 {
		t.Error("nobody typed at the wrong time: this shows nothing")
	}
	var got []string
	r.await("all prompts", func() bool {
		got = s.prompts(r)
		return len(got) >= len(ours)+len(theirs)
	})
	want := slices.Concat(ours, theirs)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		for _, p := range got {
			if !slices.Contains(want, p) {
				t.Errorf("two joined: %q", p)
			}
		}
		t.Errorf("the agent was asked %d prompts, want %d", len(got), len(want))
	}
	t.Logf("%d of ours, refused %d times, and %d of theirs", len(ours), refused, len(theirs))
}

// TestSendLong sends what is not a plain line: it arrives unchanged, or is refused with a reason.
func TestSendLong(t *testing.T) {
	s := newStage(t)
	r := s.start(thread.LaunchSpec{})
	long := 1 << 20 // the most that can be typed
	if testing.Short() {
		long = 1 << 17 // with the race detector the whole takes minutes on a busy machine
	}
	for _, text := range []string{
		"say " + strings.Repeat("0123456789 ", long/11-10) + "end.",
		"say several\n\nlines\n\n\nand more.",
		"/unknown command",
		"say \ttabs 日本語 👍🏽 e\u0301 \u202eback.",
	} {
		r.send(text)
		r.state(thread.StateDone)
		got := s.prompts(r)
		if last := got[len(got)-1]; strings.Join(strings.Fields(last), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%d bytes arrived as %d: %.60q", len(text), len(last), last)
		}
	}
	err := r.Send(context.Background(), strings.Repeat("x", 1<<20+1))
	if err == nil || !strings.Contains(err.Error(), "Write it to a file") {
		t.Errorf("more than can be typed: %v", err)
	}
}

// BenchmarkSend sends prompts to a waiting agent and measures how long until it has taken them: all of that is ours but
// for its drawing.
func BenchmarkSend(b *testing.B) {
	s := newStage(b)
	r := s.start(thread.LaunchSpec{})
	r.send("say warm.")
	r.state(thread.StateDone)
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		r.send("say it.")
		took = append(took, time.Since(begin))
		r.state(thread.StateDone)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-taken-p50")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-taken-p95")
}
