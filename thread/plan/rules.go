package plan

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// Prefix is that of the names of tasks.
const Prefix = "task"

// What a task has at most, beside the bounds of its plan.
const (
	maxNodes = 2 * MaxAgents
	maxTitle = 500
	maxText  = 16 << 10
	maxBody  = 1 << 20
)

// AddedTask returns a task as stores keep it once it is added, with its nodes and its first event. Its id and name are "" if
// the store is to give them. One that no store may accept is refused with thread.ErrInvalid.
func AddedTask(t Task, nodes []Node, now time.Time) (Task, []Node, Event, error) {
	t.Status = cmp.Or(t.Status, Pending)
	if t.Created.IsZero() {
		t.Created = now
	}
	if t.ID == "" {
		t.ID = NewID()
	}
	t.Updated, t.Ended, t.Fence = t.Created, time.Time{}, 1
	if t.Status == InProgress {
		t.Started = cmp.Or(t.Started, t.Created)
	}
	if t.Status == InProgress && t.Plan == nil {
		return t, nil, Event{}, thread.Kindf(thread.ErrInvalid, "a task at work has to have a plan")
	}
	if t.Status.Final() || len(nodes) > 0 && t.Status != InProgress {
		return t, nil, Event{}, thread.Kindf(thread.ErrInvalid, "a task cannot be added as %q with %d agents", string(t.Status), len(nodes))
	}
	t, err := keptTask(t, now)
	if err != nil {
		return t, nil, Event{}, err
	}
	nodes, err = addedNodes(nodes, now)
	return t, nodes, Event{At: t.Created, Kind: EventState, Text: said(string(t.Status), t.Reason)}, err
}

