package work

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
)

// Limits are how many executions may work at once; 0 is no limit. Twice as many as All may have a process: the others wait
// for a person.
type Limits struct {
	All int `json:"all,omitempty"`
	// Agent and Account hold for each agent and each account that has no limit of its own below.
	Agent    int            `json:"agent,omitempty"`
	Account  int            `json:"account,omitempty"`
	Agents   map[string]int `json:"agents,omitempty"`
	Accounts map[string]int `json:"accounts,omitempty"`
}

// Queue decides which executions start. It keeps three promises: it starts nothing over a limit; what a person asked for
// never waits behind what an agent asked for at the same priority; and what cannot start, because its agent, its account
// or its thread is at its limit, holds up nothing but its own thread.
//
// An agent that asked for an execution may wait for it, so the place of its own is lent to one of those at a time, which
// then counts against no limit as long as that agent works. Else as many as there are places could all wait for what
// never gets one. With what is lent there are at most twice as many as Limits.All; over that a place is lent only while
// each that works has asked for one that has not ended, and could otherwise wait for ever.
//
// An execution that needs a person's input lends its place to any other. Once it is answered it works at once, so that for a
// while more may work than Limits allow; nothing starts until that is over.
type Queue struct {
	Limits Limits
	// Paused holds all that wait, PausedAgents those of some agents. What runs goes on.
	Paused       bool
	PausedAgents []string
	// Held are threads that must not start one now, with the reason for people: "it is open in a terminal".
	Held map[thread.ID]string
	// Later are executions that must not start yet, with the reason, and Breaks the ways on which others have failed.
	Later  map[ID]string
	Breaks map[Way]Break
	Now    time.Time // for Breaks
}

// Waiting is an execution that may not start now, with the reason for people.
type Waiting struct {
	ID     ID
	Reason string
}

// Decision is what the queue has decided.
type Decision struct {
	Start []Execution // in this order
	Waits []Waiting   // in the order in which they would start
}

// probing is how long an execution that was started finds out about its way. One that works longer, or waits for a person,
// may ask its model nothing for hours.
const probing = time.Minute

// Order compares two queued executions: the one that starts first is the smaller. Larger priorities come first, then
// what people asked for, then the older.
func Order(a, b Execution) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		cmp.Compare(asker(a), asker(b)),
		a.Created.Compare(b.Created),
		cmp.Compare(a.ID, b.ID),
	)
}

// asker is 0 for a person, 1 for an agent.
func asker(x Execution) int {
	if x.By == "" {
		return 0
	}
	return 1
}

// Decide decides which of the open executions start now.
func (q Queue) Decide(open []Execution) Decision {
	u := use{
		agents: map[string]int{}, accounts: map[string]int{}, threads: map[thread.ID]string{}, lends: map[thread.ID]bool{},
		ways: map[Way]string{}, now: q.Now,
	}
	var queued, held []Execution
	for _, x := range open {
		switch {
		case x.State.Holds():
			held = append(held, x)
			u.lends[x.Thread] = x.State != NeedsInput
		case x.State == Queued:
			queued = append(queued, x)
		}
	}
	slices.SortFunc(queued, Order)
	slices.SortFunc(held, Order)
	for _, x := range held {
		u.take(x)
	}
	asked := map[thread.ID]bool{}
	for _, x := range open {
		asked[x.By] = asked[x.By] || !x.State.Final()
	}
	u.alone = slices.ContainsFunc(held, func(x Execution) bool { return !asked[x.Thread] })
	var d Decision
	for _, x := range queued {
		if reason := q.obstacle(x, u); reason != "" {
			d.Waits = append(d.Waits, Waiting{x.ID, reason})
			u.wait(x)
			continue
		}
		d.Start = append(d.Start, x)
		u.take(x)
	}
	return d
}

// use is what is taken of the limits.
type use struct {
	all      int
	agents   map[string]int
	accounts map[string]int
	threads  map[thread.ID]string // the name of the execution that comes first in a thread
	lends    map[thread.ID]bool   // threads that have a place which they do not lend yet
	ways     map[Way]string       // the name of an execution that finds out about a way
	now      time.Time
	places   int  // with those that are lent
	asking   int  // of those, that wait for a person
	alone    bool // one of them has asked for nothing: it ends by itself, or once a person has answered
}

// take counts an execution that has a process, or is to get one.
func (u *use) take(x Execution) {
	defer u.wait(x)
	u.places++
	if x.State == Queued || x.State == Deployed || x.State == Running && u.now.Sub(x.Started).Abs() < probing {
		u.ways[x.Way()] = x.Name
	}
	if x.State == NeedsInput {
		u.asking++
	}
	if x.State == Queued {
		u.lends[x.Thread], u.alone = true, true
	}
	if u.lends[x.By] {
		u.lends[x.By] = false
		return
	}
	if x.State == NeedsInput {
		return
	}
	u.all++
	u.agents[x.Agent]++
	if x.Account != "" {
		u.accounts[x.Account]++
	}
}

// wait has the others of its thread wait for an execution.
func (u *use) wait(x Execution) {
	if u.threads[x.Thread] == "" {
		u.threads[x.Thread] = x.Name
	}
}

// Closed returns what holds an execution that only a person changes, or its thread, "" for nothing.
func (q Queue) Closed(x Execution) string {
	switch {
	case q.Paused:
		return "the queue is paused"
	case slices.Contains(q.PausedAgents, x.Agent):
		return fmt.Sprintf("the queue of %s is paused", x.Agent)
	default:
		return q.Held[x.Thread]
	}
}

// obstacle returns why an execution cannot start now, "" if it can. What only a person can change comes first.
func (q Queue) obstacle(x Execution, u use) string {
	if why := q.Closed(x); why != "" {
		return why
	}
	if first := u.threads[x.Thread]; first != "" {
		return fmt.Sprintf("waits for %s of the same thread", first)
	}
	if reason := q.Later[x.ID]; reason != "" {
		return reason
	}
	if b, broken := q.Breaks[x.Way()]; broken {
		if b.Left > 0 {
			return b.Says(q.Now)
		}
		if probe := u.ways[x.Way()]; probe != "" && !u.lends[x.By] { // who asked for it may wait for it
			return fmt.Sprintf("waits for %s, which finds out whether %s works again", probe, x.Agent)
		}
	}
	if u.lends[x.By] && (q.Limits.All == 0 || u.places < 2*q.Limits.All || !u.alone) {
		return ""
	}
	if n := own(q.Limits.Agents, x.Agent, q.Limits.Agent); n > 0 && u.agents[x.Agent] >= n {
		return fmt.Sprintf("%d of %d %s runs are running", u.agents[x.Agent], n, x.Agent)
	}
	if n := own(q.Limits.Accounts, x.Account, q.Limits.Account); x.Account != "" && n > 0 && u.accounts[x.Account] >= n {
		return fmt.Sprintf("%d of %d runs of the account %s are running", u.accounts[x.Account], n, x.Account)
	}
	switch n := q.Limits.All; {
	case n > 0 && u.places >= 2*n && u.asking > 0:
		return fmt.Sprintf("%d of %d runs wait for a person's answer", u.asking, u.places)
	case n > 0 && u.all >= n:
		return fmt.Sprintf("%d of %d runs are running", u.all, n)
	}
	return ""
}

// own returns the limit of its own that a key has, or the common one.
func own(limits map[string]int, key string, common int) int {
	if n, ok := limits[key]; ok {
		return n
	}
	return common
}
