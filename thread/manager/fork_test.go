package manager_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// talk lets a thread have n turns, with the folder's content changing in each.
func (w *world) talk(id thread.ID, from, to int) {
	w.t.Helper()
	for i := from; i <= to; i++ {
		w.trees.set(w.status(id).Dir, fmt.Sprintf("files %d", i))
		w.turn(id, fmt.Sprintf("p%d", i))
	}
}

func (w *world) fork(r thread.ForkRequest) thread.Status {
	w.t.Helper()
	s, err := w.m.Forks.Fork(ctx, r)
	if err != nil {
		w.t.Fatalf("Fork: %v", err)
	}
	synctest.Wait()
	return w.status(s.ID)
}

func TestForkAtATurn(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "main work"})
		w.talk(p.ID, 1, 5)
		before, parentFile := w.status(p.ID), w.natives.bytes(p.Session)
		f := w.fork(thread.ForkRequest{Thread: "main", At: "3", Label: "Try JWT"})

		if f.Parent != p.ID || f.Turn != 3 || f.Depth != 1 || !strings.HasPrefix(f.Name, "try-jwt-") {
			t.Errorf("fork %+v", f)
		}
		if got := texts(w.natives.conversation(f.Session)); !strings.HasSuffix(got, "answer to p3") || strings.Contains(got, "p4") {
			t.Errorf("native conversation %s", got)
		}
		if f.Session == p.Session || w.args(f.ID) != "--resume "+f.Session {
			t.Errorf("session %s, args %s", f.Session, w.args(f.ID))
		}
		if f.Worktree.Path == "" || f.Dir != f.Worktree.Path || w.trees.get(f.Dir) != "files 3" {
			t.Errorf("worktree %+v holds %q", f.Worktree, w.trees.get(f.Dir))
		}
		if f.Gauge.SavedUSD != 0 {
			t.Errorf("the fork begins with $%.2f saved", f.Gauge.SavedUSD)
		}
		if p := w.status(p.ID); f.Gauge.CostUSD != 0 || p.Gauge.CostUSD != 2.5 {
			t.Errorf("the fork begins with $%.2f, its parent has cost $%.2f", f.Gauge.CostUSD, p.Gauge.CostUSD)
		}
		if h := f.Handoff; h == nil || h.Metadata.ForkPoint != 3 || h.Metadata.ParentThreadID != p.ID || h.Description != "Try JWT" || h.CheckpointID != f.ForkPoint {
			t.Errorf("handoff %+v", f.Handoff)
		}
		after := w.status(p.ID)
		if after.Head != before.Head || after.State.State != before.State.State || w.natives.bytes(p.Session) != parentFile || w.trees.get(p.Dir) != "files 5" {
			t.Error("the parent was touched")
		}
		w.talk(f.ID, 6, 6)
		if got := w.status(f.ID).Gauge.CostUSD; got != 0.5 {
			t.Errorf("one turn of the fork has cost $%.2f", got)
		}
		w.talk(p.ID, 7, 7)
		for id, want := range map[thread.ID]string{f.ID: "answer to p3|p6|", p.ID: "answer to p5|p7|"} {
			items, err := w.store.Conversation(ctx, w.status(id).Head)
			if err != nil || !strings.Contains(texts(items), want) {
				t.Errorf("%s: %s %v", id, texts(items), err)
			}
		}
		g := w.fork(thread.ForkRequest{Thread: f.Name, At: "2", Label: "from before the fork"})
		if got := texts(w.natives.conversation(g.Session)); !strings.HasSuffix(got, "answer to p2") || g.Depth != 2 {
			t.Errorf("fork of a fork: %s", got)
		}
		w.crash()
		if p := w.status(f.ID).Resume; p == nil || p.How != thread.ResumeNative || p.Turn != 4 {
			t.Errorf("proof of the fork: %+v", p)
		}
		if p := w.status(g.ID).Resume; p == nil || p.How != thread.ResumeNative && p.How != thread.ResumeRebuilt {
			t.Errorf("proof of the fork of the fork: %+v", p)
		}
	})
}

