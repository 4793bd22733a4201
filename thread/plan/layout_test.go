package plan

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"orchestrator/thread"
)

func agents(names ...string) []Agent {
	list := make([]Agent, len(names))
	for i, n := range names {
		list[i] = Agent{Name: n, Prompt: "x"}
	}
	return list
}

// edges says what each node waits for: "name@wave reads | after".
func edges(nodes []Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, fmt.Sprintf("%s@%d %s | %s", n.Agent, n.Wave, strings.Join(n.Reads, ","), strings.Join(n.After, ",")))
	}
	return out
}

func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		plan Plan
		want []string
	}{
		"waves": {Plan{Agents: []Agent{{Name: "vision", Wave: 1}, {Name: "apex", Wave: 1}, {Name: "echo", Wave: 2}, {Name: "end", Wave: 4}}},
			[]string{"vision@1  | ", "apex@1  | ", "echo@2 vision,apex | ", "end@4 vision,apex,echo | "}},
		"derived": {Plan{Agents: []Agent{{Name: "c", Reads: []string{"b", "a"}}, {Name: "b", After: []string{"a"}}, {Name: "a"}}},
			[]string{"c@3 b,a | ", "b@2  | a", "a@1  | "}},
		"both": {Plan{Agents: []Agent{{Name: "late", Wave: 3}, {Name: "mid", Reads: []string{"first"}}, {Name: "first", Wave: 1}, {Name: "one", Wave: 3, Reads: []string{"first"}}}},
			[]string{"late@3 first,mid | ", "mid@2 first | ", "first@1  | ", "one@3 first | "}},
		"none": {Plan{Agents: []Agent{{Name: "a"}, {Name: "b", Wave: 2, ReadsNone: true}, {Name: "c", Wave: 3, ReadsNone: true, After: []string{"a"}}}},
			[]string{"a@1  | ", "b@2  | a", "c@3  | a"}},
		"read and followed": {Plan{Agents: []Agent{{Name: "a"}, {Name: "b"}, {Name: "c", Wave: 2, After: []string{"a"}}, {Name: "d", Reads: []string{"a"}, After: []string{"a", "b"}}}},
			[]string{"a@1  | ", "b@1  | ", "c@2 a,b | ", "d@2 a | b"}},
		"gates": {Plan{Agents: []Agent{{Name: "a", Wave: 1}, {Name: "b", Wave: 2}, {Name: "c", Wave: 3, Reads: []string{"a"}}},
			Gates: []Gate{{Name: "g1", After: 1}, {Name: "h1", After: 1}, {Name: "g2", After: 2}, {Name: "end", After: 3}}},
			[]string{"a@1  | ", "b@2 a | g1,h1", "c@3 a | g2", "g1@2  | a", "h1@2  | a", "g2@3  | b,g1,h1", "end@4  | c,g2"}},
		"gate of its own": {Plan{Agents: []Agent{{Name: "a"}, {Name: "x"}, {Name: "b", Reads: []string{"a"}, After: []string{"x"}, Gate: "Go?"}}, Gates: []Gate{{Name: "g", After: 1}}},
			[]string{"a@1  | ", "x@1  | ", "b-gate@2  | a,x", "b@2 a | x,g,b-gate", "g@2  | a,x"}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := Layout(c.plan)
			if err != nil {
				t.Fatal(err)
			}
			if got := edges(nodes); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for i, n := range nodes {
				if n.Number != i || n.State != NodeWaiting {
					t.Errorf("node %d: %+v", i, n)
				}
			}
		})
	}
}

func TestLayoutRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		plan Plan
		want string
	}{
		"no agents":      {Plan{}, "has 0 agents"},
		"cycle":          {Plan{Agents: []Agent{{Name: "a", Reads: []string{"c"}}, {Name: "b", Reads: []string{"a"}}, {Name: "c", After: []string{"b"}}, {Name: "d"}}}, "a -> c -> b -> a"},
		"behind a cycle": {Plan{Agents: []Agent{{Name: "x", Reads: []string{"a"}}, {Name: "a", Reads: []string{"b"}}, {Name: "b", Reads: []string{"a"}}}}, "a -> b -> a"},
		"itself":         {Plan{Agents: []Agent{{Name: "a", Reads: []string{"a"}}}}, "reads itself"},
		"same wave":      {Plan{Agents: []Agent{{Name: "a", Wave: 1}, {Name: "b", Wave: 1, Reads: []string{"a"}}}}, "a is in the same wave"},
		"later wave":     {Plan{Agents: []Agent{{Name: "a", Wave: 1, Reads: []string{"b"}}, {Name: "b", Wave: 2, ReadsNone: true}}}, "b is in wave 2, a later one"},
		"unknown":        {Plan{Agents: []Agent{{Name: "a", Reads: []string{"A2"}}}}, `reads "A2"`},
		"other case":     {Plan{Agents: []Agent{{Name: "Vision"}, {Name: "b", Reads: []string{"vision"}}}}, `Did you mean Vision?`},
		"double":         {Plan{Agents: agents("a", "A")}, "taken by agent 1"},
		"a gate's name":  {Plan{Agents: []Agent{{Name: "a", Gate: "?"}, {Name: "a-gate"}}}, "taken by agent 2"},
		"bad name":       {Plan{Agents: agents("a b")}, "a name that cannot be used"},
		"escape":         {Plan{Agents: agents("a\x1b[2J")}, "a name that cannot be used"},
		"gate too late":  {Plan{Agents: agents("a"), Gates: []Gate{{Name: "g", After: 2}}}, "after wave 2"},
		"wave":           {Plan{Agents: []Agent{{Name: "a", Wave: -1}}}, "wave -1"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := Layout(c.plan)
			if err == nil || !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v, %v; want %q", nodes, err, c.want)
			}
		})
	}
}

