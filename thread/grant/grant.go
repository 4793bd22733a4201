// Package grant decides what a thread's agent may ask of the server. The person may do everything; one table lists what
// an agent needs for each operation, and an operation without a row is allowed to no agent.
//
// An agent may always read its own thread. Everything else is granted by the person, thread by thread: a fork or an
// import starts without grants. Some operations cannot be granted at all, because they would let an agent answer for
// the person: accepting what a repository brings, granting, typing raw keys, writing files that the server can write
// and the agent's sandbox may not.
//
// It trusts what it is told about a caller; finding out who calls is done elsewhere.
package grant

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Row is one operation.
type Row struct {
	// Op is the operation's name in the API, or the name of what a verb does without the server.
	Op string
	// Verb is what people call it.
	Verb string
	// Own is what an agent needs for its own thread, Others what it needs for any other thread or for an operation on no
	// single thread.
	Own, Others thread.Grant
	// Local is set for what a verb does without the server, so that the API has no such operation.
	Local bool
}

// Table lists every operation.
func Table() []Row {
	return []Row{
		{Op: "info", Verb: "doctor"},
		{Op: "may", Verb: "doctor"},
		{Op: "agents", Verb: "doctor"},
		{Op: "mcp", Verb: "mcp list", Others: Read}, // of which the caller's own thread is asked if none is named
		{Op: "mcp-detail", Verb: "mcp show", Others: Read},
		{Op: "mcp-why", Verb: "mcp why", Others: Read},
		{Op: "mcp-serve", Verb: "the agent's own MCP server"}, // of the caller's thread only
		{Op: "list", Verb: "threads"},                         // of which it sees what Visible leaves
		{Op: "archived", Verb: "threads"},                     // likewise

		{Op: "stage", Verb: "stage"},
		// Anybody may read by a complete token. Prefixes match, and the list shows, only what Caller.Sees allows.
		{Op: "retrieve", Verb: "retrieve"},
		{Op: "stage-info", Verb: "stage info"},
		{Op: "stage-touch", Verb: "stage touch", Others: Manage},
		{Op: "stage-list", Verb: "stage list"},
		{Op: "unstage", Verb: "unstage", Others: Manage},

		{Op: "status", Verb: "threads", Others: Read},
		{Op: "why", Verb: "why", Others: Read},
		{Op: "grants", Verb: "grants", Others: Read},
		{Op: "timeline", Verb: "checkpoint list", Others: Read},
		{Op: "turn", Verb: "checkpoint show", Others: Read},
		{Op: "diff", Verb: "checkpoint diff", Others: Read},
		{Op: "context", Verb: "context show", Others: Read},
		{Op: "base", Verb: "context base", Others: Read}, // of the caller's own thread if none and no agent is named
		{Op: "prompts", Verb: "prompts", Others: Read},
		{Op: "prompt", Verb: "following an answer", Others: Read},
		{Op: "find", Verb: "find", Own: Read, Others: Read},
		{Op: "cost", Verb: "cost", Own: Read, Others: Read}, // of all threads
		{Op: "speech", Verb: "following an answer", Others: Read},
		{Op: "event-log", Verb: "events", Others: Read},
		{Op: "events", Verb: "watching threads", Own: Read, Others: Read},
		{Op: "work-glance", Verb: "the view of work"}, // of which it sees what is its own; with Read, all of it
		{Op: "work-page", Verb: "the view of work"},   // likewise

		{Op: "ask", Verb: "send", Own: Send, Others: Send},
		{Op: "prompt-edit", Verb: "prompts edit", Own: Send, Others: Send},
		{Op: "prompt-cancel", Verb: "prompts cancel", Own: Send, Others: Send},
		{Op: "prompt-again", Verb: "prompts again", Own: Send, Others: Send},

		{Op: "new", Verb: "new", Own: Start, Others: Start},
		{Op: "fork", Verb: "fork", Own: Start, Others: Start},
		{Op: "resume", Verb: "resume", Own: Start, Others: Start},
		{Op: "resumeall", Verb: "resume", Own: Start, Others: Start},
		{Op: "setup", Verb: "setup", Own: Start, Others: Start},
		{Op: "answeroffer", Verb: "offer accept", Own: Start, Others: Start},

		{Op: "run", Verb: "run --once", Own: Run, Others: Run},
		{Op: "run-fork", Verb: "fork --once", Own: Run, Others: Start},
		{Op: "exec-list", Verb: "exec list"}, // of which it sees what Executions leaves
		// An agent's own executions are those that it asked for, and those of its own thread.
		{Op: "exec-show", Verb: "exec show", Others: Read},
		{Op: "exec-events", Verb: "exec logs", Others: Read},
		{Op: "exec-follow", Verb: "exec logs -f", Others: Read},
		{Op: "exec-cancel", Verb: "exec cancel", Others: Manage},
		{Op: "exec-send", Verb: "exec send", Own: Run, Others: Start},
		{Op: "exec-resume", Verb: "exec resume", Own: Run, Others: Start},
		{Op: "budget", Verb: "budget", Own: Read, Others: Read},
		{Op: "budget-set", Verb: "budget set", Own: person, Others: person}, // nobody raises what limits them
		{Op: "exec-retry", Verb: "exec retry", Own: Start, Others: Start},
		{Op: "exec-fallback", Verb: "exec fallback", Own: Start, Others: Start},
		// Anybody may record their own work. What an agent sees of that of others, and that it changes nothing of it, is decided
		// by the record.
		{Op: "session-init", Verb: "session init"},
		{Op: "session-phase", Verb: "session phase"},
		{Op: "session-complete", Verb: "session complete"},
		{Op: "session-list", Verb: "session list"},
		{Op: "session-show", Verb: "session show"},
		{Op: "session-task", Verb: "session task"},
		{Op: "exec-init", Verb: "exec init"},
		{Op: "exec-complete", Verb: "exec complete"},
		{Op: "exec-query", Verb: "exec query"},
		{Op: "queue", Verb: "queue list", Own: Read, Others: Read},
		{Op: "queue-set", Verb: "queue pause", Own: person, Others: person},

		// An agent records its own work, within bounds, and sees what it recorded.
		{Op: "bundle-prepare", Verb: "bundle prepare"},
		{Op: "bundle-show", Verb: "bundle show"},
		{Op: "bundle-list", Verb: "bundle list"},
		{Op: "bundle-dedup", Verb: "bundle dedup"},
		{Op: "bundle-budget", Verb: "bundle budget"},
		{Op: "bundle-allocate", Verb: "bundle allocate"},
		// An agent collects for its own executions only; checks run what the person has accepted, as its thread's setup does.
		{Op: "output-collect", Verb: "output collect"},
		{Op: "output-query", Verb: "output query"},
		{Op: "output-check", Verb: "output check", Own: Start, Others: Start},
		{Op: "session-report", Verb: "session report"},
		// Answers about the record: without Read, an agent is answered of its own executions only.
		{Op: "history", Verb: "history"},
		{Op: "history-context", Verb: "history context"},
		{Op: "history-who", Verb: "history who"},
		{Op: "history-bundles", Verb: "history bundles"},
		{Op: "history-trace", Verb: "history trace"},
		{Op: "stats", Verb: "stats"},

		// A plan that an agent starts has runs that it might start itself. It sees the tasks that it asked for; with Read, all.
		{Op: "wave-run", Verb: "wave run", Own: Run, Others: Run},
		{Op: "wave-status", Verb: "wave status"},
		{Op: "wave-list", Verb: "wave list"},
		{Op: "wave-cancel", Verb: "wave cancel"}, // of its own tasks
		{Op: "wave-retry", Verb: "wave retry", Own: Start, Others: Start},
		{Op: "wave-answer", Verb: "wave answer", Own: person, Others: person},
		{Op: "wave-glance", Verb: "wave list"},
		{Op: "wave-compare", Verb: "wave compare", Own: person, Others: person},
		// An agent of a plan reads what its plan names, and hands over for itself; others that of tasks that they asked for.
		{Op: "deliverable-get", Verb: "deliverable get"},
		{Op: "deliverable-list", Verb: "deliverable list"},
		{Op: "deliverable-put", Verb: "deliverable put"},

		// An agent sees its own tasks, and with Read all of them; it takes back what it has added. What it adds waits for the person
		// unless it may start programs.
		{Op: "task-add", Verb: "task add", Own: Run, Others: Run},
		{Op: "task-list", Verb: "task list"},
		{Op: "task-edit", Verb: "task edit"},
		{Op: "task-start", Verb: "task start", Own: Start, Others: Start},
		{Op: "task-split", Verb: "task split", Own: person, Others: person},
		{Op: "wave-arm", Verb: "wave arm", Own: person, Others: person}, // what works day and night, the person decides
		{Op: "wave-armed", Verb: "wave armed", Own: Read, Others: Read},

		{Op: "merge", Verb: "merge", Own: Merge, Others: Merge},
		{Op: "mergecontinue", Verb: "merge --continue", Own: Merge, Others: Merge},
		{Op: "mergeabort", Verb: "merge --abort", Own: Merge, Others: Merge},
		{Op: "finish", Verb: "finish", Own: Merge, Others: Merge},
		{Op: "push", Verb: "push", Own: Merge, Others: Merge},
		{Op: "rewind", Verb: "checkpoint restore", Own: Merge, Others: Merge},

		{Op: "rename", Verb: "rename", Own: Manage, Others: Manage},
		{Op: "pin", Verb: "pin", Own: Manage, Others: Manage},
		{Op: "archive", Verb: "archive", Own: Manage, Others: Manage},
		{Op: "unarchive", Verb: "restore", Own: Manage, Others: Manage},
		{Op: "delete", Verb: "delete", Own: Manage, Others: Manage},
		{Op: "undelete", Verb: "undelete", Own: Manage, Others: Manage},
		{Op: "abandon", Verb: "abandon", Own: Manage, Others: Manage},
		{Op: "stopagent", Verb: "stop", Own: Manage, Others: Manage},
		{Op: "collect", Verb: "gc", Own: Manage, Others: Manage},

		{Op: "switch", Verb: "switch", Own: Switch, Others: Switch},

		{Op: "terminal", Verb: "attach", Own: person, Others: person},
		{Op: "answer", Verb: "answer", Own: person, Others: person},
		{Op: "seen", Verb: "marking a thread as seen", Own: person, Others: person},
		{Op: "setgrants", Verb: "grants --add", Own: person, Others: person},
		{Op: "context-change", Verb: "changing what is masked", Own: person, Others: person},
		{Op: "base-set", Verb: "changing what an agent leaves out", Own: person, Others: person},
		{Op: "setoffers", Verb: "changing fork offers", Own: person, Others: person},
		{Op: "mcp-switch", Verb: "switching MCP servers", Own: person, Others: person},
		{Op: "mcp-act", Verb: "mcp approve", Own: person, Others: person},
		{Op: "mcp-call", Verb: "mcp call", Own: person, Others: person},
		{Op: "export", Verb: "export", Own: person, Others: person},
		{Op: "import", Verb: "import", Own: person, Others: person},
		{Op: "backup", Verb: "backup", Own: person, Others: person},
		{Op: "restorebackup", Verb: "restore-backup", Own: person, Others: person},
		{Op: "stop", Verb: "stop", Own: person, Others: person},

		{Op: "serve", Verb: "starting a server", Own: person, Others: person, Local: true},
		{Op: "kill", Verb: "stop --force", Own: person, Others: person, Local: true},
		{Op: "adopt", Verb: "adopt", Own: person, Others: person, Local: true},
		{Op: "trust", Verb: "trust", Own: person, Others: person, Local: true},
	}
}

