package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// realRig is a rig with a real CLI in it, whose model requests go to a scripted server.
type realRig struct {
	*e2e.Rig
	cli   clis.CLI
	model *model.Server
}

func newRealRig(t *testing.T, cli clis.CLI) *realRig { return newScripted(t, cli, atWork) }

// newScripted is newRealRig with a script of its own.
func newScripted(t *testing.T, cli clis.CLI, script model.Script) *realRig {
	bin := clis.Bin(t)
	r := &realRig{Rig: e2e.NewRig(t), cli: cli, model: model.New(script)}
	t.Cleanup(r.model.Close)
	r.Patience = 3 * e2e.Patience // some take a minute to start beside others
	r.Env = slices.DeleteFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	r.Env = append(r.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	r.setUp(cli)
	return r
}

// setUp has the person use a CLI.
func (r *realRig) setUp(cli clis.CLI) {
	r.Env = append(r.Env, cli.SetUp(r.T, r.Home, r.model.URL(), r.Project)...)
}

// atWork reads the markers of prompts, but not those that a handoff quotes.
func atWork(turn model.Turn) scripted.Reply {
	if !turn.Side && strings.HasPrefix(turn.Prompt, handoffBegin) {
		return scripted.Reply{Text: "I know the record."}
	}
	return model.Markers(turn)
}

// handoffBegin is how a handoff begins.
const handoffBegin = "# Handoff"

// start makes a thread whose agent asks nothing.
func (r *realRig) start(label string) string {
	r.T.Helper()
	args := []string{"new", "-a", r.cli.Name, "-m", r.cli.Model, label}
	if r.cli.Mode != "" {
		args = append(args, "--permission-mode", r.cli.Mode)
	}
	return r.Ok(args...)
}

// realTurns is the length of the conversations that are forked.
const realTurns = 5

// talked makes a thread with so many turns.
func (r *realRig) talked(turns int) string {
	r.T.Helper()
	name := r.start("parent")
	for i := 1; i <= turns; i++ {
		r.Ok("send", name, realPrompt(i))
	}
	return name
}

// realPrompt is a prompt of one turn: files are written, a command is run, a decision comes with the
// answer.
func realPrompt(i int) string {
	return fmt.Sprintf("prompt-%d. #write:notes.txt=note-%d #write:f-%d.txt=file-%d #bash:echo output-%d #usage:%d,20,0,7 #say:answer-%d. We decided on plan-%d.",
		i, i, i, i, i, 1000+i, i, i)
}

// request waits for the main request that brings a prompt to the model.
func (r *realRig) request(what string) model.Request {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.T.Context(), 2*e2e.Patience)
	defer cancel()
	q, err := r.model.Wait(ctx, func(q model.Request) bool { return !q.Turn.Side && strings.Contains(q.Turn.Prompt, what) })
	if err != nil {
		r.T.Fatalf("the model never heard %q: %v", what, err)
	}
	return q
}

// holdsTurns checks which turns a request holds, and that it holds nothing at all of the others.
func holdsTurns(t *testing.T, q model.Request, turns int) {
	t.Helper()
	prompts, answers, results := strings.Join(q.Turn.Prompts(), "\n"), strings.Join(q.Turn.Answers(), "\n"), strings.Join(q.Turn.Results(), "\n")
	for i := 1; i <= turns; i++ {
		for what, text := range map[string]string{
			fmt.Sprintf("prompt-%d.", i): prompts, fmt.Sprintf("answer-%d.", i): answers, fmt.Sprintf("output-%d", i): results,
		} {
			if !strings.Contains(text, what) {
				t.Errorf("the request lacks %s", what)
			}
		}
	}
	for _, word := range []string{"turn_aborted", "interrupted"} {
		if strings.Contains(string(q.Body), word) {
			t.Errorf("the model is told of something %s", word)
		}
	}
	holdsNothingAfter(t, string(q.Body), turns)
}

