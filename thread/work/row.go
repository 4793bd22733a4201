package work

import (
	"cmp"
	"strings"
	"time"

	"orchestrator/thread"
)

// Row is an execution of any kind as answers print it. It has the names of the view "agent_executions", and more.
type Row struct {
	Execution string    `json:"execution_id"` // its name
	Session   string    `json:"session_id"`
	AgentType string    `json:"agent_type"`
	Deployed  time.Time `json:"deployed_at,omitzero"`
	Completed time.Time `json:"completed_at,omitzero"`
	// Status is one of the view's three states, "queued" before the first.
	Status  string `json:"status"`
	Scope   string `json:"scope"`
	Context int64  `json:"context_token_count"`
	Model   string `json:"model"`
	Message string `json:"final_message"`
	Success *bool  `json:"success"` // nil while it has not ended
	Error   string `json:"error_message"`

	ID     ID     `json:"id"`
	Origin Origin `json:"origin"`
	Kind   Kind   `json:"kind,omitempty"`
	State  State  `json:"state"` // one of the eight
	Agent  string `json:"agent,omitempty"`
	// Thread is where it works. By is the thread whose agent asked for it or recorded it, "" for a person.
	Thread thread.ID `json:"thread,omitempty"`
	By     thread.ID `json:"recorded_by,omitempty"`
	Task   string    `json:"task,omitempty"`
	Bundle string    `json:"bundle_id,omitempty"`
	Parent ID        `json:"parent_id,omitempty"`
	// Claimed is set if what stands here is what somebody says: of all by hand, and of a native one none of whose requests
	// was seen.
	Claimed bool      `json:"claimed,omitempty"`
	Created time.Time `json:"created_at"`
	Spent
	Seconds float64 `json:"seconds,omitempty"` // from its start to its end
}

// Spent is a usage in the names of answers.
type Spent struct {
	In     int64 `json:"tokens_in,omitempty"`     // all that was read
	Cached int64 `json:"tokens_cached,omitempty"` // of that, what a cache had
	Out    int64 `json:"tokens_out,omitempty"`
	// Cost is in dollars, nil if nothing of it is known; Unknown counts the answers whose cost is not in it.
	Cost    *float64 `json:"cost_usd"`
	Unknown int64    `json:"cost_unknown,omitempty"`
}

// SpentOf returns a usage in the names of answers.
func SpentOf(u thread.Usage) Spent {
	s := Spent{In: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, Out: u.Output, Unknown: u.Unknown}
	if u.Priced || u.CostUSD > 0 || s.In+s.Out == 0 && u.Unknown == 0 {
		s.Cost = &u.CostUSD
	}
	return s
}

// Money formats a cost for people: "?" stands for what is not known, "-" for nothing.
func (s Spent) Money() string {
	switch {
	case s.Cost == nil:
		return "?"
	case *s.Cost == 0 && s.In+s.Out == 0 && s.Unknown == 0:
		return "-"
	default:
		return thread.Money(*s.Cost, s.Unknown)
	}
}

// RowOf returns an execution as answers print it.
func RowOf(x Execution) Row {
	r := Row{
		Execution: x.Name, Session: x.Session, AgentType: x.AgentType(), Deployed: x.Started, Completed: x.Ended,
		Status: cmp.Or(string(x.State.Status()), string(x.State)), Scope: x.Scope, Context: x.Context, Model: x.Model,
		Message: x.Answer, ID: x.ID, Origin: x.Kind.Origin(), Kind: x.Kind, State: x.State, Agent: x.Agent, Thread: x.Thread,
		By: x.By, Task: x.Task, Bundle: x.Bundle, Parent: x.Parent, Claimed: x.Claimed || x.Kind == KindHand, Created: x.Created, Spent: SpentOf(x.Usage),
	}
	if x.Kind == KindHand && x.Usage == (thread.Usage{}) { // nobody has said what it cost
		r.Cost = nil
	}
	if x.State.Final() {
		ok := x.State == Completed
		r.Success = &ok
		if !ok {
			r.Error = x.Reason
		}
	}
	if !x.Started.IsZero() && x.Ended.After(x.Started) {
		r.Seconds = x.Ended.Sub(x.Started).Seconds()
	}
	return r
}

// Word is its state for people: the view's three, but what was lost or cancelled is called so.
func (r Row) Word() string {
	if r.State == Lost || r.State == Cancelled {
		return string(r.State)
	}
	return r.Status
}

// Took is how long it worked, 0 if it has not ended.
func (r Row) Took() time.Duration { return time.Duration(r.Seconds * float64(time.Second)) }

// OneOf names an agent of a type in a sentence: "a debugger", "an implementor".
func OneOf(agentType string) string {
	if agentType == "" {
		return "an agent"
	}
	if strings.ContainsRune("aeiouAEIOU", rune(agentType[0])) {
		return "an " + agentType
	}
	return "a " + agentType
}
