package manager_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// says has a thread's agent answer a prompt with items of its own before the answer.
func (w *world) says(id thread.ID, prompt, text string, amid ...thread.Item) {
	w.t.Helper()
	s := w.status(id)
	conv := w.natives.conversation(s.Session)
	items := append(append(conv, item("user", prompt)), amid...)
	answer := item("assistant", text)
	w.natives.append(s.Session, append(items[len(conv):], answer))
	w.m.Traffic.ExchangeEnded(id, thread.Exchange{
		Main: true, Model: "m1", Session: s.Session, Status: 200, Started: time.Now(), Ended: time.Now(),
		Items: items, Answer: &answer, Prompt: prompt, Text: text, Stop: "end_turn", EndsTurn: true,
	})
	synctest.Wait()
}

// changed is a Differ that always finds the same.
type changed []thread.FileDiff

func (c changed) Diff(context.Context, string, string, string) ([]thread.FileDiff, error) {
	return c, nil
}

// TestPrimerNamesTheForksOwnFiles hands over a conversation that is full of the parent's folder, to an agent that
// works in another one: the primer and what it refers to name the fork's, and each file once.
func TestPrimerNamesTheForksOwnFiles(t *testing.T) {
	for _, worktree := range []bool{true, false} {
		t.Run(fmt.Sprintf("of a worktree %v", worktree), func(t *testing.T) { primerOfOwnFiles(t, worktree) })
	}
}

func primerOfOwnFiles(t *testing.T, worktree bool) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Worktree: worktree})
		was := p.Dir
		long := strings.Repeat("a line of output in "+was+"/src/long.go\n", 100)
		w.says(p.ID, "fix "+was+"/src/a.go and "+was+"/src/b.go", "I changed "+was+"/src/a.go; see "+was+".",
			item("call", fmt.Sprintf(`{"file_path":"%s/src/a.go"}`, was)), item("result", "ok: "+was+"/src/a.go"),
			item("call", `{"path":"./src/a.go"}`), item("call", fmt.Sprintf(`{"path":"%s/src/../src/b.go"}`, was)),
			item("call", `{"patch":"*** Begin Patch\n*** Update File: src/a.go\n*** Add File: new.go\n"}`),
			item("call", `{"path":"/etc/hosts"}`), item("result", long))
		f := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "another view"})
		sent := w.sess.of(f.ID).prompts()
		if f.Dir == was || strings.Contains(sent, was+"/src") || strings.Contains(sent, was+".\n") {
			t.Errorf("the primer of the thread in %s names %s:\n%s", f.Dir, was, sent)
		}
		if !strings.Contains(sent, "fix "+f.Dir+"/src/a.go and "+f.Dir+"/src/b.go") {
			t.Errorf("the prompt does not name the files in %s:\n%s", f.Dir, sent)
		}
		_, files, _ := strings.Cut(sent, "## Files\n\n")
		files, _, _ = strings.Cut(files, "\n\n")
		want := "- src/a.go (M, +1 −0)\n- /etc/hosts (used by Edit in turn 1)\n- new.go (used by Edit in turn 1)\n- src/b.go (used by Edit in turn 1)"
		if files != want {
			t.Errorf("files\n%s\nwant\n%s", files, want)
		}
		_, kept, _ := strings.Cut(sent, "lines: read ")
		kept, _, _ = strings.Cut(kept, "]")
		raw, err := os.ReadFile(kept)
		if err != nil {
			t.Fatal(err)
		}
		if raw := string(raw); strings.Contains(raw, was+"/src") || !strings.Contains(raw, f.Dir+"/src/long.go") {
			t.Errorf("%s holds %.200s", kept, raw)
		}
	}, func(w *world) {
		w.cfg.Differ = changed{{Path: "src/a.go", Status: "M", Insertions: 1}}
	})
}

// choosy is an agent that cannot be started without a program.
type choosy struct{ plainAgent }

func (*choosy) CheckLaunch(f thread.Flags) error {
	if len(f.Program) == 0 {
		return fmt.Errorf("no program: %w", thread.ErrInvalid)
	}
	return nil
}

// nothingLeft checks that a start that failed left no thread, worktree, intent, folder or snapshot.
func (w *world) nothingLeft(what string, before int) {
	w.t.Helper()
	list, err := w.m.Threads.List(ctx)
	if err != nil || len(list) != before {
		w.t.Errorf("%s: %d threads %v, there were %d", what, len(list), err, before)
	}
	stored, err := w.store.Threads(ctx)
	if err != nil || len(stored) != before {
		w.t.Errorf("%s: %d threads are stored %v", what, len(stored), err)
	}
	if intents, err := w.store.Intents(ctx); err != nil || len(intents) != 0 {
		w.t.Errorf("%s: intents %+v %v", what, intents, err)
	}
	if trees, err := filepath.Glob(filepath.Join(w.dir, "wt-*")); err != nil || len(trees) != 0 {
		w.t.Errorf("%s: worktrees %q %v", what, trees, err)
	}
	if kept, err := os.ReadDir(filepath.Join(w.dir, ".state", "threads")); err == nil && len(kept) != before {
		w.t.Errorf("%s: %d threads have a folder", what, len(kept))
	}
	if open, err := w.store.Prompts(ctx, "", true, 0); err != nil || len(open) != 0 {
		w.t.Errorf("%s: prompts %+v %v", what, open, err)
	}
}

func TestFailedStartLeavesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.agents["choosy"] = &choosy{plainAgent{"choosy"}}
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		w.sess.refuse = errors.New("no such program")
		for what, try := range map[string]func() error{
			"new": func() error {
				_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "go"})
				return err
			},
			"new with worktree": func() error {
				_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Worktree: true})
				return err
			},
			"fork": func() error {
				_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x", Prompt: "go"})
				return err
			},
			"fork into another agent": func() error {
				_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x", Agent: "codex"})
				return err
			},
		} {
			if err := try(); err == nil || !strings.Contains(err.Error(), "no such program") {
				t.Errorf("%s: %v", what, err)
			}
			synctest.Wait()
			w.nothingLeft(what, 1)
		}
		w.sess.refuse = nil
		takes := w.trees.takes
		for what, err := range map[string]error{
			"fork": func() error {
				_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x", Agent: "choosy"})
				return err
			}(),
			"a fork that is not started": func() error {
				_, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x", Agent: "choosy", NoStart: true})
				return err
			}(),
			"new": func() error {
				_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "choosy", Worktree: true})
				return err
			}(),
		} {
			if !errors.Is(err, thread.ErrInvalid) || w.trees.takes != takes {
				t.Errorf("%s without a program: %v", what, err)
			}
			w.nothingLeft(what, 1)
		}
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "x", Agent: "choosy", Program: []string{"make", "test"}, Args: []string{"-k"}})
		if got := f.Launch; !slices.Equal(got.Program, []string{"make", "test"}) || !slices.Equal(got.Args, []string{"-k"}) {
			t.Errorf("started with %+v", got)
		}
	})
}

// TestForkAtTurnZero forks before all that was said: with an empty conversation and the files of the thread's start.
func TestForkAtTurnZero(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Worktree: true})
		w.trees.mu.Lock()
		w.trees.commits["base"] = "as committed"
		w.trees.mu.Unlock()
		w.trees.set(p.Dir, "as changed")
		w.talk(p.ID, 1, 2)
		f := w.fork(thread.ForkRequest{Thread: p.Name, At: "0", Label: "again", Prompt: "go"})
		if got := w.trees.get(f.Dir); got != "as committed" {
			t.Errorf("its files are %q", got)
		}
		// A fork's own start is where it was forked.
		g := w.fork(thread.ForkRequest{Thread: p.Name, At: "1", Label: "more"})
		w.trees.set(g.Dir, "changed again")
		w.turn(g.ID, "more")
		if got := w.trees.get(w.fork(thread.ForkRequest{Thread: g.Name, At: "0", Label: "other"}).Dir); got != "files 1" {
			t.Errorf("the files of a fork of a fork are %q", got)
		}
		if f.Head != "" || f.Turn != 0 || f.ForkPoint != "" || f.Parent != p.ID || f.Worktree.Base != p.Worktree.Base {
			t.Errorf("fork %+v", f.Thread)
		}
		if got := w.sess.of(f.ID).prompts(); got != "go" || strings.Contains(w.args(f.ID), "--resume") {
			t.Errorf("sent %q, args %s", got, w.args(f.ID))
		}
		w.turn(f.ID, "go")
		if got := w.status(f.ID); got.Turn != 1 {
			t.Errorf("turn %d", got.Turn)
		}
	})
}

// TestPrimerNamesWhatNobodyAnswered hands over where the newest prompts got no answer.
func TestPrimerNamesWhatNobodyAnswered(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		a := w.ask(p.ID, "the one that is answered")
		w.turn(p.ID, "the one that is answered")
		w.answeredBy(a.ID, "answer to the one that is answered")
		b := w.ask(p.ID, "the one that was killed")
		w.sess.of(p.ID).exit(137)
		synctest.Wait()
		w.is(b.ID, thread.PromptInterrupted)
		f := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "take over"})
		sent := w.sess.of(f.ID).prompts()
		_, open, _ := strings.Cut(sent, "## Open tasks")
		if !strings.Contains(open, "unanswered: the one that was killed") || strings.Contains(open, "unanswered: the one that is answered") {
			t.Errorf("the primer:\n%s", sent)
		}
		// One that has been answered meanwhile is open no longer, for forks behind its answer.
		if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		w.turn(p.ID, "something else")
		g := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "later"})
		if sent := w.sess.of(g.ID).prompts(); strings.Contains(sent, "unanswered") {
			t.Errorf("the primer:\n%s", sent)
		}
		// And behind another one it was not asked yet.
		h := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", At: "1", Label: "earlier"})
		if sent := w.sess.of(h.ID).prompts(); strings.Contains(sent, "unanswered") {
			t.Errorf("the primer:\n%s", sent)
		}
	})
}

// TestPrimerCountsTurnsAsTheTimeline hands over turns of several prompts, and a conversation that was compacted.
func TestPrimerCountsTurnsAsTheTimeline(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.says(p.ID, "first", "one", item("user", "said meanwhile"))
		w.says(p.ID, "second", "two")
		f := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "x"})
		sent := w.sess.of(f.ID).prompts()
		for _, want := range []string{"up to turn 2", "### Turn 1\n\n> first\n\n> said meanwhile\n\none", "### Turn 2\n\n> second\n\ntwo"} {
			if !strings.Contains(sent, want) {
				t.Errorf("the primer lacks %q:\n%s", want, sent)
			}
		}
		if strings.Contains(sent, "urn 3") {
			t.Errorf("the timeline has 2 turns:\n%s", sent)
		}
		w.natives.set(w.status(p.ID).Session, "")
		w.says(p.ID, "third", "three", item("assistant", "a summary"))
		f = w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "y"})
		sent = w.sess.of(f.ID).prompts()
		for _, want := range []string{"- turn 1, asked: first\n  answered: one", "- turn 2, asked: second", "urn 3\n\n> third"} {
			if !strings.Contains(sent, want) {
				t.Errorf("the primer lacks %q:\n%s", want, sent)
			}
		}
	})
}
