package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orchestrator/thread"
)

// verbCase is one call of a verb and how it must end.
type verbCase struct {
	code int
	says string // in the message of one that fails
	args []string
}

func fails(code int, says string, args ...string) verbCase { return verbCase{code, says, args} }

func works(args ...string) verbCase { return verbCase{exitOK, "", args} }

// verbCases holds every verb to the README's exit codes. one is a thread in the project's own folder whose agent does
// not run, two names begin with "twin", old is archived, and new has the same beginning.
func verbCases(one, old string) []verbCase {
	unknown := func(args ...string) verbCase { return fails(exitNotFound, "no thread named", args...) }
	usage := func(args ...string) verbCase { return fails(exitUsage, "expected", args...) }
	return []verbCase{
		fails(exitUsage, "no agent", "new", "x"), fails(exitUsage, "no agent", "new", "-a", ""),
		fails(exitNotFound, "known agents: claude", "new", "-a", "klaud"),
		usage("run"), fails(exitUsage, "no agent", "run", "x"), fails(exitUsage, "duration", "run", "--timeout", "soon", "x"),
		usage("send", one), unknown("send", "nobody", "x"), unknown("send", "", "x"), fails(exitRefused, "not running", "send", one, "x"),
		fails(exitUsage, "empty", "send", one, ""), fails(exitRefused, "not running", "send", "-d", one, "x"),
		usage("threads", "x"), works("threads"),
		usage("prompts", "a", "b"), unknown("prompts", "nobody"), works("prompts"), works("prompts", one),
		usage("prompts", "edit", "p0"), fails(exitNotFound, "not found", "prompts", "edit", "p0", "x"),
		usage("prompts", "cancel"), fails(exitNotFound, "not found", "prompts", "cancel", "p0"),
		usage("prompts", "again"), fails(exitNotFound, "not found", "prompts", "again", "p0"),
		usage("switch"), unknown("switch", "nobody"), works("switch", one),
		usage("attach"), unknown("attach", "nobody"), fails(exitNotFound, "is ambiguous", "attach", "twin"),
		usage("resume", "a", "b"), unknown("resume", "nobody"), fails(exitRefused, "archived", "resume", old),
		usage("why"), unknown("why", "nobody"), fails(exitNotFound, one, "why", one+"x"), fails(exitNotFound, "twin-a", "why", "twin"), works("why", one),
		usage("grants"), unknown("grants", "nobody"), fails(exitUsage, "unknown grant", "grants", one, "--add", "x"), works("grants", one),
		usage("fork"), unknown("fork", "x", "-t", "nobody"), fails(exitNotFound, "known agents: claude", "fork", "x", "-t", one, "-a", "klaud"),
		fails(exitNotFound, "turn 7", "fork", "x", "-t", one, "--at", "7"),
		usage("checkpoint"), fails(exitUsage, "did you mean list", "checkpoint", "lst"),
		usage("checkpoint", "list"), unknown("checkpoint", "list", "nobody"), works("checkpoint", "list", one),
		usage("checkpoint", "show"), unknown("checkpoint", "show", "nobody"), fails(exitNotFound, "it has 1 turn)", "checkpoint", "show", one, "7"),
		fails(exitNotFound, "checkpoint list "+one, "checkpoint", "show", one, "ffffffff"), works("checkpoint", "show", one),
		usage("checkpoint", "diff"), fails(exitNotFound, "turn 7", "checkpoint", "diff", one, "1", "7"), unknown("checkpoint", "diff", "nobody"), works("checkpoint", "diff", one),
		usage("checkpoint", "restore", one), unknown("checkpoint", "restore", "nobody", "1"), fails(exitNotFound, "turn 7", "checkpoint", "restore", one, "7"),
		usage("setup"), unknown("setup", "nobody"), fails(exitRefused, "", "setup", one),
		usage("merge"), unknown("merge", "nobody"), fails(exitRefused, "no worktree of its own", "merge", one),
		fails(exitRefused, "no merge is in progress", "merge", one, "--continue"), fails(exitRefused, "no merge is in progress", "merge", one, "--abort"),
		fails(exitUsage, "cannot be combined", "merge", one, "--continue", "--abort"),
		usage("finish"), unknown("finish", "nobody"), fails(exitRefused, "no worktree of its own", "finish", one),
		usage("abandon", one), unknown("abandon", "nobody", "why"), fails(exitUsage, "empty", "abandon", one, " "), works("abandon", one, "why"),
		usage("push"), unknown("push", "nobody"), fails(exitRefused, "no branch of its own", "push", one),
		usage("pr"), unknown("pr", "nobody"), fails(exitRefused, "no branch of its own", "pr", one),
		usage("find"), fails(exitUsage, "--limit -1", "find", "x", "--limit", "-1"), works("find", "nothing like it"),
		fails(exitUsage, "unknown type", "stage", "--type", "xml"), fails(exitUsage, "duration", "stage", "--ttl", "soon"),
		works("stage"),
		fails(exitUsage, "did you mean list?", "stage", "lst"), usage("stage", "list", "x"), works("stage", "list"),
		usage("stage", "info"), fails(exitUsage, "not a token", "stage", "info", "x"),
		fails(exitNotFound, "nothing is staged as max:00000000", "stage", "info", "max:00000000"),
		usage("stage", "touch"), fails(exitNotFound, "nothing is staged", "stage", "touch", "00000000"),
		usage("retrieve"), fails(exitNotFound, "nothing is staged", "retrieve", "00000000"),
		fails(exitUsage, "--range", "retrieve", "00000000", "--range", "3-1"),
		fails(exitUsage, "--head 0", "retrieve", "00000000", "--head", "0"),
		usage("unstage"), fails(exitNotFound, "nothing is staged", "unstage", "00000000"),
		fails(exitUsage, "expected context mask", "context"), usage("context", "replay"),
		usage("context", "show"), unknown("context", "show", "nobody"), works("context", "show", one),
		usage("context", "policy"), usage("context", "policy", one, "lean", "x"), works("context", "policy", one), unknown("context", "policy", "nobody", "safe"), works("context", "policy", one, "lean"),
		fails(exitUsage, "use safe, lean", "context", "policy", one, "more"), works("context", "policy", one, "default"),
		usage("context", "mask", one), unknown("context", "mask", "nobody", "x"),
		fails(exitNotFound, "no result of a tool", "context", "mask", one, "x"), works("context", "mask", one, "all"),
		usage("context", "unmask", one), fails(exitNotFound, "no result of a tool", "context", "unmask", one, "x"),
		usage("context", "pin", one), fails(exitNotFound, "no result of a tool", "context", "pin", one, "x"),
		usage("context", "unpin", one), fails(exitNotFound, "no result of a tool", "context", "unpin", one, "x"),
		fails(exitNotFound, "matches", "context", "replay", "nothing.here"),
		fails(exitUsage, "expected mcp", "mcp"), fails(exitUsage, "did you mean list", "mcp", "lst"),
		usage("mcp", "list", "x"), works("mcp", "list"), works("mcp", "list", "--thread", one), unknown("mcp", "list", "--thread", "nobody"),
		usage("mcp", "health", "x"), works("mcp", "health"), usage("mcp", "why"), works("mcp", "why", "some task"), unknown("mcp", "why", "x", "--thread", "nobody"),
		usage("mcp", "show"), fails(exitNotFound, "MCP server", "mcp", "show", "nothing"), works("mcp", "show", "repo"), unknown("mcp", "show", "repo", "--thread", "nobody"),
		usage("mcp", "enable"), fails(exitUsage, "--thread", "mcp", "enable", "repo"), fails(exitNotFound, "MCP server", "mcp", "enable", "nothing", "--thread", one),
		fails(exitRefused, "not accepted", "mcp", "enable", "repo", "--thread", one), unknown("mcp", "enable", "repo", "--thread", "nobody"),
		usage("mcp", "disable"), fails(exitUsage, "--thread", "mcp", "disable", "repo"), works("mcp", "disable", "repo", "--thread", one, "--now"),
		usage("mcp", "approve"), fails(exitNotFound, "MCP server", "mcp", "approve", "nothing"), fails(exitRefused, "nobody can be asked", "mcp", "approve", "repo"),
		fails(exitRefused, "not what you have seen", "mcp", "approve", "repo", "--hash", "0"),
		usage("mcp", "reject"), fails(exitNotFound, "MCP server", "mcp", "reject", "nothing"), works("mcp", "reject", "repo"),
		usage("mcp", "revoke"), fails(exitNotFound, "MCP server", "mcp", "revoke", "nothing"), works("mcp", "revoke", "repo"),
		usage("mcp", "restart"), fails(exitNotFound, "MCP server", "mcp", "restart", "nothing"), fails(exitRefused, "not accepted", "mcp", "restart", "repo"),
		usage("mcp", "login"), fails(exitNotFound, "MCP server", "mcp", "login", "nothing"), fails(exitRefused, "not accepted", "mcp", "login", "repo"),
		usage("mcp", "logs"), fails(exitNotFound, "MCP server", "mcp", "logs", "nothing"), works("mcp", "logs", "repo"),
		usage("mcp", "call", "repo"), fails(exitNotFound, "MCP server", "mcp", "call", "nothing", "x"), fails(exitRefused, "not accepted", "mcp", "call", "repo", "x"),
		usage("context", "summary"), unknown("context", "summary", "nobody"), works("context", "summary", one),
		fails(exitNotFound, "no summary of", "context", "summary", one, "x"),
		fails(exitNotFound, "lists them", "context", "summary", one, "x", "--drop"),
		fails(exitUsage, "name the summary", "context", "summary", one, "--edit"),
		fails(exitUsage, "--by is for --write", "context", "summary", one, "--by", "model"),
		fails(exitUsage, "use model, extract", "context", "summary", one, "--write", "--by", "oracle"),
		fails(exitRefused, "no older turns to summarise", "context", "summary", one, "--write"),
		usage("rename", one), unknown("rename", "nobody", "x"), fails(exitUsage, "no letters or digits", "rename", one, ""),
		usage("pin"), unknown("pin", "nobody"), works("pin", one), works("pin", one, "--off"),
		usage("export"), unknown("export", "nobody"),
		usage("import"), fails(exitNotFound, "nothing.here", "import", "nothing.here"),
		usage("backup"), usage("restore-backup"), fails(exitNotFound, "nothing.here", "restore-backup", "nothing.here"),
		usage("gc", "x"), works("gc", "--dry-run"),
		usage("archive"), unknown("archive", "nobody"), works("archive", one),
		usage("restore"), unknown("restore", "nobody"), works("restore", one),
		usage("delete"), unknown("delete", "nobody"), works("delete", one),
		usage("undelete"), unknown("undelete", "nobody"), works("undelete", one),
		usage("adopt", "a", "b"), fails(exitNotFound, "no state is called", "adopt", "nobody"),
		usage("trust", "x"), fails(exitNotFound, "nothing to trust", "trust"), fails(exitUsage, "cannot be combined", "trust", "--git", "--folder"),
		usage("doctor", "x"), usage("version", "x"), works("version"), usage("completion"), fails(exitUsage, "did you mean bash", "completion", "bsh"),
		usage("serve", "x"), fails(exitRefused, "runs already", "serve"), usage("restart", "x"),
		usage("stop", "a", "b"), unknown("stop", "nobody"), fails(exitUsage, "unknown verb", "thrads"), fails(exitUsage, "unknown flag", "threads", "--tre"),
	}
}

