package agenttest_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// TestRealRetries counts the requests at a provider that fails, and what the run says of it. A CLI alone asks up to
// thirty times; in a run it asks once, or as often as no switch of its own can prevent.
func TestRealRetries(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			most := map[string]int{"claude": 1, "codex": 5}[cli.Name]
			if most == 0 {
				t.Skip("SKIPPED: its requests are counted elsewhere")
			}
			s := newRuns(t, cli)
			for _, c := range []struct {
				marker string
				state  thread.State
				status int
			}{
				{"#status:429x99", thread.StateLimited, 429}, {"#status:529x99", thread.StateLimited, 529},
				{"#status:500x99", thread.StateUnavailable, 500}, {"#status:401x99", thread.StateUnauthorised, 401},
				{"#cut #say:" + strings.Repeat("an answer that is cut off ", 9), thread.StateCut, 0},
			} {
				name, _, _ := strings.Cut(c.marker, " ")
				prompt := strings.TrimSpace("fails " + c.marker)
				begin := time.Now()
				p := s.once(nil).Begin(prompt)
				e := p.Wait()
				n := len(s.requests(prompt))
				t.Logf("REAL: %s %s: %d requests in %s: %s, status %d, %q", cli.Name, name, n, time.Since(begin).Round(100*time.Millisecond), e.State, e.Status, e.Reason)
				known := e.Status == c.status || e.Status == 0 && slices.Contains(hidden[cli.Name], c.status)
				if n == 0 || n > most || e.Outcome != thread.RunFailed || e.State != c.state || !known {
					t.Errorf("%s: %d requests, %+v\n%s", name, n, e, p.Log())
				}
			}
			unreachable(t, s)
		})
	}
}

// unreachable has a run ask an address where nobody listens.
func unreachable(t *testing.T, s *runs) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p := s.once(func(spec *thread.LaunchSpec) { spec.BaseURL = address + "/t/secret" }).Begin("nobody there")
	e := p.Wait()
	t.Logf("REAL: %s unreachable: %s in %s, %q", s.cli.Name, e.State, time.Since(begin).Round(100*time.Millisecond), e.Reason)
	if e.Outcome != thread.RunFailed || e.State != thread.StateUnreachable || time.Since(begin) > time.Minute {
		t.Errorf("%+v\n%s", e, p.Log())
	}
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
