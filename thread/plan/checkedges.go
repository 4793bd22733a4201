package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// laid looks at what follows from who waits for whom.
func (c *checker) laid(l *layout) {
	nodes := l.nodes()
	edges := 0
	for _, n := range nodes {
		edges += len(n.Reads) + len(n.After)
	}
	if edges > MaxEdges {
		c.add("edges", Finding{Wrong, "", fmt.Sprintf("the agents wait for each other in %d ways, and %d are the most", edges, MaxEdges),
			"Say with reads what each needs instead of all of the earlier waves, or have one agent sum a wave up."})
		return
	}
	c.widths(nodes)
	c.fields(l, nodes)
	c.apart(nodes)
}

// widths asks about waves that are wide, unless the plan says how many of its agents work at once.
func (c *checker) widths(nodes []Node) {
	if c.plan.MaxParallel > 0 {
		return
	}
	for _, names := range Waves(nodes) {
		if len(names) > WideWave {
			c.add("wide", Finding{Ask, "", fmt.Sprintf("%d agents work at once: %s", len(names), excerptList(names)), "Agree to it, or bound it with max_parallel or --max-parallel."})
		}
	}
}

// fields looks at the fields of all prompts: what they name is there, and the agent reads it.
func (c *checker) fields(l *layout, nodes []Node) {
	used := map[string]bool{}
	reads := map[*string]map[string]bool{} // of lists, which nodes share
	for _, n := range nodes {
		if n.Gate {
			continue
		}
		a := &c.plan.Agents[l.place[n.Agent]]
		pieces, err := parse(a.Prompt)
		if err != nil {
			c.add("template", Finding{Wrong, a.Name, err.Error(), ""})
			continue
		}
		for _, p := range pieces {
			if p.field == nil {
				continue
			}
			if p.field.root == fieldVar && len(p.field.path) == 1 {
				used[p.field.path[0]] = true
			}
			if f, bad := c.field(l, n, a, p.field, reads); bad {
				f.Agent = a.Name
				f.Text = fmt.Sprintf("%s in line %d of its prompt: %s", p.field, p.field.line, f.Text)
				c.add("field "+string(f.Level), f)
			}
		}
	}
	for name := range c.plan.Variables {
		if !used[name] {
			c.add("unused", Finding{Warn, "", fmt.Sprintf("no prompt has the variable %s", excerpt(name)), fmt.Sprintf("Write {{var.%s}} where it belongs, or leave it out.", excerpt(name))})
		}
	}
}

// field looks at one field of an agent's prompt.
func (c *checker) field(l *layout, n Node, a *Agent, f *field, reads map[*string]map[string]bool) (Finding, bool) {
	if fault := f.fault(); fault != "" {
		return Finding{Level: Wrong, Text: fault}, true
	}
	if f.root == fieldTask {
		return Finding{}, false
	}
	if f.root == fieldVar {
		if _, ok := c.plan.Variables[f.path[0]]; ok {
			return Finding{}, false
		}
		return Finding{Level: Wrong, Text: "the plan has no such variable", Do: fmt.Sprintf("Write [variables.%s] into the plan.", excerpt(f.path[0]))}, true
	}
	i, ok := l.place[f.root]
	switch {
	case !ok:
		names := []string{fieldTask, fieldVar}
		if len(c.plan.Agents) <= 200 {
			for _, other := range c.plan.Agents {
				names = append(names, other.Name)
			}
		}
		return Finding{Level: Wrong, Text: "the plan has no such agent", Do: thread.Meant(near.Names(f.root, names), `Where two braces are meant, write {{"{{"}}.`)}, true
	case !readBy(n, f.root, reads) && l.wave[i] >= n.Wave:
		return Finding{Level: Wrong, Text: fmt.Sprintf("%s does not work before it, but in wave %d", f.root, l.wave[i]),
			Do: fmt.Sprintf("An agent that needs what another one hands over works in a later wave: put %s into a later one, and let it read %s.", a.Name, f.root)}, true
	case !readBy(n, f.root, reads):
		return Finding{Level: Wrong, Text: fmt.Sprintf("it does not read %s", f.root), Do: fmt.Sprintf("Write %q into its reads.", f.root)}, true
	case len(f.path) > 1 && f.path[0] == "data":
		return c.shape(f)
	}
	return Finding{}, false
}

