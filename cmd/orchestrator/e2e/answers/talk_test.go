package answers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// talking is a call of send or run whose output is read as it comes.
type talking struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func talk(r *e2e.Rig, args ...string) *talking {
	r.T.Helper()
	cmd := r.Command(args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.T.Fatal(err)
	}
	k := &talking{t: r.T, cmd: cmd, stdout: bufio.NewReader(out)}
	cmd.Stderr = &k.stderr
	if err := cmd.Start(); err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return k
}

// upTo reads what is printed up to some words.
func (k *talking) upTo(words string) string {
	k.t.Helper()
	var read strings.Builder
	for !strings.Contains(read.String(), words) {
		b, err := k.stdout.ReadByte()
		if err != nil {
			k.t.Fatalf("it ended without %q: %q", words, read.String())
		}
		read.WriteByte(b)
	}
	return read.String()
}

// end waits for the end and returns the rest of the output.
func (k *talking) end() (rest string, code int) {
	k.t.Helper()
	b, err := io.ReadAll(k.stdout)
	if err != nil {
		k.t.Error(err)
	}
	k.cmd.Wait()
	return string(b), k.cmd.ProcessState.ExitCode()
}

// TestSendPrintsWhatTheModelSays stops the agent in the middle of an answer that was heard already.
func TestSendPrintsWhatTheModelSays(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("words")
	k := talk(r, "send", name, "say well then #long:2000")
	k.upTo("well then")
	if list := e2e.Get[[]thread.Prompt](r, "prompts", name, "--open"); len(list) != 1 || list[0].State != thread.PromptOpen {
		t.Errorf("while it prints: %+v", list)
	}
	r.Ok("stop", name)
	if rest, code := k.end(); code != exitcode.Agent || strings.Count(rest, "\n") > 1900 || !strings.Contains(k.stderr.String(), "prompts again p") {
		t.Errorf("exit %d after %d more bytes: %s", code, len(rest), k.stderr.String())
	}
	r.Ok("resume", name)
	if out := r.Ok("send", name, "say something new"); out != "something new" {
		t.Errorf("after the resume it printed %q", out)
	}
}

// TestEverySendGetsItsOwnAnswer sends many prompts to two threads at once.
func TestEverySendGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	names := []string{r.Demo("left"), r.Demo("right")}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			words := fmt.Sprintf("this is number %d of all", i)
			res := r.Run("send", names[i%2], "say "+words)
			if res.Code != exitcode.OK || strings.TrimSpace(res.Stdout) != words {
				t.Errorf("%d: exit %d, %q, %s", i, res.Code, res.Stdout, res.Stderr)
			}
		})
	}
	all.Wait()
}

// TestQueuedPromptIsWaitedFor sends a prompt behind another one.
func TestQueuedPromptIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("queue")
	if res := r.Run("send", "-d", name, "#slow:600s list files"); res.Code != 0 || res.Stdout+res.Stderr != "" {
		t.Errorf("send -d: %+v", res)
	}
	r.AwaitState(name, thread.StateWorking)
	p := e2e.Get[thread.Prompt](r, "send", "-d", name, "say the second")
	if p.State != thread.PromptQueued || p.Reason == "" {
		t.Errorf("behind it: %+v", p)
	}
	r.Says(exitcode.Refused, []string{"is queued", "working", "prompts cancel p"}, "send", name, "say the third", "--timeout", "300ms")
	res := r.Run("send", name, "say the fourth", "--timeout", "300ms", "--json")
	var a e2e.Answer
	if err := json.Unmarshal([]byte(res.Stdout), &a); err != nil || a.Outcome != e2e.Queued || a.Reason == "" || a.Prompt == "" || res.Code != exitcode.Refused {
		t.Errorf("as JSON: %v, exit %d, %+v", err, res.Code, a)
	}
	k := talk(r, "send", name, "say the fifth")
	e2e.Await(t, "the fifth to be queued", func() bool { return len(e2e.Get[[]thread.Prompt](r, "prompts", name, "--open")) == 5 })
	r.Ok("stop", name)
	if rest, code := k.end(); code != exitcode.Refused || rest != "" || !strings.Contains(k.stderr.String(), "is not running") {
		t.Errorf("without an agent: exit %d, %q, %s", code, rest, k.stderr.String())
	}
}

