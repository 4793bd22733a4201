package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// fault is what a provider does, and what a run says of it.
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
	"opencode": {"429": 6, "500": 6, "529": 6, "cut": 6},
}

// tells are the faults of which a CLI says less than the provider did: the status that it says.
var tells = map[string]map[string]fault{}

// TestRealFaults: what a run says of a provider's failures, and how often the provider is asked. With ALONE set to a time it
// prints how often the CLI asks by itself in that time, started by hand.
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
				if limit, err := time.ParseDuration(os.Getenv("ALONE")); err == nil && f.name != "refused" {
					s.alone(f, limit)
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

// byHand is how a person starts a CLI for one prompt on its standard input.
func byHand() map[string][]string {
	return map[string][]string{
		"claude":   {"claude", "-p", "--dangerously-skip-permissions"},
		"codex":    {"codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "-"},
		"gemini":   {"gemini", "-y"},
		"opencode": {"opencode", "run"},
	}
}

// alone prints how often a CLI asks that is started by hand.
func (s *runs) alone(f fault, limit time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	args := byHand()[s.cli.Name]
	prompt := "alone " + f.name + " " + f.marks
	path, err := exec.LookPath(clis.Bin(s.t) + "/" + args[0])
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, append(args[1:], "--model", s.cli.Model)...)
	if s.cli.Name == "codex" {
		cmd = exec.CommandContext(ctx, path, slices.Concat(args[1:len(args)-1], []string{"--model", s.cli.Model, "-"})...)
	}
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, world.Direct(s.env), strings.NewReader(prompt)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	begun := time.Now()
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Log(err)
	}
	s.t.Logf("ALONE %s %s: asked %d times in %s", s.cli.Name, f.name, len(s.requests(prompt)), time.Since(begun).Round(time.Second))
}