// Each edge leads to an earlier wave, or from an agent to a gate of its own wave, whatever the plan is.
func checkEdges(t *testing.T, nodes []Node) {
	t.Helper()
	byName := map[string]Node{}
	for _, n := range nodes {
		byName[n.Agent] = n
	}
	for _, n := range nodes {
		seen := map[string]bool{}
		for i, up := range append(append([]string(nil), n.Reads...), n.After...) {
			u, ok := byName[up]
			if !ok || seen[up] || i < len(n.Reads) && u.Gate || u.Wave > n.Wave || u.Wave == n.Wave && (n.Gate || !u.Gate) {
				t.Fatalf("%s (wave %d) waits for %q (%+v)", n.Agent, n.Wave, up, u)
			}
			seen[up] = true
		}
	}
}

// Gates hold: from each agent of a later wave a path of edges leads to each gate.
func TestGatesHold(t *testing.T) {
	var p Plan
	for w := 1; w <= 6; w++ {
		for i := range 3 {
			a := Agent{Name: fmt.Sprintf("a%d-%d", w, i), Wave: w}
			switch i {
			case 1:
				a.ReadsNone = true
			case 2:
				a.Gate = "Go on?"
				if w > 1 {
					a.Reads = []string{"a1-0"}
				}
			}
			p.Agents = append(p.Agents, a)
		}
	}
	p.Gates = []Gate{{Name: "g1", After: 1}, {Name: "g3", After: 3}, {Name: "h3", After: 3}, {Name: "g6", After: 6}}
	nodes, err := Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	checkEdges(t, nodes)
	waits := map[string]map[string]bool{}
	byName := map[string]Node{}
	for _, n := range nodes {
		byName[n.Agent] = n
	}
	var all func(name string) map[string]bool
	all = func(name string) map[string]bool {
		if m := waits[name]; m != nil {
			return m
		}
		m := map[string]bool{}
		for _, up := range append(append([]string(nil), byName[name].Reads...), byName[name].After...) {
			m[up] = true
			for n := range all(up) {
				m[n] = true
			}
		}
		waits[name] = m
		return m
	}
	for _, g := range p.Gates {
		for i, a := range p.Agents {
			w := i/3 + 1
			if held := all(a.Name)[g.Name]; held != (w > g.After) {
				t.Errorf("%s of wave %d waits for %s after wave %d: %v", a.Name, w, g.Name, g.After, held)
			}
			if w <= g.After && !all(g.Name)[a.Name] {
				t.Errorf("%s does not wait for %s", g.Name, a.Name)
			}
		}
	}
}

// A wave of 5,000 that reads a wave of 5,000, with a gate between them, shares its lists.
func TestLayoutWideIsFlat(t *testing.T) {
	p := Plan{Gates: []Gate{{Name: "g", After: 1}}}
	for i := range 10_000 {
		p.Agents = append(p.Agents, Agent{Name: fmt.Sprintf("agent-%d", i), Wave: 1 + i/5000})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	nodes, err := Layout(p)
	runtime.ReadMemStats(&after)
	if err != nil || len(nodes) != 10_001 || len(nodes[9999].Reads) != 5000 || len(nodes[10_000].After) != 5000 {
		t.Fatal(err, len(nodes))
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
		t.Errorf("%d MB", mb)
	}
}

func TestHash(t *testing.T) {
	p := Plan{Name: "p", Agents: agents("a", "b")}
	one, err := Hash(p)
	again, _ := Hash(Plan{Name: "p", Agents: agents("a", "b")})
	p.Agents[1].Prompt += " "
	other, _ := Hash(p)
	if err != nil || one != again || one == other || len(one) != 64 {
		t.Error(one, again, other, err)
	}
	p.Agents[0].Schema = []byte("{")
	if _, err := Hash(p); !errors.Is(err, thread.ErrInvalid) {
		t.Error(err)
	}
}
