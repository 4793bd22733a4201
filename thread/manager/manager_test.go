package manager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

var ctx = context.Background()

func TestTurnIsDurableBeforeItIsShownDone(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Label: "add a login page"})
		if s.State.State != thread.StateStarting || s.Execution == nil || s.Execution.PID != 42 {
			t.Fatalf("new thread: state %s, execution %+v", s.State.State, s.Execution)
		}
		if !strings.HasPrefix(s.Name, "add-a-login-page-") {
			t.Errorf("name %q", s.Name)
		}
		w.turn(s.ID, "p1")
		got := w.status(s.ID)
		if got.State.State != thread.StateDone || got.Turn != 1 || got.Seen {
			t.Errorf("after a turn: %s, turn %d, seen %v", got.State.State, got.Turn, got.Seen)
		}
		if got.Gauge.Tokens != 15 || got.Gauge.CostUSD != 0.5 || got.Usage.Input != 20 {
			t.Errorf("gauge %+v usage %+v", got.Gauge, got.Usage)
		}
		if got.Gauge.Masked != 7 || got.Gauge.SavedUSD != 0.25 {
			t.Errorf("masks: gauge %+v", got.Gauge)
		}
		if states := w.events.states(s.ID); states != "exited starting working done" {
			t.Errorf("states shown: %s", states)
		}
		// The turn is told before the thread is shown done.
		var order []string
		for _, e := range w.events.list {
			switch {
			case e.Kind == thread.EventCheckpoint:
				order = append(order, string(e.Checkpoint.Kind))
			case e.Kind == thread.EventThread && e.Status.State.State == thread.StateDone && order[len(order)-1] != "done":
				order = append(order, "done")
			}
		}
		if o := strings.Join(order, " "); !strings.HasPrefix(o, "response response turn done") {
			t.Errorf("order %s", o)
		}
		if err := w.m.Lifecycle.Seen(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		if got := w.status(s.ID); got.State.State != thread.StateIdle {
			t.Errorf("seen: %s", got.State.State)
		}
		w.turn(s.ID, "p2")
		items, err := w.store.Conversation(ctx, w.status(s.ID).Head)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(items); got != "p1|call|result|answer to p1|p2|call|result|answer to p2" {
			t.Errorf("stored conversation %s", got)
		}
		files, err := w.store.Transcript(ctx, w.status(s.ID).Head)
		if err != nil || len(files) != 1 || string(files[0].Data) != w.natives.bytes(s.Session) {
			t.Errorf("stored transcript %v %v", files, err)
		}
	})
}

func TestEventsHaveNoGap(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		for i := range 5 {
			w.turn(s.ID, fmt.Sprint("p", i))
		}
		synctest.Wait()
		for i, e := range w.events.list {
			if e.Seq != w.events.list[0].Seq+int64(i) || e.Status != nil && e.Status.Seq != e.Seq {
				t.Fatalf("event %d has seq %d", i, e.Seq)
			}
		}
	})
}

func TestSlowSubscriberSeesTheGap(t *testing.T) {
	inWorld(t, func(w *world) {
		c, cancel := context.WithCancel(ctx)
		defer cancel()
		first := w.m.Threads.Seq()
		ch, err := w.m.Threads.Events(c)
		if err != nil {
			t.Fatal(err)
		}
		s := w.create(thread.NewRequest{})
		for i := range 1500 {
			if err := w.m.Lifecycle.Pin(ctx, s.Name, i%2 == 0); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		last, gaps := first, int64(0)
		for range 300 {
			synctest.Wait()
			select {
			case e := <-ch:
				if e.Seq != last+1 {
					gaps++
				}
				last = e.Seq
				continue
			default:
			}
			break
		}
		if gaps == 0 {
			t.Error("a subscriber that fell behind saw no gap")
		}
	})
}

func TestFullDiskLosesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		w.store.fail(thread.ErrDiskFull)
		w.turn(s.ID, "p2")
		w.turn(s.ID, "p3")
		got := w.status(s.ID)
		if got.State.State != thread.StateWorking || got.Turn != 1 {
			t.Errorf("while the disk is full: %s turn %d", got.State.State, got.Turn)
		}
		if n := w.events.notices(); strings.Count(n, "disk is full") != 1 {
			t.Errorf("told: %s", n)
		}
		// Dialogs are shown all the same.
		w.m.Traffic.Hook(s.ID, "PermissionRequest", nil)
		if got := w.status(s.ID); got.State.State != thread.StateApproval {
			t.Errorf("dialog: %s", got.State.State)
		}
		w.m.Traffic.Hook(s.ID, "Stop", nil)
		w.store.fail(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got = w.status(s.ID)
		if got.State.State != thread.StateDone || got.Turn != 3 {
			t.Errorf("after: %s turn %d", got.State.State, got.Turn)
		}
		items, err := w.store.Conversation(ctx, got.Head)
		if err != nil || !strings.HasSuffix(texts(items), "p3|call|result|answer to p3") || len(items) != 12 {
			t.Errorf("stored %s %v", texts(items), err)
		}
		list, err := w.store.Lineage(ctx, got.Head, thread.Page{Turns: true})
		if err != nil || len(list) != 3 || list[2].Turn != 1 || list[0].Kind != thread.KindTurn {
			t.Errorf("turns %v %v", list, err)
		}
		if n := w.events.notices(); !strings.Contains(n, "all answers are stored now") {
			t.Errorf("told: %s", n)
		}
	})
}