// TestForkBeforeTheAnswerIsWrittenDown forks at a turn whose answer reached the agent's files only after
// the turn's checkpoint was stored.
func TestForkBeforeTheAnswerIsWrittenDown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.agents["polled"] = &polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}
		p := w.create(thread.NewRequest{Agent: "polled"})
		w.talk(p.ID, 1, 2)
		asked, answer := item("user", "p3"), item("assistant", "answer to p3")
		w.natives.append(p.Session, []thread.Item{asked})
		w.m.Traffic.RequestStarted(p.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.m.Traffic.ExchangeEnded(p.ID, thread.Exchange{
			Main: true, Session: p.Session, Status: 200, Items: w.natives.conversation(p.Session), Answer: &answer,
			Prompt: "p3", Text: "answer to p3", EndsTurn: true, Ended: time.Now(),
		})
		synctest.Wait()
		w.natives.append(p.Session, []thread.Item{answer})
		f := w.fork(thread.ForkRequest{Thread: p.Name, At: "3", Label: "x"})
		if got := texts(w.natives.conversation(f.Session)); !strings.HasSuffix(got, "p3|answer to p3") || f.Session == p.Session {
			t.Errorf("the fork's conversation is %s", got)
		}
	})
}

func TestForkOfARunningTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.respond(p.ID, "p1", "call", false)
		if _, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x"}); !errors.Is(err, thread.ErrBusy) {
			t.Errorf("fork in the first turn: %v", err)
		}
		w.respond(p.ID, "p1", "answer to p1", true)
		w.respond(p.ID, "p2", "call", false)
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "x"})
		if got := texts(w.natives.conversation(f.Session)); got != "p1|call|result|answer to p1" {
			t.Errorf("forked %s", got)
		}
		mid := w.status(p.ID).Head
		rebuilt := w.natives.rebuilt
		g := w.fork(thread.ForkRequest{Thread: p.Name, At: string(mid), Label: "x"})
		sent := w.sess.of(g.ID).prompts()
		for _, want := range []string{"> p1", "answer to p1", "> p2", "[tool: call — no result recorded]", "turn 2 was cut off: p2", "as they were before that turn"} {
			if !strings.Contains(sent, want) {
				t.Errorf("forked in the middle of a turn, the agent is not told %q:\n%s", want, sent)
			}
		}
		if g.ForkPoint != mid || g.Turn != 2 || strings.Contains(w.args(g.ID), "--resume") || w.natives.rebuilt != rebuilt {
			t.Errorf("forked at %s as %+v, args %s", mid, g.Thread, w.args(g.ID))
		}
		if !strings.Contains(w.events.notices(), "cannot be forked there") {
			t.Errorf("told %s", w.events.notices())
		}
		if got := w.status(p.ID); got.State.State != thread.StateWorking {
			t.Errorf("the parent is %s", got.State.State)
		}
	})
}

func TestForkIntoAnotherAgent(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Flags: thread.Flags{Args: []string{"--claude-only"}, PermissionMode: "plan"}})
		w.talk(p.ID, 1, 4)
		f := w.fork(thread.ForkRequest{Thread: p.Name, At: "3", Agent: "codex", Label: "another view", Prompt: "find the bug"})
		sent := w.sess.of(f.ID).prompts()
		for _, want := range []string{"p1", "p3", "answer to p3", "another view", "find the bug", p.Name} {
			if !strings.Contains(sent, want) {
				t.Errorf("the primer lacks %q:\n%s", want, sent)
			}
		}
		if strings.Contains(sent, "p4") {
			t.Errorf("the primer tells of turn 4:\n%s", sent)
		}
		if strings.Contains(w.args(f.ID), "--resume") || strings.Contains(w.args(f.ID), "--claude-only") {
			t.Errorf("args %s", w.args(f.ID))
		}
		if f.Handoff.ContextSummary == "" || f.Handoff.Metadata.TokenBudget != 12000 || !strings.Contains(w.events.notices(), "budget 12k") {
			t.Errorf("handoff %+v, told %s", f.Handoff, w.events.notices())
		}
	})
}

func TestForkWithoutStartIsARowOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		rebuilt := w.natives.rebuilt
		f := w.fork(thread.ForkRequest{Thread: p.Name, At: "1", Label: "a label of usual length", NoStart: true, NoWorktree: true})
		row, err := json.Marshal(f.Thread)
		if err != nil || len(row) > 1024 {
			t.Errorf("the row has %d bytes %v", len(row), err)
		}
		if w.sess.of(f.ID) != nil || w.natives.rebuilt != rebuilt || f.Dir != p.Dir {
			t.Errorf("fork %+v", f)
		}
		if intents, _ := w.store.Intents(ctx); len(intents) != 0 {
			t.Errorf("intents %v", intents)
		}
		if _, err := w.m.Agents.Start(ctx, f.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		if got := texts(w.natives.conversation(w.status(f.ID).Session)); got != "p1|call|result|answer to p1" {
			t.Errorf("conversation %s", got)
		}
	})
}

// TestForkHasNoGrants forks a thread whose agent may do a lot: the fork's may not.
func TestForkHasNoGrants(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		grants := []thread.Grant{"read", "send"}
		if err := w.m.Lifecycle.SetGrants(ctx, p.Name, func([]thread.Grant) []thread.Grant { return grants }); err != nil {
			t.Fatal(err)
		}
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "try"})
		if got := w.status(p.ID).Grants; !slices.Equal(got, grants) {
			t.Errorf("the parent has %v", got)
		}
		if got := w.status(f.ID).Grants; len(got) != 0 {
			t.Errorf("the fork has %v", got)
		}
	})
}

func TestForkOfNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Agent: "plain"})
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "x"})
		if f.Head != "" || f.Parent != p.ID || w.status(f.ID).State.State != thread.StateStarting {
			t.Errorf("fork %+v", f)
		}
		if _, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, At: "1"}); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("fork at a turn that is not: %v", err)
		}
	})
}

func TestForkLimitsAndMistakes(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		other := w.create(thread.NewRequest{})
		w.talk(other.ID, 1, 1)
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "one", NoStart: true})
		g := w.fork(thread.ForkRequest{Thread: f.Name, Label: "two", NoStart: true})
		for name, c := range map[string]struct {
			r    thread.ForkRequest
			want error
		}{
			"depth":                {thread.ForkRequest{Thread: g.Name}, thread.ErrLimit},
			"turn":                 {thread.ForkRequest{Thread: p.Name, At: "9"}, thread.ErrNotFound},
			"checkpoint":           {thread.ForkRequest{Thread: p.Name, At: "ffffffffffffffff"}, thread.ErrNotFound},
			"another's checkpoint": {thread.ForkRequest{Thread: p.Name, At: string(w.status(other.ID).Head)}, thread.ErrNotFound},
			"short":                {thread.ForkRequest{Thread: p.Name, At: "ab"}, thread.ErrInvalid},
			"agent":                {thread.ForkRequest{Thread: p.Name, Agent: "nope"}, thread.ErrNotFound},
			"thread":               {thread.ForkRequest{Thread: "nope"}, thread.ErrNotFound},
			"option":               {thread.ForkRequest{Thread: "--upload-pack=x"}, thread.ErrNotFound},
		} {
			if _, err := w.m.Forks.Fork(ctx, c.r); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		n := w.fork(thread.ForkRequest{Thread: p.Name, Name: "--rf ../../etc", NoStart: true})
		if !strings.HasPrefix(n.Name, "rf-etc-") {
			t.Errorf("name %s", n.Name)
		}
	}, func(w *world) { w.cfg.Limits.Depth = 2 })
}

