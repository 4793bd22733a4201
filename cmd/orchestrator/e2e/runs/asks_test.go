package runs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/work"
)

// asks waits until a run asks something else than the question with an id, and returns its thread.
func asks(t *testing.T, r *e2e.Rig, execution, before string) (s thread.Status) {
	t.Helper()
	cl := r.Client()
	x, err := api.Execution.Do(t.Context(), cl, api.ExecutionRef{Execution: execution})
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, execution+" asks", func() bool {
		s, err = api.Status.Do(t.Context(), cl, api.Ref{Thread: string(x.Thread)})
		return err == nil && s.State.Question != nil && s.State.Question.ID != before
	})
	return s
}

// TestRunsAsk: what a run asks is in the list, in what is said of the run, and in what follows it; yes and no have their
// effects, and a prompt meanwhile goes into its turn.
func TestRunsAsk(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("run", "--once", "-a", "demo", "--no-worktree", "-d", "--as", "work", "run touch yes.txt, then run touch no.txt, then run touch words.txt #together")
	follow := r.Command("exec", "logs", "-f", "work")
	var seen strings.Builder
	follow.Stdout, follow.Stderr = &seen, &seen
	begin := time.Now()
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	first, steered := asks(t, r, "work", ""), "" // they may come in any order
	t.Logf("asked %d ms after the verb had returned", time.Since(begin).Milliseconds())
	if first.State.State != thread.StateApproval || first.Group() != thread.GroupNeedsYou {
		t.Errorf("listed in %s: %+v", first.Group(), first.State)
	}
	about := first.State.Question.About
	await.Until(t, "its row needs input", func() bool { return strings.Contains(r.Ok("exec", "list", "--state", "needs_input"), about) })
	if out := r.Ok("exec", "show", "work"); !strings.Contains(out, "needs_input") || !strings.Contains(out, "Allow this command? "+about) {
		t.Errorf("shown as\n%s", out)
	}
	if got := r.Run("approve", "work"); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, about) {
		t.Errorf("approved unseen: exit %d\n%s", got.Code, got.Stderr)
	}
	seenBefore := ""
	for n := range 3 {
		s := asks(t, r, "work", seenBefore)
		q := s.State.Question
		if n == 2 {
			steered = r.Ok("exec", "send", "-d", "work", "say and more")
		}
		switch q.About {
		case "touch yes.txt":
			r.Ok("approve", "--yes", "work")
		case "touch no.txt":
			r.Ok("deny", "work", "--question", q.ID)
		default:
			r.Ok("answer", "--yes", "work", "not that file")
		}
		if got := r.Run("answer", "work", "1", "--question", q.ID); got.Code != exitcode.Refused {
			t.Errorf("%s is answered again: exit %d\n%s", q.About, got.Code, got.Stderr)
		}
		seenBefore = q.ID
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("following ended with %v:\n%s", err, seen.String())
	}
	for _, says := range []string{"asks: Allow this command? " + about, "needs you: `orchestrator approve work`", "answered: touch yes.txt", "answered: touch no.txt", "not that file"} {
		if !strings.Contains(seen.String(), says) {
			t.Errorf("%q is not said:\n%s", says, seen.String())
		}
	}
	for file, want := range map[string]bool{"yes.txt": true, "no.txt": false, "words.txt": false} {
		if _, err := os.Stat(filepath.Join(r.Project, file)); (err == nil) != want {
			t.Errorf("%s is there: %v", file, err == nil)
		}
	}
	if !strings.Contains(steered, "work works: its agent takes the prompt into the running turn") {
		t.Errorf("it is said of the prompt: %s", steered)
	}
	x, err := api.Execution.Do(t.Context(), r.Client(), api.ExecutionRef{Execution: "work"})
	if err != nil || x.State != work.Completed || x.Question != nil || x.Waited == 0 || !strings.Contains(x.Answer, "and more") {
		t.Errorf("%+v, %v", x, err)
	}
	prompts, err := api.Prompts.Do(t.Context(), r.Client(), api.PromptsRequest{Thread: string(x.Thread)})
	if err != nil || len(prompts) != 2 || prompts[1].State != thread.PromptAnswered || prompts[1].Turn != prompts[0].Turn || prompts[1].With != prompts[0].ID {
		t.Errorf("its prompts: %+v, %v", prompts, err)
	}
	if out := r.Ok("exec", "list", "-n", "5"); strings.Count(out, "exec-") > 0 {
		t.Errorf("the prompt is a run of its own:\n%s", out)
	}
}

