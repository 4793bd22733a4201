package outbox

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/turns"
)

// The limits of an Outbox.
const (
	// maxPast is how many ended prompts are kept.
	maxPast = 20
	// maxOpen is how many prompts that the person typed in the agent itself stay open beside the one that names their turn.
	maxOpen = 20
)

// typing is what is being done about the next prompt.
type typing int

const (
	idle    typing = iota // nothing
	waiting               // it waits until prompts of other threads are typed
	active                // one is being typed
	changed               // one is being typed, and something has changed since
)

// Outbox holds the prompts of a thread that have not ended, and the newest of those that ended unanswered. The zero
// Outbox is empty.
type Outbox struct {
	typing   typing
	prompts  []thread.Prompt         // in the order of acceptance
	index    map[thread.PromptID]int // where each is in prompts
	primer   string
	begun    map[thread.PromptID]int
	reported map[thread.PromptID]bool
	// bound are prompts of executions: each is given to the process of its own. only is the prompt of the one that runs.
	bound map[thread.PromptID]bool
	only  thread.PromptID
}

// Bind keeps a prompt for an execution's process: no other one gets it.
func (o *Outbox) Bind(id thread.PromptID) {
	if o.bound == nil {
		o.bound = map[thread.PromptID]bool{}
	}
	o.bound[id] = true
}

// Unbind undoes Bind.
func (o *Outbox) Unbind(id thread.PromptID) { delete(o.bound, id) }

// Bound reports whether a prompt is an execution's.
func (o *Outbox) Bound(id thread.PromptID) bool { return o.bound[id] }

// Serve has the agent given one prompt alone, that of an execution; with "", all that are not bound.
func (o *Outbox) Serve(only thread.PromptID) { o.only = only }

// Alone returns the prompt of Serve.
func (o *Outbox) Alone() thread.PromptID { return o.only }

// due reports whether a prompt is one for the agent that runs.
func (o *Outbox) due(p thread.Prompt) bool {
	if o.only != "" {
		return p.ID == o.only
	}
	return !o.bound[p.ID]
}

// Prompt returns one of the prompts, false if there is none with the id.
func (o *Outbox) Prompt(id thread.PromptID) (thread.Prompt, bool) {
	i := o.at(id)
	if i < 0 {
		return thread.Prompt{}, false
	}
	return o.prompts[i], true
}

// Next returns the oldest queued prompt that the agent which runs may be given, false if there is none.
func (o *Outbox) Next() (thread.Prompt, bool) {
	i := slices.IndexFunc(o.prompts, func(p thread.Prompt) bool { return p.State == thread.PromptQueued && o.due(p) })
	if i < 0 {
		return thread.Prompt{}, false
	}
	return o.prompts[i], true
}

// Open reports whether the agent has a prompt.
func (o *Outbox) Open() bool {
	return o.Any(func(p thread.Prompt) bool { return p.State == thread.PromptOpen })
}

// Queued returns the number of queued prompts.
func (o *Outbox) Queued() int {
	return len(o.Filter(func(p thread.Prompt) bool { return p.State == thread.PromptQueued }))
}

// Any reports whether a prompt satisfies a condition.
func (o *Outbox) Any(is func(thread.Prompt) bool) bool { return slices.ContainsFunc(o.prompts, is) }

// Filter returns the prompts that satisfy a condition, oldest first.
func (o *Outbox) Filter(is func(thread.Prompt) bool) []thread.Prompt {
	var out []thread.Prompt
	for _, p := range o.prompts {
		if is(p) {
			out = append(out, p)
		}
	}
	return out
}

// Keep adds a stored prompt, or replaces its previous version. An answered prompt removes the unanswered ones before
// it.
func (o *Outbox) Keep(p thread.Prompt) {
	if i := o.at(p.ID); i >= 0 {
		o.prompts[i] = p
	} else {
		if o.index == nil {
			o.index = map[thread.PromptID]int{}
		}
		o.index[p.ID] = len(o.prompts)
		o.prompts = append(o.prompts, p)
	}
	if p.State.Over() || p.Again != "" {
		o.forget(p)
	}
}

