package manager_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// TestAskedAndKilledAtEachStep kills the server at each of its steps from the acceptance of two prompts to their
// answers: each that was accepted is there after the restart, and ends with its own answer or a reason once its thread
// is resumed; none is typed again that was answered.
func TestAskedAndKilledAtEachStep(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; askedAndKilled(t, at, after); at++ {
			if at > 200 {
				t.Fatal("it has no end")
			}
		}
	}
}

func askedAndKilled(t *testing.T, at int, after bool) (died bool) {
	t.Run(fmt.Sprintf("%d after=%v", at, after), func(t *testing.T) {
		inWorld(t, func(w *world) {
			s := w.create(thread.NewRequest{})
			w.turn(s.ID, "one")
			w.store.fuse.arm(at, after)
			var accepted []thread.Prompt
			for _, text := range []string{"two", "three"} {
				if p, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: text}); err == nil {
					accepted = append(accepted, p)
				}
				synctest.Wait()
			}
			for range 2 { // the agent answers what it was sent
				sent := strings.Split(w.sess.of(s.ID).prompts(), "\n---\n")
				if last := sent[len(sent)-1]; last != "" {
					w.turn(s.ID, last)
				}
			}
			time.Sleep(5 * time.Second) // answers that the store refuses are tried again
			synctest.Wait()
			died = w.store.fuse.died()
			w.crash()
			byNow := map[thread.PromptID]thread.PromptState{}
			for _, p := range accepted {
				p := w.prompt(p.ID)
				byNow[p.ID] = p.State
				switch p.State {
				case thread.PromptQueued, thread.PromptInterrupted, thread.PromptAnswered:
				default:
					t.Errorf("after the restart %q is %s", p.Text, p.State)
				}
			}
			if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
				t.Fatal(err)
			}
			w.idle(s.ID)
			answered := 0
			for range 3 {
				sent := w.sess.of(s.ID).prompts()
				if sent == "" {
					break
				}
				all := strings.Split(sent, "\n---\n")
				if len(all) == answered {
					break
				}
				answered = len(all)
				w.turn(s.ID, all[len(all)-1])
			}
			for _, p := range accepted {
				switch got := w.prompt(p.ID); got.State {
				case thread.PromptAnswered:
					w.answeredBy(p.ID, "answer to "+got.Text)
					if byNow[p.ID] == thread.PromptAnswered && strings.Contains(w.sess.of(s.ID).prompts(), got.Text) {
						t.Errorf("%q was answered and is typed again", got.Text)
					}
				case thread.PromptInterrupted:
					if got.Reason == "" {
						t.Errorf("%q was interrupted without a reason", got.Text)
					}
				default:
					t.Errorf("in the end %q is %s (%s)", got.Text, got.State, got.Reason)
				}
			}
		})
	})
	return died
}

// worker is an agent that answers each prompt that it is sent, after a while and with a tool call before.
type worker struct {
	w    *world
	mu   sync.Mutex // guards the fields
	done map[*session]int
}

// work has the agents of some threads answer once what they were sent last, if they did not yet.
func (k *worker) work(ids []thread.ID, rnd *rand.Rand) {
	for _, id := range ids {
		p := k.w.sess.of(id)
		if p == nil || p.ended() {
			continue
		}
		sent := p.prompts()
		if sent == "" {
			continue
		}
		all := strings.Split(sent, "\n---\n")
		k.mu.Lock()
		fresh := len(all) > k.done[p]
		k.done[p] = len(all)
		k.mu.Unlock()
		if !fresh {
			continue
		}
		text := all[len(all)-1]
		switch rnd.IntN(6) {
		case 0: // it is killed before it asks its model
			p.exit(137)
			continue
		case 1: // or while it does
			k.w.m.Traffic.RequestStarted(id, thread.Begun{Main: true, Prompt: text, At: time.Now()})
			p.exit(137)
			continue
		case 2: // or in the middle of the turn
			k.w.respond(id, text, "call", false)
			p.exit(137)
			continue
		}
		k.w.turn(id, text)
	}
	synctest.Wait()
}

