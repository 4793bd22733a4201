package verb

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// verbCase is one call of a verb and how it must end.
type verbCase struct {
	code int
	says string // in the message of one that fails
	args []string
}

func fails(code int, says string, args ...string) verbCase { return verbCase{code, says, args} }

func works(args ...string) verbCase { return verbCase{exitcode.OK, "", args} }

// verbCases holds every verb to the README's exit codes. one is a thread in the project's own folder whose agent does
// not run, two names begin with "twin", old is archived, and new has the same beginning.
func verbCases(one, old string) []verbCase {
	unknown := func(args ...string) verbCase { return fails(exitcode.NotFound, "no thread named", args...) }
	usage := func(args ...string) verbCase { return fails(exitcode.Usage, ": orchestrator "+args[0], args...) }
	return []verbCase{
		fails(exitcode.Usage, "no agent", "new", "x"), fails(exitcode.Usage, "no agent", "new", "-a", ""),
		fails(exitcode.NotFound, "Did you mean claude?", "new", "-a", "klaud"),
		usage("run"), fails(exitcode.Usage, "no agent", "run", "x"), fails(exitcode.Usage, "use a time such as 30m", "run", "--timeout", "soon", "x"),
		usage("send", one), unknown("send", "nobody", "x"), unknown("send", "", "x"), fails(exitcode.Refused, "not running", "send", one, "x"),
		fails(exitcode.Usage, "empty", "send", one, ""), fails(exitcode.Refused, "not running", "send", "-d", one, "x"),
		fails(exitcode.Usage, "needs --once", "run", "-a", "demo", "--read-only", "x"), fails(exitcode.Usage, "needs --once", "fork", "x", "-t", one, "--priority", "1"),
		fails(exitcode.Usage, "use ask, resume, retry or fail", "run", "--once", "--lost", "never", "x"), fails(exitcode.Usage, "use keep, branch, merge or drop", "new", "--once", "--dispose", "burn"),
		fails(exitcode.Usage, "given by the project", "run", "--once", "--as", "exec-7", "x"), fails(exitcode.Usage, "a second or more", "run", "--once", "--deadline", "0", "x"),
		usage("run", "--once"), fails(exitcode.Usage, "needs a prompt", "new", "--once", "-a", "demo"), fails(exitcode.Usage, "needs a prompt", "fork", "x", "--once", "-t", one),
		fails(exitcode.Usage, "--once", "fork", "x", "--timeout", "5s"), fails(exitcode.NotFound, "Did you mean claude?", "run", "--once", "-a", "klaud", "x"),
		fails(exitcode.Usage, "exec needs a verb: orchestrator exec cancel|", "exec"), fails(exitcode.Usage, "Did you mean list", "exec", "lst"),
		fails(exitcode.NotFound, "no work session named", "run", "--once", "-a", "demo", "--session", "nothing", "x"), fails(exitcode.NotFound, "no work session named", "new", "-a", "demo", "--session", "nothing"),
		fails(exitcode.Usage, "of no work session", "run", "--once", "-a", "demo", "--task", "y", "x"), works("cost", "--by", "session"), fails(exitcode.NotFound, "no work session named", "budget", "set", "session:nothing", "--usd", "1"),
		usage("exec", "list", "x"), fails(exitcode.Usage, "no such state", "exec", "list", "--state", "odd"), fails(exitcode.Usage, "--limit 0", "exec", "list", "-n", "0"),
		unknown("exec", "list", "--thread", "nobody"), works("exec", "list"), works("exec", "list", "--state", "queued,lost", "-n", "3", "--thread", one),
		usage("exec", "show"), fails(exitcode.NotFound, "no execution named", "exec", "show", "nothing"), usage("exec", "logs"), fails(exitcode.NotFound, "exec list", "exec", "logs", "-f", "nothing"),
		usage("exec", "cancel"), fails(exitcode.NotFound, "no execution named", "exec", "cancel", "nothing"), usage("exec", "send", "nothing"),
		fails(exitcode.NotFound, "no execution named", "exec", "send", "nothing", "x"), usage("exec", "resume"), fails(exitcode.NotFound, "no execution named", "exec", "resume", "nothing"),
		usage("exec", "replay"), fails(exitcode.NotFound, "no execution named", "exec", "replay", "nothing"), fails(exitcode.Usage, "leave --bundle out", "exec", "replay", "nothing", "--bundle", "x"),
		fails(exitcode.Usage, "needs --once", "run", "-a", "demo", "--bundle", "x", "y"), fails(exitcode.NotFound, "no bundle", "run", "--once", "-a", "demo", "--bundle", "nothing", "y"), fails(exitcode.NotFound, "no such file", "run", "--once", "-a", "demo", "--bundle", "nothing.json", "y"),
		fails(exitcode.Usage, "bundle needs a verb", "bundle"), fails(exitcode.Usage, "of nothing", "bundle", "prepare"),
		fails(exitcode.NotFound, "no such file", "bundle", "prepare", "--files", "nothing.md"), fails(exitcode.Usage, "a folder", "bundle", "prepare", "--files", "."),
		fails(exitcode.Usage, "write FILE#HEADING", "bundle", "prepare", "--files", ".mcp.json", "--section", ".mcp.json"), fails(exitcode.Usage, "not among", "bundle", "prepare", "--files", ".mcp.json", "--section", "x#y"),
		works("bundle", "prepare", "--files", ".mcp.json"), works("bundle", "list"), fails(exitcode.Usage, "--limit 0", "bundle", "list", "-n", "0"), usage("bundle", "show"),
		fails(exitcode.NotFound, "no bundle", "bundle", "show", "nothing"), works("bundle", "show", "bundle-001"), works("bundle", "explain", "bundle-001"), works("bundle", "brief", "bundle-001", "--template", "briefing-template.md"),
		fails(exitcode.NotFound, "no such file", "bundle", "brief", "bundle-001", "--template", "other.md"), fails(exitcode.Usage, "two or more", "bundle", "dedup", "bundle-001"), fails(exitcode.Usage, "named twice", "bundle", "dedup", "bundle-001", "bundle-001"),
		fails(exitcode.Usage, "--warn-threshold", "bundle", "budget", "--warn-threshold", "2"), fails(exitcode.Usage, "of what", "bundle", "budget"), works("bundle", "budget", "--bundles", "bundle-001"),
		fails(exitcode.NotFound, "no execution named", "bundle", "allocate", "nothing", "bundle-001"), usage("bundle", "allocate", "nothing"),
		fails(exitcode.Usage, "two or more", "context_manager", "deduplicate", "--bundles", "bundle-001"), fails(exitcode.Usage, "needs --bundle", "context_manager", "generate-briefing"), works("context_manager", "track-budget", "--bundles", "bundle-001"),
		fails(exitcode.Usage, "needs --execution-id", "context_manager", "record-allocation", "--bundle", "bundle-001"), fails(exitcode.Usage, "of nothing", "context_manager", "prepare-bundle"), fails(exitcode.Usage, "come round", "validate_orchestration", "--dependencies", "A->B,B->A"), fails(exitcode.NotFound, "no such file", "validate_orchestration", "--context-files", "nothing.md"),
		works("validate_orchestration", "--scope", "x", "--context-files", ".mcp.json"), works("check_context_bounds", "--files", ".mcp.json"),
		works("budget"), usage("budget", "x"), usage("budget", "set"), usage("budget", "set", "project"), fails(exitcode.Usage, "no amount", "budget", "set", "project", "--usd", "-1"),
		fails(exitcode.Usage, "no amount", "budget", "set", "project", "--tokens", "1,5"), works("budget", "set", "project", "--usd", "2.50", "--tokens", "1.5M"), works("budget", "set", "group:night", "--tokens", "0"),
		fails(exitcode.NotFound, "no thread or run is called", "budget", "set", "nobody", "--usd", "1"), fails(exitcode.Usage, "group", "budget", "set", "group:a b", "--usd", "1"),
		works("budget", "set", one, "--usd", "3"), works("budget", "clear", one), works("budget", "clear", "group:night"), works("budget", "clear", "project"),
		usage("exec", "retry"), fails(exitcode.NotFound, "no execution named", "exec", "retry", "nothing"), usage("exec", "fallback"),
		fails(exitcode.NotFound, "no execution named", "exec", "fallback", "nothing"), fails(exitcode.Usage, "--on-fail hope", "run", "--once", "--on-fail", "hope", "x"),
		works("history"), works("history", "no such words"), works("history", "--file", "a.go", "--since", "3d"), fails(exitcode.Usage, "use a date such as", "history", "--since", "soon"),
		fails(exitcode.Usage, "--limit 0", "history", "-n", "0"), usage("history", "context"), fails(exitcode.NotFound, "no execution of the type", "history", "context", "nobody"),
		usage("history", "who"), fails(exitcode.NotFound, "no task, work session or execution", "history", "who", "nobody"), usage("history", "bundles", "x"), works("history", "bundles"),
		usage("history", "trace"), fails(exitcode.NotFound, "is no execution, no output, no bundle", "history", "trace", "nothing"), fails(exitcode.NotFound, "is no execution", "history", "trace", "99"),
		usage("stats", "x"), fails(exitcode.Usage, "--by color: use", "stats", "--by", "color"), works("stats"), works("stats", "--by", "day", "--since", "2025-01-15"),
		fails(exitcode.Usage, "session needs a verb: orchestrator session complete|", "session"), usage("session", "init"), fails(exitcode.Usage, "the scope is empty", "session", "init", " "),
		works("session", "init", "Tell the tale", "--as", "tale", "--budget", "2usd", "--metadata", `{"a":1}`), fails(exitcode.Refused, "already", "session", "init", "x", "--as", "tale"),
		fails(exitcode.Usage, "letters, digits", "session", "init", "x", "--as", "a b"), fails(exitcode.Usage, "no JSON", "session", "init", "x", "--metadata", "{"), fails(exitcode.Usage, "Take manual", "session", "init", "x", "--policy", "never"),
		fails(exitcode.Usage, "between 0 and 1", "session", "init", "x", "--warn-at", "75"), usage("session", "list", "x"), works("session", "list"), fails(exitcode.Usage, "no such state", "session", "list", "--status", "odd"),
		fails(exitcode.Usage, "1 or more", "session", "list", "-n", "0"), usage("session", "show"), fails(exitcode.NotFound, "Did you mean tale?", "session", "show", "tael"), works("session", "show", "tale"),
		fails(exitcode.Usage, "orchestrator session phase work-001 validate", "session", "phase", "tale"), fails(exitcode.Usage, "use 1 to 5", "session", "phase", "tale", "6"), works("session", "phase", "tale", "plan"), fails(exitcode.NotFound, "no work session", "session", "phase", "nothing", "2"),
		fails(exitcode.Usage, "session task", "session", "task", "tale"), works("session", "task", "tale", "the end", "--body", "happy"), works("session", "task", "tale", "the end", "--status", "complete"), fails(exitcode.Usage, "no such state", "session", "task", "tale", "the end", "--status", "odd"),
		fails(exitcode.Usage, "needs the type", "exec", "init", "x"), works("exec", "init", "begin it", "--type", "writer", "--session", "tale", "--task", "the beginning", "--as", "exec-700", "--tokens", "1500"), fails(exitcode.Refused, "already", "exec", "init", "x", "--type", "writer", "--as", "exec-700"),
		fails(exitcode.NotFound, "no work session", "exec", "init", "x", "--type", "writer", "--session", "nothing"), fails(exitcode.NotFound, "no such file", "exec", "init", "x", "--type", "writer", "--bundle", "nothing.json"), fails(exitcode.Usage, "a date", "exec", "init", "x", "--at", "soon"),
		usage("exec", "query", "x"), works("exec", "query"), works("exec", "query", "--session", "tale", "--type", "writer", "--status", "deployed", "--origin", "hand", "--since", "1d"), works("exec", "list", "--all"), works("exec", "show", "exec-700"),
		fails(exitcode.Usage, "no such state", "exec", "query", "--status", "running"), fails(exitcode.Usage, "no such origin", "exec", "query", "--origin", "odd"), fails(exitcode.Usage, "between 1 and", "exec", "query", "-n", "0"), fails(exitcode.NotFound, "no work session", "exec", "query", "--session", "nothing"),
		fails(exitcode.Usage, "needs --execution", "output", "collect"), works("output", "collect", "--execution-id", "exec-700", "--insights", "z"), works("output", "synthesize", "--session-id", "tale"), fails(exitcode.NotFound, "no execution", "output", "collect", "nothing", "--insights", "x"), fails(exitcode.Usage, "nothing to collect", "output", "collect", "exec-700"),
		fails(exitcode.Usage, "no check in", "output", "collect", "exec-700", "--validation-results", "speed:pass"), works("output", "collect", "exec-700", "--deliverables", ".mcp.json,../x", "--validation-results", "tests:pass", "--insights", "a, b"),
		usage("output", "query", "x"), works("output", "query", "--session", "tale", "--output-type", "deliverable,validation", "--since", "1d", "--file", ".mcp.json", "--current"), works("output", "query", "--format", "markdown"), fails(exitcode.Usage, "no output type", "output", "query", "--output-type", "odd"),
		fails(exitcode.NotFound, "no work session", "output", "query", "--session", "nothing"), fails(exitcode.NotFound, "no execution", "output", "query", "--execution", "nothing"), fails(exitcode.Usage, "must be 1 to", "output", "query", "-n", "0"), fails(exitcode.Usage, "must be text, json", "output", "query", "--format", "xml"),
		fails(exitcode.Usage, "needs --execution", "output", "check"), fails(exitcode.NotFound, "no execution", "output", "check", "nothing"), fails(exitcode.NotFound, "has no checks", "output", "check", "exec-700"), fails(exitcode.NotFound, "speed", "output", "check", "exec-700", "--only", "speed"),
		fails(exitcode.Usage, "needs --session, or its value as an argument: orchestrator session report orch-", "session", "report"), fails(exitcode.Usage, "Did you mean --agent-type or --output-type?", "output", "query", "--type", "insight"), fails(exitcode.NotFound, "Did you mean tale?", "session", "report", "tael"), works("session", "report", "tale"), works("session", "report", "tale", "--format", "markdown-log"), works("session", "report", "tale", "--format", "json"), works("session", "report", "tale", "--template", "synthesis-report.tmpl"),
		fails(exitcode.NotFound, "no such file", "session", "report", "tale", "--template", "nothing.tmpl"), fails(exitcode.Usage, "cannot be combined", "session", "report", "tale", "--template", "x", "--format", "markdown-log"),
		fails(exitcode.Usage, "needs --execution", "output_collector", "collect"), works("output_collector", "query", "--session-id", "tale"), fails(exitcode.Usage, "needs --session", "output_collector", "synthesize"), works("synthesize_reports", "--session-id", "tale"),
		fails(exitcode.Usage, "exec complete", "exec", "complete"), fails(exitcode.NotFound, "no execution named", "exec", "complete", "nothing"), fails(exitcode.Usage, "Take completed or failed", "exec", "complete", "exec-700", "--status", "odd"),
		works("exec", "complete", "exec-700", "--message", "once upon a time"), fails(exitcode.Refused, "written once", "exec", "complete", "exec-700"), fails(exitcode.Usage, "needs --execution", "execution_tracker", "record-completion"),
		fails(exitcode.Usage, "must be text, json or table", "execution_tracker", "query", "--format", "xml"), works("execution_tracker", "query", "--limit", "3"), works("execution_tracker", "init-session", "--scope", "x", "--session-id", "tracked"),
		works("execution_tracker", "init-deployment", "--session-id", "tracked", "--agent-type", "t", "--scope", "x", "--execution-id", "exec-900"), works("execution_tracker", "record-completion", "--execution-id", "exec-900"),
		works("execution_tracker", "complete-session", "--session-id", "tracked", "--format", "table"), works("session", "init", "--scope", "by flags", "--session-id", "flags"),
		works("exec", "init", "--session-id", "flags", "--execution-id", "flag-1", "--agent-type", "t", "--context-token-count", "5", "--scope", "x"), works("exec", "query", "--session-id", "flags", "--agent-type", "t"), fails(exitcode.Usage, "not both", "session", "init", "x", "--scope", "y", "--as", "z"), works("session", "init", "named", "--scope", "by its argument"),
		fails(exitcode.Refused, "it is no run", "exec", "cancel", "flag-1"), fails(exitcode.Refused, "it is no run", "exec", "logs", "-f", "flag-1"), fails(exitcode.Refused, "it is no run", "exec", "retry", "flag-1"), fails(exitcode.Refused, "it is no run", "exec", "resume", "flag-1"),
		fails(exitcode.Refused, "it is no run", "exec", "fallback", "flag-1"), fails(exitcode.Refused, "it is no run", "exec", "send", "flag-1", "x"), works("exec", "logs", "flag-1"),
		works("exec", "complete", "--execution-id", "flag-1", "--final-message", "done"), works("session", "complete", "--session-id", "flags"), fails(exitcode.Usage, "session complete", "session", "complete"), fails(exitcode.Usage, "Take completed, failed", "session", "complete", "tale", "--status", "odd"),
		works("session", "complete", "tale"), fails(exitcode.Refused, "nothing is added", "session", "complete", "tale"), fails(exitcode.Refused, "nothing is added", "exec", "init", "x", "--type", "writer", "--session", "tale"),
		fails(exitcode.Usage, "task needs a verb", "task"), usage("task", "add"), fails(exitcode.Usage, "the title is empty", "task", "add", " "), works("task", "add", "one", "--body", "all of it", "--order", "-1"), works("task", "add", "two", "--plan", "fix", "--var", "x=1"),
		fails(exitcode.Usage, "no plan can be called", "task", "add", "x", "--plan", "a b"), fails(exitcode.Usage, "write NAME=VALUE", "task", "add", "x", "--var", "y"), fails(exitcode.NotFound, "no work session", "task", "add", "x", "--session", "nothing"),
		usage("task", "list", "x"), works("task", "list"), works("task", "list", "--all", "--plan", "fix"), fails(exitcode.Usage, "no such state", "task", "list", "--status", "odd"), fails(exitcode.Usage, "1 or more", "task", "list", "-n", "0"),
		usage("task", "show"), fails(exitcode.NotFound, "no task named", "task", "show", "nothing"), works("task", "show", "task-001"), usage("task", "edit"), fails(exitcode.Usage, "say what to change", "task", "edit", "task-001"), works("task", "edit", "task-001", "--title", "uno", "--var", "agent=demo"),
		fails(exitcode.NotFound, "no task named", "task", "edit", "nothing", "--accept"), fails(exitcode.Usage, "name tasks, or give --all", "task", "start"), fails(exitcode.Usage, "--of goes with --all", "task", "start", "task-001", "--of", "task-002"), fails(exitcode.NotFound, "no task is proposed", "task", "start", "--all"),
		fails(exitcode.NotFound, `no plan "fix"`, "task", "start", "task-002"), works("task", "start", "task-001", "--read-only"), fails(exitcode.Refused, "has begun", "task", "edit", "task-001", "--title", "x"), fails(exitcode.Refused, "has begun", "task", "cancel", "task-001"), works("task", "cancel", "task-002"), usage("task", "cancel"),
		usage("task", "split"), fails(exitcode.Usage, "no text", "task", "split", " ", "--agent", "demo"), fails(exitcode.Agent, "no task was stored", "task", "split", "x", "--agent", "demo"), works("task", "split", "--agent", "demo", "#json: {\"tasks\":[]}"),
		usage("deliverable", "get"), fails(exitcode.NotFound, "nothing", "deliverable", "get", "nothing", "x"), fails(exitcode.Usage, "1 or more", "deliverable", "get", "x", "--version", "-1"), fails(exitcode.Usage, "name the task", "deliverable", "get", "x"),
		usage("deliverable", "list", "a", "b"), works("deliverable", "list"), fails(exitcode.NotFound, "nothing", "deliverable", "list", "nothing"), fails(exitcode.Usage, "nothing to hand over", "deliverable", "put", "a", "b"), fails(exitcode.Usage, "name both", "deliverable", "put", "a", "-"),
		fails(exitcode.NotFound, "nothing", "deliverable", "put", "nothing", "x", "-"), fails(exitcode.Usage, "use json", "deliverable", "put", "a", "b", "--type", "odd", "-"), usage("wave", "compare"), fails(exitcode.Usage, "give --agent", "wave", "compare", "x"), fails(exitcode.NotFound, "nothing", "wave", "compare", "nothing", "--agent", "x", "--with", "demo"),
		usage("wave", "watch"), fails(exitcode.NotFound, "nothing", "wave", "watch", "nothing"),
		fails(exitcode.Usage, "wave needs a verb", "wave"), usage("wave", "run"), fails(exitcode.NotFound, `no plan "nothing"`, "wave", "run", "nothing"), fails(exitcode.Usage, "stop, continue or ask", "wave", "run", "nothing", "--on-upstream-failure", "never"), fails(exitcode.Usage, "1 or more", "wave", "run", "nothing", "--max-parallel", "-1"),
		usage("wave", "status"), fails(exitcode.NotFound, "no task named", "wave", "status", "nothing"), usage("wave", "list", "x"), works("wave", "list"), fails(exitcode.Usage, "no such state", "wave", "list", "--status", "odd"), fails(exitcode.Usage, "1 or more", "wave", "list", "-n", "0"),
		usage("wave", "cancel"), fails(exitcode.NotFound, "no task named", "wave", "cancel", "nothing"), usage("wave", "retry"), fails(exitcode.NotFound, "no task named", "wave", "retry", "nothing"),
		usage("wave", "answer"), fails(exitcode.Usage, "say --yes or --no", "wave", "answer", "nothing", "gate"), fails(exitcode.NotFound, "no task named", "wave", "answer", "nothing", "gate", "--yes"), fails(exitcode.NotFound, "no task named", "approve", "nothing/gate"), fails(exitcode.NotFound, "no task named", "deny", "nothing/gate"),
		usage("wave", "arm"), fails(exitcode.NotFound, `no plan "nothing"`, "wave", "arm", "nothing"), fails(exitcode.Usage, "must be 1 to 50", "wave", "arm", "nothing", "--at-once", "-1"), usage("wave", "disarm"), fails(exitcode.NotFound, "was armed", "wave", "disarm", "nothing"), usage("wave", "armed", "x"), works("wave", "armed"),
		usage("queue"), usage("queue", "list", "x"), works("queue", "list"), usage("queue", "pause", "a", "b"), fails(exitcode.NotFound, "no agent", "queue", "pause", "nobody"),
		works("queue", "pause", "demo"), works("queue", "resume", "demo"), works("queue", "pause"), works("queue", "resume"),
		usage("queue", "limit", "demo"), fails(exitcode.Usage, "1 or more", "queue", "limit", "demo", "0"), works("queue", "limit", "all", "3"), fails(exitcode.NotFound, "no agent", "queue", "limit", "nobody", "3"),
		usage("threads", "x"), works("threads"),
		usage("prompts", "a", "b"), unknown("prompts", "nobody"), works("prompts"), works("prompts", one),
		usage("prompts", "edit", "p0"), fails(exitcode.NotFound, "there is no prompt", "prompts", "edit", "p0", "x"),
		usage("prompts", "cancel"), fails(exitcode.NotFound, "there is no prompt", "prompts", "cancel", "p0"),
		usage("prompts", "again"), fails(exitcode.NotFound, "there is no prompt", "prompts", "again", "p0"),
		usage("inbox", "x"), works("inbox"),
		usage("offer", "a", "b"), unknown("offer", "nobody"), works("offer"), works("offer", one),
		usage("offer", "accept"), fails(exitcode.Refused, "nothing is offered", "offer", "accept", one), unknown("offer", "decline", "nobody"),
		usage("offer", "fork", "a", "b"), fails(exitcode.Refused, "nothing is offered", "offer", "fork", one),
		usage("cost", "x"), fails(exitcode.Usage, "--by", "cost", "--by", "day"), fails(exitcode.Usage, "--days", "cost", "--days", "-1"), works("cost"), works("cost", "--by", "thread", "--days", "400"),
		usage("events", "x"), works("events"), works("events", "--thread", one, "--kind", "asks,done"), unknown("events", "--thread", "nobody"),
		fails(exitcode.Usage, "Kinds: asks", "events", "--kind", "x"), fails(exitcode.Usage, "1 or more", "events", "--limit", "0"),
		usage("approve"), unknown("approve", "nobody"), fails(exitcode.Refused, "asks nothing", "approve", one),
		usage("deny"), unknown("deny", "nobody"), fails(exitcode.Refused, "asks nothing", "deny", one, "why", "--yes"),
		usage("answer", one), unknown("answer", "nobody", "1"), fails(exitcode.Refused, "asks nothing", "answer", one, "1"),
		fails(exitcode.Usage, "the answer is empty", "answer", one, " ", "--yes"),
		usage("switch"), unknown("switch", "nobody"), works("switch", one),
		usage("attach"), unknown("attach", "nobody"), fails(exitcode.NotFound, "is ambiguous", "attach", "twin"),
		usage("resume", "a", "b"), unknown("resume", "nobody"), fails(exitcode.Refused, "archived", "resume", old),
		usage("why"), unknown("why", "nobody"), fails(exitcode.NotFound, one, "why", one+"x"), fails(exitcode.NotFound, "twin-a", "why", "twin"), works("why", one),
		usage("grants"), unknown("grants", "nobody"), fails(exitcode.Usage, "unknown grant", "grants", one, "--add", "x"), works("grants", one),
		usage("fork"), unknown("fork", "x", "-t", "nobody"), fails(exitcode.NotFound, "Did you mean claude?", "fork", "x", "-t", one, "-a", "klaud"),
		fails(exitcode.NotFound, "turn 7", "fork", "x", "-t", one, "--at", "7"),
		usage("checkpoint"), fails(exitcode.Usage, "Did you mean list", "checkpoint", "lst"),
		usage("checkpoint", "list"), unknown("checkpoint", "list", "nobody"), works("checkpoint", "list", one),
		usage("checkpoint", "show"), unknown("checkpoint", "show", "nobody"), fails(exitcode.NotFound, "It has 1 turn", "checkpoint", "show", one, "7"),
		fails(exitcode.NotFound, "checkpoint list "+one, "checkpoint", "show", one, "ffffffff"), works("checkpoint", "show", one),
		usage("checkpoint", "diff"), fails(exitcode.NotFound, "turn 7", "checkpoint", "diff", one, "1", "7"), unknown("checkpoint", "diff", "nobody"), works("checkpoint", "diff", one),
		usage("checkpoint", "restore", one), unknown("checkpoint", "restore", "nobody", "1"), fails(exitcode.NotFound, "turn 7", "checkpoint", "restore", one, "7"),
		usage("setup"), unknown("setup", "nobody"), fails(exitcode.Refused, "", "setup", one),
		usage("merge"), unknown("merge", "nobody"), fails(exitcode.Refused, "merge "+one+": nothing to merge", "merge", one),
		fails(exitcode.Refused, "no merge is in progress", "merge", one, "--continue"), fails(exitcode.Refused, "no merge is in progress", "merge", one, "--abort"),
		fails(exitcode.Usage, "cannot be combined", "merge", one, "--continue", "--abort"),
		usage("finish"), unknown("finish", "nobody"), fails(exitcode.Refused, "finish "+one+": nothing to merge", "finish", one),
		usage("abandon", one), unknown("abandon", "nobody", "why"), fails(exitcode.Usage, "empty", "abandon", one, " "), works("abandon", one, "why"),
		usage("push"), unknown("push", "nobody"), fails(exitcode.Refused, "no branch of its own", "push", one),
		usage("pr"), unknown("pr", "nobody"), fails(exitcode.Refused, "no branch of its own", "pr", one),
		usage("find"), fails(exitcode.Usage, "--limit -1", "find", "x", "--limit", "-1"), works("find", "nothing like it"),
		fails(exitcode.Usage, "unknown type", "stage", "--type", "xml"), fails(exitcode.Usage, "use a time such as 30m", "stage", "--ttl", "soon"),
		works("stage"),
		fails(exitcode.Usage, "Did you mean list?", "stage", "lst"), usage("stage", "list", "x"), works("stage", "list"),
		usage("stage", "info"), fails(exitcode.Usage, "not a token", "stage", "info", "x"),
		fails(exitcode.NotFound, "nothing is staged as max:00000000", "stage", "info", "max:00000000"),
		usage("stage", "touch"), fails(exitcode.NotFound, "nothing is staged", "stage", "touch", "00000000"),
		usage("retrieve"), fails(exitcode.NotFound, "nothing is staged", "retrieve", "00000000"),
		fails(exitcode.Usage, "--range", "retrieve", "00000000", "--range", "3-1"),
		fails(exitcode.Usage, "--head 0", "retrieve", "00000000", "--head", "0"),
		usage("unstage"), fails(exitcode.NotFound, "nothing is staged", "unstage", "00000000"),
		fails(exitcode.Usage, "context needs a verb: orchestrator context base|mask|pin|", "context"), usage("context", "replay"),
		usage("context", "show"), unknown("context", "show", "nobody"), works("context", "show", one),
		usage("context", "base", one, "x"), unknown("context", "base", "nobody"), works("context", "base", one), works("context", "base"),
		works("context", "base", "--agent", "demo"), works("context", "base", "-a", "claude"), fails(exitcode.NotFound, "no agent", "context", "base", "-a", "nobody"),
		fails(exitcode.Usage, "not both", "context", "base", one, "-a", "demo"), fails(exitcode.Usage, "needs a thread", "context", "base", "--set", "slim"),
		fails(exitcode.Usage, "needs a thread", "context", "base", "--forget"), works("context", "base", one, "--forget"),
		fails(exitcode.Usage, "no such profile", "context", "base", one, "--set", "nothing"), works("context", "base", one, "--set", "full"),
		usage("context", "policy"), usage("context", "policy", one, "lean", "x"), works("context", "policy", one), unknown("context", "policy", "nobody", "safe"), works("context", "policy", one, "lean"),
		fails(exitcode.Usage, "Use safe, lean", "context", "policy", one, "more"), works("context", "policy", one, "default"),
		usage("context", "mask", one), unknown("context", "mask", "nobody", "x"),
		fails(exitcode.NotFound, "no result of a tool", "context", "mask", one, "x"), works("context", "mask", one, "all"),
		usage("context", "unmask", one), fails(exitcode.NotFound, "no result of a tool", "context", "unmask", one, "x"),
		usage("context", "pin", one), fails(exitcode.NotFound, "no result of a tool", "context", "pin", one, "x"),
		usage("context", "unpin", one), fails(exitcode.NotFound, "no result of a tool", "context", "unpin", one, "x"),
		fails(exitcode.NotFound, "matches", "context", "replay", "nothing.here"),
		fails(exitcode.Usage, "mcp needs a verb: orchestrator mcp approve|", "mcp"), fails(exitcode.Usage, "Did you mean list", "mcp", "lst"),
		usage("mcp", "list", "x"), works("mcp", "list"), works("mcp", "list", "--thread", one), unknown("mcp", "list", "--thread", "nobody"),
		usage("mcp", "health", "x"), works("mcp", "health"), usage("mcp", "why"), works("mcp", "why", "some task"), unknown("mcp", "why", "x", "--thread", "nobody"),
		usage("mcp", "show"), fails(exitcode.NotFound, "MCP server", "mcp", "show", "nothing"), works("mcp", "show", "repo"), unknown("mcp", "show", "repo", "--thread", "nobody"),
		usage("mcp", "enable"), fails(exitcode.Usage, "--thread", "mcp", "enable", "repo"), fails(exitcode.NotFound, "MCP server", "mcp", "enable", "nothing", "--thread", one),
		fails(exitcode.Refused, "not accepted", "mcp", "enable", "repo", "--thread", one), unknown("mcp", "enable", "repo", "--thread", "nobody"),
		usage("mcp", "disable"), fails(exitcode.Usage, "--thread", "mcp", "disable", "repo"), works("mcp", "disable", "repo", "--thread", one, "--now"),
		usage("mcp", "approve"), fails(exitcode.NotFound, "MCP server", "mcp", "approve", "nothing"), fails(exitcode.Refused, "no terminal to ask on", "mcp", "approve", "repo"),
		fails(exitcode.Refused, "it has changed since you looked", "mcp", "approve", "repo", "--hash", "0"),
		usage("mcp", "reject"), fails(exitcode.NotFound, "MCP server", "mcp", "reject", "nothing"), works("mcp", "reject", "repo"),
		usage("mcp", "revoke"), fails(exitcode.NotFound, "MCP server", "mcp", "revoke", "nothing"), works("mcp", "revoke", "repo"),
		usage("mcp", "restart"), fails(exitcode.NotFound, "MCP server", "mcp", "restart", "nothing"), fails(exitcode.Refused, "not accepted", "mcp", "restart", "repo"),
		usage("mcp", "login"), fails(exitcode.NotFound, "MCP server", "mcp", "login", "nothing"), fails(exitcode.Refused, "not accepted", "mcp", "login", "repo"),
		usage("mcp", "logs"), fails(exitcode.NotFound, "MCP server", "mcp", "logs", "nothing"), works("mcp", "logs", "repo"),
		usage("mcp", "call", "repo"), fails(exitcode.NotFound, "MCP server", "mcp", "call", "nothing", "x"), fails(exitcode.Refused, "not accepted", "mcp", "call", "repo", "x"),
		usage("context", "summary"), unknown("context", "summary", "nobody"), works("context", "summary", one),
		fails(exitcode.NotFound, "no summary of", "context", "summary", one, "x"),
		fails(exitcode.NotFound, "lists them", "context", "summary", one, "x", "--drop"),
		fails(exitcode.Usage, "name the summary", "context", "summary", one, "--edit"),
		fails(exitcode.Usage, "--by is for --write", "context", "summary", one, "--by", "model"),
		fails(exitcode.Usage, "Use model, extract", "context", "summary", one, "--write", "--by", "oracle"),
		fails(exitcode.Refused, "no older turns to summarise", "context", "summary", one, "--write"),
		usage("rename", one), unknown("rename", "nobody", "x"), fails(exitcode.Usage, "needs a letter or digit", "rename", one, ""),
		usage("pin"), unknown("pin", "nobody"), works("pin", one), works("pin", one, "--off"),
		usage("export"), unknown("export", "nobody"),
		usage("import"), fails(exitcode.NotFound, "nothing.here", "import", "nothing.here"),
		usage("backup"), usage("restore-backup"), fails(exitcode.NotFound, "nothing.here", "restore-backup", "nothing.here"),
		usage("gc", "x"), works("gc", "--dry-run"),
		usage("archive"), unknown("archive", "nobody"), works("archive", one),
		usage("restore"), unknown("restore", "nobody"), works("restore", one),
		usage("delete"), unknown("delete", "nobody"), works("delete", one),
		usage("undelete"), unknown("undelete", "nobody"), works("undelete", one),
		usage("adopt", "a", "b"), fails(exitcode.NotFound, "no state is called", "adopt", "nobody"),
		works("wave", "plan", "--example"), fails(exitcode.Usage, "name a plan", "wave", "plan"), fails(exitcode.Usage, "name a plan", "wave", "plan", "x", "--example"),
		fails(exitcode.NotFound, "no plan", "wave", "plan", "nothing"), fails(exitcode.NotFound, "no file", "wave", "plan", "/nothing/x.toml"), fails(exitcode.Usage, "--max-parallel", "wave", "plan", "x", "--max-parallel", "-1"),
		fails(exitcode.Usage, "has no key", "wave", "plan", ".mcp.json"), fails(exitcode.NotFound, "no plans", "trust", "--plans"), fails(exitcode.Usage, "cannot be combined", "trust", "--plans", "--git"),
		usage("trust", "x"), fails(exitcode.NotFound, "nothing to trust", "trust"), fails(exitcode.Usage, "cannot be combined", "trust", "--git", "--folder"),
		usage("doctor", "x"), usage("version", "x"), works("version"), usage("completion"), fails(exitcode.Usage, "Did you mean bash or zsh?", "completion", "bsh"),
		usage("serve", "x"), fails(exitcode.Refused, "already running", "serve"), usage("restart", "x"),
		usage("stop", "a", "b"), fails(exitcode.Usage, "must be text or json", "threads", "-o", "yaml"),
		fails(exitcode.Usage, "must be text or json or ndjson", "send", one, "x", "-o", "yaml"), unknown("stop", "nobody"), fails(exitcode.Usage, "unknown verb", "thrads"), fails(exitcode.Usage, "no option --tre. Did you mean --tree?", "threads", "--tre"),
	}
}

