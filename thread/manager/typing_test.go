package manager

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// keyboard is a session that notes when it is typed into.
type keyboard struct {
	thread.Session
	began time.Time
	typed []string
	fails error  // the first one
	hangs bool   // until it is given up
	ends  func() // while it is typed into
}

func (k *keyboard) Send(ctx context.Context, text string) error {
	k.typed = append(k.typed, fmt.Sprintf("%v %s", time.Since(k.began), text))
	if k.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if k.ends != nil {
		k.ends()
	}
	err := k.fails
	k.fails = nil
	return err
}

// TestTyping says when a prompt is typed, of a thread that is nothing but its typist.
func TestTyping(t *testing.T) {
	idle := thread.StateReport{State: thread.StateIdle}
	working := thread.StateReport{State: thread.StateWorking}
	report := func(d *typist, r thread.StateReport) {
		d.live.mu.Lock()
		d.live.reported, d.live.shown = r, r
		d.live.mu.Unlock()
		d.wake()
	}
	pause := func(d time.Duration) func(*typist) { return func(*typist) { time.Sleep(d) } }
	for name, tt := range map[string]struct {
		begins thread.StateReport
		limit  time.Duration   // until its provider's limit ends; 0 for none
		fails  error           // when it is typed first
		hangs  bool            // typing it does not end
		do     func(d *typist) // what happens after the prompt was accepted
		want   string          // what is typed, and when
		state  thread.PromptState
	}{
		"idle": {begins: idle, want: "0s hello", state: thread.PromptOpen},
		"woken again and again": {begins: idle, want: "0s hello", state: thread.PromptOpen, do: func(d *typist) {
			for range 10 {
				d.wake()
			}
		}},
		"working": {begins: working, state: thread.PromptQueued},
		"idle after a while": {begins: working, want: "7s hello", state: thread.PromptOpen, do: func(d *typist) {
			time.Sleep(7 * time.Second)
			report(d, idle)
		}},
		"it asks the person meanwhile": {
			begins: idle, fails: thread.ErrApproval, want: "0s hello; 5s hello", state: thread.PromptOpen, do: pause(retryAfter),
		},
		"it cannot be typed": {begins: idle, fails: thread.ErrTyped, want: "0s hello", state: thread.PromptRefused, do: pause(retryAfter)},
		"nobody knows whether it arrived": {
			begins: idle, fails: thread.ErrNoReaction, want: "0s hello", state: thread.PromptOpen,
		},
		"a limit ends": {
			begins: thread.StateReport{State: thread.StateLimited, Stuck: true}, limit: 70 * time.Second,
			want: "1m10s hello", state: thread.PromptOpen, do: pause(70 * time.Second),
		},
		"a limit without an end": {
			begins: thread.StateReport{State: thread.StateLimited, Stuck: true}, want: "0s hello", state: thread.PromptOpen,
		},
		"others are typed, and do not end": {begins: working, want: "1s hello", state: thread.PromptOpen, do: func(d *typist) {
			for range typedAtOnce {
				leave, _ := d.slots.TryAcquire()
				defer leave()
			}
			report(d, idle)
			time.Sleep(typingShare)
			synctest.Wait()
		}},
		"others were typed": {begins: working, want: "300ms hello", state: thread.PromptOpen, do: func(d *typist) {
			var leave func()
			for range typedAtOnce {
				leave, _ = d.slots.TryAcquire()
			}
			report(d, idle)
			time.Sleep(300 * time.Millisecond)
			leave()
		}},
		"the server stops while it is typed": {begins: idle, hangs: true, want: "0s hello", state: thread.PromptQueued, do: func(d *typist) {
			synctest.Wait()
			d.work.stop()
		}},
		"it takes too long": {begins: idle, hangs: true, want: "0s hello", state: thread.PromptRefused, do: pause(sendTimeout)},
		"the server stops": {begins: working, state: thread.PromptQueued, do: func(d *typist) {
			d.work.stop()
			_ = d.work.drain(context.Background())
			report(d, idle)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New(Config{Store: memory.New(), Agents: noAgents{}})
				one := thread.Thread{ID: thread.NewID[thread.ID](), Name: "one-0000"}
				if err := m.cfg.Store.CreateThread(t.Context(), one); err != nil {
					t.Fatal(err)
				}
				l := m.registry.add(one)
				keys := &keyboard{began: time.Now(), fails: tt.fails, hangs: tt.hangs}
				r := tt.begins
				if tt.limit > 0 {
					r.Until = time.Now().Add(tt.limit)
				}
				l.live.session, l.live.reported, l.live.shown = keys, r, r
				p, err := l.typist.accept(t.Context(), thread.Prompt{From: thread.FromVerb, Text: "hello"})
				if err != nil {
					t.Fatal(err)
				}
				if tt.do != nil {
					tt.do(l.typist)
				}
				synctest.Wait()
				if got := strings.Join(keys.typed, "; "); got != tt.want {
					t.Errorf("typed %q, want %q", got, tt.want)
				}
				if got := l.typist.upToDate(p); got.State != tt.state {
					t.Errorf("it is %s, want %s", got.State, tt.state)
				}
				if m.work.stop() {
					_ = m.work.drain(context.Background())
				}
			})
		})
	}
}

// noAgents knows none.
type noAgents struct{ thread.Agents }

func (noAgents) Agent(name string) (thread.Agent, error) {
	return nil, fmt.Errorf("agent %s: %w", name, thread.ErrNotFound)
}

// TestTypedAtTheEnd: a prompt that was typed as its process ended is not open for ever, whether that end is recorded by
// then or not.
func TestTypedAtTheEnd(t *testing.T) {
	for name, recorded := range map[string]bool{"the end is recorded": true, "the end is recorded later": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New(Config{Store: memory.New(), Agents: noAgents{}})
				one := thread.Thread{ID: thread.NewID[thread.ID](), Name: "one-0000"}
				if err := m.cfg.Store.CreateThread(t.Context(), one); err != nil {
					t.Fatal(err)
				}
				l := m.registry.add(one)
				x := thread.Execution{ID: "x", Thread: one.ID}
				if err := m.cfg.Store.BeginExecution(t.Context(), x); err != nil {
					t.Fatal(err)
				}
				idle := thread.StateReport{State: thread.StateIdle}
				keys := &keyboard{began: time.Now()}
				keys.ends = func() {
					l.exited("x", thread.Exit{Reason: "exited"})
					if recorded {
						time.Sleep(time.Second)
					}
				}
				l.live.session, l.live.execution, l.live.reported, l.live.shown = keys, &x, idle, idle
				p, err := l.typist.accept(t.Context(), thread.Prompt{From: thread.FromVerb, Text: "hello"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := l.typist.upToDate(p); !got.State.Over() {
					t.Errorf("it is %s", got.State)
				}
				if m.work.stop() {
					_ = m.work.drain(context.Background())
				}
			})
		})
	}
}