// readBy reports whether a node reads an agent.
func readBy(n Node, name string, reads map[*string]map[string]bool) bool {
	if len(n.Reads) < 8 {
		return slices.Contains(n.Reads, name)
	}
	// The lists of a wave begin at the same place, and one that is shorter is the beginning of the longer one.
	set := reads[&n.Reads[0]]
	if set == nil || len(set) != len(n.Reads) {
		set = make(map[string]bool, len(n.Reads))
		for _, r := range n.Reads {
			set[r] = true
		}
		reads[&n.Reads[0]] = set
	}
	return set[name]
}

// shape looks at whether what an agent hands over has a field, as far as its schema tells.
func (c *checker) shape(f *field) (Finding, bool) {
	schema, ok := c.shapes[f.root]
	if !ok {
		a, _ := c.named(f.root)
		if len(a.Schema) > 0 && len(a.Schema) <= MaxSchema {
			d := json.NewDecoder(bytes.NewReader(a.Schema))
			d.UseNumber()
			_ = d.Decode(&schema) // one that is none has a finding of its own
		}
		c.shapes[f.root] = schema
	}
	at, sure := schema, true
	for i, key := range f.path[1:] {
		s, ok := at.(map[string]any)
		if !ok || open(s) {
			return Finding{}, false
		}
		where := excerpt(join("data", f.path[1:i+1]))
		properties, _ := s["properties"].(map[string]any)
		items := s["items"]
		switch {
		case properties != nil:
			next, ok := properties[key]
			if extra, set := s["additionalProperties"]; !ok && set && extra != false {
				return Finding{}, false
			}
			if !ok {
				names := make([]string, 0, len(properties))
				for name := range properties {
					names = append(names, excerpt(name))
				}
				slices.Sort(names)
				return Finding{Level: Wrong, Text: fmt.Sprintf("by the schema of %s, %s has no %s", f.root, where, excerpt(key)),
					Do: thread.Meant(near.Names(key, names), "It has: "+excerptList(names)+".")}, true
			}
			required, _ := s["required"].([]any)
			sure = sure && slices.ContainsFunc(required, func(v any) bool { return v == any(key) })
			at = next
		case items != nil:
			if strings.Trim(key, "0123456789") != "" {
				return Finding{Level: Wrong, Text: fmt.Sprintf("by the schema of %s, %s is a list", f.root, where), Do: "Write a place in it, from 0, or the list as a whole."}, true
			}
			at, sure = items, false
		case scalar(s):
			return Finding{Level: Wrong, Text: fmt.Sprintf("by the schema of %s, %s has no fields", f.root, where), Do: "Name it without what follows."}, true
		default:
			return Finding{}, false
		}
	}
	if !sure {
		return Finding{Level: Warn, Text: fmt.Sprintf("by the schema of %s, %s need not be there; without it, the agent cannot begin", f.root, excerpt(join("data", f.path[1:]))),
			Do: "List it as required there, or take all that is handed over."}, true
	}
	return Finding{}, false
}

// open reports whether a schema says in other ways than the usual ones what a value is.
func open(s map[string]any) bool {
	for _, word := range []string{"$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "if", "patternProperties", "prefixItems"} {
		if _, ok := s[word]; ok {
			return true
		}
	}
	return false
}

// scalar reports whether a schema is that of a text, a number or a boolean.
func scalar(s map[string]any) bool {
	t, _ := s["type"].(string)
	return slices.Contains([]string{"string", "number", "integer", "boolean", "null"}, t)
}

// apart looks at agents that may work at the same time and change files.
func (c *checker) apart(nodes []Node) {
	var writers []int // places in nodes
	for i, n := range nodes {
		if n.Gate {
			continue
		}
		if a, ok := c.named(n.Agent); ok && len(a.Writes) > 0 {
			writers = append(writers, i)
		}
	}
	if len(writers) < 2 {
		return
	}
	before := ancestors(nodes, writers)
	together := func(i, j int) bool {
		return !before[writers[i]].has(j) && !before[writers[j]].has(i)
	}
	beside := make([]int, len(writers)) // another one that each may work beside, -1 for none
	for i := range beside {
		beside[i] = -1
	}
	for i := range writers {
		for j := i + 1; j < len(writers) && (beside[i] < 0 || beside[j] < 0); j++ {
			if together(i, j) {
				beside[i], beside[j] = j, i
			}
		}
	}
	c.overlaps(nodes, writers, together)
	for i, at := range writers {
		if beside[i] >= 0 {
			c.beside(nodes[at], nodes[writers[beside[i]]].Agent, beside[i] < i)
		}
	}
}

