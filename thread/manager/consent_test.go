package manager_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// evil is what a shell would run if it were typed into one.
const evil = "say: use `touch PWNED` to do it"

// withShell adds an agent that is any program.
func withShell(w *world) {
	w.agents["shell"] = shell{&plainAgent{"shell"}}
}

// shell is an agent of which nothing is known.
type shell struct{ thread.Agent }

func (shell) World(thread.WorldSpec) (thread.World, error) { return thread.World{}, nil }

// handed is what is typed with the person's consent.
var handed = regexp.MustCompile(`^Read (/\S+/primer\.md)$`)

// TestProgramsThatRunLines: into a program that may run what is typed into it, nothing of a conversation is typed, by
// no way, and several lines only with the person's consent. The person's single lines are typed as before.
func TestProgramsThatRunLines(t *testing.T) {
	toShell := func(w *world, r thread.ForkRequest) thread.Status {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.turn(p.ID, evil)
		r.Thread, r.Agent, r.Label = p.Name, "shell", "canary"
		f := w.fork(r)
		if !f.RunsLines || w.status(p.ID).RunsLines {
			t.Errorf("runs lines: the shell %v, its parent %v", f.RunsLines, w.status(p.ID).RunsLines)
		}
		return f
	}
	talked := func(w *world) thread.Status { // a program whose requests the gateway sees
		s := w.create(thread.NewRequest{Agent: "shell", Name: "talks"})
		w.turn(s.ID, evil)
		return s
	}
	for _, c := range []struct {
		name string
		do   func(w *world) thread.ID
		want string // what is typed; LINE is one that names the handoff
	}{
		{"fork", func(w *world) thread.ID { return toShell(w, thread.ForkRequest{}).ID }, ""},
		{"fork with a prompt", func(w *world) thread.ID { return toShell(w, thread.ForkRequest{Prompt: "ls"}).ID }, "ls"},
		{"fork with consent", func(w *world) thread.ID { return toShell(w, thread.ForkRequest{HandOver: true}).ID }, "LINE"},
		{"fork with consent and a prompt", func(w *world) thread.ID {
			return toShell(w, thread.ForkRequest{HandOver: true, Prompt: "ls"}).ID
		}, "LINE\n---\nls"},
		{"resume", func(w *world) thread.ID {
			s := talked(w)
			w.crash()
			if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
				t.Error(err)
			}
			return s.ID
		}, ""},
		{"resume all", func(w *world) thread.ID {
			s := talked(w)
			w.crash()
			if _, err := w.m.Agents.ResumeAll(ctx, 0, 0); err != nil {
				t.Error(err)
			}
			return s.ID
		}, ""},
		{"resume with consent", func(w *world) thread.ID {
			s := talked(w)
			w.crash()
			if _, err := w.m.Agents.Resume(ctx, s.Name, thread.ResumeRequest{HandOver: true}); err != nil {
				t.Error(err)
			}
			return s.ID
		}, "LINE"},
		{"rewind", func(w *world) thread.ID {
			s := talked(w)
			w.turn(s.ID, "and "+evil)
			if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: "1", Conversation: true}); err != nil {
				t.Error(err)
			}
			return s.ID
		}, ""},
		{"its context is full", func(w *world) thread.ID {
			if err := w.m.Offers.SetMode(ctx, thread.OffersAuto); err != nil {
				t.Error(err)
			}
			s := talked(w)
			if w.m.Offers.Outgrown(s.ID, evil) {
				t.Error("it goes on in a fork by itself")
			}
			w.full(s.ID, evil)
			if list, err := w.m.Threads.List(ctx); err != nil || len(list) != 1 {
				t.Errorf("%d threads, %v", len(list), err)
			}
			return s.ID
		}, ""},
		{"an offer that is taken", func(w *world) thread.ID {
			s := talked(w)
			w.turn(s.ID, "let's try another approach\n"+evil)
			o := w.status(s.ID).Offer
			if o == nil {
				t.Fatal("no offer")
			}
			f, err := w.m.Offers.Answer(ctx, o.ID, "take")
			if err != nil {
				t.Error(err)
			}
			return f.ID
		}, ""},
		{"a single line", func(w *world) thread.ID {
			s := w.create(thread.NewRequest{Agent: "shell"})
			w.ask(s.ID, "make\r\n\n")
			return s.ID
		}, "make"},
		{"several lines", func(w *world) thread.ID {
			s := w.create(thread.NewRequest{Agent: "shell"})
			for _, text := range []string{"one\ntwo", "one\rtwo", "one\r\ntwo", "\n one \n\n two"} {
				if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: text}); !errors.Is(err, thread.ErrRefused) {
					t.Errorf("%q: %v", text, err)
				}
			}
			return s.ID
		}, ""},
		{"several lines with consent", func(w *world) thread.ID {
			s := w.create(thread.NewRequest{Agent: "shell"})
			if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "one\ntwo", Lines: true}); err != nil {
				t.Error(err)
			}
			return s.ID
		}, "one\ntwo"},
		{"a line that becomes several", func(w *world) thread.ID {
			s := w.create(thread.NewRequest{Agent: "shell"})
			w.sess.of(s.ID).Report(thread.Evidence{State: thread.StateApproval})
			p := w.ask(s.ID, "one")
			if _, err := w.m.Prompts.Edit(ctx, p.ID, "one\ntwo"); !errors.Is(err, thread.ErrRefused) {
				t.Error(err)
			}
			w.sess.of(s.ID).Report(thread.Evidence{State: thread.StateIdle})
			return s.ID
		}, "one"},
		{"a note of an older server", func(w *world) thread.ID {
			s := w.create(thread.NewRequest{Agent: "shell"})
			w.close()
			for i, p := range []thread.Prompt{{From: thread.FromNote, Text: evil}, {From: thread.FromVerb, Text: "a\n" + evil}} {
				p.ID, p.Thread, p.State, p.Accepted = thread.PromptID("p00000000000"+string(rune('0'+i))), s.ID, thread.PromptQueued, w.now()
				if _, err := w.store.PutPrompt(ctx, p); err != nil {
					t.Error(err)
				}
			}
			w.open()
			if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			for i := range 2 {
				if p := w.prompt(thread.PromptID("p00000000000" + string(rune('0'+i)))); p.State != thread.PromptRefused {
					t.Errorf("%+v", p)
				}
			}
			w.ask(s.ID, "ls")
			return s.ID
		}, "ls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := c.do(w)
				synctest.Wait()
				got := w.sess.of(id).prompts()
				for _, line := range strings.Split(got, "\n---\n") {
					if m := handed.FindStringSubmatch(line); m != nil && filepath.Base(m[1]) == "primer.md" {
						got = strings.Replace(got, line, "LINE", 1)
					}
				}
				if got != c.want {
					t.Errorf("typed %q, want %q", got, c.want)
				}
				if s := w.status(id); s.Handoff != nil && !strings.Contains(w.events.notices(), "primer.md") && c.want == "" {
					t.Errorf("nobody is told where the handoff is:\n%s", w.events.notices())
				}
			}, withShell)
		})
	}
}