// TestVerbsKeepTheirExitCodes calls every verb rightly and wrongly, in words and with --json.
func TestVerbsKeepTheirExitCodes(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.write(".mcp.json", `{"mcpServers":{"repo":{"command":"/bin/cat"}}}`)
	one, old := r.demo("-p", "list files", "alone"), r.demo("namesake")
	r.awaitState(one, thread.StateDone)
	r.ok("stop", one)
	r.ok("archive", old)
	r.demo("-n", "twin-a")
	r.demo("-n", "twin-b")
	cases := verbCases(one, old)
	for _, c := range cases {
		if c.code != exitOK {
			r.says(c.code, []string{c.says}, c.args...)
		}
		res := r.run(append(slices.Clone(c.args), "--json")...)
		checkJSON(t, c, res)
	}
	called := map[string]bool{}
	for _, c := range cases {
		called[c.args[0]], called[strings.Join(c.args[:min(2, len(c.args))], " ")] = true, true
	}
	root := (&cli{output: newOutput(io.Discard, io.Discard)}).command()
	var check func(cmd *cobra.Command, above string)
	check = func(cmd *cobra.Command, above string) {
		name := strings.TrimSpace(above + " " + cmd.Name())
		if !cmd.Hidden && !called[name] && above != "completion" && name != "help" && !cmd.IsAdditionalHelpTopicCommand() {
			t.Errorf("no case calls %q", name)
		}
		for _, sub := range cmd.Commands() {
			check(sub, name)
		}
	}
	for _, cmd := range root.Commands() {
		check(cmd, "")
	}
}

