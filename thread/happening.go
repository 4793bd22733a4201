package thread

import (
	"slices"
	"time"
)

// Happening is one line of the event log: something that a person may want to know about a thread, or about the whole
// project where Thread is empty. It is the same for verbs, screens and notifications. Its texts are one line each, short,
// and without secrets.
type Happening struct {
	// Seq is larger than that of the happening before, also across restarts. It has gaps: Event has the same numbers.
	Seq    int64         `json:"seq"`
	At     time.Time     `json:"at"`
	Kind   HappeningKind `json:"kind"`
	Thread ID            `json:"thread,omitempty"`
	Name   string        `json:"name,omitempty"`  // handle
	Label  string        `json:"label,omitempty"` // as people named it
	Text   string        `json:"text,omitempty"`
}

// HappeningKind is what happened.
type HappeningKind string

// The kinds.
const (
	HappenedAsks    HappeningKind = "asks"    // the agent asks, and waits
	HappenedDone    HappeningKind = "done"    // a turn has ended
	HappenedStuck   HappeningKind = "stuck"   // the agent gave up, or must be signed in
	HappenedLimited HappeningKind = "limited" // it waits for its provider: a limit, a failure
	HappenedNew     HappeningKind = "new"     // a thread was made
	HappenedForked  HappeningKind = "forked"  // a thread was made from another
	HappenedMerged  HappeningKind = "merged"  // into another, or its merge conflicts
	HappenedRemoved HappeningKind = "removed" // archived, abandoned or deleted
	HappenedStarted HappeningKind = "started" // the agent's program
	HappenedEnded   HappeningKind = "ended"   // the agent's program
	HappenedSent    HappeningKind = "sent"    // a prompt reached the agent
	HappenedCut     HappeningKind = "cut"     // a prompt was cut off or refused
	HappenedContext HappeningKind = "context" // results were masked, turns summarised
	HappenedMCP     HappeningKind = "mcp"     // MCP servers were switched, or have trouble
	HappenedBudget  HappeningKind = "budget"  // much of a budget is used, or all
	HappenedCall    HappeningKind = "call"    // trouble with the person's own commands on events
	HappenedNotice  HappeningKind = "notice"  // anything else that people are told
	HappenedError   HappeningKind = "error"   // and what failed
)

// HappeningKinds returns all kinds.
func HappeningKinds() []HappeningKind {
	return []HappeningKind{
		HappenedAsks, HappenedDone, HappenedStuck, HappenedLimited, HappenedNew, HappenedForked, HappenedMerged, HappenedRemoved,
		HappenedStarted, HappenedEnded, HappenedSent, HappenedCut, HappenedContext, HappenedMCP, HappenedBudget,
		HappenedCall, HappenedNotice,
		HappenedError,
	}
}

// NeedsPerson reports whether nothing goes on until a person acts.
func (k HappeningKind) NeedsPerson() bool { return k == HappenedAsks || k == HappenedStuck }

// Words is the happening for a list that shows the thread's name before it: "asks: which database?".
func (h Happening) Words() string {
	verb := string(h.Kind)
	switch h.Kind {
	case HappenedNotice, HappenedError, HappenedContext, HappenedMCP, HappenedRemoved, HappenedMerged, HappenedForked, HappenedCall, HappenedBudget:
		return h.Text // a sentence of its own
	case HappenedStuck:
		verb = "gave up"
	case HappenedLimited:
		verb = "waits"
	case HappenedCut:
		verb = "prompt cut off"
	case HappenedDone:
		if h.Text != "" {
			return "done in " + h.Text
		}
	default:
	}
	if h.Text == "" {
		return verb
	}
	return verb + ": " + h.Text
}

// HappeningQuery asks for a part of the event log.
type HappeningQuery struct {
	// Thread is a thread's name; "" for all and for what is about none.
	Thread string `json:"thread,omitempty"`
	// Since leaves out happenings up to this number. With it the oldest that follow are returned, otherwise the newest.
	Since int64           `json:"since,omitempty"`
	Kinds []HappeningKind `json:"kinds,omitempty"` // all if empty
	Limit int             `json:"limit,omitempty"` // 200 when 0
}

// HappeningList is a part of the event log, oldest first.
type HappeningList struct {
	Happenings []Happening `json:"happenings"`
	// Newest is the number from which to go on: nothing up to it is missing, but for what Lost and the limit say.
	Newest int64 `json:"newest"`
	// Lost is set if what followed Since is not kept any more in part.
	Lost bool `json:"lost,omitempty"`
	// Left is how many more match.
	Left int `json:"left,omitempty"`
}

// Matches reports whether a happening is of the kinds asked for, after Since.
func (q HappeningQuery) Matches(h Happening) bool {
	return h.Seq > q.Since && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, h.Kind))
}