// TestNobodyStartsAForkWithoutItsFolder: while the worktree of a fork is made, its row is there, and cannot be started: it
// would work in its parent's folder. What the fork is asked first is asked in its own.
func TestNobodyStartsAForkWithoutItsFolder(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.talk(p.ID, 1, 1)
		tried := false
		w.trees.adding = func(id thread.ID) {
			tried = true
			if _, err := w.m.Agents.Start(ctx, string(id), 80, 24); !errors.Is(err, thread.ErrBusy) {
				t.Errorf("it was started without its folder: %v", err)
			}
		}
		f, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: "parent", Name: "child", Prompt: "go on"})
		if err != nil || !tried {
			t.Fatal(err, tried)
		}
		if f.Execution == nil || f.Dir == p.Dir || f.Dir != f.Worktree.Path {
			t.Errorf("it works in %s: %+v", f.Dir, f.Thread)
		}
	})
}

func TestFailedWorktreeTakesTheForkBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		w.trees.fail = thread.ErrDiskFull
		if _, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: p.Name, Label: "x"}); !errors.Is(err, thread.ErrDiskFull) {
			t.Fatalf("err %v", err)
		}
		w.trees.fail = nil
		list, _ := w.m.Threads.List(ctx)
		intents, _ := w.store.Intents(ctx)
		if len(list) != 1 || len(intents) != 0 {
			t.Errorf("left %+v %v", list, intents)
		}
	})
}

func TestForkWithoutRepositorySharesTheFolder(t *testing.T) {
	inWorld(t, func(w *world) {
		w.trees.fail = thread.ErrNoRepository
		p := w.create(thread.NewRequest{})
		w.turn(p.ID, "p1")
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "x"})
		if f.Dir != p.Dir || f.Worktree.Path != "" || !strings.Contains(w.events.notices(), "shares the folder") {
			t.Errorf("fork %+v, told %s", f, w.events.notices())
		}
	})
}

func TestForkCutOffIsTakenBack(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		// As a crash between the row and the worktree leaves it.
		half := thread.Thread{ID: thread.NewID[thread.ID](), Name: "half-0000", Parent: p.ID, Agent: "claude", Dir: w.dir}
		if err := w.store.CreateThread(ctx, half); err != nil {
			t.Fatal(err)
		}
		for _, id := range []thread.ID{half.ID, thread.NewID[thread.ID]()} {
			i := thread.Intent{ID: thread.NewID[string](), Kind: "fork", Thread: id, Data: json.RawMessage("{}"), Created: time.Now()}
			if err := w.store.PutIntent(ctx, i); err != nil {
				t.Fatal(err)
			}
		}
		w.crash()
		list, _ := w.m.Threads.List(ctx)
		intents, _ := w.store.Intents(ctx)
		if len(list) != 1 || len(intents) != 0 || !strings.Contains(w.events.notices(), "half-0000 was interrupted") {
			t.Errorf("left %d threads, %v, told %s", len(list), intents, w.events.notices())
		}
	})
}

func TestMissingWorktreeIsMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 1)
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "x"})
		w.talk(f.ID, 2, 2)
		if err := w.m.Agents.Stop(ctx, f.Name); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(f.Dir); err != nil {
			t.Fatal(err)
		}
		w.trees.set(f.Dir, "")
		if _, err := w.m.Agents.Start(ctx, f.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		if got := w.trees.get(w.status(f.ID).Dir); got != "files 2" || !strings.Contains(w.events.notices(), "was missing") {
			t.Errorf("worktree holds %q, told %s", got, w.events.notices())
		}
	})
}

