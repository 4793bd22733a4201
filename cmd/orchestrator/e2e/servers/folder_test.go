package servers

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestServersOfAFolder: a folder of a project with MCP servers of its own. Who stands there sees and accepts them, and an
// agent that starts there, or in a worktree's same folder, calls them; one in the project's own folder does not have them.
func TestServersOfAFolder(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRigApart(t)
	r.Write(".mcp.json", `{"mcpServers": {"whole": {"command": "./none"}}}`)
	r.Write("packages/app/.mcp.json", `{"mcpServers": {"app": {"command": "`+e2e.Program+`", "args": ["demo-notes"]}}}`)
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "servers")
	servers := func(args ...string) string {
		var all []string
		for _, s := range e2e.Get[thread.MCPReport](r, append([]string{"mcp", "list"}, args...)...).Servers {
			all = append(all, s.ID)
		}
		return strings.Join(all, " ")
	}
	above := r.Demo("above")
	if got := servers() + "; " + servers("--thread", above); got != "whole; whole" {
		t.Errorf("in the project: %s", got)
	}
	in := []string{"--project", "packages/app"}
	if got := servers(in...); got != "app whole" {
		t.Errorf("in the folder: %s", got)
	}
	show := e2e.Get[thread.MCPDetail](r, append([]string{"mcp", "show", "app"}, in...)...)
	if show.Accepted {
		t.Fatal("it is accepted although nobody was asked")
	}
	r.Ok(append([]string{"mcp", "approve", "app", "--hash", show.Hash}, in...)...)
	for _, flag := range []string{"--no-worktree", "--worktree"} {
		name := r.Demo(append([]string{"in" + flag, flag}, in...)...)
		if got := servers("--thread", name); got != "app whole" {
			t.Errorf("%s: %s", flag, got)
		}
		e2e.Await(t, "the tools of "+name, func() bool {
			return strings.Contains(r.Ok("send", name, "call app__add milk"), "kept as note")
		})
	}
	if out := r.Ok("send", above, "call app__add milk"); strings.Contains(out, "kept as note") {
		t.Errorf("a thread in the project has the folder's server: %s", out)
	}
}
