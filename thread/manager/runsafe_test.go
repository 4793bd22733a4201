package manager_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// TestRunReasons: what an agent says of its failure is kept in one line without secrets, wherever it is kept.
func TestRunReasons(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdef-AAAA"
	inWorld(t, func(w *world) {
		s := w.once("fail")
		p := w.sess.of(s.ID)
		p.spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "401: the key " + key + " is not valid\nmore"})
		p.exit(1)
		x := w.runIs(s.ID, exec.Failed)
		list, err := w.m.Executions.Events(context.Background(), x.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		said := []string{x.Reason, w.promptOf(x).Reason, w.status(s.ID).Run.Reason}
		for _, e := range list {
			said = append(said, e.Text)
		}
		for _, text := range said {
			if strings.Contains(text, key) {
				t.Errorf("%q has the key", text)
			}
		}
		if !strings.Contains(x.Reason, "401") || strings.Contains(x.Reason, "\n") {
			t.Errorf("the reason is %q", x.Reason)
		}
	}, withRuns)
}

// TestRunsEnvironment: a run begins with the environment of the person who asks for it, as a thread in a terminal does.
func TestRunsEnvironment(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := thread.WithEnviron(context.Background(), []string{"KEY_OF_MINE=1"})
		s, err := w.m.Creation.New(ctx, thread.NewRequest{Agent: "claude", Prompt: "one", Once: thread.Once{On: true}})
		if err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if env := w.sess.of(s.ID).spec.Launch.Env; !slices.Contains(env, "KEY_OF_MINE=1") {
			t.Errorf("it began with %q", env)
		}
		w.finish(s.ID, "one")
		ctx = thread.WithEnviron(context.Background(), []string{"KEY_OF_MINE=2"})
		if _, err := w.m.Prompts.Ask(ctx, string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if env := w.sess.of(s.ID).spec.Launch.Env; !slices.Contains(env, "KEY_OF_MINE=2") {
			t.Errorf("the next run began with %q", env)
		}
	}, withRuns)
}

// TestRewindBesideARun: what would stop a run's process is refused while it works.
func TestRewindBesideARun(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		w.finish(s.ID, "one")
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		_, err := w.m.Rewinds.Rewind(context.Background(), thread.RewindRequest{Thread: string(s.ID), At: "1", Conversation: true})
		if !errors.Is(err, thread.ErrBusy) || !strings.Contains(err.Error(), "exec-002") {
			t.Errorf("rewound: %v", err)
		}
		w.finish(s.ID, "two")
		if x := w.runIs(s.ID, exec.Completed); x.Name != "exec-002" {
			t.Errorf("%+v", x)
		}
	}, withRuns)
}

// TestResumeWhatWasNeverAsked: a lost run that never got its prompt gets it when it is resumed, and not another.
func TestResumeWhatWasNeverAsked(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one")
		w.finish(s.ID, "one")
		if _, err := w.m.Prompts.Ask(context.Background(), string(s.ID), thread.AskRequest{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		x := w.runIs(s.ID, exec.Running)
		p := w.promptOf(x)
		p.State, p.Reason, p.Text = thread.PromptRefused, "not given", "two" // as when its process died before
		if _, err := w.store.PutPrompt(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		w.crash()
		synctest.Wait()
		x = w.runIs(s.ID, exec.Lost)
		if _, err := w.m.Executions.Resume(context.Background(), x.ID); err != nil {
			t.Fatal(err)
		}
		w.runIs(s.ID, exec.Running)
		if asked := w.sess.of(s.ID).prompts(); asked != "two" {
			t.Errorf("it was asked %q", asked)
		}
	}, withRuns)
}

// runsLines is a program that also runs without a terminal.
type runsLines struct{ shell }

func (a runsLines) Headless(ctx context.Context, s thread.LaunchSpec) (thread.HeadlessLaunch, error) {
	l, err := a.Launch(ctx, s)
	return thread.HeadlessLaunch{Launch: l, Dialogue: silent{}}, err
}

// TestRunsOfPrograms: a program that may run what it reads gets nothing of a conversation in a run either, and several
// lines only with the person's consent.
func TestRunsOfPrograms(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.turn(p.ID, evil)
		f := w.fork(thread.ForkRequest{Thread: p.Name, Agent: "shell", Label: "canary", Prompt: "make test", Once: thread.Once{On: true}})
		w.runIs(f.ID, exec.Running)
		if got := w.sess.of(f.ID).prompts(); got != "make test" {
			t.Errorf("it was given %q", got)
		}
		w.sess.of(f.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted})
		w.sess.of(f.ID).exit(0)
		synctest.Wait()
		if _, err := w.m.Prompts.Ask(context.Background(), f.Name, thread.AskRequest{Text: "one\ntwo"}); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("several lines were taken: %v", err)
		}
		if _, err := w.m.Prompts.Ask(context.Background(), f.Name, thread.AskRequest{Text: "make"}); err != nil {
			t.Fatal(err)
		}
		w.runIs(f.ID, exec.Running)
		if got := w.sess.of(f.ID).prompts(); got != "make" {
			t.Errorf("its next run was given %q", got)
		}
	}, withRuns, func(w *world) { w.agents["shell"] = runsLines{shell{&plainAgent{"shell"}}} })
}

// TestRetryOfAFork: a fork that is tried again has its conversation.
func TestRetryOfAFork(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create(thread.NewRequest{Name: "parent"})
		w.turn(p.ID, "remember this")
		f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "again", Prompt: "go on", Once: thread.Once{On: true, Lost: string(exec.PolicyRetry)}})
		first := w.sess.of(f.ID).spec.Launch.Args
		w.crash()
		synctest.Wait()
		x := w.runIs(f.ID, exec.Running)
		if args := w.sess.of(f.ID).spec.Launch.Args; x.Attempt != 2 || !slices.Contains(args, "--resume") || !slices.Contains(first, "--resume") {
			t.Errorf("attempt %d began with %q, the first with %q", x.Attempt, args, first)
		}
	}, withRuns)
}

// TestRunGoesOnAfterItsAnswer: an agent whose server died after its answer, but before it said that it had finished, has
// not completed its work, and does not begin it again by itself.
func TestRunGoesOnAfterItsAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("with sub-agents", func(r *thread.NewRequest) { r.Once.Lost = string(exec.PolicyRetry) })
		w.turn(s.ID, "with sub-agents")
		w.crash()
		if x := w.runIs(s.ID, exec.Lost); !strings.Contains(x.Reason, "before it had finished") || w.sess.of(s.ID) != nil {
			t.Errorf("%+v", x)
		}
	}, withRuns)
}

// TestRefusedCallsAreSaid: a run that completed although calls of it were refused says so.
func TestRefusedCallsAreSaid(t *testing.T) {
	inWorld(t, func(w *world) {
		s := w.once("one", func(r *thread.NewRequest) { r.Once.Asks = thread.AsksNobody })
		p := w.sess.of(s.ID)
		for _, what := range []string{"Bash touch x: nobody can be asked", "Write y: nobody can be asked"} {
			p.spec.OnRun(thread.RunEvent{Kind: thread.RunRefused, Text: what})
		}
		w.finish(s.ID, "one")
		if x := w.runIs(s.ID, exec.Completed); x.Reason != "2 calls were refused; the first: Bash touch x: nobody can be asked" {
			t.Errorf("the reason is %q", x.Reason)
		}
	}, withRuns)
}