// NewID returns a new UUID.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// addedNodes checks nodes, and returns them as stores keep them, by Number.
func addedNodes(nodes []Node, now time.Time) ([]Node, error) {
	rank, edges := make(map[string]int, len(nodes)), 0
	for _, n := range nodes {
		if err := checkName("agent", n.Agent); err != nil {
			return nil, err
		}
		if _, twice := rank[n.Agent]; twice {
			return nil, thread.Kindf(thread.ErrInvalid, "there are two agents %q", n.Agent)
		}
		if n.Wave < 1 || n.Wave > MaxWaves+1 {
			return nil, thread.Kindf(thread.ErrInvalid, "agent %q has no wave", n.Agent)
		}
		rank[n.Agent] = n.rank()
		edges += len(n.Reads) + len(n.After)
	}
	if len(nodes) > maxNodes || edges > MaxEdges {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "%d agents with %d edges: the limits are %d and %d", len(nodes), edges, maxNodes,
			MaxEdges), "say with reads what each needs, instead of all of earlier waves")
	}
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Number, b.Number) })
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		if twice(n.Reads) || twice(n.After) {
			return nil, thread.Kindf(thread.ErrInvalid, "%q reads or follows another twice", n.Agent)
		}
		for _, up := range n.Upstreams() {
			if r, there := rank[up]; !there || r >= n.rank() {
				return nil, thread.Kindf(thread.ErrInvalid, "%q reads or follows %q, which is not of an earlier wave", n.Agent, thread.Excerpt(up))
			}
		}
		n.Number, n.State, n.Fence = i, cmp.Or(n.State, NodeWaiting), max(n.Fence, 1)
		var err error
		if out[i], err = keptNode(n, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// twice reports whether a name is in a list more than once.
func twice(names []string) bool {
	if len(names) < 2 {
		return false
	}
	known := make(map[string]bool, len(names))
	for _, name := range names {
		if known[name] {
			return true
		}
		known[name] = true
	}
	return false
}

// rank orders nodes such that all edges lead to a smaller one: a gate comes before the agents of its wave.
func (n Node) rank() int {
	if n.Gate {
		return 2 * n.Wave
	}
	return 2*n.Wave + 1
}

// Upstreams are all that a node waits for, each once: what it reads, then what it follows. Do not change the list.
func (n Node) Upstreams() []string {
	if len(n.Reads) == 0 || len(n.After) == 0 {
		return append(n.Reads[:len(n.Reads):len(n.Reads)], n.After...)
	}
	known := make(map[string]bool, len(n.Reads))
	for _, name := range n.Reads {
		known[name] = true
	}
	all := n.Reads[:len(n.Reads):len(n.Reads)]
	for _, name := range n.After {
		if !known[name] {
			all = append(all, name)
		}
	}
	return all
}

// BegunTask returns a task on which a plan begins to work, with its nodes and the event; work.ErrFence if it has begun.
func BegunTask(old Task, change func(*Task) error, nodes []Node, now time.Time) (Task, []Node, []Event, error) {
	if old.Status != Pending && old.Status != Proposed {
		return Task{}, nil, nil, work.ErrFence
	}
	t, events, err := ChangedTask(old, true, func(t *Task) error {
		if err := change(t); err != nil {
			return err
		}
		t.Status = InProgress
		return nil
	}, now)
	if err != nil {
		return Task{}, nil, nil, err
	}
	if t.Plan == nil {
		return Task{}, nil, nil, thread.Kindf(thread.ErrInvalid, "%s has no plan", t.Name)
	}
	nodes, err = addedNodes(nodes, now)
	return t, nodes, events, err
}

// TakenBy returns the change of a pending task that an armed plan takes.
func TakenBy(a Armed, server string, at time.Time) func(*Task) error {
	return func(t *Task) error {
		p := a.Plan
		t.PlanName, t.Plan, t.Hash, t.Server, t.Started = a.Name, &p, a.Hash, server, at
		t.Session, t.Dir = cmp.Or(t.Session, a.Session), cmp.Or(t.Dir, a.Dir)
		return nil
	}
}

// ChangedTask returns a task after a change, and its events. Take raises the fence. What a task is does not change, and a
// status that may not follow is refused, both with thread.ErrInvalid. An error of change is returned unchanged.
func ChangedTask(old Task, take bool, change func(*Task) error, now time.Time) (Task, []Event, error) {
	t := old
	t.Vars = maps.Clone(old.Vars)
	if err := change(&t); err != nil {
		return Task{}, nil, err
	}
	if t.ID != old.ID || t.Name != old.Name || t.By != old.By || t.Fence != old.Fence || !t.Created.Equal(old.Created) {
		return Task{}, nil, thread.Kindf(thread.ErrInvalid, "%s: what a task is does not change", old.Name)
	}
	if t.Status != old.Status && !slices.Contains(follow(old.Status), t.Status) {
		return Task{}, nil, thread.Kindf(thread.ErrInvalid, "%s is %s and cannot become %q", old.Name, old.Status, string(t.Status))
	}
	if take {
		t.Fence++
	}
	t.Updated = now
	switch {
	case t.Status.Final():
		t.Ended = cmp.Or(t.Ended, now)
	case t.Status != old.Status:
		t.Ended = time.Time{}
	}
	if t.Status == InProgress {
		t.Started = cmp.Or(t.Started, now)
	}
	t, err := keptTask(t, now)
	if err != nil || t.Status == old.Status {
		return t, nil, err
	}
	return t, []Event{{At: t.Updated, Kind: EventState, Text: said(string(t.Status), t.Reason)}}, nil
}

// follow returns what may follow on the status of a task.
func follow(s Status) []Status {
	switch s {
	case Proposed:
		return []Status{Pending, InProgress, Cancelled}
	case Pending: // what no plan can take as it is waits for a person again
		return []Status{Proposed, InProgress, Failed, Cancelled}
	case InProgress:
		return []Status{Complete, Failed, Cancelled}
	default: // it is retried
		return []Status{InProgress, Pending}
	}
}

// keptTask checks a task and returns it as stores keep it: its plan stays as it is.
func keptTask(t Task, now time.Time) (Task, error) {
	if err := checkTask(t); err != nil {
		return Task{}, err
	}
	t.Created, t.Updated, t.Started, t.Ended = utc(t.Created), utc(cmp.Or(t.Updated, now)), utc(t.Started), utc(t.Ended)
	p := t.Plan
	t.Plan = nil
	t, err := kept(t)
	t.Title, t.Reason, t.Body = plaintext.Cut(t.Title, maxTitle), plaintext.Cut(t.Reason, maxText), plaintext.Cut(t.Body, maxBody)
	t.Plan = p
	return t, err
}

func checkTask(t Task) error {
	switch {
	case strings.TrimSpace(t.Title) == "":
		return thread.Kindf(thread.ErrInvalid, "a task has to have a title")
	case !slices.Contains([]Status{Proposed, Pending, InProgress, Complete, Failed, Cancelled}, t.Status):
		return thread.Kindf(thread.ErrInvalid, "status %q of a task is not known", string(t.Status))
	case t.MaxParallel < 0:
		return thread.Kindf(thread.ErrInvalid, "%d agents at once", t.MaxParallel)
	}
	if t.PlanName == "" {
		return nil
	}
	return checkName("plan", t.PlanName)
}

func checkName(what, name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	})
	if name == "" || len(name) > 100 || bad {
		return thread.Kindf(thread.ErrInvalid, "name %s of %s: it may have letters, digits, - and _, at most 100", thread.Excerpt(name), what)
	}
	return nil
}

