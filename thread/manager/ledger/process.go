package ledger

import (
	"fmt"
	"strconv"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// maxNatives is how many sub-agents of a process have rows of their own.
const maxNatives = 1000

// Process is a process of an agent that is about to start.
type Process struct {
	ID     thread.ExecutionID
	Thread thread.Thread
	// Run is the execution that it works on, the zero value for a process in a terminal.
	Run work.Execution
	// Model and Version are those of the agent, as far as they are known, and Base is the commit of its folder.
	Model, Version, Base string
	// Session, Task and Type are as in work.Execution.
	Session, Task, Type string
	Prompt              string // that it is started with, "" for none
	Started             time.Time
	Before              thread.Usage // what its thread had used
	// Calls reads what an answer hands to sub-agents, and the final message of a sub-agent that ends with it; nil if the
	// agent's calls do not tell.
	Calls func(answer thread.Item) Calls
}

// Calls is what the calls of an answer tell.
type Calls struct {
	Handed []thread.Delegation
	Ends   bool // a sub-agent whose answer it is ends with it
	Said   string
}

// process is one in this server.
type process struct {
	id       thread.ExecutionID
	row      work.Execution // of a run only what its sub-agents need
	terminal bool
	calls    func(thread.Item) Calls
	given    bool
	said     string // whole
	over     bool
	natives  map[string]*native // by the CLI's id
	again    map[string]int     // how many conversations began like this, by ids that are made
	handed   handed
	full     bool // there were more sub-agents than have rows
}

// newProcess returns a process; at has where it is written down.
func newProcess(p Process, at work.Execution) *process {
	x := p.Run
	if p.Run.ID == "" {
		x = work.Execution{
			ID: work.ID(p.ID), Kind: work.KindTerminal, Thread: p.Thread.ID, Agent: p.Thread.Agent, Process: p.ID,
			State: work.Running, Created: p.Started, Started: p.Started, Session: p.Session, Task: p.Task, Type: p.Type,
			Dir: p.Thread.Dir, Base: p.Base, Model: word(p.Model), Version: word(p.Version), Before: p.Before,
		}
	}
	x.Host, x.User, x.Server = at.Host, at.User, at.Server
	return &process{
		id: p.ID, row: x, terminal: p.Run.ID == "", calls: p.Calls, natives: map[string]*native{}, again: map[string]int{},
	}
}

// asked takes a prompt of a terminal. It returns it as it is stored, if it is the first one.
func (p *process) asked(prompt string) string {
	if !p.terminal || p.given || prompt == "" {
		return ""
	}
	p.given = true
	prompt = whole(prompt)
	p.row.Scope = thread.Excerpt(prompt)
	return prompt
}

// used takes the end of any request of a terminal.
func (p *process) used(e thread.Exchange) {
	if p.terminal {
		p.row.Usage = p.row.Usage.Add(e.Usage)
	}
}

// keyed returns the id by which a sub-agent is known here. A conversation that begins like another one that the model has
// answered is another sub-agent.
func (p *process) keyed(a thread.SubAgent, begins bool) string {
	if !a.Made {
		return a.Key
	}
	key := func() string {
		if n := p.again[a.Key]; n > 0 {
			return a.Key + "#" + strconv.Itoa(n+1)
		}
		return a.Key
	}
	if n := p.natives[key()]; begins && !p.over && a.First && n != nil && n.answered {
		p.again[a.Key]++
	}
	return key()
}

// native returns a sub-agent by its id, and makes it if there is room; nil if there is none. full is set once there is none
// for the first time.
func (p *process) native(key string, at time.Time) (n *native, made, full bool) {
	switch n = p.natives[key]; {
	case n != nil:
		return n, false, false
	case len(p.natives) < maxNatives && !p.over:
		n = newNative(p.row, p.id, key, at)
		p.natives[key] = n
		return n, true, false
	default:
		full, p.full = !p.full && !p.over, true
		return nil, false, full
	}
}

// place finds out who started a sub-agent and with which words, as far as that is not known. It returns the prompt as it is
// stored.
func (p *process) place(n *native, a thread.SubAgent, prompt string) string {
	n.named(a.Type, "")
	if parent := p.natives[a.Parent]; a.Parent != "" && parent != nil && parent != n {
		n.row.Parent = parent.row.ID
	}
	if n.given {
		return ""
	}
	d, ok := p.handed.take(a, prompt)
	if !ok {
		n.named(a.Name, "")
		return n.asked(prompt)
	}
	if d.by != n.row.ID && n.row.Parent == p.row.ID {
		n.row.Parent = d.by
	}
	n.named(d.Type, "")
	n.named(d.Name, "")
	return n.asked(d.Prompt)
}

// hands remembers what an answer hands to sub-agents.
func (p *process) hands(by work.ID, e thread.Exchange) Calls {
	if p.calls == nil || e.Answer == nil || len(e.Tools) == 0 || e.Interrupted {
		return Calls{}
	}
	c := p.calls(*e.Answer)
	for _, d := range c.Handed {
		p.handed.add(d, by)
	}
	return c
}

// tooMany is what a row says of sub-agents that have none.
func tooMany() string {
	return fmt.Sprintf("it started more than %d sub-agents: the others are not recorded one by one", maxNatives)
}
