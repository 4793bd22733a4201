package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// newTroubleRig is a rig with a real CLI whose provider can be made to fail.
func newTroubleRig(t *testing.T, cli clis.CLI) (*realRig, *e2e.Provider) {
	bin := clis.Bin(t)
	r := &realRig{Rig: e2e.NewRig(t), cli: cli, model: model.New(atWork)}
	t.Cleanup(r.model.Close)
	p := e2e.NewProvider(t, r.model)
	r.Patience = 3 * e2e.Patience
	r.Env = slices.DeleteFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	r.Env = append(r.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	r.Env = append(r.Env, cli.SetUp(t, r.Home, p.URL(), r.Project)...)
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
			cl := r.Client()
			id := r.Status(name).ID
			w := e2e.Watch(t, cl, id)
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			t.Logf("%s: started in %v", cli.Name, time.Since(began).Round(100*time.Millisecond))
			waits := e2e.Is(thread.StateIdle, thread.StateDone)
			pane := r.Open(120, 40, "attach", name)
			pane.See("ctrl+q back to threads")
			rests := func() bool {
				s := r.Status(name).State
				return s.Stuck || waits(s) && !s.Retrying
			}
			// calm has the agent wait for a prompt with nothing in its input: it gives up by itself or by the person's Esc.
			// Some put the prompt back then, and ctrl+u deletes it; the last keys have the others draw their input.
			keys := []string{"\x15", "x", "\x7f"}
			if cli.Name == "claude" {
				keys = keys[:1]
			}
			calm := func(t *testing.T) {
				p.Fails("")
				for range 20 {
					for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
						if !rests() {
							continue
						}
						for _, key := range keys {
							pane.Press(key)
							time.Sleep(300 * time.Millisecond)
						}
						return
					}
					pane.Press("\x1b")
					if cli.Name == "opencode" {
						time.Sleep(300 * time.Millisecond)
						pane.Press("\x1b") // it asks for a second one
					}
				}
				t.Errorf("%s does not come to rest:\n%s\n%s", cli.Name, r.Run("why", name).Stdout, pane.Text())
			}
			// send types a prompt, once the keys that were pressed here are forgotten.
			send := func(t *testing.T, text string) {
				t.Helper()
				for end := time.Now().Add(e2e.Patience); ; time.Sleep(time.Second) {
					err := e2e.Send(t.Context(), cl, name, text)
					if err == nil {
						return
					}
					if time.Now().After(end) {
						t.Fatalf("send: %v\n%s", err, pane.Text())
					}
				}
			}
			for i, c := range e2e.Troubles {
				t.Run(c.Fault, func(t *testing.T) {
					p.Fails(c.Fault)
					mark, sent := w.Mark(), time.Now()
					send(t, fmt.Sprintf("prompt %d", i))
					s, err := w.Until(mark, string(c.Want), r.Patience, func(r thread.StateReport) bool {
						return r.State == c.Want && len(r.Evidence) > 0 && r.Evidence[0].At.After(sent)
					})
					if err != nil {
						t.Fatal(err)
					}
					asked, failed := mark, s.Evidence[0].At
					if s.At.Sub(failed) > e2e.Soon {
						t.Errorf("shown %v after the failure", s.At.Sub(failed))
					}
					for w.After(mark)[0].At.Before(s.At) {
						mark++ // what was shown of the one before
					}
					time.Sleep(5 * time.Second)
					all := w.After(mark)
					if err := e2e.Steady(all); err != nil {
						t.Error(err)
					}
					pretended := longest(w.After(asked), thread.StateWorking)
					if pretended > 10*time.Second {
						t.Errorf("working for %v before a provider that is dead: %s", pretended, e2e.Told(w.After(asked)))
					}
					t.Logf("%s, %s: %s %v after the prompt and %v after the failure, working for %v at most; then: %s", cli.Name, c.Fault, s.State,
						s.At.Sub(sent).Round(time.Millisecond), s.At.Sub(failed).Round(time.Millisecond), pretended.Round(time.Millisecond), e2e.Told(all))
					calm(t)
					if strings.HasPrefix(c.Fault, "40") || c.Fault == "429 until" { // the person goes on before we would
						r.typed(pane, "byhand"+c.Fault[:3]+". #say:over")
						if _, err := w.Until(w.Mark()-1, "answered", r.Patience, waits); err != nil {
							t.Error(err)
						}
					}
				})
			}
			t.Run("next prompt", func(t *testing.T) {
				if got := r.Run("send", name, "fine. #say:all is well", "--timeout", "2m"); got.Code != 0 || !strings.Contains(got.Stdout, "all is well") {
					t.Errorf("%+v", got)
				}
			})
			t.Run("slow", func(t *testing.T) {
				p.Fails("slow")
				defer p.Fails("")
				mark := w.Mark()
				send(t, "slowly. #say:took its time")
				s, err := w.Until(mark, "working", r.Patience, e2e.Is(thread.StateWorking))
				if err != nil {
					t.Fatal(err)
				}
				done, err := w.Until(mark, "answered", r.Patience, func(now thread.StateReport) bool { return waits(now) && now.Since.After(s.Since) })
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: working for %v: %s", cli.Name, done.At.Sub(s.At).Round(10*time.Millisecond), e2e.Told(w.After(mark)))
			})
			t.Run("Esc", func(t *testing.T) {
				mark := w.Mark()
				send(t, "long. #hold:esc #say:never")
				r.request("long.")
				time.Sleep(2 * time.Second)
				if all := w.After(mark); len(all) == 0 || all[len(all)-1].State != thread.StateWorking {
					t.Errorf("while it answers: %s", e2e.Told(all))
				}
				mark = w.Mark()
				pressed := time.Now()
				pane.Press("\x1b")
				if cli.Name == "opencode" {
					time.Sleep(300 * time.Millisecond)
					pane.Press("\x1b") // it asks for a second one
				}
				s, err := w.Until(mark, "at rest", r.Patience, waits)
				if err != nil {
					t.Fatal(err)
				}
				if s.At.Sub(pressed) > e2e.Soon {
					t.Errorf("told %v after Esc", s.At.Sub(pressed))
				}
				t.Logf("%s: Esc is told after %v: %s", cli.Name, s.At.Sub(pressed).Round(time.Millisecond), e2e.Told(w.After(mark)))
				r.model.Release("esc")
			})
		})
	}
}
