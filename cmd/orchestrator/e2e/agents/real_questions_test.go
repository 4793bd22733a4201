package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// twoWay are the CLIs that wait for a person without a terminal.
func twoWay() (all []clis.CLI) {
	for _, cli := range clis.All() {
		if cli.Name == "claude" || cli.Name == "codex" {
			cli.Mode = askingModes[cli.Name].mode
			all = append(all, cli)
		}
	}
	return all
}

// touches is a prompt whose agent makes a file after the other.
func (r *realRig) touches(files ...string) string {
	var b strings.Builder
	b.WriteString("please.")
	for _, file := range files {
		fmt.Fprintf(&b, " %s#bash:touch %s", askingModes[r.cli.Name].mark, file)
	}
	return b.String() + " #say:it is done."
}

// asks waits until a run asks about a file, and returns its thread.
func (r *realRig) asks(name, file string) thread.Status {
	r.T.Helper()
	var s thread.Status
	e2e.Await(r.T, "the question about "+file, func() bool {
		x := r.execution(name)
		if x.State.Final() {
			r.T.Fatalf("%s is %s: %s", name, x.State, x.Reason)
		}
		s = r.Status(string(x.Thread))
		q := s.State.Question
		return x.State == work.NeedsInput && q != nil && strings.Contains(q.About, "touch "+file)
	})
	return s
}

// made reports whether a run has made a file in its folder.
func (r *realRig) made(s thread.Status, file string) bool {
	r.T.Helper()
	_, err := os.Stat(filepath.Join(s.Dir, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.T.Error(err)
	}
	return err == nil
}

// TestRealRunQuestions has runs of the real CLIs ask: it is seen in the list and in the inbox within two seconds, and what
// was approved is done, what was denied is not, with the person's words to it.
func TestRealRunQuestions(t *testing.T) {
	for _, cli := range twoWay() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			r.Ok(r.once("-d", r.touches("yes.txt", "no.txt", "words.txt"))...)
			q := r.request("please.")
			var seen time.Duration
			e2e.Await(t, "the question in the list", func() bool {
				seen = time.Since(q.Received)
				return strings.Contains(r.Ok("list"), "touch yes.txt")
			})
			inbox := r.Ok("inbox")
			t.Logf("REAL: %s: its question was seen in the list %s after the model's request", cli.Name, seen.Round(time.Millisecond))
			if seen > 2*time.Second || !strings.Contains(inbox, "touch yes.txt") {
				t.Errorf("seen after %s; the inbox has\n%s", seen, inbox)
			}
			s := r.asks("exec-001", "yes.txt")
			if q := s.State.Question; q.Kind != thread.QuestionPermission || q.Choice(thread.Approve) < 0 || q.Choice(thread.Deny) < 0 {
				t.Errorf("it asks %+v", q)
			}
			first := s.State.Question.ID
			r.Ok("approve", s.Name, "--question", first)
			s = r.asks("exec-001", "no.txt")
			if !r.made(s, "yes.txt") || r.made(s, "no.txt") {
				t.Error("what was approved is not there, or what was not")
			}
			if res := r.Run("approve", s.Name, "--question", first); res.Code == 0 {
				t.Error("an answered question was answered again")
			}
			r.Ok("deny", s.Name, "--question", s.State.Question.ID)
			s = r.asks("exec-001", "words.txt")
			r.Ok("answer", s.Name, "--question", s.State.Question.ID, "rather not #say:went on.")
			r.awaitRun("exec-001", work.Completed)
			if r.made(s, "no.txt") || r.made(s, "words.txt") {
				t.Error("what was denied is there")
			}
			told := false
			for _, q := range r.model.Requests() {
				told = told || strings.Contains(string(q.Body), "rather not")
			}
			if x := r.execution("exec-001"); !told || x.Answer == "" {
				t.Errorf("the model was told %v; %+v", told, x)
			}
		})
	}
}

