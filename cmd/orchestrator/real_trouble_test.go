package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// newTroubleRig is a rig with a real CLI whose provider can be made to fail.
func newTroubleRig(t *testing.T, cli clis.CLI) (*realRig, *provider) {
	bin := clis.Bin(t)
	r := &realRig{rig: newRig(t), cli: cli, model: model.New(atWork)}
	t.Cleanup(r.model.Close)
	p := newProvider(t, r.model)
	r.patience = 3 * patience
	r.env = slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	r.env = append(r.env, "PATH="+bin+":"+os.Getenv("PATH"))
	r.env = append(r.env, cli.SetUp(t, r.home, p.url(), r.project)...)
	return r, p
}

// TestRealTrouble has every real CLI meet every fault: the true state within two seconds of the failure, kept while the
// CLI tries again, never "working" before a provider that is dead, the person's Esc told within two seconds, and the
// next prompt answered as if nothing had been.
func TestRealTrouble(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r, p := newTroubleRig(t, cli)
			began := time.Now()
			name := r.start("trouble")
			cl := r.client()
			id := r.status(name).ID
			w := watch(t, cl, id)
			r.awaitState(name, thread.StateIdle, thread.StateDone)
			t.Logf("%s: started in %v", cli.Name, time.Since(began).Round(100*time.Millisecond))
			waits := is(thread.StateIdle, thread.StateDone)
			pane := r.open(120, 40, "attach", name)
			pane.see("ctrl+q back to threads")
			rests := func() bool {
				s := r.status(name).State
				return s.Stuck || waits(s) && !s.Retrying
			}
			// calm has the agent wait for a prompt with nothing in its input: it gives up by itself or by the person's Esc.
			// Some put the prompt back then, and ctrl+u deletes it; the last keys have the others draw their input.
			keys := []string{"\x15", "x", "\x7f"}
			if cli.Name == "claude" {
				keys = keys[:1]
			}
			calm := func(t *testing.T) {
				p.fails("")
				for range 20 {
					for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
						if !rests() {
							continue
						}
						for _, key := range keys {
							pane.press(key)
							time.Sleep(300 * time.Millisecond)
						}
						return
					}
					pane.press("\x1b")
					if cli.Name == "opencode" {
						time.Sleep(300 * time.Millisecond)
						pane.press("\x1b") // it asks for a second one
					}
				}
				t.Errorf("%s does not come to rest:\n%s\n%s", cli.Name, r.run("why", name).stdout, pane.text())
			}
			// send types a prompt, once the keys that were pressed here are forgotten.
			send := func(t *testing.T, text string) {
				t.Helper()
				for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
					err := send(t.Context(), cl, name, text)
					if err == nil {
						return
					}
					if time.Now().After(end) {
						t.Fatalf("send: %v\n%s", err, pane.text())
					}
				}
			}
			for i, c := range troubles {
				t.Run(c.fault, func(t *testing.T) {
					p.fails(c.fault)
					mark, sent := w.mark(), time.Now()
					send(t, fmt.Sprintf("prompt %d", i))
					s, err := w.until(mark, string(c.want), r.patience, func(r thread.StateReport) bool {
						return r.State == c.want && len(r.Evidence) > 0 && r.Evidence[0].At.After(sent)
					})
					if err != nil {
						t.Fatal(err)
					}
					asked, failed := mark, s.Evidence[0].At
					if s.at.Sub(failed) > soon {
						t.Errorf("shown %v after the failure", s.at.Sub(failed))
					}
					for w.after(mark)[0].at.Before(s.at) {
						mark++ // what was shown of the one before
					}
					time.Sleep(5 * time.Second)
					all := w.after(mark)
					if err := steady(all); err != nil {
						t.Error(err)
					}
					pretended := longest(w.after(asked), thread.StateWorking)
					if pretended > 10*time.Second {
						t.Errorf("working for %v before a provider that is dead: %s", pretended, told(w.after(asked)))
					}
					t.Logf("%s, %s: %s %v after the prompt and %v after the failure, working for %v at most; then: %s", cli.Name, c.fault, s.State,
						s.at.Sub(sent).Round(time.Millisecond), s.at.Sub(failed).Round(time.Millisecond), pretended.Round(time.Millisecond), told(all))
					calm(t)
					if strings.HasPrefix(c.fault, "40") || c.fault == "429 until" { // the person goes on before we would
						r.typed(pane, "byhand"+c.fault[:3]+". #say:over")
						if _, err := w.until(w.mark()-1, "answered", r.patience, waits); err != nil {
							t.Error(err)
						}
					}
				})
			}
			t.Run("next prompt", func(t *testing.T) {
				if got := r.run("send", name, "fine. #say:all is well", "--timeout", "2m"); got.code != 0 || !strings.Contains(got.stdout, "all is well") {
					t.Errorf("%+v", got)
				}
			})
			t.Run("slow", func(t *testing.T) {
				p.fails("slow")
				defer p.fails("")
				mark := w.mark()
				send(t, "slowly. #say:took its time")
				s, err := w.until(mark, "working", r.patience, is(thread.StateWorking))
				if err != nil {
					t.Fatal(err)
				}
				done, err := w.until(mark, "answered", r.patience, func(now thread.StateReport) bool { return waits(now) && now.Since.After(s.Since) })
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: working for %v: %s", cli.Name, done.at.Sub(s.at).Round(10*time.Millisecond), told(w.after(mark)))
			})
			t.Run("Esc", func(t *testing.T) {
				mark := w.mark()
				send(t, "long. #hold:esc #say:never")
				r.request("long.")
				time.Sleep(2 * time.Second)
				if all := w.after(mark); len(all) == 0 || all[len(all)-1].State != thread.StateWorking {
					t.Errorf("while it answers: %s", told(all))
				}
				mark = w.mark()
				pressed := time.Now()
				pane.press("\x1b")
				if cli.Name == "opencode" {
					time.Sleep(300 * time.Millisecond)
					pane.press("\x1b") // it asks for a second one
				}
				s, err := w.until(mark, "at rest", r.patience, waits)
				if err != nil {
					t.Fatal(err)
				}
				if s.at.Sub(pressed) > soon {
					t.Errorf("told %v after Esc", s.at.Sub(pressed))
				}
				t.Logf("%s: Esc is told after %v: %s", cli.Name, s.at.Sub(pressed).Round(time.Millisecond), told(w.after(mark)))
				r.model.Release("esc")
			})
		})
	}
}