func TestOldIdleDoesNotOvertakeNewWork(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.store.fail(thread.ErrDiskFull)
		w.turn(s.ID, "p1")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.store.fail(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := w.status(s.ID); got.State.State != thread.StateWorking {
			t.Errorf("state %s", got.State.State)
		}
	})
}

func TestSideRequestsCostOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		answer := item("assistant", "title")
		w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Purpose: "title", Answer: &answer, Usage: thread.Usage{CostUSD: 1}})
		w.turn(s.ID, "p1")
		got := w.status(s.ID)
		if got.Gauge.CostUSD != 1.5 || got.Usage.CostUSD != 1.5 || got.Usage.Input != 20 || got.Turn != 1 {
			t.Errorf("gauge %+v usage %+v", got.Gauge, got.Usage)
		}
	})
}

func TestInterruptedAnswerIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		half := item("assistant", "half an ans")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 200, Items: []thread.Item{item("user", "p1")}, Answer: &half,
			Prompt: "p1", Interrupted: true, EndsTurn: true, Err: "cut at byte 11", Ended: time.Now()})
		synctest.Wait()
		got := w.status(s.ID)
		c, err := w.store.Checkpoint(ctx, got.Head)
		if err != nil || !c.Interrupted || c.Turn != 1 || c.Kind != thread.KindResponse || got.Turn != 0 {
			t.Errorf("checkpoint %+v %v, thread turn %d", c, err, got.Turn)
		}
		w.respond(s.ID, "p1", "the whole answer", false) // the agent tries again
		if c, err := w.store.Checkpoint(ctx, w.status(s.ID).Head); err != nil || c.Turn != 1 {
			t.Errorf("its second try is in turn %d %v", c.Turn, err)
		}
		w.respond(s.ID, "p1", "the end", true)
		w.turn(s.ID, "p2")
		if c, err := w.store.Checkpoint(ctx, w.status(s.ID).Head); err != nil || c.Turn != 2 {
			t.Errorf("the next prompt is turn %d %v", c.Turn, err)
		}
	})
}

// TestCutAnswerLeavesItsTurnOpen: an answer that was cut off ends no turn, whatever it says about itself; when its agent
// gives up and waits, the turn is closed as the interrupted one that it is.
func TestCutAnswerLeavesItsTurnOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		half := item("assistant", "half an ans")
		w.m.Traffic.RequestStarted(s.ID, thread.Begun{Main: true, Model: "m1", At: time.Now()})
		w.m.Traffic.ExchangeEnded(s.ID, thread.Exchange{Main: true, Status: 200, Items: []thread.Item{item("user", "p1")}, Answer: &half,
			Prompt: "p1", Interrupted: true, EndsTurn: true, Err: "cut at byte 11", Ended: time.Now()})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := w.status(s.ID); got.Turn != 0 || got.State.State == thread.StateIdle || got.State.State == thread.StateDone {
			t.Errorf("cut off, the thread is %s at turn %d", got.State.State, got.Turn)
		}
		w.m.Traffic.Hook(s.ID, "Stop", nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got := w.status(s.ID)
		c, err := w.store.Checkpoint(ctx, got.Head)
		if err != nil || c.Kind != thread.KindTurn || !c.Interrupted || got.Turn != 1 {
			t.Errorf("closed at turn %d as %+v, %v", got.Turn, c, err)
		}
	})
}

