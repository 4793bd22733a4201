package e2e

import (
	"strings"

	"orchestrator/mcpctl/mcptest"
)

// FakeServer is an entry for the server of package mcptest: this test binary once more.
func FakeServer(modes ...string) map[string]any {
	command, args, env := mcptest.Command(modes...)
	set := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		set[name] = value
	}
	return map[string]any{"command": command, "args": args, "env": set}
}
