package grant

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Bounds is what a run may be whose caller may start runs and no other programs: what the person has configured, and not
// more than the caller is itself.
type Bounds struct {
	// Agents are those that it may start.
	Agents   []string
	Deadline time.Duration // the longest, 0 for no bound
	Lost     work.Policy
	Dispose  work.Disposal
	// OnFail and Fallbacks, by agent, are those that are configured.
	OnFail    work.OnFail
	Fallbacks map[string]string
	// Sessions are the work sessions that it may name: those that admit the caller (work.Session.Admits).
	Sessions []string
	// ReadOnly is set if the caller itself may change no files.
	ReadOnly bool
	// Tier is the most able one that it may name, "" for standard. Of models it may name Model, its own, and those that Tiers
	// has up to that tier.
	Tier  thread.Tier
	Model string
	Tiers work.Models
	// Caps are those that are configured.
	Caps thread.Caps
}

// Of returns the bounds of the runs that a thread's agent starts: not more than that is itself.
func (b Bounds) Of(own thread.Status) Bounds {
	b.Agents, b.ReadOnly = append(slices.Clone(b.Agents), own.Agent), own.Once.ReadOnly
	b.Tier, b.Model = own.Once.Tier, cmp.Or(own.Model, own.Gauge.Model)
	return b
}

// Wish is what a caller asks for with a run.
type Wish struct {
	Once  thread.Once
	Agent string // "" for the caller's own
	Model string // "" for that of the tier
	// InPlace has it work in a folder that others use, and not in its own worktree.
	InPlace bool
}

// MayWish returns an error if a run asks for more than its caller may have. The grant to start programs allows it all, but
// for what becomes of the work: merging and deleting have grants of their own.
func (c Caller) MayWish(w Wish, b Bounds) error {
	if !c.Agent || !w.Once.On {
		return nil
	}
	if err := c.mayDispose(w.Once.Dispose, b); err != nil || c.Has(Start) {
		return err
	}
	switch lost := work.Policy(w.Once.Lost); {
	case work.Above(w.Once.Tier, b.Tier):
		return c.Lacks(fmt.Sprintf("a run of a higher tier than your own (--tier %s)", thread.Excerpt(cmp.Or(string(w.Once.Tier), string(thread.TierStandard)))), Start)
	case w.Model != "" && !b.mayName(w.Model):
		return c.Lacks(fmt.Sprintf("a run with a model that is neither your own nor that of a tier up to yours (%s)", thread.Excerpt(w.Model)), Start)
	case w.Once.Caps.Calls < 0 && b.Caps.Calls >= 0, w.Once.Caps.Words < 0 && b.Caps.Words >= 0:
		return c.Lacks("a run without a bound on its calls or words", Start)
	case w.Agent != "" && !slices.Contains(b.Agents, w.Agent):
		return c.Lacks(fmt.Sprintf("a run of another agent than your own (%s)", thread.Excerpt(w.Agent)), Start)
	case b.ReadOnly && !w.Once.ReadOnly:
		return c.Lacks("a run that may change files, started by one that may not,", Start)
	case w.InPlace && !w.Once.ReadOnly:
		return c.Lacks("a run that writes where others work, without a worktree of its own,", Start)
	case w.Once.Group != "":
		return c.Lacks("a run in a group that it names itself (--group): it is in yours", Start)
	case w.Once.Session != "" && !slices.Contains(b.Sessions, w.Once.Session):
		return c.Lacks("a run in a work session of another (--session): it is in yours", Start)
	case w.Once.Priority > 0:
		return c.Lacks("a run that goes before others (--priority)", Start)
	case b.Deadline > 0 && w.Once.Deadline > b.Deadline:
		return c.Lacks(fmt.Sprintf("a run with more time than runs.deadline (%s)", b.Deadline), Start)
	case (lost == work.PolicyRetry || lost == work.PolicyResume) && lost != b.Lost:
		return c.Lacks(fmt.Sprintf("a run that is started again by itself (--lost %s)", lost), Start)
	}
	return c.mayFail(w, b)
}

// mayFail returns an error if a run would be tried, or passed on, more than is configured. One that only asks is always less.
func (c Caller) mayFail(w Wish, b Bounds) error {
	on, to := work.OnFail(w.Once.OnFail), w.Once.Fallback
	switch {
	case on != "" && on != work.FailAsk && on != b.OnFail:
		return c.Lacks(fmt.Sprintf("a run that is tried again in another way than runs.on_fail (--on-fail %s)", thread.Excerpt(string(on))), Start)
	case to != "" && to != work.NoFallback && (w.Agent == "" || to != b.Fallbacks[w.Agent]):
		return c.Lacks(fmt.Sprintf("a run with a fallback that is not in runs.fallback (%s)", thread.Excerpt(to)), Start)
	}
	return nil
}

// mayName reports whether a run may have a model that is named.
func (b Bounds) mayName(model string) bool {
	if model == b.Model {
		return true
	}
	for _, models := range b.Tiers {
		for tier, m := range models {
			if m == model && !work.Above(tier, b.Tier) {
				return true
			}
		}
	}
	return false
}

// mayDispose returns an error if a run would end with something that its caller may not do itself, unless the person has
// configured that for all runs.
func (c Caller) mayDispose(word string, b Bounds) error {
	switch d := work.Disposal(word); {
	case d == b.Dispose:
		return nil
	case d == work.DisposeMerge && !c.Has(Merge):
		return c.Lacks("a run whose work is merged (--dispose merge)", Merge)
	case d == work.DisposeDrop && !c.Has(Manage):
		return c.Lacks("a run whose branch is deleted (--dispose drop)", Manage)
	}
	return nil
}
