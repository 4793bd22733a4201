package agenttest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// TestRealReadOnlyRunsNoPlugin: opencode loads what is in a repository as code, in a window and in a run that writes. A
// run that only reads does not, and has the repository's instructions nevertheless.
func TestRealReadOnlyRunsNoPlugin(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "opencode" {
			continue
		}
		s := newRuns(t, cli)
		witness := filepath.Join(filepath.Dir(s.dir), "witness")
		agenttest.Put(t, filepath.Join(s.dir, ".opencode", "plugin", "evil.js"),
			"import fs from 'fs'\nexport const Evil = async () => { fs.writeFileSync('"+witness+"', 'x'); return {} }\n")
		agenttest.Put(t, filepath.Join(s.dir, "AGENTS.md"), "INSTRUCTIONS of the repository")
		const prompt = "look around #say:looked"
		p := completes(t, s.once(func(spec *thread.LaunchSpec) { spec.Once.ReadOnly = true }).Begin(prompt))
		if _, err := os.Stat(witness); err == nil {
			t.Errorf("the plugin ran\n%s", p.Log())
		}
		all := s.requests(prompt)
		if len(all) != 1 || !bytes.Contains(all[0].Body, []byte("INSTRUCTIONS of the repository")) {
			t.Errorf("%d requests, and the instructions are not in them", len(all))
		}
		completes(t, s.once(nil).Begin("change it #say:changed"))
		if _, err := os.Stat(witness); err != nil {
			t.Errorf("the plugin did not run where it may: this test finds nothing (%v)", err)
		}
	}
}