// TestNobodyAnswers: a question does not outlive its server, a cancelled run asks nothing, an agent answers nobody, and what
// is refused without asking goes on.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	start := func(name string, more ...string) {
		r.Ok(append([]string{"run", "--once", "-a", "demo", "--no-worktree", "-d", "--as", name, "run touch " + name}, more...)...)
	}
	start("cancelled")
	q := asks(t, r, "cancelled", "").State.Question
	r.Ok("exec", "cancel", "cancelled")
	if got := r.Run("approve", "cancelled", "--question", q.ID); got.Code == exitcode.OK {
		t.Error("a cancelled run was answered")
	}
	inside := r.AgentShell("agent")
	start("agents")
	q = asks(t, r, "agents", "").State.Question
	for _, verb := range [][]string{{"approve"}, {"deny"}, {"answer"}} {
		args := append(verb, "agents", "--question", q.ID)
		if verb[0] == "answer" {
			args = []string{"answer", "agents", "1", "--question", q.ID}
		}
		if got := inside.Orchestrator(args...); got.Code == exitcode.OK {
			t.Errorf("an agent answers with %v", args)
		}
	}
	if got := r.Run("run", "--once", "-a", "demo", "--no-worktree", "--asks", "refuse", "run touch refused"); got.Code != exitcode.OK || !strings.Contains(got.Stderr, "refused") {
		t.Errorf("without asking: exit %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	if got := r.Run("run", "--once", "-a", "demo", "--asks", "perhaps", "x"); got.Code != exitcode.Usage {
		t.Errorf("--asks perhaps: exit %d", got.Code)
	}
	asks(t, r, "agents", "")
	r.Ok("stop")
	await.Until(t, "it is lost with what it asked", func() bool {
		out := r.Ok("exec", "show", "agents")
		return strings.Contains(out, "lost") && strings.Contains(out, "waited for an answer to: touch agents")
	})
	for _, file := range []string{"cancelled", "agents", "refused"} {
		if _, err := os.Stat(filepath.Join(r.Project, file)); err == nil {
			t.Errorf("%s is there", file)
		}
	}
}

// TestInterruptLosesNothing: what a cancelled run had said is stored with its turn, and the next request has it.
func TestInterruptLosesNothing(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("run", "--once", "-a", "demo", "--no-worktree", "-d", "--as", "part", "count to 5000 #long")
	x, err := api.Execution.Do(t.Context(), r.Client(), api.ExecutionRef{Execution: "part"})
	if err != nil {
		t.Fatal(err)
	}
	events, err := api.FollowExecution.Open(t.Context(), r.Client(), api.ExecutionRef{Execution: string(x.ID)})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for e := range events { // until it has counted for a while
		if e.Run != nil && e.Run.Event != nil && e.Run.Event.Kind == thread.RunText {
			said += e.Run.Event.Text
		}
		if strings.Count(said, "\n") > 20 {
			break
		}
	}
	r.Ok("exec", "cancel", "part")
	r.Ok("exec", "send", "part", "say on")
	if out := r.Ok("checkpoint", "list", string(x.Thread)); !strings.Contains(out, "turn, interrupted") {
		t.Errorf("stored as\n%s", out)
	}
	if out := r.Ok("context", "show", string(x.Thread)); !regexp.MustCompile(`(?m)^messages .* 3$`).MatchString(out) {
		t.Errorf("the next request has not two prompts and what was said between:\n%s", out)
	}
}

// asked is what became of one question.
type asked struct {
	approved, denied int
	tried            bool
}

// racer answers what some runs ask, as several clients do.
type racer struct {
	mu    sync.Mutex
	about map[string]*asked // by execution and what it was about
	wrong []string
}

func (r *racer) of(execution, about string) *asked {
	key := execution + " " + about
	if r.about[key] == nil {
		r.about[key] = &asked{}
	}
	return r.about[key]
}