// forget removes the prompts that no longer count after one that ended or that repeats another.
func (o *Outbox) forget(after thread.Prompt) {
	past := 0
	kept := make([]thread.Prompt, 0, len(o.prompts))
	for _, q := range slices.Backward(o.prompts) {
		over := q.State.Over()
		switch {
		case q.State == thread.PromptCancelled,
			over && after.State == thread.PromptAnswered && q.Seq <= after.Seq,
			over && after.Again != "" && q.ID == after.Again,
			over && past == maxPast:
			delete(o.index, q.ID)
			delete(o.begun, q.ID)
			delete(o.reported, q.ID)
			delete(o.bound, q.ID)
			continue
		case over:
			past++
		}
		kept = append(kept, q)
	}
	slices.Reverse(kept)
	o.prompts = kept
	for i, q := range kept {
		o.index[q.ID] = i
	}
}

// Superseded returns the open prompts that the person typed in the agent itself and that many later ones have followed,
// oldest first: of those that no turn is known to answer, and of a turn. The one that names the turn is not among them.
func (o *Outbox) Superseded(turn int) []thread.Prompt {
	open := o.Filter(func(p thread.Prompt) bool {
		return p.State == thread.PromptOpen && p.From == thread.FromPane && (p.Turn == 0 || p.Turn == turn && p.With != "")
	})
	return open[:max(0, len(open)-maxOpen)]
}

// Prime records the primer that this run's agent gets before its first prompt.
func (o *Outbox) Prime(primer string) { o.primer = primer }

// Primer returns the primer that this run's agent has not got yet.
func (o *Outbox) Primer() string { return o.primer }

// Begin records how many model requests there had been when a prompt arrived.
func (o *Outbox) Begin(id thread.PromptID, requests int) {
	if o.begun == nil {
		o.begun = map[thread.PromptID]int{}
	}
	o.begun[id] = requests
}

// Begun returns what Begin recorded for a prompt.
func (o *Outbox) Begun(id thread.PromptID) (requests int, known bool) {
	requests, known = o.begun[id]
	return requests, known
}

// MarkReported records that a hook reported a prompt.
func (o *Outbox) MarkReported(id thread.PromptID) {
	if o.reported == nil {
		o.reported = map[thread.PromptID]bool{}
	}
	o.reported[id] = true
}

// Reported reports whether a hook reported a prompt.
func (o *Outbox) Reported(id thread.PromptID) bool { return o.reported[id] }

// Claim returns the unanswered prompts given to the agent that are contained in a text that it sent to its model or
// reported by a hook. A hook does not match a prompt that was reported before.
func (o *Outbox) Claim(said string, hook bool) []thread.Prompt {
	return Claim(said, o.Filter(func(p thread.Prompt) bool { return underway(p) && !(hook && o.reported[p.ID]) }))
}

// ClaimPast is Claim among those that seemed lost; it prefers the newest.
func (o *Outbox) ClaimPast(said string) []thread.Prompt {
	past := o.Filter(func(p thread.Prompt) bool { return p.State.Again() || p.State == thread.PromptTaken })
	slices.Reverse(past)
	return Claim(said, past)
}

// ClaimMoved is Claim among those that go on in a fork.
func (o *Outbox) ClaimMoved(said string) []thread.Prompt {
	return Claim(said, o.Filter(func(p thread.Prompt) bool { return p.State == thread.PromptMoved }))
}

// Claim returns the prompts that are contained in a text that the agent sent to its model.
func Claim(said string, ps []thread.Prompt) []thread.Prompt {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.Text
	}
	var out []thread.Prompt
	for _, i := range turns.Claim(said, texts) {
		out = append(out, ps[i])
	}
	return out
}

// underway reports whether a prompt was given to the agent and is not known to be answered by a turn.
func underway(p thread.Prompt) bool {
	return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && p.Turn == 0
}

// at returns the index of a prompt, -1 if it is not there.
func (o *Outbox) at(id thread.PromptID) int {
	if i, known := o.index[id]; known {
		return i
	}
	return -1
}