// row finds an operation.
func row(op string) (Row, bool) {
	table := Table()
	i := slices.IndexFunc(table, func(r Row) bool { return r.Op == op })
	if i < 0 {
		return Row{}, false
	}
	return table[i], true
}

// Caller is who asks: the zero value is the person.
type Caller struct {
	// Agent is set for an agent and for processes started by one.
	Agent bool
	// Thread is the agent's thread, "" if it does not run in a thread of this project. Name and Grants are the thread's.
	Thread thread.ID
	Name   string
	Grants []thread.Grant
}

// May returns an error unless the caller may do the operation, on its own thread or on others; the error says which
// grant is missing and how to add it.
func (c Caller) May(op string, own bool) error {
	r, ok := row(op)
	if !ok {
		return fmt.Errorf("unknown operation %q: %w", op, thread.ErrUnsupported)
	}
	if !c.Agent {
		return nil
	}
	need := r.Others
	if own {
		need = r.Own
	}
	switch {
	case need == free, need != person && c.Has(need):
		return nil
	case need == person:
		return Alone(op)
	default:
		return c.Lacks(r.Verb, need)
	}
}

// Lacks returns the error for something that needs a grant which the caller does not have.
func (c Caller) Lacks(what string, need thread.Grant) error {
	if c.Thread == "" {
		return fmt.Errorf("%s needs the grant %q, which agents outside this project's threads do not have: %w",
			what, need, thread.ErrNotGranted)
	}
	return thread.Hint(
		fmt.Errorf("%s needs the grant %q, which %s does not have: %w", what, need, c.Name, thread.ErrNotGranted),
		fmt.Sprintf("ask the user to run: orchestrator grants %s --add %s", c.Name, need))
}