func (p *session) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// TestConcurrentAsks asks many threads at once, each many times, while agents and servers are killed and resumed:
// every prompt ends with its own answer or with a reason. ORCHESTRATOR_ASKS=10x20 is ten threads with twenty each.
func TestConcurrentAsks(t *testing.T) {
	threads, each := 3, 6
	if s := os.Getenv("ORCHESTRATOR_ASKS"); s != "" {
		if _, err := fmt.Sscanf(s, "%dx%d", &threads, &each); err != nil {
			t.Fatal(err)
		}
	}
	inWorld(t, func(w *world) {
		rnd := rand.New(rand.NewPCG(1, 2))
		k := &worker{w: w, done: map[*session]int{}}
		var ids []thread.ID
		for range threads {
			ids = append(ids, w.create(thread.NewRequest{}).ID)
		}
		type sent struct {
			p    thread.Prompt
			text string
		}
		var mu sync.Mutex // guards all
		var all []sent
		var asks sync.WaitGroup
		for i, id := range ids {
			for n := range each {
				asks.Go(func() {
					text := fmt.Sprintf("prompt %d of thread %d", n, i)
					for {
						p, err := w.m.Prompts.Ask(context.Background(), string(id), thread.AskRequest{Text: text})
						if err == nil {
							mu.Lock()
							all = append(all, sent{p, text})
							mu.Unlock()
							return
						}
						time.Sleep(time.Second) // its agent was killed: it is resumed
					}
				})
			}
		}
		for round := range 40 * each {
			k.work(ids, rnd)
			if round%7 == 6 && round < 6*each {
				asked := make(chan struct{})
				go func() { asks.Wait(); close(asked) }()
				select {
				case <-asked:
					w.crash()
				default: // a client of the old server would have to ask again
				}
			}
			for _, id := range ids {
				if s := w.status(id); !s.State.State.Live() {
					if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
						t.Fatal(err)
					}
					w.idle(id)
				}
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		asks.Wait()
		ends := map[thread.PromptState]int{}
		for _, s := range all {
			p, err := w.store.Prompt(ctx, s.p.ID)
			if err != nil {
				t.Fatal(err)
			}
			ends[p.State]++
			switch p.State {
			case thread.PromptAnswered:
				w.answeredFrom(p, s.text)
			case thread.PromptInterrupted, thread.PromptRefused:
				if p.Reason == "" || p.Text != s.text {
					t.Errorf("%q: %+v", s.text, p)
				}
			default:
				t.Errorf("%q is %s (%s) in the end", s.text, p.State, p.Reason)
			}
		}
		t.Logf("%d prompts: %v", len(all), ends)
		if len(all) != threads*each || ends[thread.PromptAnswered] == 0 || ends[thread.PromptInterrupted] == 0 {
			t.Errorf("%d prompts ended as %v", len(all), ends)
		}
		for _, id := range ids { // no turn answers two prompts
			var by []thread.CheckpointID
			for _, s := range all {
				if p, err := w.store.Prompt(ctx, s.p.ID); err == nil && p.Thread == id && p.State == thread.PromptAnswered {
					by = append(by, p.Answer)
				}
			}
			slices.Sort(by)
			if n := len(by); len(slices.Compact(by)) != n {
				t.Errorf("one turn answers several of %v", by)
			}
		}
	})
}

// answeredFrom checks that a prompt's answer is that to a text.
func (w *world) answeredFrom(p thread.Prompt, text string) {
	w.t.Helper()
	c, err := w.store.Checkpoint(ctx, p.Answer)
	if err != nil || c.Answer != "answer to "+text || c.Thread != p.Thread {
		w.t.Errorf("prompt %q is answered by %+v %v", text, c, err)
	}
}
