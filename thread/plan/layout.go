package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// GateOf is the name of the gate of an agent's own, which is asked before it begins.
func GateOf(agent string) string { return agent + "-gate" }

// Hash names all of a plan: two that would run differently have another one.
func Hash(p Plan) (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", thread.Kindf(thread.ErrInvalid, "the plan: %v", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Layout returns the nodes of a plan by Number: its agents in the plan's order, each after the gate of its own if it has one,
// and then the gates between waves. It says the first thing that makes a plan impossible to lay out; see Check for all.
//
// An edge leads to an earlier wave, or from an agent to a gate of its own wave: a gate after wave N stands in wave N+1, before
// the agents there; it follows on all agents up to wave N, and all agents of later waves on it. The gate of an agent's own
// is asked once all that the agent reads and follows is done.
//
// Nodes that read all of the earlier waves share one list of names, so that a wave of thousands that reads another one takes
// no more memory than its names: who changes a list of a node has to copy it first.
func Layout(p Plan) ([]Node, error) {
	l, problems := lay(p)
	for _, f := range problems {
		if f.Level == Wrong {
			return nil, f.Err()
		}
	}
	return l.nodes(), nil
}

// Err returns a finding as an error.
func (f Finding) Err() error {
	text := f.Text
	if f.Agent != "" {
		text = f.Agent + ": " + text
	}
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s", text), f.Do)
}

// Waves returns the names of agents by wave, in the order of the nodes. A wave without agents is left out.
func Waves(nodes []Node) [][]string {
	byWave := map[int][]string{}
	for _, n := range nodes {
		if !n.Gate {
			byWave[n.Wave] = append(byWave[n.Wave], n.Agent)
		}
	}
	waves := make([][]string, 0, len(byWave))
	for _, w := range slices.Sorted(maps.Keys(byWave)) {
		waves = append(waves, byWave[w])
	}
	return waves
}

// layout is a plan with the waves of its agents, by place.
type layout struct {
	plan  Plan
	place map[string]int
	wave  []int
	// before is all agents by wave, and ascending the waves of those.
	before    []string
	ascending []int
	levels    []int // the waves after which there are gates, ascending
}

// lay finds the waves. What it returns is whole if no finding is Wrong.
func lay(p Plan) (*layout, []Finding) {
	l := &layout{plan: p, place: make(map[string]int, len(p.Agents)), wave: make([]int, len(p.Agents))}
	problems := l.names()
	if len(problems) > 0 {
		return l, problems
	}
	if problems = l.waves(); len(problems) > 0 {
		return l, problems
	}
	l.order()
	return l, l.gates()
}

// names finds the agents' places.
func (l *layout) names() (problems []Finding) {
	if n := len(l.plan.Agents); n == 0 || n > MaxAgents {
		return []Finding{{Wrong, "", fmt.Sprintf("the plan has %d agents", n), fmt.Sprintf("Give it 1 to %d.", MaxAgents)}}
	}
	if n := len(l.plan.Gates); n > MaxAgents {
		return []Finding{{Wrong, "", fmt.Sprintf("the plan has %d gates", n), fmt.Sprintf("Give it %d at most.", MaxAgents)}}
	}
	seen := make(map[string]string, len(l.plan.Agents)+len(l.plan.Gates))
	add := func(name, what string) {
		key := strings.ToLower(name)
		if before, ok := seen[key]; ok {
			problems = append(problems, Finding{Wrong, excerpt(name), "the name is taken by " + before, "Give each agent and gate a name of its own; upper and lower case do not tell two apart."})
			return
		}
		seen[key] = what
		if !validName(name) {
			problems = append(problems, Finding{Wrong, excerpt(name), fmt.Sprintf("%s has a name that cannot be used", what),
				fmt.Sprintf("Name it with letters, digits, - and _, beginning with a letter or digit, %d characters at most.", MaxName)})
		}
	}
	for i, a := range l.plan.Agents {
		add(a.Name, fmt.Sprintf("agent %d", i+1))
		l.place[a.Name] = i
	}
	for _, a := range l.plan.Agents {
		if a.Gate != "" {
			add(GateOf(a.Name), "the gate of "+excerpt(a.Name))
		}
	}
	for i, g := range l.plan.Gates {
		add(g.Name, fmt.Sprintf("gate %d", i+1))
	}
	return problems
}

// waves gives each agent its wave: the one that it names, or the first after all that it reads and follows.
func (l *layout) waves() (problems []Finding) {
	derived := make([]int, 0, len(l.wave))
	for i, a := range l.plan.Agents {
		if a.Wave < 0 || a.Wave > MaxWaves {
			problems = append(problems, Finding{Wrong, a.Name, fmt.Sprintf("wave %d is none", a.Wave), fmt.Sprintf("Waves are 1 to %d; leave it out to have it follow from what the agent reads.", MaxWaves)})
		}
		if l.wave[i] = a.Wave; a.Wave == 0 {
			derived = append(derived, i)
		}
		if a.ReadsNone && len(a.Reads) > 0 {
			problems = append(problems, Finding{Wrong, a.Name, "it has both reads and reads_none", "Leave one out."})
		}
		problems = append(problems, l.named(a)...)
	}
	if len(problems) > 0 {
		return problems
	}
	if problems = l.derive(derived); len(problems) > 0 {
		return problems
	}
	for i, a := range l.plan.Agents {
		for _, up := range upstreams(a) {
			if w := l.wave[l.place[up]]; w >= l.wave[i] {
				where := "the same wave"
				if w > l.wave[i] {
					where = fmt.Sprintf("wave %d, a later one than its own, %d", w, l.wave[i])
				}
				problems = append(problems, Finding{Wrong, a.Name, fmt.Sprintf("%s is in %s", up, where), "An agent reads and follows agents of earlier waves only: move one of the two, or leave their waves out."})
			}
		}
	}
	return problems
}

// named looks at whether an agent's upstreams are agents of the plan, each named once.
func (l *layout) named(a Agent) (problems []Finding) {
	for _, list := range []struct {
		what  string
		names []string
	}{{"reads", a.Reads}, {"follows", a.After}} {
		seen := make(map[string]bool, len(list.names))
		for _, up := range list.names {
			_, ok := l.place[up]
			switch {
			case !ok:
				problems = append(problems, Finding{Wrong, a.Name, fmt.Sprintf("it %s %q, which the plan does not have", list.what, excerpt(up)), meant(up, l.place)})
			case up == a.Name:
				problems = append(problems, Finding{Wrong, a.Name, fmt.Sprintf("it %s itself", list.what), "Leave its own name out."})
			case seen[up]:
				problems = append(problems, Finding{Wrong, a.Name, fmt.Sprintf("it %s %s twice", list.what, up), "Name it once."})
			}
			seen[up] = true
		}
	}
	return problems
}

// meant says which name may have been meant.
func meant(name string, names map[string]int) string {
	if len(names) > 200 {
		return "Name an agent of the plan."
	}
	all := slices.Sorted(maps.Keys(names))
	return thread.Meant(near.Names(name, all), "There are: "+excerptList(all)+".")
}

func upstreams(a Agent) []string {
	if len(a.After) == 0 {
		return a.Reads
	}
	return append(slices.Clip(a.Reads), a.After...)
}

// derive gives a wave to the agents that name none. Those whose waves follow from each other in a circle get none.
func (l *layout) derive(derived []int) (problems []Finding) {
	waits := make([]int, len(l.wave)) // upstreams without a wave yet
	down := map[int][]int{}
	for _, i := range derived {
		for _, up := range upstreams(l.plan.Agents[i]) {
			if j := l.place[up]; l.plan.Agents[j].Wave == 0 {
				waits[i]++
				down[j] = append(down[j], i)
			}
		}
	}
	ready := make([]int, 0, len(derived))
	for _, i := range derived {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		i := ready[done]
		l.wave[i] = 1
		for _, up := range upstreams(l.plan.Agents[i]) {
			l.wave[i] = max(l.wave[i], l.wave[l.place[up]]+1)
		}
		for _, j := range down[i] {
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if done == len(derived) {
		return nil
	}
	circle := l.circle(derived, waits)
	return []Finding{{Wrong, circle[0], "each waits for the next: " + strings.Join(circle, " -> "), "Take one of these out of another's reads or after."}}
}

// circle returns one of the circles that there are, which begins and ends with the same name.
func (l *layout) circle(derived, waits []int) []string {
	at := 0
	for _, i := range derived {
		if waits[i] > 0 {
			at = i
			break
		}
	}
	seen := map[int]int{}
	var path []string
	for {
		if from, ok := seen[at]; ok {
			path = append(path[from:], l.plan.Agents[at].Name)
			if n := len(path); n > 12 {
				path = append(append(path[:6:6], "..."), path[n-5:]...)
			}
			return path
		}
		seen[at] = len(path)
		path = append(path, l.plan.Agents[at].Name)
		for _, up := range upstreams(l.plan.Agents[at]) {
			if j := l.place[up]; l.plan.Agents[j].Wave == 0 && waits[j] > 0 {
				at = j
				break
			}
		}
	}
}

// order lists all agents by wave.
func (l *layout) order() {
	places := make([]int, len(l.wave))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return l.wave[a] - l.wave[b] })
	l.before, l.ascending = make([]string, len(places)), make([]int, len(places))
	for at, i := range places {
		l.before[at], l.ascending[at] = l.plan.Agents[i].Name, l.wave[i]
	}
}

// gates finds the waves that gates stand after.
func (l *layout) gates() (problems []Finding) {
	last := slices.Max(l.wave)
	for _, g := range l.plan.Gates {
		if g.After < 1 || g.After > last {
			problems = append(problems, Finding{Wrong, g.Name, fmt.Sprintf("it stands after wave %d, which the plan does not have", g.After), fmt.Sprintf("Let `after` be a wave from 1 to %d.", last)})
			continue
		}
		l.levels = append(l.levels, g.After)
	}
	slices.Sort(l.levels)
	l.levels = slices.Compact(l.levels)
	return problems
}

// earlier returns all agents of waves before one. Lists of all waves share their memory.
func (l *layout) earlier(wave int) []string {
	end, _ := slices.BinarySearch(l.ascending, wave)
	return l.before[:end:end]
}

// reads returns what an agent reads and what it follows beside.
func (l *layout) reads(i int) (reads, after []string) {
	a := l.plan.Agents[i]
	switch {
	case a.Wave == 0 || len(a.Reads) > 0:
	case !a.ReadsNone:
		return l.earlier(a.Wave), a.After
	case len(a.After) == 0:
		return nil, l.earlier(a.Wave)
	}
	return a.Reads, a.After
}

// nodes makes the nodes.
func (l *layout) nodes() []Node {
	out := make([]Node, 0, len(l.plan.Agents)+len(l.plan.Gates))
	add := func(n Node) {
		n.Number, n.State = len(out), NodeWaiting
		out = append(out, n)
	}
	levels := l.gatesByLevel()
	// What follows on the same list and the same gates shares one list.
	type key struct {
		list  *string
		count int
		level int
	}
	joined := map[key][]string{}
	join := func(after []string, level int) []string {
		gates := levels[level]
		if len(gates) == 0 || len(after) == 0 {
			return append(after[:len(after):len(after)], gates...)
		}
		k := key{&after[0], len(after), level}
		if _, ok := joined[k]; !ok {
			joined[k] = append(after[:len(after):len(after)], gates...)
		}
		return joined[k]
	}
	for i, a := range l.plan.Agents {
		reads, after := l.reads(i)
		agent := Node{Agent: a.Name, Wave: l.wave[i], Reads: reads, After: join(without(after, reads), l.level(l.wave[i]))}
		if a.Gate != "" {
			gate := Node{Agent: GateOf(a.Name), Gate: true, Wave: l.wave[i], After: reads, Question: a.Gate}
			if len(after) > 0 {
				gate.After = append(reads[:len(reads):len(reads)], without(after, reads)...)
			}
			add(gate)
			agent.After = append(agent.After[:len(agent.After):len(agent.After)], gate.Agent)
		}
		add(agent)
	}
	for _, g := range l.plan.Gates {
		before := l.level(g.After)
		after := append(slices.Clip(l.earlier(g.After + 1)[len(l.earlier(before+1)):]), levels[before]...)
		add(Node{Agent: g.Name, Gate: true, Wave: g.After + 1, After: after, Question: g.Text})
	}
	return out
}

// level returns the last wave before one that has gates after it, 0 for none.
func (l *layout) level(wave int) int {
	at, _ := slices.BinarySearch(l.levels, wave)
	if at == 0 {
		return 0
	}
	return l.levels[at-1]
}

func (l *layout) gatesByLevel() map[int][]string {
	levels := map[int][]string{}
	for _, g := range l.plan.Gates {
		levels[g.After] = append(levels[g.After], g.Name)
	}
	return levels
}

// without returns the names that are not in another list; the list itself where that is all of it.
func without(names, other []string) []string {
	if len(names) == 0 || len(other) == 0 {
		return names
	}
	in := make(map[string]bool, len(other))
	for _, n := range other {
		in[n] = true
	}
	if !slices.ContainsFunc(names, func(n string) bool { return in[n] }) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return in[n] })
}
