package plan

import (
	"cmp"
	"container/heap"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// Board is a task with its nodes as they are stored, to decide what follows. What it says depends on nothing else, and taking
// over a node takes no longer than it has to do with others: nodes that wait for the same list of others wait in one place.
type Board struct {
	task   Task
	agents map[string]Agent
	gated  map[string]string // what each gate asks, as the plan says it
	nodes  []Node
	place  map[string]int
	waits  [][]*upstream // by node: what it waits for
	member [][]*upstream // by node: what it is a part of
	gates  [][]*upstream // by node: those of waits that are gates

	ready   places       // may have nothing left to wait for
	begins  places       // may begin once there is a place
	queued  map[int]bool // in begins
	pending map[int]Do   // a step was returned, and what came of it is not known
	begun   int          // of those, how many begin
	open    int          // not final
	working int
	asking  int
}

// upstream is a list of nodes that others wait for.
type upstream struct {
	names []string
	open  int // not final
	bad   int // final, and handed nothing over
	nodes []int
}

// Do is what is to be done with a node.
type Do string

// What is to be done.
const (
	Begin Do = "begin" // another round
	AskIt Do = "ask"   // a person
	Skip  Do = "skip"  // it is left out
)

// Step is what follows for a node.
type Step struct {
	Agent    string
	Do       Do
	Asks     Asks
	Question string         // for AskIt
	Reason   string         // for Skip
	Given    map[string]int // for Begin: the versions that it gets
	Missing  []string       // for Begin: what it reads and does not get
	Without  *Without       // an answer that was given for another node and holds for this one
	As       string         // that other one
}

// LeftOut is the reason of a node that a person has left out because of what is missing.
const LeftOut = "left out: a person said no"

// Next returns what follows for a task as it is stored.
func Next(t Task, nodes []Node) []Step { return NewBoard(t, nodes).Next() }

// NewBoard returns the board of a task with its plan, whose nodes are all there is.
func NewBoard(t Task, nodes []Node) *Board {
	b := &Board{
		task: t, agents: map[string]Agent{}, gated: map[string]string{}, nodes: slices.Clone(nodes), place: make(map[string]int, len(nodes)),
		waits: make([][]*upstream, len(nodes)), member: make([][]*upstream, len(nodes)), gates: make([][]*upstream, len(nodes)),
		queued: map[int]bool{}, pending: map[int]Do{},
	}
	if t.Plan != nil {
		for _, a := range t.Plan.Agents {
			b.agents[a.Name] = a
			b.gated[GateOf(a.Name)] = a.Gate
		}
		for _, g := range t.Plan.Gates {
			b.gated[g.Name] = g.Text
		}
	}
	slices.SortStableFunc(b.nodes, func(x, y Node) int { return x.Number - y.Number })
	for i, n := range b.nodes {
		b.place[n.Agent] = i
	}
	lists := &lists{board: b, seed: maphash.MakeSeed(), at: map[shared]*upstream{}, by: map[uint64][]*upstream{}}
	for i := range b.nodes {
		n := &b.nodes[i]
		var gates, after []string
		for _, up := range n.After {
			if p, known := b.place[up]; known && b.nodes[p].Gate {
				gates = append(gates, up)
			} else {
				after = append(after, up)
			}
		}
		if len(gates) == 0 {
			after = n.After
		}
		lists.wait(i, n.Reads, false)
		lists.wait(i, after, false)
		lists.wait(i, gates, true)
	}
	for i := range b.nodes {
		b.count(i, 1)
		b.look(i)
	}
	return b
}

// lists finds lists that are the same.
type lists struct {
	board *Board
	seed  maphash.Seed
	at    map[shared]*upstream
	by    map[uint64][]*upstream
}

// shared is the memory of a list.
type shared struct {
	first *string
	len   int
}

// wait has a node wait for a list of others.
func (l *lists) wait(i int, names []string, gates bool) {
	if len(names) == 0 {
		return
	}
	at := shared{&names[0], len(names)}
	u := l.at[at]
	if u == nil {
		u = l.same(names)
		l.at[at] = u
	}
	u.nodes = append(u.nodes, i)
	b := l.board
	b.waits[i] = append(b.waits[i], u)
	if gates {
		b.gates[i] = append(b.gates[i], u)
	}
}

// same returns the list with these names.
func (l *lists) same(names []string) *upstream {
	var h maphash.Hash
	h.SetSeed(l.seed)
	for _, n := range names {
		_, _ = h.WriteString(n)
		_ = h.WriteByte(0)
	}
	sum := h.Sum64()
	for _, u := range l.by[sum] {
		if slices.Equal(u.names, names) {
			return u
		}
	}
	u := &upstream{names: names}
	l.by[sum] = append(l.by[sum], u)
	for _, n := range names {
		if p, known := l.board.place[n]; known {
			l.board.member[p] = append(l.board.member[p], u)
		}
	}
	return u
}

// SetTask takes over the task as it is stored.
func (b *Board) SetTask(t Task) {
	if t.Plan == nil {
		t.Plan = b.task.Plan
	}
	b.task = t
}

// Node returns a node as it is stored.
func (b *Board) Node(agent string) (Node, bool) {
	i, known := b.place[agent]
	if !known {
		return Node{}, false
	}
	return b.nodes[i], true
}

// Put takes over a node as it is stored.
func (b *Board) Put(n Node) {
	i, known := b.place[n.Agent]
	if !known {
		return
	}
	b.count(i, -1)
	was := &b.nodes[i]
	n.Reads, n.After = was.Reads, was.After // they do not change, and share memory
	*was = n
	b.settle(i)
	b.count(i, 1)
	b.look(i)
}

// Drop takes back what Next has said of nodes: it is not done, and is said again.
func (b *Board) Drop(agents ...string) {
	for _, a := range agents {
		if i, known := b.place[a]; known && b.pending[i] != "" {
			b.settle(i)
			b.look(i)
		}
	}
}

// settle has a node no longer wait for what becomes of a step.
func (b *Board) settle(i int) {
	if b.pending[i] == Begin {
		b.begun--
	}
	delete(b.pending, i)
}

// expect notes that a step was returned.
func (b *Board) expect(i int, s Step) {
	b.pending[i] = s.Do
	if s.Do == Begin {
		b.begun++
	}
}

// count adds a node to what is counted, or takes it out.
func (b *Board) count(i, by int) {
	n := &b.nodes[i]
	if n.AtWork() {
		b.working += by
	}
	if n.State == NodeAsking {
		b.asking += by
	}
	final := n.State.Final()
	if !final {
		b.open += by
	}
	for _, u := range b.member[i] {
		switch {
		case !final:
			u.open += by
		case n.State != NodeDelivered:
			u.bad += by
		}
		if by > 0 && final && u.open == 0 {
			for _, j := range u.nodes {
				b.look(j)
			}
		}
	}
}

// look notes a node if it may have nothing left to wait for.
func (b *Board) look(i int) {
	if b.free(i) {
		heap.Push(&b.ready, i)
	}
}

// free reports whether a node waits for no other: also one that asks about what has been handed over since.
func (b *Board) free(i int) bool {
	n := &b.nodes[i]
	asks := n.State == NodeAsking && n.Asks == AsksUpstream && !slices.ContainsFunc(b.waits[i], func(u *upstream) bool { return u.bad > 0 })
	return (n.State == NodeWaiting || asks) && !b.blocked(i)
}

// blocked reports whether a node waits for others.
func (b *Board) blocked(i int) bool {
	return slices.ContainsFunc(b.waits[i], func(u *upstream) bool { return u.open > 0 })
}

// Next returns what follows, each once until Put or Drop.
func (b *Board) Next() []Step {
	if b.task.Status != InProgress {
		return nil
	}
	var steps []Step
	for b.ready.Len() > 0 {
		i := heap.Pop(&b.ready).(int) //nolint:forcetypeassert // it has nothing else
		if !b.free(i) || b.pending[i] != "" || b.queued[i] {
			continue
		}
		s := b.decide(i)
		if s.Do == Begin {
			b.queued[i] = true
			heap.Push(&b.begins, i)
			continue
		}
		b.expect(i, s)
		steps = append(steps, s)
	}
	for b.begins.Len() > 0 && b.room() > 0 {
		i := heap.Pop(&b.begins).(int) //nolint:forcetypeassert // it has nothing else
		delete(b.queued, i)
		if !b.free(i) {
			continue
		}
		s := b.decide(i) // more may be known now
		b.expect(i, s)
		steps = append(steps, s)
	}
	return steps
}

// mostAtOnce is how many agents of a task are begun and not ended at most, however many the plan allows: the others would
// only wait in the queue.
const mostAtOnce = 256

// room is how many agents may begin.
func (b *Board) room() int {
	limit := b.task.MaxParallel
	if limit == 0 && b.task.Plan != nil {
		limit = b.task.Plan.MaxParallel
	}
	if limit <= 0 || limit > mostAtOnce {
		limit = mostAtOnce
	}
	return limit - b.working - b.begun
}

// decide says what follows for a node that waits for no other.
func (b *Board) decide(i int) Step {
	n := &b.nodes[i]
	if n.Gate {
		return b.decideGate(n, i)
	}
	for _, u := range b.gates[i] {
		if u.bad > 0 {
			return Step{Agent: n.Agent, Do: Skip, Reason: "left out: " + b.badly(u, 1) + " was not passed"}
		}
	}
	bad, names := 0, []string{}
	for _, u := range b.waits[i] {
		if u.bad > 0 {
			bad += u.bad
			names = append(names, b.badly(u, 3))
		}
	}
	if bad == 0 {
		return b.begin(n)
	}
	missing := strings.Join(names, ", ") + " handed nothing over"
	if w := n.Without; w != nil && w.Yes && b.answers(w, i) {
		return b.begin(n)
	}
	switch policy := b.policy(n.Agent); {
	case policy == FailStop:
		return Step{Agent: n.Agent, Do: Skip, Reason: "left out: " + missing}
	case policy == FailContinue, b.agreed(i):
		return b.begin(n)
	default:
		if as := b.answeredAs(i); as != nil {
			s := Step{Agent: n.Agent, Do: Skip, Reason: LeftOut}
			if as.Without.Yes {
				s = b.begin(n)
			}
			s.Without, s.As = as.Without, as.Agent
			return s
		}
		return Step{Agent: n.Agent, Do: AskIt, Asks: AsksUpstream, Question: missing + ": let " + n.Agent + " go on without?"}
	}
}

// agreed reports whether all that is missing of what a node waits for was named by gates before it that a person has passed.
func (b *Board) agreed(i int) bool {
	known, seen := map[int]bool{}, map[int]bool{}
	gates := slices.Clone(b.gates[i])
	for len(gates) > 0 {
		u := gates[len(gates)-1]
		gates = gates[:len(gates)-1]
		for _, name := range u.names {
			at := b.place[name]
			if g := &b.nodes[at]; !g.Gate || seen[at] || g.State != NodeDelivered {
				continue
			}
			seen[at] = true
			b.named(at, known)
			gates = append(gates, b.gates[at]...)
		}
	}
	return !slices.ContainsFunc(b.missing(i), func(at int) bool { return !known[at] })
}

// named adds what a gate's question has named as missing: what was so by its answer.
func (b *Board) named(gate int, known map[int]bool) {
	for _, at := range b.missing(gate) {
		if !b.nodes[at].Ended.After(b.nodes[gate].Ended) {
			known[at] = true
		}
	}
}

// missing returns the places of those that handed nothing over of what a node waits for.
func (b *Board) missing(i int) (places []int) {
	for _, u := range b.waits[i] {
		if u.bad == 0 {
			continue
		}
		for _, name := range u.names {
			if at, known := b.place[name]; known && b.nodes[at].State.Final() && b.nodes[at].State != NodeDelivered {
				places = append(places, at)
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// decideGate has a gate asked, unless nothing has come that it could let on.
func (b *Board) decideGate(n *Node, i int) Step {
	all, bad, names := 0, 0, []string{}
	for _, u := range b.waits[i] {
		all += len(u.names)
		if u.bad > 0 {
			bad += u.bad
			names = append(names, b.badly(u, 3))
		}
	}
	if all > 0 && bad == all {
		return Step{Agent: n.Agent, Do: Skip, Reason: "left out: nothing was handed over before it"}
	}
	question := cmp.Or(b.gated[n.Agent], "Go on with wave "+fmt.Sprint(n.Wave)+"?")
	if bad > 0 {
		question += " (" + strings.Join(names, ", ") + " handed nothing over)"
	}
	return Step{Agent: n.Agent, Do: AskIt, Asks: AsksGate, Question: question}
}

// answers reports whether all that is missing of what a node waits for was missing when a person answered.
func (b *Board) answers(w *Without, i int) bool {
	return !slices.ContainsFunc(b.missing(i), func(at int) bool { return b.nodes[at].Ended.After(w.At) })
}

// answeredAs returns the node whose answer holds for another that asks about the same: so what becomes of that does not depend
// on whether both asked at once. What was said before a person had it begin again does not hold. The newest answer does.
func (b *Board) answeredAs(i int) (as *Node) {
	var missing []int
	for j := range b.nodes {
		w := b.nodes[j].Without
		if w == nil || w.Only || j == i || w.At.Before(b.nodes[i].Again) || as != nil && !w.At.After(as.Without.At) {
			continue
		}
		if missing == nil {
			missing = b.missing(i)
		}
		if b.answers(w, i) && slices.Equal(b.missing(j), missing) {
			as = &b.nodes[j]
		}
	}
	return as
}

// begin returns the step that has a node begin, with what it gets.
func (b *Board) begin(n *Node) Step {
	s := Step{Agent: n.Agent, Do: Begin}
	for _, up := range n.Reads {
		p, known := b.place[up]
		if known && b.nodes[p].State == NodeDelivered && b.nodes[p].Version > 0 {
			if s.Given == nil {
				s.Given = make(map[string]int, len(n.Reads))
			}
			s.Given[up] = b.nodes[p].Version
		} else {
			s.Missing = append(s.Missing, up)
		}
	}
	return s
}

// badly names the first few nodes of a list that handed nothing over.
func (b *Board) badly(u *upstream, most int) string {
	var names []string
	for _, name := range u.names {
		if p, known := b.place[name]; known && b.nodes[p].State.Final() && b.nodes[p].State != NodeDelivered {
			if len(names) == most {
				return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", u.bad-most)
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// policy is what becomes of an agent whose upstream hands nothing over.
func (b *Board) policy(agent string) OnUpstreamFailure {
	var whole OnUpstreamFailure
	if b.task.Plan != nil {
		whole = b.task.Plan.OnUpstreamFailure
	}
	return cmp.Or(b.task.OnUpstreamFailure, b.agents[agent].OnUpstreamFailure, whole, FailAsk)
}