// beside looks at an agent that may change files at the same time as another one, which stands before it in the plan or not.
func (c *checker) beside(n Node, other string, second bool) {
	a, _ := c.named(n.Agent)
	switch {
	case !c.world.Apart && second:
		c.add("apart", Finding{Wrong, a.Name, fmt.Sprintf("it changes files at the same time as %s, and without a repository they get no worktrees of their own", other),
			fmt.Sprintf("Let it follow with after = [%q], or make the project a git repository.", other)})
	case a.Merge == "drop" && len(a.Deliver) == 0:
		c.add("drop", Finding{Warn, a.Name, "what it changes is thrown away", `Write merge = "branch" or "merge" to have it, or deliver the files.`})
	case a.Merge == "merge" && !a.Checks:
		c.add("unchecked merge", Finding{Ask, a.Name, fmt.Sprintf("it is merged beside %s, and nothing checks what it wrote", other), "Write checks = true."})
	}
}

// maxCompared bounds the work of comparing patterns: the product of their lengths, summed up.
const maxCompared = 20_000_000

// overlaps finds patterns of the same files of two agents that work at the same time. Only those are compared of which the
// one begins with what the other one begins with.
func (c *checker) overlaps(nodes []Node, writers []int, together func(i, j int) bool) {
	type pattern struct {
		text, begins string
		writer       int
	}
	var all []pattern
	for i, at := range writers {
		a, _ := c.named(nodes[at].Agent)
		for _, text := range a.Writes {
			whole := wholePattern(text)
			all = append(all, pattern{text, whole[:literal(whole)], i})
		}
	}
	slices.SortStableFunc(all, func(a, b pattern) int { return strings.Compare(a.begins, b.begins) })
	told := map[[2]int]bool{}
	work, pairs := 0, 0
	for i, p := range all {
		for _, q := range all[i+1:] {
			if !strings.HasPrefix(q.begins, p.begins) {
				break
			}
			pair := [2]int{min(p.writer, q.writer), max(p.writer, q.writer)}
			if pairs++; pairs > maxCompared || work > maxCompared {
				c.add("compared", Finding{Warn, "", "not all patterns of files that agents write were compared: they are too many", "Write fewer and narrower ones."})
				return
			}
			if p.writer == q.writer || told[pair] || !together(p.writer, q.writer) {
				continue
			}
			if work += (len(p.text) + 1) * (len(q.text) + 1); Overlap(p.text, q.text) {
				told[pair] = true
				one, other := nodes[writers[pair[0]]].Agent, nodes[writers[pair[1]]].Agent
				c.add("overlap", Finding{Wrong, other, fmt.Sprintf("it may change the same files as %s at the same time: %s and %s", one, excerpt(p.text), excerpt(q.text)),
					fmt.Sprintf("Let it follow with after = [%q], or give each files of its own.", one)})
				if len(told) > maxAlike {
					return
				}
			}
		}
	}
}

// set is a set of numbers from 0.
type set []uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// ancestors returns for each node which of some others are done before it begins, by their place in the list of those.
func ancestors(nodes []Node, of []int) []set {
	place := make(map[string]int, len(nodes))
	order := make([]int, len(nodes))
	for i, n := range nodes {
		place[n.Agent], order[i] = i, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return nodes[a].rank() - nodes[b].rank() })
	which := make(map[int]int, len(of))
	for i, at := range of {
		which[at] = i
	}
	before := make([]set, len(nodes))
	words := (len(of) + 64 - 1) / 64
	for _, at := range order {
		s := make(set, words)
		for _, list := range [][]string{nodes[at].Reads, nodes[at].After} {
			for _, name := range list {
				up := place[name]
				for w, v := range before[up] {
					s[w] |= v
				}
				if i, ok := which[up]; ok {
					s[i/64] |= 1 << (i % 64)
				}
			}
		}
		before[at] = s
	}
	return before
}