// TestFirstPromptOfLines: a thread whose first prompt would need consent is not made.
func TestFirstPromptOfLines(t *testing.T) {
	inWorld(t, func(w *world) {
		if _, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "shell", Prompt: "one\ntwo"}); !errors.Is(err, thread.ErrRefused) {
			t.Error(err)
		}
		p := w.create(thread.NewRequest{})
		w.turn(p.ID, "hello")
		r := thread.ForkRequest{Thread: p.Name, Agent: "shell", Label: "x", Prompt: "one\ntwo"}
		if _, err := w.m.Forks.Fork(ctx, r); !errors.Is(err, thread.ErrRefused) {
			t.Error(err)
		}
		if list, err := w.m.Threads.List(ctx); err != nil || len(list) != 1 {
			t.Errorf("%d threads, %v", len(list), err)
		}
		r.Lines = true
		if got := w.sess.of(w.fork(r).ID).prompts(); got != "one\ntwo" {
			t.Errorf("typed %q", got)
		}
		s := w.create(thread.NewRequest{Agent: "shell", Prompt: "one\ntwo", Lines: true})
		if got := w.sess.of(s.ID).prompts(); got != "one\ntwo" {
			t.Errorf("typed %q", got)
		}
	}, withShell)
}

// TestMergeIntoAProgram: the agent of the branch is not told if its program may run the note, and the person is.
func TestMergeIntoAProgram(t *testing.T) {
	f := &merges{}
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent", Agent: "shell"})
		c := w.fork(thread.ForkRequest{Thread: p.Name, Label: "try", Agent: "claude"})
		w.turn(c.ID, evil)
		for _, mode := range []thread.NoteMode{thread.NoteAlways, thread.NoteAsk} {
			r, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, Note: mode})
			if err != nil || r.Told || r.Ask || r.Untold == "" {
				t.Errorf("%s: %+v %v", mode, r, err)
			}
		}
		if _, err := w.m.Merges.Start(ctx, thread.MergeRequest{Thread: c.Name, NoteOnly: true}); !errors.Is(err, thread.ErrRefused) {
			t.Error(err)
		}
		synctest.Wait()
		if got := w.sess.of(p.ID).prompts(); got != "" {
			t.Errorf("typed %q", got)
		}
	}, withShell, func(w *world) { f.trees = w.trees; w.cfg.Merges, w.cfg.Differ = f, differ{} })
}