// holdsNothingAfter checks that a text has no word of the turns after one.
func holdsNothingAfter(t *testing.T, text string, turn int) {
	t.Helper()
	for i := turn + 1; i <= realTurns; i++ {
		for _, word := range []string{"prompt-%d.", "answer-%d.", "output-%d", "note-%d", "file-%d", "f-%d.txt", "plan-%d"} {
			word = fmt.Sprintf(word, i)
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("%s of turn %d is in it: …%s…", word, i, text[max(0, at-300):min(len(text), at+100)])
			}
		}
	}
}

// holdsFiles checks that a folder has the files of a turn and none of later ones.
func holdsFiles(t *testing.T, dir string, turn int) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || strings.TrimSpace(string(b)) != fmt.Sprintf("note-%d", turn) {
		t.Errorf("notes.txt at turn %d: %q %v", turn, b, err)
	}
	for i := 1; i <= realTurns; i++ {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f-%d.txt", i)))
		switch {
		case i <= turn && (err != nil || strings.TrimSpace(string(b)) != fmt.Sprintf("file-%d", i)):
			t.Errorf("f-%d.txt at turn %d: %q %v", i, turn, b, err)
		case i > turn && !os.IsNotExist(err):
			t.Errorf("f-%d.txt is there at turn %d: %v", i, turn, err)
		}
	}
}

// plug kills the server and every agent.
func (r *realRig) plug() {
	r.T.Helper()
	pids := []int{r.ServerPID()}
	for _, s := range e2e.Get[[]thread.Status](r.Rig, "threads") {
		if s.Execution != nil {
			pids = append(pids, s.Execution.PID)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			r.T.Fatal(err)
		}
	}
}

// TestRealResume drives every real CLI in the whole program: a turn with tools, a gauge that equals
// what the model counted, the plug pulled in the middle of the next answer, and the same history
// heard again after the resume.
func TestRealResume(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.start("real")
			r.Ok("send", name, realPrompt(1))
			s := r.AwaitState(name, thread.StateDone, thread.StateIdle)
			if s.Gauge.Tokens != 1001+20+7 || s.Gauge.Estimated {
				t.Errorf("gauge %+v, and the model counted %d", s.Gauge, 1001+20+7)
			}
			if got := r.Read("notes.txt"); !strings.Contains(got, "note-1") {
				t.Errorf("notes.txt: %q", got)
			}
			r.Ok("send", "-d", name, "second. #hold:plug #say:never heard")
			r.request("second.")
			r.plug()
			r.model.Release("plug")
			s = r.Status(name)
			e2e.Await(t, "proof of what can be resumed", func() bool { s = r.Status(name); return s.Resume != nil })
			if s.State.State != thread.StateInterrupted || s.Resume.How != thread.ResumeNative || s.Resume.Bytes == 0 {
				t.Errorf("after the kill: %s, %+v", s.State.State, s.Resume)
			}
			proof := *s.Resume
			r.Ok("resume", name)
			r.Ok("send", name, "third. #say:answer-3.")
			q := r.request("third.")
			if prompts := strings.Join(q.Turn.Prompts(), "\n"); !strings.Contains(prompts, "prompt-1.") || !strings.Contains(strings.Join(q.Turn.Results(), "\n"), "output-1") {
				t.Errorf("the model heard after the resume: %q", prompts)
			}
			t.Logf("%s: a turn, kill -9 of server and agent in the middle of the next, resume and a turn in %v; %d bytes verified (%s)",
				cli.Name, time.Since(begin).Round(time.Second), proof.Bytes, proof.Detail)
		})
	}
}

// TestRealForks forks every real CLI at turn 3 of five.
func TestRealForks(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			begin := time.Now()
			name := r.talked(realTurns)
			fork := e2e.Get[thread.Status](r.Rig, "fork", "another way", "-t", name, "--at", "3")
			holdsFiles(t, fork.Dir, 3)
			r.Ok("send", fork.Name, "fork. #say:answer-fork.")
			holdsTurns(t, r.request("fork."), 3)
			r.Ok("send", name, "parent. #say:answer-parent.")
			holdsTurns(t, r.request("parent."), realTurns)
			holdsFiles(t, r.Project, realTurns)
			t.Logf("%s: five turns, fork at turn 3, a turn in each in %v", cli.Name, time.Since(begin).Round(time.Second))
		})
	}
}
