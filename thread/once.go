package thread

import "time"

// Once is set for a thread whose agent runs without a terminal: each prompt starts a process that ends with the answer.
// The zero value means that it runs in a terminal. The person may take such a thread over in a terminal at any time; it
// stays one that runs without.
type Once struct {
	On bool `json:"on,omitempty"`
	// ReadOnly has the agent's own switch refuse to change files, and the folder watched.
	ReadOnly bool          `json:"readOnly,omitempty"`
	Priority int           `json:"priority,omitempty"` // larger ones start first; 0 is usual
	Deadline time.Duration `json:"deadline,omitempty"` // of each run; 0 is what is configured
	// Lost and Dispose are a work.Policy and a work.Disposal, "" for what is configured.
	Lost    string `json:"lost,omitempty"`
	Dispose string `json:"dispose,omitempty"`
	// Asks is what follows when the agent would ask a person: AsksPerson, AsksNobody, or "" for what is configured.
	Asks Asks `json:"asks,omitempty"`
	// Tier is the class of model that the person or a plan chose; "" for none.
	Tier Tier `json:"tier,omitempty"`
	// Caps bound what each run may call and say.
	Caps Caps `json:"caps,omitzero"`
	// Budget is what each run may spend; Group is the name of a group of runs that share a budget, "" for none.
	Budget Budget `json:"budget,omitzero"`
	Group  string `json:"group,omitempty"`
	// Session is the name of the work session that it belongs to, Task the title of a task of that, and Type what kind of
	// agent it is, such as "debugger"; "" for none. They also hold for a thread in a terminal.
	Session string `json:"session,omitempty"`
	Task    string `json:"task,omitempty"`
	Type    string `json:"type,omitempty"`
	// OnFail is what follows on a failure: a work.OnFail, "" for what is configured. Fallback is what takes its place then, as
	// in runs.fallback, "" for what is configured.
	OnFail   string `json:"onFail,omitempty"`
	Fallback string `json:"fallback,omitempty"`
	// Part is the agent of a plan's task that it works as, the zero value for none.
	Part Part `json:"part,omitzero"`
	// Spawn is which runs its agent may start by itself; the zero value for none.
	Spawn Spawn `json:"spawn,omitzero"`
	// From is the thread's folder while a run that must only read works in a place with a copy of it: Dir is that place.
	From string `json:"from,omitempty"`
}

// Part is an agent of a plan's task: the task's name, the agent's in the plan, and the round, from 1, that a run is of.
type Part struct {
	Task  string `json:"task,omitempty"`
	Agent string `json:"agent,omitempty"`
	Round int    `json:"round,omitempty"`
}

// Spawn is which runs an agent of a plan's task, or a run that it has started, may start by itself.
type Spawn struct {
	// Of is the agent's round: all runs that come of it count together, however deep they are.
	Of Part `json:"of,omitzero"`
	// Runs is how many those may be, and Depth how deep below this one they may go: 0 for none.
	Runs  int `json:"runs,omitempty"`
	Depth int `json:"depth,omitempty"`
}

// Paid is the agent of a plan's task that an execution is recorded with: its own, or for what an agent of a plan has started
// that one, with no round.
func (o Once) Paid() Part {
	if o.Part == (Part{}) && o.Spawn.Of.Task != "" {
		return Part{Task: o.Spawn.Of.Task, Agent: o.Spawn.Of.Agent}
	}
	return o.Part
}

// Asks is what follows when an agent without a terminal would ask a person.
type Asks string

// What follows.
const (
	AsksPerson Asks = "wait"   // it waits for an answer if its CLI can; else the run fails with what it would have asked
	AsksNobody Asks = "refuse" // what would be asked is refused, and the agent goes on without
)

// Tier is a class of models, from the cheapest to the most able. Which model of an agent that is stands in the
// configuration.
type Tier string

// The tiers.
const (
	TierFast     Tier = "fast"
	TierStandard Tier = "standard"
	TierStrong   Tier = "strong"
	TierFrontier Tier = "frontier"
)

// Tiers returns all tiers, the cheapest first.
func Tiers() []Tier { return []Tier{TierFast, TierStandard, TierStrong, TierFrontier} }

// Caps bound a run; its prompt names them.
type Caps struct {
	// Explore is set for a run that only finds something out.
	Explore bool `json:"explore,omitempty"`
	// Calls is how many calls of tools it may make, Words how long its answer may be; 0 for what its tier and kind say, -1
	// for no bound.
	Calls int `json:"calls,omitempty"`
	Words int `json:"words,omitempty"`
	// NoTools has the agent start without tools, for a run that only reports.
	NoTools bool `json:"noTools,omitempty"`
}

// Budget is the most that may be spent; the zero value is no limit. A limit of 0 of what is set allows nothing.
type Budget struct {
	Tokens *int64   `json:"tokens,omitempty"` // all kinds of input, and output
	USD    *float64 `json:"usd,omitempty"`
}

// Clone returns a budget that shares nothing with this one.
func (b Budget) Clone() Budget {
	if b.Tokens != nil {
		n := *b.Tokens
		b.Tokens = &n
	}
	if b.USD != nil {
		usd := *b.USD
		b.USD = &usd
	}
	return b
}

// Set reports whether it limits anything.
func (b Budget) Set() bool { return b.Tokens != nil || b.USD != nil }
