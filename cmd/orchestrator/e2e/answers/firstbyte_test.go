package answers

import (
	"bufio"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/demo/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
)

// clockPrompt has the demo's model say when it began to answer, at the beginning of an answer that takes seconds.
const clockPrompt = "what time is it #slow:100ms #long:20"

// since returns how long ago the model said it is.
func since(t *testing.T, said string, at time.Time) time.Duration {
	t.Helper()
	_, clock, _ := strings.Cut(said, "It is ")
	clock, _, _ = strings.Cut(clock, " ")
	then, err := time.ParseInLocation("15:04:05.000000", clock, time.Local)
	if err != nil {
		t.Fatalf("no time in %q: %v", said, err)
	}
	day := 24 * time.Hour
	return (at.Sub(time.Date(at.Year(), at.Month(), at.Day(), then.Hour(), then.Minute(), then.Second(), then.Nanosecond(), time.Local)) + day) % day
}

// TestFirstByte measures how long after the model began to answer the first byte of send comes, against a client that
// asks such a model by itself, in turn. The best is held to the bar, for machines that run tests are busy; with MEASURE
// set there are more rounds.
func TestFirstByte(t *testing.T) {
	rounds := 4
	if os.Getenv("MEASURE") != "" {
		rounds = 40
	}
	r := e2e.NewRig(t)
	name := r.Demo("clock")
	m, err := model.Start(model.Options{Pace: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	var ours, direct []time.Duration
	for range rounds {
		direct = append(direct, askDirectly(t, m.URL()))
		k := talk(r, "send", name, clockPrompt)
		first, err := k.stdout.ReadByte()
		at := time.Now()
		if err != nil {
			t.Fatalf("%v: %s", err, k.stderr.String())
		}
		ours = append(ours, since(t, string(first)+k.upTo(" here."), at))
		if _, code := k.end(); code != exitcode.OK {
			t.Fatalf("exit %d: %s", code, k.stderr.String())
		}
	}
	best := slices.Min(ours)
	t.Logf("first byte after the model's answer began: send p50 %v, p95 %v, best %v; straight p50 %v, p95 %v", e2e.Percentile(ours, 50),
		e2e.Percentile(ours, 95), best, e2e.Percentile(direct, 50), e2e.Percentile(direct, 95))
	if best > 100*time.Millisecond {
		t.Errorf("the first byte came %v after the model's at best", best)
	}
}

// askDirectly asks a model and returns how late the first words came.
func askDirectly(t *testing.T, url string) time.Duration {
	t.Helper()
	body := `{"model":"demo-1","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"` + clockPrompt + `"}]}`
	resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	var at time.Time
	said := ""
	for !strings.Contains(said, " here") {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
		if _, text, ok := strings.Cut(line, `"text":"`); ok && strings.Contains(line, "text_delta") {
			if at.IsZero() {
				at = time.Now()
			}
			text, _, _ = strings.Cut(text, `"`)
			said += text
		}
	}
	return since(t, said, at)
}
