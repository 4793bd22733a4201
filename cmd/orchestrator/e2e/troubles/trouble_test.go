package troubles

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// askVariable makes this test program an agent that asks a model for what it is told, line by line; its value is how
// often it tries again, or "once" for a run: one prompt, one request, and the exit code says how it went.
const askVariable = "ORCHESTRATOR_TEST_ASKS"

// modelVariable is the model that it asks in a run.
const modelVariable = "ORCHESTRATOR_TEST_MODEL"

// asks is that agent. It says nothing of what it does.
func asks(tries string) int {
	if tries == "once" {
		return asksOnce()
	}
	var n int
	_, _ = fmt.Sscan(tries, &n)
	fmt.Println("ask away")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		body := fmt.Sprintf(`{"model":"claude-sonnet-4-6","stream":true,"max_tokens":9,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],`+
			`"messages":[{"role":"user","content":%q}]}`, lines.Text())
		err := errors.New("not tried")
		for i := 0; i <= n && err != nil; i++ {
			if i > 0 {
				time.Sleep(400 * time.Millisecond)
			}
			err = askOnce(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", body)
		}
		fmt.Println("ended:", err)
	}
	return 0
}

func asksOnce() int {
	prompt, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = askOnce(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", fmt.Sprintf(`{"model":%q,"stream":true,`+
			`"max_tokens":9,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":%q}]}`, cmp.Or(os.Getenv(modelVariable), "claude-sonnet-4-6"), prompt))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("answered")
	return 0
}

func askOnce(url, body string) error {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != 200 || !strings.Contains(string(b), "message_stop")) {
		err = errors.New(resp.Status)
	}
	return err
}

// TestTroubleIsShown has a program of which nothing is known but its requests meet every fault: what is shown of it is
// true within two seconds, stays so while it tries again, and is over with the next answer.
func TestTroubleIsShown(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	m := model.New(nil)
	t.Cleanup(m.Close)
	p := e2e.NewProvider(t, m)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.Env = append(r.Env, askVariable+"=2", "ANTHROPIC_BASE_URL="+p.URL())
	name := r.Ok("new", "-a", "command", "asks", "--", self)
	cl := r.Client()
	w := e2e.Watch(t, cl, r.Status(name).ID)
	ask := func(text string) {
		if err := e2e.Send(t.Context(), cl, name, text); err != nil {
			t.Error(err)
		}
	}
	for _, c := range sample.Of(t, 3, e2e.Troubles) {
		t.Run(c.Fault, func(t *testing.T) {
			mark := w.Mark()
			p.Fails(c.Fault)
			ask("please")
			s, err := w.Until(mark, string(c.Want), e2e.Patience, e2e.Is(c.Want))
			if err != nil {
				t.Fatal(err)
			}
			if began := p.Since(); c.Fault != "refused" && s.At.Sub(began) > e2e.Soon {
				t.Errorf("shown %v after it failed", s.At.Sub(began))
			}
			if s, err = w.Until(mark, "retrying", e2e.Patience, func(r thread.StateReport) bool { return r.Retrying }); err != nil {
				t.Fatal(err)
			}
			if left := time.Until(s.Until); (c.Fault == "429 until") != (left > 5*time.Minute) {
				t.Errorf("until %v", s.Until)
			}
			// Two tries again, and nothing else is shown meanwhile.
			id := s.State
			time.Sleep(e2e.Soon)
			if err := e2e.Steady(w.After(mark)); err != nil || id != c.Want {
				t.Errorf("%s: %v", id, err)
			}
			p.Fails("")
			mark = w.Mark()
			ask("again #say:ok")
			if _, err := w.Until(mark, "answered", e2e.Patience, e2e.Is(thread.StateDone, thread.StateIdle)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("answers of a millisecond", func(t *testing.T) {
		for i := range 10 {
			mark := w.Mark()
			ask(fmt.Sprintf("quick %d #say:ok", i))
			if _, err := w.Until(mark, "answered", e2e.Patience, e2e.Is(thread.StateDone, thread.StateIdle)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			if all := w.After(mark); all[len(all)-1].State == thread.StateWorking {
				t.Fatalf("left working: %s", e2e.Told(all))
			}
		}
	})
	if told := r.Ok("why", name); !strings.Contains(told, "stop reason") {
		t.Errorf("why: %s", told)
	}
}
