package definition_test

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/mcpctl/definition"
)

// TestValues tells servers apart by the values that they take from the person's environment, in every syntax, and shows
// none of them.
func TestValues(t *testing.T) {
	const canary = "sk-canary-0123456789"
	from := func(agent string) []definition.Source { return []definition.Source{{Agent: agent, File: "/f"}} }
	for name, c := range map[string]struct {
		d     definition.Definition
		names []string
	}{
		"command":       {definition.Definition{Command: "${A}/server"}, []string{"A"}},
		"argument":      {definition.Definition{Command: "x", Args: []string{"--key", "${A:-none}"}}, []string{"A"}},
		"variable":      {definition.Definition{Command: "x", Env: map[string]string{"KEY": "${A} ${B}"}}, []string{"A", "B"}},
		"folder":        {definition.Definition{Command: "x", Dir: "${A}"}, []string{"A"}},
		"passed on":     {definition.Definition{Command: "x", EnvVars: []string{"A"}, Sources: from("codex")}, []string{"A"}},
		"URL":           {definition.Definition{Transport: definition.HTTP, URL: "https://${A}.example"}, []string{"A"}},
		"header":        {definition.Definition{Transport: definition.HTTP, URL: "https://x.example", Headers: map[string]string{"K": "$A"}, Sources: from("gemini")}, []string{"A"}},
		"OpenCode":      {definition.Definition{Command: "x", Env: map[string]string{"K": "{env:A}"}, Sources: from("opencode")}, []string{"A"}},
		"editor":        {definition.Definition{Command: "x", Args: []string{"${env:B}"}, Sources: from("vscode")}, []string{"B"}},
		"bearer":        {definition.Definition{Transport: definition.HTTP, URL: "https://x.example", BearerVar: "A"}, []string{"A"}},
		"none":          {definition.Definition{Command: "x", Args: []string{"$A"}}, nil}, // no variable in this syntax
		"not set":       {definition.Definition{Command: "x", Args: []string{"${C:-y}"}}, nil},
		"of the folder": {definition.Definition{Command: "${workspaceFolder}/x", Sources: from("vscode")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.d.Transport == "" {
				c.d.Transport = definition.Stdio
			}
			with := func(key string, values map[string]string) definition.FileHasher {
				values["workspaceFolder"] = "/project of " + values["A"]
				return definition.FileHasher{Lookup: lookup(values), Key: []byte(key)}
			}
			before, after := with("k", map[string]string{"A": "a", "B": "b"}), with("k", map[string]string{"A": canary, "B": canary})
			if got := c.d.Differing(before, after); !slices.Equal(got, c.names) {
				t.Errorf("differing are %q", got)
			}
			if same := hashOf(t, c.d, before) == hashOf(t, c.d, after); same != (c.names == nil) {
				t.Errorf("the hash is the same: %v", same)
			}
			if hashOf(t, c.d, before) != hashOf(t, c.d, with("k", map[string]string{"A": "a", "B": "b"})) {
				t.Error("the hash differs though nothing does")
			}
			other := with("another", map[string]string{"A": "a", "B": "b"})
			if c.names != nil && hashOf(t, c.d, before) == hashOf(t, c.d, other) {
				t.Error("whoever knows no key can try values")
			}
			shown := strings.Join(c.d.Shown(after), "\n")
			if strings.Contains(shown, canary) {
				t.Errorf("a value is shown:\n%s", shown)
			}
			diff := strings.Join(definition.Diff(c.d.Shown(before), c.d.Shown(after)), "\n")
			for _, name := range c.names {
				if !strings.Contains(diff, "+variable of your environment: "+name) {
					t.Errorf("the difference does not name %s:\n%s", name, diff)
				}
			}
		})
	}
}
