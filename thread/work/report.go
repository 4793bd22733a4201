package work

import (
	"cmp"
	"maps"
	"slices"
)

// QueueReport is what waits, what runs, and what bounds it.
type QueueReport struct {
	// Waiting are the queued executions in the order in which they start, as far as that is known, each with its Reason.
	Waiting []Execution `json:"waiting"`
	// Active are those that hold a place.
	Active []Execution `json:"active"`
	// Limits are that of all agents together, the first, and those of each agent and then each account that has one, waits
	// or runs.
	Limits []QueueLimit `json:"limits"`
}

// QueueLimit bounds how many executions run at the same time.
type QueueLimit struct {
	Agent   string `json:"agent,omitempty"`   // "" for all agents together, if there is no account either
	Account string `json:"account,omitempty"` // as in Execution
	Most    int    `json:"most"`
	Running int    `json:"running"`
	Asking  int    `json:"asking,omitempty"` // they wait for a person, and lend their place
	Waiting int    `json:"waiting"`
	Paused  bool   `json:"paused,omitempty"` // nothing more of it is started
	Why     string `json:"why,omitempty"`    // where the bound comes from, or why nothing starts, for people
}

// QueueChange changes what bounds an agent's executions, those of an account, or all if neither is named.
type QueueChange struct {
	Agent   string `json:"agent,omitempty"`
	Account string `json:"account,omitempty"` // as in Execution; it is limited, and not paused
	Pause   bool   `json:"pause,omitempty"`   // start nothing more of it
	Resume  bool   `json:"resume,omitempty"`  // start again
	// Limit is how many run at the same time from now on; 0 leaves that as it is.
	Limit int `json:"limit,omitempty"`
}

// Report describes a queue with the open executions, which have their reasons. why says where the common limit comes from.
func (q Queue) Report(open []Execution, why string) QueueReport {
	r := QueueReport{Waiting: []Execution{}, Active: []Execution{}}
	agents := map[string]*QueueLimit{}
	of := func(agent string) *QueueLimit {
		if agents[agent] == nil {
			agents[agent] = &QueueLimit{
				Agent: agent, Most: own(q.Limits.Agents, agent, q.Limits.Agent), Paused: slices.Contains(q.PausedAgents, agent),
			}
		}
		return agents[agent]
	}
	for agent := range q.Limits.Agents {
		of(agent)
	}
	for _, agent := range q.PausedAgents {
		of(agent)
	}
	accounts := map[string]*QueueLimit{}
	in := func(account string) *QueueLimit {
		if accounts[account] == nil {
			accounts[account] = &QueueLimit{Account: account, Most: own(q.Limits.Accounts, account, q.Limits.Account)}
		}
		return accounts[account]
	}
	for account := range q.Limits.Accounts {
		in(account)
	}
	all := QueueLimit{Most: q.Limits.All, Paused: q.Paused, Why: why}
	for _, x := range open {
		switch {
		case x.State == Queued:
			r.Waiting = append(r.Waiting, x)
			all.Waiting++
			of(x.Agent).Waiting++
			if x.Account != "" {
				in(x.Account).Waiting++
			}
		case x.State.Holds():
			r.Active = append(r.Active, x)
			counted := []*QueueLimit{&all, of(x.Agent)}
			if x.Account != "" {
				counted = append(counted, in(x.Account))
			}
			for _, l := range counted {
				if x.State == NeedsInput {
					l.Asking++
				} else {
					l.Running++
				}
			}
		}
	}
	for _, b := range q.Breaks {
		l := of(b.Way.Agent)
		if b.Way.Account != "" {
			l = in(b.Way.Account)
		}
		l.Why = b.Says(q.Now)
	}
	slices.SortFunc(r.Waiting, Order)
	slices.SortFunc(r.Active, func(a, b Execution) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	r.Limits = append(r.Limits, all)
	for _, agent := range slices.Sorted(maps.Keys(agents)) {
		r.Limits = append(r.Limits, *agents[agent])
	}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		r.Limits = append(r.Limits, *accounts[account])
	}
	return r
}