// TestFollowsAutomaticForks sends a prompt that leaves its thread.
func TestFollowsAutomaticForks(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".orchestrator.toml", "offers = \"auto\"\n")
	r.Ok("trust", "--yes")
	name := r.Demo("cookies")
	r.Turn(name, "say we sign the session cookies with a key")
	r.Turn(name, "say the session cookies live for a day")
	res := r.Run("send", name, "let's try another approach: say tokens in the header", "--timeout", "60s")
	if res.Code != exitcode.OK || strings.TrimSpace(res.Stdout) == "" || !strings.Contains(res.Stderr, "a new fork of ") {
		t.Fatalf("exit %d, %q, %s", res.Code, res.Stdout, res.Stderr)
	}
	list := e2e.Get[[]thread.Status](r, "threads")
	if len(list) != 2 || list[1].Parent != list[0].ID || !strings.Contains(res.Stderr, list[1].Name) {
		t.Errorf("threads: %+v", list)
	}
}

// TestFollowsTheEmergencyFork sends prompts to a thread whose context is full: each is answered, the one that does not
// fit in a fork that has room, and nothing else is printed; both threads tell of it.
func TestFollowsTheEmergencyFork(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "offers = \"auto\"\nsummaries = \"off\"\n")
	name := r.Demo("full")
	words := strings.Repeat("some words that fill the context of this thread ", 480)
	for i := range 8 {
		want := fmt.Sprintf("%d ", i) + strings.TrimSpace(words)
		res := r.Run("send", name, "say: "+want)
		if res.Code != exitcode.OK || strings.TrimSpace(res.Stdout) != want {
			t.Fatalf("prompt %d: exit %d, %d bytes of %d, %s", i, res.Code, len(res.Stdout), len(want), res.Stderr)
		}
		if !strings.Contains(res.Stderr, "a new fork of "+name) {
			continue
		}
		all := e2e.Get[[]thread.Prompt](r, "prompts", name)
		if last := all[len(all)-1]; last.State != thread.PromptMoved || last.Fork == "" {
			t.Errorf("the prompt that moved: %+v", last)
		}
		return
	}
	t.Error("its context was never full")
}

// TestWithoutGatewayTheAnswerComesAtTheEnd says so once.
func TestWithoutGatewayTheAnswerComesAtTheEnd(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	res := r.Run("run", "-a", "demo", "--no-gateway", "say it all at once", "--timeout", "60s")
	if res.Code != exitcode.OK || strings.TrimSpace(res.Stdout) != "it all at once" || strings.Count(res.Stderr, "without the gateway") != 1 {
		t.Errorf("exit %d, %q, %s", res.Code, res.Stdout, res.Stderr)
	}
}

// TestCutAnswerIsGivenAgain has the model break off once.
func TestCutAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("cut")
	words := strings.TrimSpace(strings.Repeat("and on ", 40)) + " to the end"
	res := r.Run("send", name, "say "+words+" #cutx1")
	first, again, ok := strings.Cut(strings.TrimSpace(res.Stdout), "\n")
	if res.Code != exitcode.OK || !ok || again != words || !strings.HasPrefix(words, strings.TrimSpace(first)) || !strings.Contains(res.Stderr, "the agent retries") {
		t.Errorf("exit %d, %q, %s", res.Code, res.Stdout, res.Stderr)
	}
	if a := e2e.Get[e2e.Answer](r, "send", name, "say "+words+" #cutx1 now"); a.Outcome != e2e.Answered || !strings.HasPrefix(a.Answer, words) {
		t.Errorf("as JSON: %+v", a)
	}
}

// TestFollowsThroughARestart restarts the server behind two sends: one whose prompt the agent has, and one that waits.
func TestFollowsThroughARestart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("restart")
	open := talk(r, "send", name, "#slow:600s list files")
	r.AwaitState(name, thread.StateWorking)
	waits := talk(r, "send", name, "say after the restart")
	e2e.Await(t, "it to be queued", func() bool { return len(e2e.Get[[]thread.Prompt](r, "prompts", name, "--open")) == 2 })
	r.Ok("restart")
	if rest, code := open.end(); code != exitcode.Agent || rest != "" || !strings.Contains(open.stderr.String(), "prompts again p") {
		t.Errorf("the open one: exit %d, %q, %s", code, rest, open.stderr.String())
	}
	rest, code := waits.end()
	if answered := code == exitcode.OK && strings.TrimSpace(rest) == "after the restart"; !answered && code != exitcode.Refused {
		t.Errorf("the queued one: exit %d, %q, %s", code, rest, waits.stderr.String())
	}
}

// TestServerThatDoesNotComeBack kills the server behind a send.
func TestServerThatDoesNotComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it waits for the server as long as a person does; without it, it runs")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("killed")
	k := talk(r, "send", name, "#slow:600s list files")
	r.AwaitState(name, thread.StateWorking)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if rest, code := k.end(); code != exitcode.Agent || rest != "" || !strings.Contains(k.stderr.String(), "lost track of prompt") {
		t.Errorf("exit %d, %q, %s", code, rest, k.stderr.String())
	}
}

