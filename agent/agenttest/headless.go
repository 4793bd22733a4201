package agenttest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// headless starts an adapter without a terminal by a table of specs: what holds for a launch holds for these, too.
func headless(t *testing.T, s Subject) {
	session := "11111111-2222-4333-8444-555555555555"
	if s.NewSession != nil {
		session = s.NewSession()
	}
	for _, c := range []struct {
		name string
		edit func(*thread.LaunchSpec)
		skip bool
	}{
		{"plain", func(*thread.LaunchSpec) {}, false},
		{"flags", func(p *thread.LaunchSpec) {
			p.Flags.Args = append(slices.Clone(p.Flags.Args), "--their-flag", "with space")
			p.Flags.Env = []string{"THEIR_VAR=a=b"}
		}, false},
		{"gateway", func(p *thread.LaunchSpec) { p.Model, p.BaseURL, p.HookURL = "some-model", baseURL, hookURL }, false},
		{"server", func(p *thread.LaunchSpec) { p.MCP = servers() }, false},
		{"read-only", func(p *thread.LaunchSpec) { p.Once.ReadOnly, p.BaseURL, p.MCP = true, baseURL, servers() }, false},
		{"resume", func(p *thread.LaunchSpec) { p.Session, p.Resume, p.BaseURL = session, true, baseURL }, !s.Resumes},
	} {
		if c.skip {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, s, s.NewVersion)
			agent, ok := b.agent.(thread.Headless)
			if !ok {
				t.Skip("does not work without a terminal")
			}
			spec := b.spec()
			spec.Once.On = true
			c.edit(&spec)
			before := Hash(t, b.home) + Hash(t, b.dir)
			h, err := agent.Headless(t.Context(), spec)
			if spec.Once.ReadOnly && errors.Is(err, thread.ErrUnsupported) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if Hash(t, b.home)+Hash(t, b.dir) != before {
				t.Error("a start changed the person's files")
			}
			inTerminal := spec
			inTerminal.Resume = false // the session may be named by what is written first
			b.checkLaunch(inTerminal, h.Launch)
			b.checkState()
			r := replay{talk: h.Dialogue}
			r.whole("", nil, 0)
			if r.ends != 1 || r.fault != "" {
				t.Errorf("it ends without a word: %d ends, %s\n%s", r.ends, r.fault, r.said.String())
			}
			if spec.Resume && (h.Launch.Session != session || !strings.Contains(strings.Join(h.Launch.Args, "\n")+r.said.String(), session)) {
				t.Errorf("session %q is not resumed by %q", session, h.Launch.Args)
			}
		})
	}
	if !s.Resumes {
		return
	}
	b := newBench(t, s, s.NewVersion)
	if agent, ok := b.agent.(thread.Headless); ok {
		for _, id := range []string{"../x", "-x", "a b", ""} {
			spec := b.spec()
			spec.Session, spec.Resume = id, true
			if _, err := agent.Headless(t.Context(), spec); !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("session %q: %v", id, err)
			}
		}
	}
}

func servers() *thread.MCPLaunch {
	return &thread.MCPLaunch{Name: thread.MCPName, Registered: thread.MCPName + "7f3a", Command: []string{"/opt/orchestrator", "mcp-bridge"}}
}