// TestInterruptedTurnIsClosed is the person's Esc: no answer comes any more, and the agent waits.
func TestInterruptedTurnIsClosed(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.respond(s.ID, "p1", "call", false)
		w.m.Traffic.Hook(s.ID, "Stop", nil)
		time.Sleep(time.Second)
		w.respond(s.ID, "p1", "call", false) // it only looked idle
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := w.status(s.ID); got.Turn != 0 {
			t.Errorf("a working turn was closed: %+v", got.Thread)
		}
		w.m.Traffic.Hook(s.ID, "Stop", nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		got := w.status(s.ID)
		c, err := w.store.Checkpoint(ctx, got.Head)
		if err != nil || c.Kind != thread.KindTurn || !c.Interrupted || got.Turn != 1 {
			t.Errorf("closed as %+v %v", c, err)
		}
		w.turn(s.ID, "p2")
		if got := w.status(s.ID); got.Turn != 2 {
			t.Errorf("then turn %d", got.Turn)
		}
	})
}

// TestStoppedWithTheServer: agents that ran when the server was stopped are interrupted, one that had ended by itself
// stays as it was.
func TestStoppedWithTheServer(t *testing.T) {
	inWorld(t, func(w *world) {
		ran := w.create(thread.NewRequest{})
		w.turn(ran.ID, "p1")
		left := w.create(thread.NewRequest{})
		w.sess.of(left.ID).exit(0)
		synctest.Wait()
		w.close()
		w.open()
		for id, want := range map[thread.ID]thread.State{
			ran.ID: thread.StateInterrupted, left.ID: thread.StateExited,
		} {
			if got := w.status(id); got.State.State != want {
				t.Errorf("%s after a restart: %s, want %s", got.Name, got.State.State, want)
			}
		}
	})
}

func TestNoProcessWithoutItsRow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sess.started = func(spec thread.SessionSpec) {
			open, err := w.store.OpenExecutions(ctx)
			if err != nil || len(open) != 1 || open[0].Thread != spec.Thread || open[0].Session != spec.Launch.Session {
				t.Errorf("process starts with runs %+v %v", open, err)
			}
		}
		s := w.create(thread.NewRequest{})
		w.sess.of(s.ID).exit(0)
		synctest.Wait()
		if open, _ := w.store.OpenExecutions(ctx); len(open) != 0 {
			t.Errorf("runs left open: %+v", open)
		}
		if got := w.status(s.ID); got.State.State != thread.StateExited || got.Execution != nil {
			t.Errorf("after the end: %s %+v", got.State.State, got.Execution)
		}
	})
}

func TestFailedStartIsNamed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sess.refuse = errors.New("no such program")
		_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude"})
		if err == nil || !strings.Contains(err.Error(), "no such program") {
			t.Fatalf("err %v", err)
		}
		if open, _ := w.store.OpenExecutions(ctx); len(open) != 0 {
			t.Errorf("runs left open: %+v", open)
		}
		list, _ := w.m.Threads.List(ctx)
		if len(list) != 0 {
			t.Errorf("left behind: %+v", list)
		}
	})
}

