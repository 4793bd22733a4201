package bases

import (
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// TestRealBaseAgainstTheRepository has files of the repository that give all tools back once a profile was chosen: what
// has gone stays away.
func TestRealBaseAgainstTheRepository(t *testing.T) {
	files := map[string]map[string]string{
		"claude": {
			".claude/settings.json":       `{"disableWorkflows":false,"permissions":{"allow":["Bash","Edit","Write","Workflow","CronCreate"]}}`,
			".claude/settings.local.json": `{"disableBundledSkills":false,"permissions":{"allow":["Bash(*)","Edit(*)"]}}`,
		},
		"codex": {".codex/config.toml": "web_search = \"live\"\n[features]\ngoals = true\nmulti_agent = true\ncollab = true\nview_image = true\n" +
			"[tools]\nweb_search = true\nview_image = true\n"},
		"gemini": {
			".gemini/settings.json": `{"skills":{"enabled":true},"general":{"topicUpdateNarration":true},` +
				`"tools":{"allowed":["run_shell_command","replace","write_todos"]}}`,
			".gemini/policies/all.toml": "[[rule]]\ntoolName = [\"run_shell_command\", \"replace\", \"write_file\", \"write_todos\"]\n" +
				"decision = \"allow\"\npriority = 999\n",
		},
		"opencode": {
			"opencode.json": `{"permission":{"bash":"allow","edit":"allow","task":"allow","*":"allow"},"tools":{"bash":true,"todowrite":true},` +
				`"agent":{"build":{"permission":{"edit":"allow","skill":"allow","*":"allow"}}}}`,
			".opencode/opencode.json": `{"mode":{"build":{"permission":{"bash":"allow","webfetch":"allow","*":"allow"}}}}`,
		},
	}
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			b := newBench(t, cli)
			left, gone := b.left(thread.BaseReadOnly), map[string]bool{}
			for _, l := range b.levers().Named(left) {
				for _, tool := range l.Tools {
					gone[tool] = true
				}
			}
			for name, text := range files[cli.Name] {
				b.write("shop/"+name, text)
			}
			full, got := baseOf(t, b.first(nil)), baseOf(t, b.first(left))
			t.Logf("%v of %v", got.names(), full.names())
			for _, tool := range got.names() {
				if gone[tool] {
					t.Errorf("%s is there again", tool)
				}
			}
			if len(got.names()) >= len(full.names()) {
				t.Errorf("%v of %v", got.names(), full.names())
			}
		})
	}
}
