package manager_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread"
)

// args returns the arguments that a thread's newest process was started with.
func (w *world) args(id thread.ID) string {
	return strings.Join(w.sess.of(id).spec.Launch.Args, " ")
}

func TestCrashIsNamedAndResumed(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{Flags: thread.Flags{Args: []string{"--fast"}, Env: []string{"A=b"}, PermissionMode: "plan"}})
		w.turn(s.ID, "p1")
		w.respond(s.ID, "p2", "call", false)
		idle := w.create(thread.NewRequest{})
		w.crash()

		got := w.status(s.ID)
		if got.State.State != thread.StateInterrupted || got.Execution != nil {
			t.Fatalf("after the crash: %s %+v", got.State.State, got.Execution)
		}
		p := got.Resume
		if p == nil || p.How != thread.ResumeNative || p.Turn != 1 || p.Bytes == 0 || p.Incomplete == "" || p.Worktree != "clean" {
			t.Errorf("proof %+v", p)
		}
		if p := w.status(idle.ID).Resume; p == nil || p.How != thread.ResumeFresh {
			t.Errorf("proof of a thread in which nothing was said: %+v", p)
		}
		list, err := w.m.Agents.ResumeAll(ctx, 80, 24)
		if err != nil || len(list) != 2 {
			t.Fatalf("ResumeAll: %v %v", list, err)
		}
		if got := w.args(s.ID); got != "--resume "+s.Session+" --fast" {
			t.Errorf("resumed with %s", got)
		}
		spec := w.sess.of(s.ID).spec
		if !slices.Contains(spec.Launch.Env, "A=b") || spec.Cols != 80 || spec.Launch.Dir != s.Dir {
			t.Errorf("resumed in %+v", spec)
		}
		if strings.Contains(w.args(idle.ID), "--resume") {
			t.Errorf("nothing to resume: %s", w.args(idle.ID))
		}
		if got := w.status(s.ID); got.Interrupted || got.State.State != thread.StateStarting || got.Resume != nil {
			t.Errorf("resumed: %+v", got)
		}
		w.respond(s.ID, "p2", "answer to p2", true)
		items, err := w.store.Conversation(ctx, w.status(s.ID).Head)
		if err != nil || texts(items) != "p1|call|result|answer to p1|p2|call|result|answer to p2" {
			t.Errorf("goes on with %s %v", texts(items), err)
		}
		if got := w.status(s.ID); got.Turn != 2 {
			t.Errorf("turn %d", got.Turn)
		}
	})
}

// TestCrashOnAFullDisk starts after a crash when nothing can be written: interrupted threads are shown, and stored once
// there is room, but for one that runs again by then.
func TestCrashOnAFullDisk(t *testing.T) {
	inWorld(t, func(w *world) {
		stays, goes := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		w.store.refuse(thread.ErrDiskFull)
		w.crash()
		for _, id := range []thread.ID{stays.ID, goes.ID} {
			if got := w.status(id); got.State.State != thread.StateInterrupted {
				t.Errorf("on a full disk: %s", got.State.State)
			}
		}
		if open, err := w.store.OpenExecutions(ctx); err != nil || len(open) != 2 {
			t.Fatalf("%d runs are open: %v", len(open), err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.store.refuse(nil)
		if _, err := w.m.Agents.Start(ctx, goes.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		open, err := w.store.OpenExecutions(ctx)
		if err != nil || len(open) != 1 || open[0].Thread != goes.ID {
			t.Errorf("with room %v are open: %v", open, err)
		}
		for id, interrupted := range map[thread.ID]bool{stays.ID: true, goes.ID: false} {
			if got, err := w.store.Thread(ctx, id); err != nil || got.Interrupted != interrupted || w.status(id).Interrupted != interrupted {
				t.Errorf("stored as interrupted %v: %v", got.Interrupted, err)
			}
		}
	})
}

func TestLostTranscriptIsRebuilt(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		was := w.natives.bytes(s.Session)
		w.sess.of(s.ID).exit(137)
		synctest.Wait()
		if got := w.status(s.ID); got.State.State != thread.StateInterrupted || got.Resume == nil || got.Resume.How != thread.ResumeNative {
			t.Fatalf("killed agent: %s %+v", got.State.State, got.Resume)
		}
		w.natives.remove(s.Session)
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		if w.natives.bytes(s.Session) != was || w.args(s.ID) != "--resume "+s.Session {
			t.Errorf("rebuilt %q, started with %s", w.natives.bytes(s.Session), w.args(s.ID))
		}
		w.turn(s.ID, "p2")
		files, err := w.store.Transcript(ctx, w.status(s.ID).Head)
		if err != nil || string(files[0].Data) != w.natives.bytes(s.Session) {
			t.Errorf("transcript after the rebuild: %v", err)
		}
	})
}

func TestForeignTranscriptIsNotAdopted(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		was := w.natives.bytes(s.Session)
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		foreign := was + strings.Repeat("{\"role\":\"user\",\"text\":\"somebody else's\"}\n", 9)
		w.natives.set(s.Session, foreign[1:])
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		got := w.status(s.ID)
		if got.Session == s.Session || w.natives.bytes(got.Session) != was {
			t.Errorf("resumed in %s with %q", got.Session, w.natives.bytes(got.Session))
		}
		if w.natives.bytes(s.Session) != foreign[1:] {
			t.Error("the foreign file was written to")
		}
	})
}

