package agents

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// typed types a prompt into the agent's pane and returns the request that it leads to. A return that
// comes right behind much text is a new line to some agents, as in a paste: it is typed again while
// the model has heard nothing.
func (r *realRig) typed(s *e2e.Screen, prompt string) model.Request {
	r.T.Helper()
	begin, _, _ := strings.Cut(prompt, " ")
	s.Press(prompt)
	s.See(prompt[strings.LastIndex(prompt, ":")+1:])
	for range 30 {
		s.Press("\r")
		ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Second)
		q, err := r.model.Wait(ctx, func(q model.Request) bool { return !q.Turn.Side && strings.HasPrefix(q.Turn.Prompt, begin) })
		cancel()
		if err == nil {
			return q
		}
	}
	r.T.Fatalf("the model never heard %q:\n%s", prompt, s.Text())
	return model.Request{}
}

// allow waits for the agent's dialog and presses the key that allows what it asks for, again while the dialog
// stands: some ask by their title before it is there, and some draw it before it takes keys.
func (r *realRig) allow(s *e2e.Screen, dialog, key string) {
	r.T.Helper()
	s.See(dialog)
	for range 12 {
		s.Press(key)
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if !strings.Contains(s.Text(), dialog) {
				return
			}
		}
	}
	r.T.Fatalf("the agent asks on:\n%s", s.Text())
}

// TestRealScreen works in the screen as a person does, in one go: a prompt is typed into the pane, a
// tool allowed there, the answer read; server and agent are killed in the middle of the next answer;
// the thread is resumed with R, and the model hears the same history again.
func TestRealScreen(t *testing.T) {
	ask := map[string]struct{ mode, mark, dialog, yes string }{
		"claude":   {"manual", "", "1. Yes", "1"},
		"codex":    {"on-request/workspace-write", "#escalate ", "1. Yes, proceed", "y"},
		"gemini":   {"default", "", "1. Allow once", "1"},
		"opencode": {"", "", "Allow once", "\r"},
	}
	for _, cli := range clis.All() {
		how := ask[cli.Name]
		t.Run(cli.Name, func(t *testing.T) {
			cli.Mode = how.mode
			r := newRealRig(t, cli)
			r.Env = append(r.Env, `OPENCODE_PERMISSION={"bash":"ask"}`)
			begin := time.Now()
			name := r.start("asked")
			s := r.Open(120, 40, "attach", name)
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			r.typed(s, "please. "+how.mark+"#bash:touch made.txt #usage:1234,20,0,7 #say:it is made.")
			r.AwaitState(name, thread.StateApproval)
			s.See("made.txt")
			r.allow(s, how.dialog, how.yes)
			st := r.AwaitState(name, thread.StateIdle, thread.StateDone)
			if st.Gauge.Tokens != 1234+20+7 || st.Gauge.Estimated {
				t.Errorf("gauge %+v, and the model counted %d", st.Gauge, 1234+20+7)
			}
			if _, err := os.Stat(filepath.Join(r.Project, "made.txt")); err != nil {
				t.Errorf("the tool did not run: %v", err)
			}
			before := r.typed(s, "second. #hold:plug #say:never heard")
			r.plug()
			r.model.Release("plug")
			s.See("the server is not running", "Start server")
			s.Press("\r")
			s.See("1 thread interrupted", "✓ verified (")
			proof := r.Status(name).Resume
			s.Press("\r")
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			s.See("enter open")
			s.Press("\r")
			s.See("ctrl+q back to threads")
			sameHistory(t, before.Turn.History, r.typed(s, "third. #say:answer-3.").Turn.History)
			t.Logf("%s: typed, asked, allowed, answered (the gauge says %d), kill -9 of server and agent in the next answer, R, and the same history in %v; %d bytes verified (%s)",
				cli.Name, st.Gauge.Tokens, time.Since(begin).Round(time.Second), proof.Bytes, proof.Detail)
		})
	}
}

// sameHistory checks that a conversation that was cut off is heard again: what the person said, what
// was answered, and what tools found, in the same order.
func sameHistory(t *testing.T, before, after []scripted.Message) {
	t.Helper()
	for _, m := range before {
		if m.Role == scripted.System {
			continue // what the agent adds by itself, which tells the time and the like
		}
		i := slices.IndexFunc(after, func(a scripted.Message) bool { return a.Role == m.Role && a.Call == m.Call && a.Text == m.Text })
		if i < 0 {
			t.Fatalf("the model did not hear again: %s %s %q", m.Role, m.Call, m.Text)
		}
		after = after[i+1:]
	}
}

// TestRealScreenForks forks at turn 3 of five in the screen: timeline, F, the dialog, and a prompt
// typed into the pane of the fork.
func TestRealScreenForks(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.talked(realTurns)
			s := r.Open(120, 40, "attach", name)
			s.See("ctrl+q back to threads")
			s.Press("\x11\t")
			s.See("prompt-1.", "prompt-5.", "enter read")
			s.Press("jj")
			s.Press("F")
			s.See("fork " + name[:len(name)-5] + " at turn 3")
			s.Press("other way")
			s.See("other way")
			s.Press("\r")
			fork := forkOf(r.Rig, name)
			r.AwaitState(fork.Name, thread.StateIdle, thread.StateDone)
			s.See("other-way", "enter open")
			s.Press("\r")
			s.See("ctrl+q back to threads")
			holdsFiles(t, fork.Dir, 3)
			holdsTurns(t, r.typed(s, "from-ui. #say:answer-ui."), 3)
			if st := r.AwaitState(fork.Name, thread.StateIdle, thread.StateDone); st.Turn != 4 {
				t.Errorf("the fork is at turn %d", st.Turn)
			}
			holdsFiles(t, fork.Dir, 3)
			holdsFiles(t, r.Project, realTurns)
			t.Logf("%s: five turns, fork at turn 3 in the screen, and a turn typed into its pane in %v", cli.Name, time.Since(begin).Round(time.Second))
		})
	}
}

// forkOf waits for a thread's only fork.
func forkOf(r *e2e.Rig, name string) thread.Status {
	r.T.Helper()
	parent := r.Status(name)
	var fork thread.Status
	e2e.Await(r.T, "a fork of "+name, func() bool {
		for _, s := range e2e.Get[[]thread.Status](r, "threads") {
			if s.Parent == parent.ID && s.Execution != nil {
				fork = s
			}
		}
		return fork.ID != ""
	})
	return fork
}