func TestRewindBothAndUndo(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 4)
		w.trees.set(p.Dir, "uncommitted")
		r, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "2", Files: true, Conversation: true})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s := w.status(p.ID)
		if w.trees.get(p.Dir) != "files 2" || s.Turn != 2 || r.Turn != 2 || s.Session == p.Session || s.State.State != thread.StateStarting {
			t.Errorf("rewound to %+v with %q", s, w.trees.get(p.Dir))
		}
		if got := texts(w.natives.conversation(s.Session)); !strings.HasSuffix(got, "answer to p2") {
			t.Errorf("conversation %s", got)
		}
		if got := texts(w.natives.conversation(p.Session)); !strings.HasSuffix(got, "answer to p4") {
			t.Errorf("the old session lost something: %s", got)
		}
		w.turn(p.ID, "p3b")
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: string(r.Safety), Files: true, Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s = w.status(p.ID)
		if w.trees.get(p.Dir) != "uncommitted" || s.Turn != 4 {
			t.Errorf("undone to turn %d with %q", s.Turn, w.trees.get(p.Dir))
		}
		if got := texts(w.natives.conversation(s.Session)); !strings.HasSuffix(got, "answer to p4") {
			t.Errorf("conversation %s", got)
		}
		if s.Gauge.CostUSD != 2.5 {
			t.Errorf("cost %v: a rewind gives no money back", s.Gauge.CostUSD)
		}
	})
}

func TestRewindOneOfTheTwo(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 3)
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "1", Files: true}); err != nil {
			t.Fatal(err)
		}
		s := w.status(p.ID)
		if w.trees.get(p.Dir) != "files 1" || s.Turn != 3 || s.Session != p.Session || !s.State.State.Live() {
			t.Errorf("files only: %+v, %q", s.Thread, w.trees.get(p.Dir))
		}
		w.turn(p.ID, "p4")
		items, err := w.store.Conversation(ctx, w.status(p.ID).Head)
		if err != nil || len(items) != 16 {
			t.Errorf("goes on with %s %v", texts(items), err)
		}
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "2", Conversation: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := w.status(p.ID); w.trees.get(p.Dir) != "files 1" || s.Turn != 2 {
			t.Errorf("conversation only: turn %d, %q", s.Turn, w.trees.get(p.Dir))
		}
	})
}

func TestRewindRefusals(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 2)
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "1"}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("nothing chosen: %v", err)
		}
		w.trees.fail = thread.ErrDiskFull
		if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "1", Files: true}); !errors.Is(err, thread.ErrDiskFull) {
			t.Errorf("no safety: %v", err)
		}
		if w.trees.get(p.Dir) != "files 2" {
			t.Error("files were touched without a safety checkpoint")
		}
		w.trees.fail = nil
		w.respond(p.ID, "p3", "call", false)
		_, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: p.Name, At: "1", Files: true, Conversation: true})
		var hint *thread.HintError
		if !errors.Is(err, thread.ErrBusy) || !errors.As(err, &hint) {
			t.Errorf("in a turn: %v", err)
		}
	})
}

func TestTimelineAndTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.talk(p.ID, 1, 3)
		f := w.fork(thread.ForkRequest{Thread: p.Name, At: "2", Label: "x"})
		w.talk(f.ID, 7, 7)
		list, err := w.m.History.Timeline(ctx, f.Name, thread.Page{Turns: true})
		if err != nil || len(list) != 3 {
			t.Fatalf("timeline %v %v", list, err)
		}
		var got []string
		for _, c := range list {
			got = append(got, fmt.Sprintf("%d %s %.2f", c.Turn, c.Prompt, c.Usage.CostUSD))
		}
		if s := strings.Join(got, ", "); s != "3 p7 0.50, 2 p2 0.50, 1 p1 0.50" {
			t.Errorf("timeline %s", s)
		}
		page, err := w.m.History.Timeline(ctx, f.Name, thread.Page{Turns: true, Before: 3, Limit: 1})
		if err != nil || len(page) != 1 || page[0].Turn != 2 || page[0].Usage.CostUSD != 0.5 {
			t.Errorf("page %+v %v", page, err)
		}
		all, err := w.m.History.Timeline(ctx, f.Name, thread.Page{})
		if err != nil || len(all) != 9 {
			t.Errorf("%d checkpoints %v", len(all), err)
		}
		entries, err := w.m.History.Turn(ctx, f.Name, "2")
		if err != nil || len(entries) != 4 || entries[0].Text != "p2" || entries[3].Text != "answer to p2" {
			t.Errorf("turn 2: %+v %v", entries, err)
		}
		entries, err = w.m.History.Turn(ctx, f.Name, "")
		if err != nil || len(entries) != 4 || entries[0].Text != "p7" {
			t.Errorf("newest turn: %+v %v", entries, err)
		}
		n := w.create(thread.NewRequest{})
		if list, err := w.m.History.Timeline(ctx, n.Name, thread.Page{}); err != nil || len(list) != 0 {
			t.Errorf("nothing said: %v %v", list, err)
		}
	})
}