// Alone returns the error for an operation that only the person may do.
func Alone(op string) error {
	verb := op
	if r, ok := row(op); ok {
		verb = r.Verb
	}
	return thread.Hint(fmt.Errorf("%s: only the user may do this, not an agent: %w", verb, thread.ErrNotGranted),
		"run it in your own terminal")
}

// Has reports whether a caller has a grant.
func (c Caller) Has(g thread.Grant) bool { return !c.Agent || Of(c.Grants, g) != "" }

// Visible returns the threads of a list that the caller may see.
func (c Caller) Visible(list []thread.Status) []thread.Status {
	if c.Has(Read) {
		return list
	}
	return slices.DeleteFunc(list, func(s thread.Status) bool { return c.Thread == "" || s.ID != c.Thread })
}

// Owns reports whether an execution is the caller's own: it asked for it, or works in its thread.
func (c Caller) Owns(x work.Execution) bool {
	return c.Thread != "" && (x.By == c.Thread || x.Thread == c.Thread)
}

// Executions returns the executions of a list that the caller may see.
func (c Caller) Executions(list []work.Execution) []work.Execution {
	if c.Has(Read) {
		return list
	}
	return slices.DeleteFunc(list, func(x work.Execution) bool { return !c.Owns(x) })
}

// Sees reports whether a caller may see staged data without knowing its token.
func (c Caller) Sees(d thread.Staged) bool {
	return c.Has(Read) || c.Thread != "" && d.Thread == c.Thread
}

