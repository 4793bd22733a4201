package thread

import (
	"cmp"
	"slices"
	"time"
)

// Group is what a thread asks of the person: lists of threads are in groups, the same in verbs, screens and
// notifications.
type Group string

// The groups, those that ask the most first.
const (
	GroupNeedsYou Group = "needs you" // nothing continues until the person acts
	GroupWorking  Group = "working"   // it continues by itself
	GroupToRead   Group = "to read"   // answered, and nobody has looked
	GroupStuck    Group = "stuck"     // a failure or a limit ended its turn or its process
	GroupQuiet    Group = "quiet"     // everything else
)

// Groups returns all groups in their order.
func Groups() []Group {
	return []Group{GroupNeedsYou, GroupWorking, GroupToRead, GroupStuck, GroupQuiet}
}

// Group returns the group of a thread. Each is in one.
func (s Status) Group() Group {
	_, cut := s.Unanswered()
	switch st := s.State; {
	case s.Settled():
		return GroupQuiet
	case s.betweenRuns() && st.State != StateInterrupted && s.Merging == "":
		return s.runGroup()
	case st.State.NeedsPerson(), cut, st.State == StateInterrupted, s.Merging != "":
		return GroupNeedsYou
	case st.Works(), st.State == StateStarting:
		return GroupWorking
	case st.State == StateDone:
		return GroupToRead
	case st.State.Trouble(), s.broke():
		return GroupStuck
	default:
		return GroupQuiet
	}
}

// betweenRuns reports whether it is a thread that runs without a terminal and has no process now: what its newest
// execution is counts, not the process before, unless one waits for a person to agree that it starts.
func (s Status) betweenRuns() bool {
	return s.Once.On && s.Run != nil && s.Execution == nil && s.State.Question == nil
}

// runGroup returns the group of a thread between runs. A failure stops to need the person once they have looked.
func (s Status) runGroup() Group {
	r, seen := s.Run, s.Seen
	switch {
	case !r.Over():
		return GroupWorking
	case r.Instead != "": // another one goes on with it
		return GroupQuiet
	case s.Once.Part.Task != "" && (r.State == "lost" || r.State == "completed"): // its task asks, and reads what it hands over
		return GroupQuiet
	case r.State == "lost", r.State == "failed" && !seen:
		return GroupNeedsYou
	case r.State == "failed":
		return GroupStuck
	case r.State == "completed" && !seen:
		return GroupToRead
	default:
		return GroupQuiet
	}
}

// Settled reports whether nothing more is expected of a thread: it was merged, abandoned, archived or deleted.
func (s Status) Settled() bool {
	return s.Outcome.Kind != OutcomeNone || !s.Archived.IsZero() || !s.Deleted.IsZero()
}

// broke reports whether its process ended with an error, and not because somebody stopped it.
func (s Status) broke() bool {
	return s.State.State == StateExited && s.Exit.Code != 0 && s.Exit.Reason != "stopped"
}

// Waits reports whether the person is called to a thread: it needs them, or it has ended its work and nobody has looked.
func (s Status) Waits() bool {
	switch s.Group() {
	case GroupNeedsYou, GroupToRead:
		return true
	case GroupStuck:
		return s.State.Stuck && !s.Seen
	default:
		return false
	}
}

// GroupSince returns since when a thread has been in what put it into its group, for its age in lists.
func (s Status) GroupSince() time.Time {
	if s.betweenRuns() && s.Run.Over() && !s.Run.Ended.IsZero() {
		return s.Run.Ended
	}
	since := s.State.Since
	if p, cut := s.Unanswered(); cut && !s.State.NeedsPerson() && s.State.State != StateInterrupted {
		since = p.Accepted
		if p.Ended.After(since) {
			since = p.Ended
		}
	}
	if since.IsZero() {
		return s.Updated
	}
	return since
}

// Place is where a thread stands in a list.
type Place struct {
	Group  Group
	Since  time.Time
	Pinned bool
}

// Place returns a thread's place.
func (s Status) Place() Place { return Place{s.Group(), s.GroupSince(), s.Pinned} }

// Compare orders places: by group; in it, those that need the person by age, the oldest first, and the others behind
// the pinned ones: answers and failures by age too, quiet threads the newest first. Threads at work have no order of
// their own, so that a list does not move while they work.
func (p Place) Compare(q Place) int {
	if p.Group != q.Group {
		all := Groups()
		return cmp.Compare(slices.Index(all, p.Group), slices.Index(all, q.Group))
	}
	if p.Group != GroupNeedsYou && p.Pinned != q.Pinned {
		if p.Pinned {
			return -1
		}
		return 1
	}
	switch p.Group {
	case GroupWorking:
		return 0
	case GroupQuiet:
		return q.Since.Compare(p.Since)
	default:
		return p.Since.Compare(q.Since)
	}
}

// CountGroups counts the threads of each group, without archived and deleted ones.
func CountGroups(list []*Status) map[Group]int {
	n := map[Group]int{}
	for _, s := range list {
		if s.Archived.IsZero() && s.Deleted.IsZero() {
			n[s.Group()]++
		}
	}
	return n
}