func TestPrimerKeepsItsBudgetAndItsFilesPrivate(t *testing.T) {
	var masked atomic.Bool
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		for i := range 30 {
			w.turn(p.ID, fmt.Sprintf("question %d: %s", i+1, strings.Repeat("why and how ", 40)))
		}
		f := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "codex", Label: "short"})
		sent := w.sess.of(f.ID).prompts()
		if n := (len(sent) + 3) / 4; n > 800 {
			t.Errorf("the primer has %d tokens", n)
		}
		if !strings.Contains(sent, "question 30") || strings.Contains(sent, "question 2:") {
			t.Errorf("primer:\n%s", sent)
		}
		files, err := filepath.Glob(filepath.Join(w.dir, ".state", "threads", string(f.ID), "read", "handoff-*", "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("files %v %v", files, err)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o400 {
				t.Errorf("%s: %v %v", file, info.Mode(), err)
			}
		}
		read := filepath.Join(w.dir, ".state", "threads", string(f.ID), "read")
		if !slices.Equal(w.readDirs(f.ID), []string{read}) {
			t.Errorf("the agent may read %q", w.readDirs(f.ID))
		}
		// A fork's conversation names the files of the thread that it comes from, and what else its agent may read.
		masked.Store(true)
		w.turn(f.ID, "go on")
		g := w.fork(thread.ForkRequest{Thread: f.Name, Label: "next"})
		own := filepath.Join(w.dir, ".state", "threads", string(g.ID), "read")
		if !slices.Equal(w.readDirs(g.ID), []string{own, read, "/masked/" + string(g.ID), "/masked/" + string(f.ID)}) {
			t.Errorf("the fork's agent may read %q", w.readDirs(g.ID))
		}
	}, func(w *world) {
		w.cfg.Limits.Primer = 800
		w.cfg.Readable = func(t thread.Thread) ([]string, error) {
			if !masked.Load() {
				return nil, errors.New("not now")
			}
			return []string{"/masked/" + string(t.ID), "/masked/" + string(t.Parent)}, nil
		}
	})
}

// TestForkBeforeTheTurnIsStored forks where a turn has ended and its own checkpoint is still on its way: the fork
// makes one for itself, and none in its parent's name.
func TestForkBeforeTheTurnIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{})
		w.store.refuseTurns(p.ID)
		w.turn(p.ID, "one")
		head := w.status(p.ID).Head
		f, err := w.m.Forks.Fork(ctx, thread.ForkRequest{Thread: string(p.ID), Label: "soon"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c, err := w.store.Checkpoint(ctx, w.status(f.ID).Head)
		if err != nil || c.Thread != f.ID || c.Kind != thread.KindTurn || c.Parent != head {
			t.Errorf("the fork's head is %+v, %v", c, err)
		}
		if got := w.status(p.ID).Head; got != head {
			t.Errorf("the fork moved its parent's head from %s to %s", head, got)
		}
		w.store.refuseTurns("")
	})
}