// Parse parses grants as people write them.
func Parse(words []string) ([]thread.Grant, error) {
	var out []thread.Grant
	var errs []error
	for _, w := range words {
		g := thread.Grant(strings.ToLower(strings.TrimSpace(w)))
		if kind(g) == "" {
			errs = append(errs, thread.Kindf(thread.ErrInvalid, "unknown grant %q", w))
			continue
		}
		out = append(out, g)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, thread.Hint(err, fmt.Sprintf("grants: %s, %s:2 to %s:%d", Format(Names()), Run, Run, MaxDepth))
	}
	return out, nil
}

// Change adds and removes grants and returns the result in the order of All, each once: of several with a depth the one
// that was added, and without one the deepest. Unknown grants are dropped.
func Change(have, add, remove []thread.Grant) []thread.Grant {
	var out []thread.Grant
	for _, g := range Names() {
		now := Of(add, g)
		if now == "" {
			now = Of(have, g)
		}
		if now != "" && Of(remove, g) == "" {
			out = append(out, now)
		}
	}
	return out
}

// Format formats grants for people.
func Format(grants []thread.Grant) string {
	if len(grants) == 0 {
		return "none"
	}
	words := make([]string, len(grants))
	for i, g := range grants {
		words[i] = string(g)
	}
	return strings.Join(words, ", ")
}
