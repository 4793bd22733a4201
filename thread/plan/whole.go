package plan

import (
	"context"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// Whole is a task with its nodes and events, a version of what an agent has handed over, or an armed plan, as it is taken
// from one store to another. One of the three is set.
type Whole struct {
	Task   *Task   `json:"task,omitempty"`
	Nodes  []Node  `json:"agents,omitempty"`
	Events []Event `json:"events,omitempty"`

	Handed *HandOver `json:"deliverable,omitempty"`
	Armed  *Armed    `json:"armed,omitempty"`
}

// Keeper is what a store of tasks can do as a whole, beside Store: it is filled from another.
type Keeper interface {
	Store

	// Load stores what was taken from another store as it was, and returns the name of its task here: another if something
	// else has it. What is here already, by its id, stays as it is: then free is false. The newest version of what an agent
	// has handed over is current; one whose task is not here is thread.ErrNotFound.
	Load(ctx context.Context, w Whole) (name string, free bool, err error)
}

// mostVersions is how many versions an agent hands over at most.
const mostVersions = 1_000_000

// Check refuses what no store has, with thread.ErrInvalid: it comes from a file.
func (w Whole) Check() error {
	set := 0
	for _, there := range []bool{w.Task != nil, w.Handed != nil, w.Armed != nil} {
		if there {
			set++
		}
	}
	bad := func(what string) error {
		return thread.Kindf(thread.ErrInvalid, "a row of a task: %s", what)
	}
	switch {
	case set != 1:
		return bad("it is none")
	case w.Armed != nil:
		_, err := KeptArmed(*w.Armed, w.Armed.Changed)
		return err
	case w.Handed != nil:
		h := *w.Handed
		if !IsID(h.ID) || checkName("agent", h.Agent) != nil || !named(h.Task) || h.Version < 1 || h.Version > mostVersions {
			return bad("its id, its task, its agent or its version cannot be")
		}
		if h.Execution != "" && thread.ID(h.Execution).Check() != nil || h.By != "" && h.By.Check() != nil {
			return bad("who handed it over cannot be")
		}
		_, err := Delivered(h, Node{Task: h.Task, Agent: h.Agent}, nil, h.Created)
		return err
	}
	t := *w.Task
	if err := checkTask(t); err != nil {
		return err
	}
	if !IsID(t.ID) || !named(t.Name) || t.By != "" && t.By.Check() != nil || t.Fence < 0 {
		return bad("its id, its name, its author or its fence cannot be")
	}
	if _, err := addedNodes(w.Nodes, t.Created); err != nil {
		return err
	}
	for i, e := range w.Events {
		if e.Seq < 1 || i > 0 && e.Seq <= w.Events[i-1].Seq || len(e.Text) > 2*maxText || len(e.Kind) > maxTitle {
			return bad("its history is not whole")
		}
	}
	for _, n := range w.Nodes {
		if n.Round < 0 || n.Fence < 0 || n.Version < 0 || n.Version > mostVersions {
			return bad("a number of " + n.Agent + " cannot be")
		}
	}
	return nil
}

// named reports whether a name can be that of a task.
func named(name string) bool {
	return strings.HasPrefix(name, Prefix+"-") && work.CheckOwnName(name) == nil
}

// IsID reports whether a text is a UUID as NewID makes them.
func IsID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// Settle has what was at work elsewhere be over here, and armed plans not be armed: nothing begins by itself because a file
// was read. What waits, waits.
func (w *Whole) Settle(now time.Time) {
	const why = "it was at work when it was taken along"
	if w.Armed != nil {
		a := *w.Armed
		a.On, a.Server = false, ""
		w.Armed = &a
	}
	if w.Task == nil || w.Task.Status != InProgress {
		return
	}
	t := *w.Task
	t.Status, t.Reason, t.Server, t.Ended, t.Fence = Failed, why, "", utc(now), t.Fence+1
	w.Task = &t
	last := int64(0)
	if len(w.Events) > 0 {
		last = w.Events[len(w.Events)-1].Seq
	}
	w.Events = append(slices.Clone(w.Events), Event{Seq: last + 1, At: utc(now), Kind: EventState, Text: said(string(Failed), why)})
	w.Nodes = slices.Clone(w.Nodes)
	for i, n := range w.Nodes {
		if n.State == NodeWorking || n.State == NodeAsking {
			w.Nodes[i].State, w.Nodes[i].Reason, w.Nodes[i].Ended = NodeFailed, why, utc(now)
		}
	}
}

// Clean makes what was checked as stores keep it.
func (w *Whole) Clean() error {
	if w.Task != nil {
		t, err := keptTask(*w.Task, w.Task.Updated)
		if err != nil {
			return err
		}
		w.Task = &t
		if w.Nodes, err = addedNodes(w.Nodes, t.Created); err != nil {
			return err
		}
	}
	for i, e := range w.Events {
		some, err := Noted([]Event{e}, e.At)
		if err != nil {
			return err
		}
		w.Events[i], w.Events[i].Seq = some[0], e.Seq
	}
	if w.Handed != nil {
		h, err := Delivered(*w.Handed, Node{Task: w.Handed.Task, Agent: w.Handed.Agent}, nil, w.Handed.Created)
		if err != nil {
			return err
		}
		h.Version, h.Current = w.Handed.Version, false
		w.Handed = &h
	}
	if w.Armed != nil {
		a, err := KeptArmed(*w.Armed, w.Armed.Changed)
		if err != nil {
			return err
		}
		w.Armed = &a
	}
	return nil
}

// Redact removes secrets from texts. What they are in has the same length, so that JSON stays JSON.
func (w *Whole) Redact() {
	if w.Task != nil {
		t := *w.Task
		t.Title, t.Body, t.Reason = secret.Redact(t.Title), secret.Redact(t.Body), secret.Redact(t.Reason)
		t.Vars = masked(t.Vars)
		if t.Plan != nil {
			p := masked(*t.Plan)
			t.Plan = &p
		}
		w.Task = &t
	}
	w.Nodes, w.Events = slices.Clone(w.Nodes), slices.Clone(w.Events)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		n.Reason, n.Question, n.Answered = secret.Redact(n.Reason), secret.Redact(n.Question), secret.Redact(n.Answered)
	}
	for i := range w.Events {
		w.Events[i].Text = secret.Redact(w.Events[i].Text)
	}
	if w.Handed != nil {
		h := *w.Handed
		h.Summary, h.Data = secret.Redact(h.Summary), string(secret.Mask([]byte(h.Data)))
		w.Handed = &h
	}
	if w.Armed != nil {
		a := *w.Armed
		a.Plan = masked(a.Plan)
		w.Armed = &a
	}
}