func TestUnrebuildableGetsAPrimer(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1: use tabs")
		if err := w.m.Agents.Stop(ctx, s.Name); err != nil {
			t.Fatal(err)
		}
		w.natives.remove(s.Session)
		w.natives.refuse = errors.New("unknown format")
		if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		sent := w.sess.of(s.ID).prompts()
		if !strings.Contains(sent, "p1: use tabs") || !strings.Contains(w.events.notices(), "summary") {
			t.Errorf("sent %q, told %q", sent, w.events.notices())
		}
		if strings.Contains(w.args(s.ID), "--resume") || w.status(s.ID).Session == s.Session {
			t.Errorf("started with %s", w.args(s.ID))
		}
	})
}

func TestTwoThreadsNeverShareASession(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create(thread.NewRequest{})
		b := w.create(thread.NewRequest{})
		w.turn(a.ID, "p1")
		// b's agent opens a's session by itself.
		answer := item("assistant", "x")
		w.m.Traffic.ExchangeEnded(b.ID, thread.Exchange{Main: true, Session: a.Session, Items: []thread.Item{item("user", "q")},
			Answer: &answer, Prompt: "q", Status: 200, EndsTurn: true, Ended: time.Now()})
		synctest.Wait()
		if got := w.status(b.ID); got.Session == a.Session {
			t.Error("the session of another thread was taken over")
		}
		if !strings.Contains(w.events.notices(), "belongs to another thread") {
			t.Errorf("told: %s", w.events.notices())
		}
	})
}

// share has the store say that a thread's session is another's, as after a copy of either, and starts again upon it.
func (w *world) share(id thread.ID, change func(*thread.Thread)) {
	w.t.Helper()
	if _, err := w.store.UpdateThread(ctx, id, func(t *thread.Thread) error { change(t); return nil }); err != nil {
		w.t.Fatal(err)
	}
	w.crash()
}

// resumed resumes a thread and returns what its agent was started with.
func (w *world) resumed(s thread.Status) string {
	w.t.Helper()
	if _, err := w.m.Agents.Start(ctx, s.Name, 0, 0); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return w.args(s.ID)
}

// TestLostRecordTakesNobodysSession: a thread whose turns the store lost goes on in its own session, and not in one that
// another thread has.
func TestLostRecordTakesNobodysSession(t *testing.T) {
	for _, taken := range []bool{false, true} {
		inWorld(t, func(w *world) {
			a, b := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
			w.turn(a.ID, "p1")
			w.turn(b.ID, "p1")
			session := b.Session
			if taken {
				session = a.Session
			}
			w.share(b.ID, func(t *thread.Thread) { t.Head, t.Session = "", session })
			if p := w.status(b.ID).Resume; p == nil || (p.How == thread.ResumeNative) == taken || (p.Session == session) == taken {
				t.Errorf("taken %v: proof %+v", taken, p)
			}
			if taken { // there is nothing else to go on with, and a blank session would pass for its own
				if _, err := w.m.Agents.Start(ctx, b.Name, 0, 0); !errors.Is(err, thread.ErrNotFound) || w.sess.of(b.ID) != nil {
					t.Errorf("resumed without its session: %v", err)
				}
			} else if got := w.resumed(b); got != "--resume "+session {
				t.Errorf("started with %s", got)
			}
		})
	}
}

// TestRebuiltBesideASharedSession: where another thread has a thread's session too, its conversation is written to one of
// its own, and the shared one stays as it is.
func TestRebuiltBesideASharedSession(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		w.turn(b.ID, "p1")
		was := w.natives.bytes(b.Session)
		w.share(a.ID, func(t *thread.Thread) { t.Session = b.Session })
		args := w.resumed(b)
		now := w.status(b.ID).Session
		if now == b.Session || args != "--resume "+now || w.natives.bytes(now) != was || w.natives.bytes(b.Session) != was {
			t.Errorf("started with %s; its session is %s with %q", args, now, w.natives.bytes(now))
		}
	})
}

