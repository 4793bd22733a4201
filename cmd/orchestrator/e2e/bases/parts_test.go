package bases

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/thread"
)

// inFull are the kinds of parts that a full first request has at least, by CLI.
var inFull = map[string][]thread.BaseKind{
	"claude": {thread.BaseSystem, thread.BaseInstructions, thread.BaseSkills, thread.BaseAgents, thread.BaseDeferred, thread.BaseEnvironment},
	"codex":  {thread.BaseSystem, thread.BaseInstructions, thread.BaseEnvironment},
	"gemini": {thread.BaseSystem, thread.BaseInstructions}, "opencode": {thread.BaseSystem, thread.BaseInstructions},
}

// TestRealBaseParts divides each CLI's first request into its parts: nothing is lost, and what it is made of is found.
func TestRealBaseParts(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			b := newBench(t, cli)
			b.levers()
			s, ok := b.agent.(thread.Slimmer)
			if !ok {
				t.Fatal("no levers")
			}
			var texts []thread.BaseText
			var before, after strings.Builder
			for i, text := range baseOf(t, b.first(nil)).texts {
				kind := thread.BaseOther
				if i < 3 && cli.Name != "gemini" || i == 0 {
					kind = thread.BaseSystem
				}
				texts = append(texts, thread.BaseText{Kind: kind, Text: text})
				before.WriteString(text)
			}
			sizes := map[thread.BaseKind]int{}
			var files []string
			for _, p := range s.BaseParts(texts) {
				after.WriteString(p.Text)
				n := counter().Count(p.Text)
				sizes[p.Kind] += n
				t.Logf("%-12s %-40s %5d %.60q", p.Kind, p.Name, n, p.Text)
				if p.Kind == thread.BaseInstructions {
					files = append(files, p.Name)
				}
			}
			if before.String() != after.String() {
				t.Errorf("%d bytes of parts, %d of texts", after.Len(), before.Len())
			}
			for _, kind := range inFull[cli.Name] {
				if sizes[kind] == 0 {
					t.Errorf("no %s among %v", kind, sizes)
				}
			}
			if !slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, b.project) }) {
				t.Errorf("files of instructions: %q", files)
			}
		})
	}
}