// TestClientThatReadsNothing holds up neither the agent nor other clients, and gets the answer whole in the end.
func TestClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_OFFERS=off") // the answer alone is larger than the window
	name := r.Demo("deaf")
	k := talk(r, "send", name, "say begin #fast #long:16000")
	r.AwaitState(name, thread.StateDone)
	r.Ok("send", name, "say still here")
	rest, code := k.end()
	entries := e2e.Get[[]thread.Entry](r, "checkpoint", "show", name, "1")
	want := entries[len(entries)-1].Text
	if code != exitcode.OK || len(want) < 1<<20 || !strings.HasSuffix(strings.TrimSpace(rest), strings.TrimSpace(want[len(want)-1000:])) {
		t.Errorf("exit %d, %d bytes of %d: %s", code, len(rest), len(want), k.stderr.String())
	}
	if n := strings.Count(rest, "begin"); n != 1 {
		t.Errorf("its beginning was printed %d times", n)
	}
}

// TestThousandPrompts queues what is allowed on one thread, and odd ones.
func TestThousandPrompts(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("many")
	r.Ok("send", "-d", name, "#slow:600s list files")
	r.AwaitState(name, thread.StateWorking)
	cl := r.Client()
	ctx := t.Context()
	var last thread.Prompt
	for i := range 997 {
		p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: name, Text: fmt.Sprintf("say %d", i)})
		if err != nil {
			t.Fatal(err)
		}
		last = p
	}
	for _, odd := range []string{strings.Repeat("long ", 200<<10), "/help me", "say \x1b]52;c;aGk=\x07 \x00 over"} {
		if p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: name, Text: odd}); err != nil || p.State != thread.PromptQueued {
			t.Errorf("%.20q: %+v, %v", odd, p.State, err)
		}
	}
	r.Says(exitcode.Refused, []string{"1000 prompts are already queued"}, "send", name, "say one too many")
	begin := time.Now()
	if list := e2e.Get[[]thread.Prompt](r, "prompts", name, "--open"); len(list) != 50 {
		t.Errorf("%d prompts are listed", len(list))
	}
	if list := e2e.Get[[]thread.Prompt](r, "prompts", name, "--open", "--limit", "0"); len(list) != 1001 {
		t.Errorf("%d prompts are listed without a limit", len(list))
	}
	r.Ok("prompts", "cancel", string(last.ID))
	if res := r.Run("send", name, "say in its place", "--timeout", "100ms"); res.Code != exitcode.Refused {
		t.Errorf("in the place of one that was cancelled: %+v", res)
	}
	r.Ok("stop", name)
	if took := time.Since(begin); took > e2e.Patience {
		t.Errorf("it took %v", took)
	}
}

var update = flag.Bool("update", false, "rewrite golden files")

// TestNdjson holds the shape of -o ndjson: what happens, one object a line. Words that come in pieces are joined.
func TestNdjson(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("-n", "golden")
	out := r.Ok("send", "-o", "ndjson", name, "say the words of a golden answer #cutx1 "+strings.Repeat("and on ", 10))
	var got bytes.Buffer
	keep := func(e e2e.TalkEvent) {
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	var before e2e.TalkEvent
	for line := range strings.Lines(out) {
		var e e2e.TalkEvent
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil || e.At.IsZero() {
			t.Fatalf("line %q: %v", line, err)
		}
		e.At = time.Time{}
		if e.Event == "begin" {
			e.Thread, e.State = "golden", "idle"
		}
		if e.Prompt != "" {
			e.Prompt = "p"
		}
		if e.Answer != nil {
			if e.Answer.Checkpoint == nil || e.Answer.Checkpoint.Turn != 1 || e.Answer.Thread != name {
				t.Errorf("the answer: %+v", e.Answer)
			}
			e.Answer.Checkpoint, e.Answer.Thread, e.Answer.Prompt = nil, "golden", "p"
		}
		if e.Event == "state" || e.Event == "notice" { // how many there are depends on the moment
			continue
		}
		if e.Event == "text" && before.Event == "text" && e.Request == before.Request {
			before.Text += e.Text
			continue
		}
		if before.Event != "" {
			if before.Event == "text" && e.Event == "retry" {
				before.Text = before.Text[:20] + "…" // how far it came
			}
			keep(before)
		}
		before = e
	}
	keep(before)
	file := filepath.Join("testdata", "talk.ndjson")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, got.Bytes(), want)
	}
	r.Says(exitcode.Usage, []string{"--output"}, "send", name, "x", "-o", "yaml")
	r.Says(exitcode.Usage, []string{"cannot be combined"}, "send", name, "x", "-o", "ndjson", "--json")
}
