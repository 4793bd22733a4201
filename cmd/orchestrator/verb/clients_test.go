package verb

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestAgentCallsVerbs calls every verb from inside of a thread.
func TestAgentCallsVerbs(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".orchestrator.toml", "agent = \"demo\"\n")
	r.Write(".mcp.json", `{"mcpServers":{"repo":{"command":"/bin/cat"}}}`)
	in := r.AgentShell("inside")
	other := r.Ok("new", "-a", "command", "other", "--", "sleep", "1000")
	began := r.Status(other)
	run := r.Ok("run", "--once", "-d", "-a", "demo", "hello")
	archive := filepath.Join(t.TempDir(), "archive")
	staged := r.Ok("stage")
	theirs, byHand := r.Ok("session", "init", "what the person wants"), r.Ok("exec", "init", "what the person does", "--type", "person")
	task := r.Ok("task", "add", "what the person wants done")
	const alone = "only the user may do this"
	refused := []struct {
		words []string
		say   string
	}{
		{[]string{"new", "-a", "command", "--", "touch", "planted"}, `"start"`},
		{[]string{"run", "-a", "demo", "write planted: x"}, `"start"`},
		{[]string{"fork", "more", "-t", other}, `"start"`},
		{[]string{"resume", other}, `"start"`},
		{[]string{"resume"}, `"start"`},
		{[]string{"setup", other}, `"start"`},
		{[]string{"prompts", other}, `"read"`},
		{[]string{"send", other, "hello"}, `"send"`},
		{[]string{"send", "-d", other, "hello"}, `"send"`},
		{[]string{"switch", other}, `"switch"`},
		{[]string{"why", other}, `"read"`},
		{[]string{"prompts", other}, `"read"`},
		{[]string{"prompts"}, `"read"`},
		{[]string{"approve", other, "--yes"}, `"read"`},
		{[]string{"deny", other, "--yes"}, `"read"`},
		{[]string{"answer", in.Name, "1", "--yes"}, "asks nothing"},
		{[]string{"grants", other}, `"read"`},
		{[]string{"offer", other}, `"read"`},
		{[]string{"offer", "accept", in.Name}, "nothing is offered"},
		{[]string{"find", "hello"}, `"read"`},
		{[]string{"cost"}, `"read"`},
		{[]string{"checkpoint", "list", other}, `"read"`},
		{[]string{"context", "show", other}, `"read"`},
		{[]string{"context", "base", other}, `"read"`},
		{[]string{"context", "base", "--agent", "demo"}, `"read"`},
		{[]string{"context", "base", in.Name, "--set", "slim"}, alone},
		{[]string{"context", "base", in.Name, "--forget"}, alone},
		{[]string{"context", "policy", in.Name, "off"}, alone},
		{[]string{"context", "mask", in.Name, "all"}, alone},
		{[]string{"checkpoint", "show", other, "1"}, `"read"`},
		{[]string{"checkpoint", "diff", other}, `"read"`},
		{[]string{"checkpoint", "restore", other, "1"}, `"merge"`},
		{[]string{"merge", other}, `"merge"`},
		{[]string{"merge", other, "--continue"}, `"merge"`},
		{[]string{"merge", other, "--abort"}, `"merge"`},
		{[]string{"finish", other}, `"merge"`},
		{[]string{"push", other}, `"merge"`},
		{[]string{"pr", other}, `"merge"`},
		{[]string{"rename", other, "mine"}, `"manage"`},
		{[]string{"pin", other}, `"manage"`},
		{[]string{"archive", other}, `"manage"`},
		{[]string{"restore", other}, `"manage"`},
		{[]string{"delete", other}, `"manage"`},
		{[]string{"undelete", other}, `"manage"`},
		{[]string{"abandon", other, "nothing"}, `"manage"`},
		{[]string{"stop", other}, `"manage"`},
		{[]string{"gc"}, `"manage"`},
		{[]string{"events"}, `"read"`},
		{[]string{"events", "--thread", other}, `"read"`},
		{[]string{"events", "--follow"}, `"read"`},
		{[]string{"unstage", staged}, `"manage"`},
		{[]string{"grants", in.Name, "--add", "send"}, alone},
		{[]string{"attach", other}, alone},
		{[]string{"export", in.Name, "-o", archive}, alone},
		{[]string{"import", archive}, alone},
		{[]string{"backup", archive}, alone},
		{[]string{"restore-backup", archive}, alone},
		{[]string{"stop"}, alone},
		{[]string{"stop", "--force"}, "stop --force: " + alone},
		{[]string{"restart"}, alone},
		{[]string{"serve"}, alone},
		{[]string{"trust"}, alone},
		{[]string{"trust", "--git"}, alone},
		{[]string{"trust", "--plans", "--yes"}, alone},
		{[]string{"trust", "--folder"}, alone},
		{[]string{"adopt", "--new"}, alone},
		{[]string{"mcp", "why", "x", "--thread", other}, `"read"`},
		{[]string{"mcp", "show", "repo", "--thread", other}, `"read"`},
		{[]string{"mcp", "enable", "repo", "--thread", in.Name}, alone},
		{[]string{"mcp", "disable", "repo", "--thread", other}, alone},
		{[]string{"mcp", "approve", "repo", "--hash", "0"}, `"read"`},
		{[]string{"mcp", "revoke", "repo"}, `"read"`},
		{[]string{"mcp", "restart", "repo"}, `"read"`},
		{[]string{"mcp", "call", "repo", "x"}, alone},
		{[]string{"run", "--once", "-a", "demo", "x"}, `"run"`},
		{[]string{"run", "--once", "-d", "-a", "demo", "x"}, `"run"`},
		{[]string{"new", "--once", "-a", "demo", "-p", "x"}, `"run"`},
		{[]string{"fork", "more", "-t", in.Name, "--once", "-p", "x"}, `"run"`},
		{[]string{"fork", "more", "-t", other, "--once", "-p", "x"}, `"start"`},
		{[]string{"exec", "show", run}, `"read"`},
		{[]string{"exec", "logs", run}, `"read"`},
		{[]string{"exec", "logs", "-f", run}, `"read"`},
		{[]string{"exec", "cancel", run}, `"manage"`},
		{[]string{"exec", "send", run, "x"}, `"read"`},
		{[]string{"exec", "resume", run}, `"start"`},
		{[]string{"exec", "retry", run}, `"start"`},
		{[]string{"exec", "fallback", run}, `"start"`},
		{[]string{"exec", "show", "nothing"}, `"read"`},
		{[]string{"exec", "replay", run}, `"read"`},
		{[]string{"bundle", "prepare", "--files", "/etc/hosts"}, "outside the project"},
		{[]string{"check_context_bounds", "--files", "/etc/hosts"}, "outside the project"},
		{[]string{"history", "trace", run}, `"read"`},
		{[]string{"history", "trace", "nothing"}, `"read"`},
		{[]string{"budget"}, `"read"`},
		{[]string{"budget", "set", "project", "--usd", "1000"}, alone},
		{[]string{"budget", "clear", "project"}, alone},
		{[]string{"session", "init", "x", "--policy", "auto"}, "only the user"},
		{[]string{"session", "init", "x", "--budget", "9usd"}, "only the user"},
		{[]string{"session", "phase", theirs, "2"}, "recorded by another"},
		{[]string{"session", "complete", theirs}, "recorded by another"},
		{[]string{"session", "show", theirs}, `"read"`},
		{[]string{"exec", "show", byHand}, `"read"`},
		{[]string{"exec", "complete", byHand}, "recorded by another"},
		{[]string{"exec", "init", "x", "--type", "y", "--at", "3d"}, "records what happens now"},
		{[]string{"execution_tracker", "complete-session", "--session-id", theirs}, "recorded by another"},
		{[]string{"output", "collect", byHand, "--insights", "x"}, `"read"`}, {[]string{"output", "query", "--execution", byHand}, `"read"`},
		{[]string{"output", "check", byHand}, `"start"`},
		{[]string{"exec", "init", "x", "--type", "helper", "--session", theirs}, "is another's"}, {[]string{"session", "show", theirs}, `"read"`},
		{[]string{"task", "add", "x"}, `"run"`}, {[]string{"task", "start", task}, "is another's"}, {[]string{"task", "show", task}, "is another's"}, {[]string{"task", "edit", task, "--title", "x"}, "is another's"},
		{[]string{"task", "cancel", task}, "is another's"}, {[]string{"task", "split", "x", "--agent", "demo"}, alone},
		{[]string{"wave", "status", task}, "is another's"}, {[]string{"wave", "cancel", task}, "is another's"}, {[]string{"wave", "retry", task}, `"start"`},
		{[]string{"wave", "answer", task, "gate", "--yes"}, alone}, {[]string{"approve", task + "/gate"}, alone}, {[]string{"deny", task + "/gate"}, alone},
		{[]string{"deliverable", "get", task, "vision"}, "is another's"}, {[]string{"deliverable", "list", task}, "is another's"}, {[]string{"deliverable", "put", task, "vision", "-"}, "only an agent of a plan"},
		{[]string{"wave", "compare", task, "--agent", "x", "--with", "demo"}, alone},
		{[]string{"wave", "arm", "x"}, alone}, {[]string{"wave", "disarm", "x"}, alone}, {[]string{"wave", "armed"}, `"read"`},
		{[]string{"queue", "list"}, `"read"`},
		{[]string{"queue", "pause"}, alone},
		{[]string{"queue", "resume", "demo"}, alone},
		{[]string{"queue", "limit", "all", "3"}, alone},
	}
	allowed := [][]string{
		{"threads"}, {"exec", "list"}, {"history"}, {"history", "hello"}, {"history", "bundles"}, {"stats"}, {"stats", "--by", "day"}, {"inbox"}, {"events", "--thread", in.Name}, {"prompts", in.Name}, {"why", in.Name}, {"grants", in.Name}, {"checkpoint", "list", in.Name}, {"version"}, {"doctor"}, {"completion", "bash"},
		{"session", "init", "what the agent does", "--as", "mine"}, {"session", "list"}, {"session", "phase", "mine", "3"}, {"session", "task", "mine", "one"}, {"session", "show", "mine"},
		{"exec", "init", "x", "--type", "helper", "--session", "mine", "--as", "my-1"}, {"exec", "query"}, {"exec", "show", "my-1"}, {"exec", "list", "--all"}, {"exec", "complete", "my-1", "--message", "done"},
		{"output", "collect", "my-1", "--validation-results", "tests:pass", "--insights", "found"}, {"output", "query"}, {"output_collector", "query", "--session-id", "mine", "--format", "json"}, {"session", "report", "mine"}, {"synthesize_reports", "--session-id", "mine"}, {"session", "complete", "mine"}, {"execution_tracker", "query", "--limit", "5"},
		{"task", "list"}, {"task", "list", "--all"}, {"wave", "list"},
		{"stage"}, {"stage", "list"}, {"retrieve", staged}, {"context", "show", in.Name}, {"context", "base", in.Name}, {"context", "base"},
		{"bundle", "list"}, {"bundle", "prepare", "--files", ".mcp.json"}, {"bundle", "show", "bundle-001"}, {"bundle", "explain", "bundle-001"}, {"bundle", "brief", "bundle-001"},
		{"bundle", "budget", "--bundles", "bundle-001"}, {"context_manager", "track-budget", "--bundles", "bundle-001"},
		{"validate_orchestration", "--scope", "x", "--context-files", ".mcp.json"}, {"check_context_bounds", "--files", ".mcp.json"}, {"wave", "plan", "--example"},
		{"mcp", "list"}, {"mcp", "list", "--thread", in.Name}, {"mcp", "health"}, {"mcp", "why", "x", "--thread", in.Name}, {"mcp", "show", "repo", "--thread", in.Name}, {"mcp-bridge", r.Socket()},
	}
	tried := map[string]bool{"hook": true, "demo-agent": true, "demo-notes": true, "context": true} // which do not speak to the server
	for _, v := range refused {
		tried[v.words[0]] = true
		if got := in.Orchestrator(v.words...); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, v.say) {
			t.Errorf("%v: exit %d\n%s%s", v.words, got.Code, got.Stdout, got.Stderr)
		}
	}
	for _, words := range allowed {
		tried[words[0]] = true
		if got := in.Orchestrator(words...); got.Code != exitcode.OK || strings.Contains(got.Stdout, other) {
			t.Errorf("%v: exit %d\n%s%s", words, got.Code, got.Stdout, got.Stderr)
		}
	}
	for _, v := range new(cli).verbs() {
		if !tried[v.Name()] {
			t.Errorf("%s is not tried", v.Name())
		}
	}
	if now := r.Status(other); now.Name != began.Name || now.Pinned || !now.Archived.IsZero() || now.Outcome.Kind != "" || now.Execution == nil {
		t.Errorf("the other thread was touched: %+v", now.Thread)
	}
	if n := len(e2e.Get[[]thread.Status](r, "threads", "--all")); n != 3 {
		t.Errorf("there are %d threads", n)
	}
	if out := r.Ok("doctor"); !strings.Contains(out, "is not trusted yet") {
		t.Errorf("the project's configuration was accepted:\n%s", out)
	}
}
