// Package grant says what a thread's agent may ask of the server. The person may do everything; what an agent
// needs for each operation stands in one table, and an operation that has no row is nobody's.
//
// An agent may always look at its own thread. Everything else is granted to a thread by the person, thread by
// thread: a fork or an import begins with no grants. Some operations cannot be granted at all, because they
// would let an agent answer for the person: accepting what a repository brings, granting, typing raw keys,
// writing files where the server can and the agent's sandbox may not.
//
// It decides by what it is told of a caller; who calls is found out elsewhere.
package grant

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
)

// The grants.
const (
	Read   thread.Grant = "read"   // see the other threads: state, turns, files, what happens
	Send   thread.Grant = "send"   // send prompts to threads
	Start  thread.Grant = "start"  // start threads, forks and stopped agents: programs outside of its sandbox
	Merge  thread.Grant = "merge"  // merge, push and restore: branches and files
	Manage thread.Grant = "manage" // rename, pin, archive, delete threads and stop agents
	Switch thread.Grant = "switch" // change what the person's screens show
)

// The rules that are no grants.
const (
	free   thread.Grant = ""       // no grant is needed
	person thread.Grant = "person" // no grant is enough
)

// All lists the grants with what each allows, for people.
func All() []Meaning {
	return []Meaning{
		{Read, "see the other threads"},
		{Send, "send prompts to threads"},
		{Start, "start threads, forks and stopped agents"},
		{Merge, "merge, push, and restore turns"},
		{Manage, "rename, pin, archive, delete and stop threads"},
		{Switch, "change what your screens show"},
	}
}

// Meaning is a grant in words.
type Meaning struct {
	Grant thread.Grant `json:"grant"`
	May   string       `json:"may"`
}

// Row is one operation.
type Row struct {
	// Op is the operation's name in the API, or of what a verb does without the server.
	Op string
	// Verb is what people call it.
	Verb string
	// Own is what an agent needs for its own thread, Others what it needs for any other, or for what
	// concerns no single thread.
	Own, Others thread.Grant
	// Local is set for what a verb does by itself, without the server.
	Local bool
}

// Table lists every operation.
func Table() []Row {
	return []Row{
		{Op: "info", Verb: "doctor"},
		{Op: "may", Verb: "doctor"},
		{Op: "agents", Verb: "doctor"},
		{Op: "mcp", Verb: "doctor"},
		{Op: "list", Verb: "threads"}, // of which it sees what Visible leaves

		{Op: "status", Verb: "threads", Others: Read},
		{Op: "why", Verb: "why", Others: Read},
		{Op: "grants", Verb: "grants", Others: Read},
		{Op: "timeline", Verb: "checkpoint list", Others: Read},
		{Op: "turn", Verb: "checkpoint show", Others: Read},
		{Op: "diff", Verb: "checkpoint diff", Others: Read},
		{Op: "prompts", Verb: "prompts", Others: Read},
		{Op: "prompt", Verb: "following an answer", Others: Read},
		{Op: "find", Verb: "find", Own: Read, Others: Read},
		{Op: "speech", Verb: "following an answer", Others: Read},
		{Op: "events", Verb: "watching threads", Own: Read, Others: Read},

		{Op: "ask", Verb: "send", Own: Send, Others: Send},
		{Op: "prompt-edit", Verb: "prompts edit", Own: Send, Others: Send},
		{Op: "prompt-cancel", Verb: "prompts cancel", Own: Send, Others: Send},
		{Op: "prompt-again", Verb: "prompts again", Own: Send, Others: Send},

		{Op: "new", Verb: "new", Own: Start, Others: Start},
		{Op: "fork", Verb: "fork", Own: Start, Others: Start},
		{Op: "resume", Verb: "resume", Own: Start, Others: Start},
		{Op: "resumeall", Verb: "resume", Own: Start, Others: Start},
		{Op: "setup", Verb: "setup", Own: Start, Others: Start},
		{Op: "answeroffer", Verb: "answering a fork offer", Own: Start, Others: Start},

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
		{Op: "seen", Verb: "marking a thread as seen", Own: person, Others: person},
		{Op: "setgrants", Verb: "grants --add", Own: person, Others: person},
		{Op: "setoffers", Verb: "changing fork offers", Own: person, Others: person},
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
	// Agent is set for an agent, and what runs below one.
	Agent bool
	// Thread is the agent's, empty where it is none of this project's that runs. Name and Grants are the
	// thread's.
	Thread thread.ID
	Name   string
	Grants []thread.Grant
}

// May reports whether a caller may do an operation on its own thread, or on others; the error says what is
// missing, and what the person can do about it.
func (c Caller) May(op string, own bool) error {
	r, ok := row(op)
	if !ok {
		return fmt.Errorf("there is no operation %q: %w", op, thread.ErrUnsupported)
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
	case c.Thread == "":
		return fmt.Errorf("%s needs the grant %q, and an agent that does not run in a thread of this project has none: %w", r.Verb, need, thread.ErrNotGranted)
	default:
		return thread.Hint(fmt.Errorf("%s needs the grant %q, which %s does not have: %w", r.Verb, need, c.Name, thread.ErrNotGranted),
			fmt.Sprintf("the person can add it: orchestrator grants %s --add %s", c.Name, need))
	}
}

// Alone is the refusal of what only the person may do.
func Alone(op string) error {
	verb := op
	if r, ok := row(op); ok {
		verb = r.Verb
	}
	return thread.Hint(fmt.Errorf("%s is for the person alone, and this runs below an agent: %w", verb, thread.ErrNotGranted),
		"run it in a terminal of your own")
}

// Has reports whether a caller has a grant.
func (c Caller) Has(g thread.Grant) bool { return !c.Agent || slices.Contains(c.Grants, g) }

// Visible leaves the threads that a caller may see of a list.
func (c Caller) Visible(list []thread.Status) []thread.Status {
	if c.Has(Read) {
		return list
	}
	return slices.DeleteFunc(list, func(s thread.Status) bool { return c.Thread == "" || s.ID != c.Thread })
}

// Parse reads grants as people write them.
func Parse(words []string) ([]thread.Grant, error) {
	var out []thread.Grant
	var errs []error
	for _, w := range words {
		g := thread.Grant(strings.ToLower(strings.TrimSpace(w)))
		if !slices.ContainsFunc(All(), func(m Meaning) bool { return m.Grant == g }) {
			errs = append(errs, fmt.Errorf("there is no grant %q: %w", w, thread.ErrInvalid))
			continue
		}
		out = append(out, g)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, thread.Hint(err, "grants are "+Format(Names()))
	}
	return out, nil
}

// Names lists the grants.
func Names() []thread.Grant {
	var all []thread.Grant
	for _, m := range All() {
		all = append(all, m.Grant)
	}
	return all
}

// Change returns a thread's grants with some added and others removed, in the order of All and each once. What
// is no grant goes.
func Change(have, add, remove []thread.Grant) []thread.Grant {
	var out []thread.Grant
	for _, g := range Names() {
		if (slices.Contains(have, g) || slices.Contains(add, g)) && !slices.Contains(remove, g) {
			out = append(out, g)
		}
	}
	return out
}

// Format writes grants for people.
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