func TestBadNewRequests(t *testing.T) {
	inWorld(t, func(w *world) {
		for name, c := range map[string]struct {
			r    thread.NewRequest
			want error
		}{
			"agent":      {thread.NewRequest{Agent: "nope"}, thread.ErrNotFound},
			"folder":     {thread.NewRequest{Agent: "claude", Dir: "/does/not/exist"}, thread.ErrNotFound},
			"credential": {thread.NewRequest{Agent: "claude", Flags: thread.Flags{Env: []string{"OPENAI_API_KEY=x"}}}, thread.ErrInvalid},
			"no pair":    {thread.NewRequest{Agent: "claude", Flags: thread.Flags{Env: []string{"X"}}}, thread.ErrInvalid},
			"nul":        {thread.NewRequest{Agent: "claude", Flags: thread.Flags{Args: []string{"a\x00b"}}}, thread.ErrInvalid},
		} {
			if _, err := w.m.Creation.New(ctx, c.r); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list, _ := w.m.Threads.List(ctx); len(list) != 0 {
			t.Errorf("left %+v", list)
		}
	})
}

func TestNames(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{Name: "auth feature"})
		b := w.create(thread.NewRequest{Name: "auth feature"})
		c := w.create(thread.NewRequest{Prompt: "\n  Fix the docs, please\nnow"})
		if a.Name == b.Name || !strings.HasPrefix(c.Name, "fix-the-docs-please-") {
			t.Fatalf("names %s %s %s", a.Name, b.Name, c.Name)
		}
		for ref, want := range map[string]thread.ID{a.Name: a.ID, string(b.ID): b.ID, "fix": c.ID, string(c.ID[:8]): c.ID, " FIX-the ": c.ID} {
			s, err := w.m.Lifecycle.Switch(ctx, ref)
			if err != nil || s.ID != want {
				t.Errorf("%q is %s, %v", ref, s.Name, err)
			}
		}
		var unknown *thread.UnknownThreadError
		if _, err := w.m.Lifecycle.Switch(ctx, "auth"); !errors.As(err, &unknown) || len(unknown.Nearest) != 2 {
			t.Errorf("ambiguous: %v", err)
		}
		if _, err := w.m.Lifecycle.Switch(ctx, "fxi-the-docs-please"); !errors.As(err, &unknown) || len(unknown.Nearest) != 1 || unknown.Nearest[0] != c.Name {
			t.Errorf("misspelt: %v", err)
		}
		if _, err := w.m.Lifecycle.Switch(ctx, ""); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("empty: %v", err)
		}
		s, err := w.m.Lifecycle.Rename(ctx, a.Name, "Login page")
		if err != nil || s.Name != "login-page"+a.Name[len(a.Name)-5:] {
			t.Errorf("renamed to %s, %v", s.Name, err)
		}
		if _, err := w.m.Lifecycle.Rename(ctx, a.Name, "x"); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("old name: %v", err)
		}
		if _, err := w.m.Lifecycle.Rename(ctx, s.Name, "!!"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("no name: %v", err)
		}
	})
}

// TestRenamedToATakenName gives a thread a name that another has with the same digits: it gets others.
func TestRenamedToATakenName(t *testing.T) {
	inWorld(t, func(w *world) {
		other, s := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		taken := "one" + s.Name[len(s.Name)-5:]
		_, err := w.store.UpdateThread(ctx, other.ID, func(t *thread.Thread) error { t.Name = taken; return nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.m.Lifecycle.Rename(ctx, s.Name, "one")
		if err != nil || got.Name == taken || !strings.HasPrefix(got.Name, "one-") {
			t.Errorf("renamed to %q, %v", got.Name, err)
		}
	})
}

func TestLifeCycle(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Name: "one"})
		w.turn(s.ID, "p1")
		if err := w.m.Lifecycle.Archive(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		got := w.status(s.ID)
		if got.Archived.IsZero() || got.State.State != thread.StateExited || got.Interrupted {
			t.Errorf("archived: %+v", got)
		}
		if _, err := w.m.Agents.Start(ctx, "one", 0, 0); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("start of an archived thread: %v", err)
		}
		if err := w.m.Lifecycle.Unarchive(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Agents.Start(ctx, "one", 0, 0); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Delete(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		if !w.routes.removed[s.ID] {
			t.Error("a deleted thread's address is still there")
		}
		if list, _ := w.m.Threads.List(ctx); len(list) != 0 {
			t.Errorf("deleted is listed: %+v", list)
		}
		if len(w.events.of(thread.EventRemoved)) != 1 {
			t.Error("no removal was told")
		}
		if err := w.m.Lifecycle.Undelete(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		if got := w.status(s.ID); got.Turn != 1 {
			t.Errorf("brought back: %+v", got)
		}
		if err := w.m.Lifecycle.Discard(ctx, s.ID); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("discarded a thread that is in use: %v", err)
		}
		if err := w.m.Lifecycle.Delete(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		if err := w.m.Lifecycle.Discard(ctx, s.ID); err != nil {
			t.Error(err)
		}
		if err := w.m.Lifecycle.Undelete(ctx, "one"); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("after it was discarded: %v", err)
		}
	})
}