// checkJSON holds what a verb prints with --json: one value, and an error with its message and exit code.
func checkJSON(t *testing.T, c verbCase, res result) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(res.stdout))
	var v any
	if err := dec.Decode(&v); err != nil || dec.Decode(new(any)) != io.EOF {
		t.Errorf("orchestrator %q --json prints no single value: %v\n%s", c.args, err, res.stdout)
		return
	}
	var f failure
	if err := json.NewDecoder(bytes.NewReader([]byte(res.stdout))).Decode(&f); c.code != exitOK {
		if err != nil || res.code != c.code || f.Error.Exit != c.code || f.Error.Code == "" || !strings.Contains(f.Error.Message, c.says) {
			t.Errorf("orchestrator %q --json: exit %d, %v, %+v", c.args, res.code, err, f.Error)
		}
	} else if res.code != exitOK {
		t.Errorf("orchestrator %q --json: exit %d: %s", c.args, res.code, res.stdout)
	}
}

// TestNamesAreTheServers has an archived thread and a running one with the same beginning: every verb means the one
// that is not put away.
func TestNamesAreTheServers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	old := r.demo("auth")
	r.ok("archive", old)
	name := r.demo("auth")
	if got := get[answer](r, "send", "auth", "list files").Thread; got != name {
		t.Errorf("send auth went to %s, not to %s", got, name)
	}
	if got := get[exported](r, "export", "auth").Thread; got != name {
		t.Errorf("export auth took %s, not %s", got, name)
	}
	if res := r.run("attach", "auth"); res.code != exitError || !strings.Contains(res.stderr, "terminal") {
		t.Errorf("attach auth: exit %d, %s", res.code, res.stderr)
	}
}

// TestPromptsThatHaveEnded: to change one, or send it again, is asked rightly and not possible as things are.
func TestPromptsThatHaveEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("ended")
	r.turn(name, "list files")
	answered := get[[]thread.Prompt](r, "prompts", name)[0].ID
	for _, verb := range [][]string{{"edit", string(answered), "x"}, {"cancel", string(answered)}, {"again", string(answered)}} {
		r.says(exitRefused, []string{"answered"}, append([]string{"prompts"}, verb...)...)
	}
	r.says(exitUsage, []string{"empty"}, "prompts", "edit", string(answered), " ")
	r.ok("stop", name)
	r.says(exitRefused, []string{"answered"}, "prompts", "again", string(answered))
}