// answer answers whatever a run asks until it has ended, also with no if it may.
func (r *racer) answer(ctx context.Context, cl *client.Client, x work.Execution, pause time.Duration, no bool) {
	seen := ""
	for ctx.Err() == nil {
		s, err := api.Status.Do(ctx, cl, api.Ref{Thread: string(x.Thread)})
		if err != nil || s.Run.Over() {
			return
		}
		q := s.State.Question
		if q == nil || q.ID == seen {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		seen = q.ID
		if pause > 0 {
			time.Sleep(rand.N(pause))
		}
		means := thread.Approve
		if no && rand.IntN(2) == 0 {
			means = thread.Deny
		}
		_, err = api.Answer.Do(ctx, cl, api.AnswerRequest{Thread: string(x.Thread), AnswerRequest: thread.AnswerRequest{Question: q.ID, Means: means}})
		r.mu.Lock()
		a := r.of(x.Name, q.About)
		a.tried = true
		switch {
		case err == nil && means == thread.Approve:
			a.approved++
		case err == nil:
			a.denied++
		case !errors.Is(err, thread.ErrRefused) && !errors.Is(err, thread.ErrNotRunning):
			r.wrong = append(r.wrong, fmt.Sprintf("%s, %s: %v", x.Name, q.About, err))
		}
		r.mu.Unlock()
	}
}

// TestAnswersRace: 200 questions of eight runs, each answered by two clients at once; two runs change or withdraw what they
// ask, two are cancelled. No answer has an effect that its person did not choose, none is given twice, and what does not
// change gets one.
func TestAnswersRace(t *testing.T) {
	t.Parallel()
	const each = 25
	r := e2e.NewRig(t)
	r.Ok("run", "--once", "-a", "demo", "say hello") // starts the server
	var all racer
	all.about = map[string]*asked{}
	var wg sync.WaitGroup
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	marks := []string{"", "", " #together", " #together", " #change:40ms", " #withdraw:40ms", "", " #together"}
	runs := make([]work.Execution, len(marks))
	for i, mark := range marks {
		steps := make([]string, each)
		for n := range steps {
			steps[n] = fmt.Sprintf("run touch q%d-%d", i, n)
		}
		name := fmt.Sprintf("race%d", i)
		r.Ok("run", "--once", "-a", "demo", "--no-worktree", "-d", "--calls", "none", "--as", name, strings.Join(steps, ", then ")+mark)
		x, err := api.Execution.Do(ctx, r.Client(), api.ExecutionRef{Execution: name})
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = x
		pause := time.Duration(0)
		unsteady := strings.Contains(mark, ":")
		if unsteady {
			pause = 80 * time.Millisecond
		}
		for range 2 {
			cl := r.Client()
			wg.Go(func() { all.answer(ctx, cl, x, pause, mark == " #together") }) // the demo ends its turn with a no
		}
		if i >= 6 {
			cl := r.Client()
			wg.Go(func() {
				time.Sleep(time.Second + rand.N(3*time.Second))
				_, _ = api.CancelExecution.Do(ctx, cl, api.CancelRequest{Execution: string(x.ID), Reason: "enough"})
			})
		}
	}
	wg.Wait()
	stable, delivered, given, refused := 0, 0, 0, 0
	for i := range runs {
		x, err := api.Execution.Do(t.Context(), r.Client(), api.ExecutionRef{Execution: string(runs[i].ID)})
		if err != nil || !x.State.Final() || x.Question != nil {
			t.Errorf("%s is %s (%s) and asks %+v, %v", runs[i].Name, x.State, x.Reason, x.Question, err)
		}
		steady := !strings.Contains(marks[i], ":")
		for key, a := range all.about {
			name, about, _ := strings.Cut(key, " ")
			if name != x.Name {
				continue
			}
			file := strings.TrimPrefix(about, "touch ")
			_, err := os.Stat(filepath.Join(r.Project, file))
			given += a.approved + a.denied
			if a.approved+a.denied == 0 {
				refused++
			}
			switch made := err == nil; {
			case a.approved+a.denied > 1:
				all.wrong = append(all.wrong, fmt.Sprintf("%s was answered %d times", key, a.approved+a.denied))
			case made && a.approved == 0:
				all.wrong = append(all.wrong, key+" was done without a yes")
			case !made && a.approved == 1 && steady && x.State == work.Completed:
				all.wrong = append(all.wrong, key+" was approved and not done")
			}
			if steady && x.State == work.Completed {
				stable++
				if a.approved+a.denied == 1 {
					delivered++
				}
			}
		}
	}
	for _, w := range all.wrong {
		t.Error(w)
	}
	t.Logf("%d questions seen, %d answers given, %d questions without an answer; of %d unchanged ones %d answered; %d wrong",
		len(all.about), given, refused, stable, delivered, len(all.wrong))
	if stable < 4*each || delivered*100 < stable*95 {
		t.Errorf("%d of %d unchanged questions were answered", delivered, stable)
	}
}
