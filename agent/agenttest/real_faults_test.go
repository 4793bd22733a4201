package agenttest_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// fault is what a provider does, and what a run reports.
type fault struct {
	name   string
	marks  string // in the prompt
	state  thread.State
	status int
}

func faults() []fault {
	return []fault{
		{"401", "#status:401x99", thread.StateUnauthorised, 401},
		{"429", "#status:429x99", thread.StateLimited, 429},
		{"500", "#status:500x99", thread.StateUnavailable, 500},
		{"529", "#status:529x99", thread.StateLimited, 529},
		{"cut", "#cut #say:" + strings.TrimSpace(strings.Repeat("an answer that breaks off ", 8)), thread.StateCut, 0},
		{"refused", "#say:never heard", thread.StateUnreachable, 0}, // nobody listens
	}
}

// retries are the CLIs that ask again in a run, and how often they ask: they have no switch.
var retries = map[string]map[string]int{
	"codex":    {"500": 5, "529": 5},
	"opencode": {"429": 6, "500": 6, "529": 6, "cut": 6},
}

// tells are the faults of which a CLI says less than the provider did: the status that it says.
var tells = map[string]map[string]fault{"codex": {"500": {state: thread.StateUnavailable}}}

// TestRealFaults: how a run reports a provider's failures, and how often the provider is asked.
func TestRealFaults(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			s := newRuns(t, cli)
			for i, f := range faults() {
				prompt := fmt.Sprintf("trouble %d %s", i, f.marks)
				p := s.once(func(spec *thread.LaunchSpec) {
					if f.name == "refused" {
						spec.BaseURL = "http://" + nowhereAt(t) + "/t/secret"
					}
				})
				begun := time.Now()
				e := p.Begin(prompt).Wait()
				took, asked := time.Since(begun), len(s.requests(prompt))
				t.Logf("FAULT %s %s: %s, state %q, status %d, asked %d times in %s: %s", cli.Name, f.name, e.Outcome, e.State, e.Status, asked,
					took.Round(time.Second), e.Reason)
				want, ok := tells[cli.Name][f.name]
				if !ok {
					want = f
				}
				if e.Outcome != thread.RunFailed || e.State != want.state || e.Status != want.status || e.Reason == "" {
					t.Errorf("%s: %+v\n%s", f.name, e, p.Log())
				}
				most := 1
				if n := retries[cli.Name][f.name]; n > 0 {
					most = n
				}
				if asked > most || asked == 0 && f.name != "refused" {
					t.Errorf("%s: asked %d times, want %d at most", f.name, asked, most)
				}
			}
		})
	}
}

// nowhereAt is an address at which nobody listens.
func nowhereAt(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestRealPatience: what the person has set for a CLI counts.
func TestRealPatience(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "claude" {
			continue
		}
		t.Run(cli.Name, func(t *testing.T) {
			s := newRuns(t, cli)
			s.env = append(s.env, "CLAUDE_CODE_MAX_RETRIES=2")
			const prompt = "fails #status:500x99"
			s.once(nil).Begin(prompt).Wait()
			if n := len(s.requests(prompt)); n != 3 {
				t.Errorf("%d requests, the person said 2 retries", n)
			}
		})
	}
}