func TestSend(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Prompt: "first"})
		if got := w.sess.of(s.ID).prompts(); got != "first" {
			t.Errorf("sent %q", got)
		}
		if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: " "}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("empty: %v", err)
		}
		w.m.Traffic.Hook(s.ID, "PermissionRequest", nil)
		p, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "x"})
		if err != nil || p.State != thread.PromptQueued || p.Reason == "" || w.sess.of(s.ID).prompts() != "first" {
			t.Errorf("into a dialog: %+v %v, sent %q", p, err, w.sess.of(s.ID).prompts())
		}
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := w.m.Prompts.Ask(ctx, s.Name, thread.AskRequest{Text: "x"}); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("to nobody: %v", err)
		}
		if err := w.m.Agents.Stop(ctx, s.Name); !errors.Is(err, thread.ErrNotRunning) {
			t.Errorf("stop twice: %v", err)
		}
		if got := w.status(s.ID); got.Interrupted || got.State.State != thread.StateExited {
			t.Errorf("stopped: %+v", got.State)
		}
	})
}

func TestRunningLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(thread.NewRequest{})
		_, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude"})
		if !errors.Is(err, thread.ErrLimit) {
			t.Errorf("second agent: %v", err)
		}
	}, func(w *world) { w.cfg.Limits.Running = 1 })
}

// TestNamesOfEveryScript: a thread is shown as it was called, is found so, and has a name of ASCII beside.
func TestNamesOfEveryScript(t *testing.T) {
	inWorld(t, func(w *world) {
		zh := w.create(thread.NewRequest{Label: "修复 缓存 🚀"})
		de := w.create(thread.NewRequest{Name: "Größe ändern", Label: "another label", Worktree: true})
		he := w.fork(thread.ForkRequest{Thread: zh.Name, Label: "תיקון המטמון", NoStart: true})
		for _, c := range []struct {
			s    thread.Status
			want string
		}{{zh, "修复 缓存 🚀"}, {de, "Größe ändern"}, {he, "תיקון המטמון"}} {
			if c.s.DisplayName() != c.want || c.s.Name != strings.ToLower(c.s.Name) || strings.ContainsFunc(c.s.Name, func(r rune) bool { return r > 126 || r == ' ' }) {
				t.Errorf("%q is shown as %q", c.s.Name, c.s.DisplayName())
			}
			for _, ref := range []string{c.want, strings.ToUpper(c.want), string([]rune(c.want)[:4]), c.s.Name} {
				if got, err := w.m.Threads.Status(ctx, ref); err != nil || got.ID != c.s.ID {
					t.Errorf("%q means %q, %v", ref, got.Name, err)
				}
			}
		}
		if de.Worktree.Branch != "orchestrator/"+de.Name {
			t.Errorf("its branch is %s", de.Worktree.Branch)
		}
		var unknown *thread.UnknownThreadError
		if _, err := w.m.Threads.Status(ctx, "修复 缓冲 🚀"); !errors.As(err, &unknown) || !slices.Contains(unknown.Nearest, zh.Name) {
			t.Errorf("near it: %v", err)
		}
		// Two that are called alike are told apart by their names.
		twin := w.create(thread.NewRequest{Label: "修复 缓存 🚀"})
		if _, err := w.m.Threads.Status(ctx, "修复 缓存 🚀"); !errors.As(err, &unknown) || !unknown.Many || twin.Name == zh.Name {
			t.Errorf("one of two: %v", err)
		}
		// A rename keeps the digits; a name that its handle says is shown by that.
		if s, err := w.m.Lifecycle.Rename(ctx, zh.Name, "缓存"); err != nil || s.DisplayName() != "缓存" || s.Name[len(s.Name)-4:] != zh.Name[len(zh.Name)-4:] {
			t.Errorf("renamed: %q, %q, %v", s.Name, s.DisplayName(), err)
		}
		if s, err := w.m.Lifecycle.Rename(ctx, string(zh.ID), "the cache"); err != nil || s.DisplayName() != s.Name || !strings.HasPrefix(s.Name, "the-cache-") {
			t.Errorf("renamed: %q, %q, %v", s.Name, s.DisplayName(), err)
		}
		if _, err := w.m.Lifecycle.Rename(ctx, string(zh.ID), "\u202e \u200b"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("a name that nobody sees: %v", err)
		}
		if err := w.m.Lifecycle.Archive(ctx, string(de.ID)); err != nil {
			t.Fatal(err)
		}
		if s, err := w.m.Threads.Status(ctx, strings.Repeat("g", 500)); err == nil {
			t.Errorf("500 letters mean %s", s.Name)
		}
	})
}