// namesFile reports whether --output names a file of what is called, and not how to print.
func namesFile(args []string) bool {
	cmd, _, err := (&cli{out: newOutput(io.Discard, io.Discard)}).command().Find(args)
	return err == nil && cmd.LocalNonPersistentFlags().Lookup("output") != nil
}

// TestVerbsKeepTheirExitCodes calls every verb rightly and wrongly, in words and for JSON.
func TestVerbsKeepTheirExitCodes(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".mcp.json", `{"mcpServers":{"repo":{"command":"/bin/cat"}}}`)
	one, old := r.Demo("-p", "list files", "alone"), r.Demo("namesake")
	r.AwaitState(one, thread.StateDone)
	r.Ok("stop", one)
	r.Ok("archive", old)
	r.Demo("-n", "twin-a")
	r.Demo("-n", "twin-b")
	cases := verbCases(one, old)
	for i, c := range cases {
		if c.code != exitcode.OK {
			r.Says(c.code, []string{c.says}, c.args...)
		}
		asks := [][]string{{"--json"}, {"-o", "json"}, {"--output=json"}}[i%3]
		if namesFile(c.args) {
			asks = []string{"--json"}
		}
		checkJSON(t, c, r.Run(append(slices.Clone(c.args), asks...)...))
	}
	called := map[string]bool{}
	for _, c := range cases {
		called[c.args[0]], called[strings.Join(c.args[:min(2, len(c.args))], " ")] = true, true
	}
	root := (&cli{out: newOutput(io.Discard, io.Discard)}).command()
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
func checkJSON(t *testing.T, c verbCase, res e2e.Result) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(res.Stdout))
	var v any
	if err := dec.Decode(&v); err != nil || dec.Decode(new(any)) != io.EOF {
		t.Errorf("orchestrator %q --json prints no single value: %v\n%s", c.args, err, res.Stdout)
		return
	}
	var f failure
	if err := json.NewDecoder(bytes.NewReader([]byte(res.Stdout))).Decode(&f); c.code != exitcode.OK {
		if err != nil || res.Code != c.code || f.Error.Exit != c.code || f.Error.Code == "" || !strings.Contains(f.Error.Message, c.says) {
			t.Errorf("orchestrator %q --json: exit %d, %v, %+v", c.args, res.Code, err, f.Error)
		}
	} else if res.Code != exitcode.OK {
		t.Errorf("orchestrator %q --json: exit %d: %s", c.args, res.Code, res.Stdout)
	}
}