// TestRebuiltIntoAnothersSession: an agent that says it wrote a conversation into another thread's session is not resumed
// in it; its agent gets a summary.
func TestRebuiltIntoAnothersSession(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.create(thread.NewRequest{}), w.create(thread.NewRequest{})
		w.turn(a.ID, "p1")
		w.turn(b.ID, "p1: use tabs")
		if err := w.m.Agents.Stop(ctx, b.Name); err != nil {
			t.Fatal(err)
		}
		w.natives.remove(b.Session)
		w.natives.yields = a.Session
		if got := w.resumed(b); strings.Contains(got, "--resume") || strings.Contains(got, a.Session) {
			t.Errorf("started with %s", got)
		}
		if got := w.sess.of(b.ID).prompts(); !strings.Contains(got, "p1: use tabs") || !strings.Contains(w.events.notices(), "belongs to another thread") {
			t.Errorf("sent %q, told %q", got, w.events.notices())
		}
	})
}

func TestTurnCutBeforeItsCheckpointIsFinished(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.create(thread.NewRequest{})
		w.turn(s.ID, "p1")
		// As if the crash came between the answer's checkpoint and its turn's.
		turn := w.status(s.ID)
		c, err := w.store.Checkpoint(ctx, turn.Head)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.UpdateThread(ctx, s.ID, func(t *thread.Thread) error {
			t.Head, t.Turn = c.Parent, 0
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.crash()
		got := w.status(s.ID)
		head, err := w.store.Checkpoint(ctx, got.Head)
		if err != nil || head.Kind != thread.KindTurn || head.Parent != c.Parent || got.Turn != 1 {
			t.Errorf("head %+v %v, turn %d", head, err, got.Turn)
		}
		if got.Resume == nil || got.Resume.Incomplete != "" {
			t.Errorf("proof %+v", got.Resume)
		}
	})
}

func TestThreadWithoutGatewayReadsItsTranscript(t *testing.T) {
	inWorld(t, func(w *world) {
		w.agents["polled"] = &polledAgent{fullAgent{plainAgent{"polled"}, w.natives}}
		s := w.create(thread.NewRequest{Agent: "polled", Flags: thread.Flags{NoGateway: true}})
		for _, p := range []string{"p1", "p2"} {
			w.natives.append(s.Session, []thread.Item{item("user", p), item("assistant", "answer to "+p)})
			w.m.Traffic.Hook(s.ID, "Stop", nil)
			synctest.Wait()
		}
		got := w.status(s.ID)
		if got.Turn != 2 || got.Gauge.Source != "transcript" || got.State.State != thread.StateDone {
			t.Errorf("turn %d gauge %+v state %s", got.Turn, got.Gauge, got.State.State)
		}
		if got.Gauge.Window != 1000 || !got.Usage.Priced || got.Gauge.CostUSD != 1 {
			t.Errorf("the model's window and prices are not used: gauge %+v usage %+v", got.Gauge, got.Usage)
		}
		if e := got.State.Evidence; len(e) == 0 || e[0].Source != thread.SourceTranscript {
			t.Errorf("evidence %+v", e)
		}
		items, err := w.store.Conversation(ctx, got.Head)
		if err != nil || texts(items) != "p1|answer to p1|p2|answer to p2" {
			t.Errorf("stored %s %v", texts(items), err)
		}
		files, err := w.store.Transcript(ctx, got.Head)
		if err != nil || string(files[0].Data) != w.natives.bytes(s.Session) {
			t.Errorf("transcript %v", err)
		}
	}, func(w *world) { w.cfg.Models = oneModel{} })
}

// oneModel knows every model alike.
type oneModel struct{}

func (oneModel) Window(string, int64, map[string]int64) int64 { return 1000 }

func (oneModel) Cost(string, thread.Usage) (float64, bool) { return 0.5, true }

// polledAgent tells usage from its transcript.
type polledAgent struct{ fullAgent }

func (a *polledAgent) ReadUsage(chunks []thread.Chunk) ([]thread.Exchange, error) {
	var out []thread.Exchange
	prompt := ""
	for _, c := range chunks {
		for line := range strings.Lines(string(c.Data)) {
			text := texts([]thread.Item{{Raw: []byte(line)}})
			if strings.Contains(line, `"user"`) {
				prompt = text
				continue
			}
			out = append(out, thread.Exchange{Main: true, Status: 200, Prompt: prompt, Text: text, EndsTurn: text != "call",
				Ended: time.Now(), Usage: thread.Usage{Input: 3, Output: 4}})
		}
	}
	return out, nil
}