// TestRealRunQuestionsRaced answers the questions of runs by two clients at once, one with yes and one with no, every fifth
// beside a cancel: one answer counts, and the files show which. QUESTIONS asks for more of them.
func TestRealRunQuestionsRaced(t *testing.T) {
	for _, cli := range twoWay() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			f := figures{}
			for want := e2e.FromEnv(t, "QUESTIONS", 10); f.all < want; {
				r.raced(&f)
			}
			t.Logf("REAL: %s: %s", cli.Name, f)
			if f.wrong > 0 || f.delivered*100 < f.unchanged*95 {
				t.Errorf("%s", f)
			}
		})
	}
}

// figures count questions.
type figures struct {
	runs, all, unchanged, delivered, cancelled, both, wrong int
	slowest                                                 time.Duration
}

func (f figures) String() string {
	return fmt.Sprintf("%d questions in %d runs: of %d that nobody cancelled %d were answered once; %d raced with a cancel; both answers refused %d times; %d wrong; the slowest answer took %s",
		f.all, f.runs, f.unchanged, f.delivered, f.cancelled, f.both, f.wrong, f.slowest.Round(time.Millisecond))
}

// raced has one run ask five times.
func (r *realRig) raced(f *figures) {
	r.T.Helper()
	const each = 5
	f.runs++
	name := fmt.Sprintf("exec-%03d", f.runs)
	var files []string
	for n := range each {
		files = append(files, fmt.Sprintf("race-%d-%d.txt", f.runs, n))
	}
	r.Ok(r.once("-d", r.touches(files...))...)
	for n, file := range files {
		s := r.asks(name, file)
		q := s.State.Question.ID
		calls := [][]string{{"approve", s.Name, "--question", q}, {"deny", s.Name, "--question", q}}
		if f.all%2 == 1 {
			calls[0], calls[1] = calls[1], calls[0]
		}
		if n == each-1 {
			calls = append(calls, []string{"exec", "cancel", name})
		}
		ok := make(map[string]bool)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, args := range calls {
			wg.Go(func() {
				begin := time.Now()
				res := r.Run(args...)
				mu.Lock()
				defer mu.Unlock()
				ok[args[0]] = res.Code == 0
				f.slowest = max(f.slowest, time.Since(begin))
			})
		}
		wg.Wait()
		f.all++
		if n == each-1 {
			f.cancelled++
			e2e.Await(r.T, "the end", func() bool { return r.execution(name).State.Final() })
		} else {
			f.unchanged++
			r.asks(name, files[n+1])
		}
		made := r.made(s, file)
		switch {
		case ok["approve"] && ok["deny"], made && !ok["approve"], !made && ok["approve"] && n < each-1:
			f.wrong++
			r.T.Errorf("%s: %v, and made: %v", file, ok, made)
		case !ok["approve"] && !ok["deny"]:
			f.both++
		case n < each-1:
			f.delivered++
		}
	}
}

// TestRealRunSteered: a prompt to a run that works gets into the turn that runs, and is said to.
func TestRealRunSteered(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "claude" && cli.Name != "codex" {
			continue
		}
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			r.Ok(r.once("-d", "steer. #bash:touch begun.txt; while [ ! -e go.txt ]; do sleep 0.1; done #say:it is done.")...)
			var s thread.Status
			e2e.Await(t, "the command", func() bool {
				s = r.Status(string(r.execution("exec-001").Thread))
				return r.made(s, "begun.txt")
			})
			t.Logf("REAL: %s: %q", cli.Name, r.Ok("exec", "send", "-d", "exec-001", "also the moon #say:and the moon."))
			if err := os.WriteFile(filepath.Join(s.Dir, "go.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r.awaitRun("exec-001", work.Completed)
			told := false
			for _, q := range r.model.Requests() {
				told = told || strings.Contains(string(q.Body), "also the moon")
			}
			if all := e2e.Get[[]work.Execution](r.Rig, "exec", "list"); !told || len(all) != 1 {
				t.Errorf("the model was told %v, of %d executions", told, len(all))
			}
		})
	}
}
