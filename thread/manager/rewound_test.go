package manager_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// rows says what a timeline with all of it holds, newest first.
func (w *world) rows(name string, p thread.Page) []string {
	w.t.Helper()
	p.Turns, p.All = true, true
	list, err := w.m.History.Timeline(ctx, name, p)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		row := fmt.Sprintf("%s %d %s", c.Kind, c.Turn, c.Prompt)
		if c.Rewound {
			row += ", aside"
		}
		out = append(out, row)
	}
	return out
}

// TestPromptsOfRewoundTurns: a prompt whose turn a rewind undid says so, for as long as that stands.
func TestPromptsOfRewoundTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		s, other := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		ask := func(text string) {
			t.Helper()
			p := w.ask(s.ID, text)
			w.turn(s.ID, text)
			w.is(p.ID, thread.PromptAnswered)
			time.Sleep(time.Second)
		}
		rewind := func(at string) string {
			t.Helper()
			r, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: at, Conversation: true})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			return string(r.Safety)
		}
		undone := func(want ...string) {
			t.Helper()
			for _, ref := range []string{s.Name, ""} {
				list, err := w.m.Prompts.List(ctx, ref, false)
				var got []string
				for _, p := range list {
					if p.Rewound {
						got = append(got, p.Text)
					}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("of %q: %q are rewound, want %q (%v)", ref, got, want, err)
				}
			}
		}
		w.ask(other.ID, "elsewhere")
		w.turn(other.ID, "elsewhere")
		for _, text := range []string{"one", "two", "three"} {
			ask(text)
		}
		undone()
		safety := rewind("1")
		undone("two", "three")
		ask("another two")
		undone("two", "three")
		ask("another three")
		ask("another four")
		undone("two", "three")
		rewind(safety)
		undone("another two", "another three", "another four")
	})
}

// TestUndoneRewindKeepsWhatFollowedIt rewinds, works on, and undoes the rewind: what was worked on is in the list.
func TestUndoneRewindKeepsWhatFollowedIt(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		for _, p := range []string{"one", "two"} {
			w.turn(s.ID, p)
			time.Sleep(time.Second)
		}
		rewind := func(at string) thread.CheckpointID {
			time.Sleep(time.Second)
			r, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: at, Conversation: true})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			return r.Safety
		}
		safety := rewind("1")
		w.turn(s.ID, "another two")
		rewind(string(safety))
		want := []string{"rewind 2 ", "turn 2 another two, aside", "safety 2 ", "turn 2 two", "turn 1 one"}
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := w.rows(s.Name, thread.Page{Before: 2}); !slices.Equal(got, want[4:]) {
			t.Errorf("before turn 2: %q", got)
		}
	})
}

// TestAnswersAreListedAtOnce: what was answered is listed while its turn has not ended, and after a kill.
func TestAnswersAreListedAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "one")
		w.respond(s.ID, "two", "call", false)
		want := []string{"response 2 two", "turn 1 one"}
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		w.crash()
		if got := w.rows(s.Name, thread.Page{}); !slices.Equal(got, want) {
			t.Errorf("after the kill %q, want %q", got, want)
		}
	})
}

// TestPromptsWithoutATurnAreRows: a prompt that was refused, cut or never reported is a row after the turn that it came
// after, also after later turns, a rewind, a fork and a restart; and it is found.
func TestPromptsWithoutATurnAreRows(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		lose := func(id thread.ID, text string, how thread.PromptState) {
			p, err := w.store.PutPrompt(ctx, thread.Prompt{ID: thread.NewPromptID(), Thread: id, From: thread.FromVerb,
				Text: text, State: how, Reason: "why not", Accepted: time.Now()})
			if err != nil || p.Seq == 0 {
				t.Fatal(p, err)
			}
		}
		check := func(name string, p thread.Page, want ...string) {
			t.Helper()
			if got := w.rows(name, p); !slices.Equal(got, want) {
				t.Errorf("%q\nwant %q", got, want)
			}
		}
		answer := func(id thread.ID, text string) {
			w.ask(id, text)
			w.turn(id, text)
			time.Sleep(time.Second)
		}
		lose(s.ID, "before all", thread.PromptRefused)
		check(s.Name, thread.Page{}, "prompt 0 before all")
		answer(s.ID, "one")
		lose(s.ID, "after one", thread.PromptInterrupted)
		lose(s.ID, "withdrawn", thread.PromptCancelled)
		lose(s.ID, "/compact", thread.PromptTaken)
		answer(s.ID, "two")
		lose(s.ID, "after two", thread.PromptRefused)
		want := []string{"prompt 2 after two", "turn 2 two", "prompt 1 /compact", "prompt 1 after one", "turn 1 one",
			"prompt 0 before all"}
		check(s.Name, thread.Page{}, want...)
		check(s.Name, thread.Page{Limit: 1}, "prompt 2 after two", "turn 2 two")
		check(s.Name, thread.Page{Before: 2}, want[2:]...)
		w.crash()
		check(s.Name, thread.Page{}, want...)
		for _, text := range []string{"before all", "after one", "compact", "after two"} {
			if hits, err := w.m.History.Find(ctx, text, 5); err != nil || len(hits) != 1 || hits[0].Thread != s.ID {
				t.Errorf("find %s: %+v %v", text, hits, err)
			}
		}
		if hits, err := w.m.History.Find(ctx, "withdrawn", 5); err != nil || len(hits) != 0 {
			t.Errorf("find what was withdrawn: %+v %v", hits, err)
		}
		if _, err := w.m.Agents.Resume(ctx, s.Name, thread.ResumeRequest{}); err != nil {
			t.Fatal(err)
		}
		fork, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: s.Name, At: "1", Label: "other"})
		if err != nil {
			t.Fatal(err)
		}
		lose(fork.ID, "in the fork", thread.PromptRefused)
		check(fork.Name, thread.Page{}, "prompt 1 in the fork", "turn 1 one")
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: "1", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		rows := w.rows(s.Name, thread.Page{})
		for i, r := range rows {
			if strings.HasPrefix(r, "prompt") && (i == len(rows)-1) != strings.HasSuffix(r, "before all") ||
				strings.HasPrefix(r, "prompt 2") {
				t.Errorf("after the rewind: %q", rows)
			}
		}
	}, func(w *world) { w.cfg.Finder = noFinder{} })
}