// DamagedTask returns what lists show of a task whose record cannot be read.
func DamagedTask(id, name string) Task {
	return Task{ID: id, Name: name, Title: "its record is damaged", Status: Failed, Reason: "its record is damaged"}
}

// ChangedNode returns a node after a change, and its events. What a node is does not change; its fence is raised by another
// round and by a cancellation, whether change does so or not, and is never lowered. An error of change is returned unchanged.
func ChangedNode(old Node, change func(*Node) error, now time.Time) (Node, []Event, error) {
	n := old
	n.Given = maps.Clone(old.Given)
	if err := change(&n); err != nil {
		return Node{}, nil, err
	}
	n.Task, n.Agent, n.Gate, n.Number, n.Wave, n.Reads, n.After = old.Task, old.Agent, old.Gate, old.Number, old.Wave, old.Reads, old.After
	if n.Round < old.Round || n.Fence < old.Fence {
		return Node{}, nil, thread.Kindf(thread.ErrInvalid, "the round and the fence of %s of %s only go up", old.Agent, old.Task)
	}
	begun := n.Round > old.Round
	if n.Fence == old.Fence && (begun || n.State == NodeCancelled && old.State != NodeCancelled) {
		n.Fence++
	}
	if begun {
		if n.Started.Equal(old.Started) {
			n.Started = now
		}
		n.Ended = time.Time{}
	}
	switch {
	case n.State.Final() && (n.State != old.State || begun) && n.Ended.Equal(old.Ended):
		n.Ended = now
	case !n.State.Final():
		n.Ended = time.Time{}
	}
	n, err := keptNode(n, now)
	if err != nil || n.State == old.State && !begun {
		return n, nil, err
	}
	text := string(n.State)
	if n.State == NodeWorking && n.Round > 1 {
		text = fmt.Sprintf("%s (round %d)", text, n.Round)
	}
	return n, []Event{{At: utc(now), Node: n.Agent, Kind: EventState, Text: said(text, n.Reason)}}, nil
}

// keptNode checks a node and returns it as stores keep it.
func keptNode(n Node, now time.Time) (Node, error) {
	if !slices.Contains([]NodeState{NodeWaiting, NodeAsking, NodeWorking, NodeDelivered, NodeFailed, NodeSkipped, NodeCancelled}, n.State) {
		return Node{}, thread.Kindf(thread.ErrInvalid, "state %q of an agent is not known", string(n.State))
	}
	if n.State == NodeAsking {
		n.Asked = cmp.Or(n.Asked, now)
	}
	n.Asked, n.Started, n.Ended = utc(n.Asked), utc(n.Started), utc(n.Ended)
	n, err := kept(n)
	for _, s := range []*string{&n.Reason, &n.Question, &n.Answered, &n.Stalled} {
		*s = plaintext.Cut(*s, maxText)
	}
	return n, err
}

// Noted returns events as stores keep them; the store numbers them.
func Noted(events []Event, now time.Time) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		e.Seq, e.At, e.Kind = 0, utc(cmp.Or(e.At, now)), cmp.Or(e.Kind, EventNote)
		e, err := kept(e)
		if err != nil {
			return nil, err
		}
		e.Text = plaintext.Cut(e.Text, maxText)
		out[i] = e
	}
	return out, nil
}

// Fenced is the event of a write that came too late: of a node, or of the task itself if that is "".
func Fenced(node string, had, is int64, now time.Time) Event {
	return Event{At: utc(now), Node: node, Kind: EventFenced, Text: fmt.Sprintf("a write with fence %d came too late: it is %d", had, is)}
}

// Holds reports whether a write with a fence holds where another is stored.
func Holds(fence, stored int64) bool { return fence == stored || fence == Anyway }

// kept returns a record as stores give it back: its texts in UTF-8 without NUL.
func kept[T any](v T) (T, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var out T
	if err := e.Encode(v); err != nil {
		return out, thread.Kindf(thread.ErrInvalid, "it cannot be stored: %w", err)
	}
	if err := json.Unmarshal(work.Scrubbed(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), &out); err != nil {
		return out, thread.Kindf(thread.ErrInvalid, "it cannot be stored: %w", err)
	}
	return out, nil
}

func said(state, reason string) string {
	if reason == "" {
		return state
	}
	return state + ": " + reason
}

// utc returns a time without what a store does not keep.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}
