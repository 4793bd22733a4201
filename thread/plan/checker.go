package plan

import (
	"fmt"
	"slices"
)

// maxFindings is how many findings of a kind are told, and maxKinds of all.
const (
	maxAlike    = 20
	maxFindings = 200
)

// checker collects findings.
type checker struct {
	plan   Plan
	world  World
	found  []Finding
	kinds  map[string]int // how many there are of a kind
	shapes map[string]any // decoded schemas, by agent
	places map[string]int // of agents
}

// add adds a finding, unless there are many of its kind.
func (c *checker) add(kind string, f Finding) {
	switch c.kinds[kind]++; {
	case c.kinds[kind] <= maxAlike:
		c.found = append(c.found, f)
	case c.kinds[kind] == maxAlike+1:
		c.found = append(c.found, Finding{f.Level, "", "there is more of it: " + f.Text, ""})
	}
}

// sorted returns what was found, the worst first.
func (c *checker) sorted() []Finding {
	levels := map[Level]int{Wrong: 0, Ask: 1, Warn: 2}
	slices.SortStableFunc(c.found, func(a, b Finding) int { return levels[a.Level] - levels[b.Level] })
	if rest := len(c.found) - maxFindings; rest > 0 {
		c.found = append(c.found[:maxFindings], Finding{c.found[maxFindings].Level, "", fmt.Sprintf("there are %d findings more", rest), "Mend these first."})
	}
	return c.found
}

// named returns an agent by its name, without a search.
func (c *checker) named(name string) (*Agent, bool) {
	if c.places == nil {
		c.places = make(map[string]int, len(c.plan.Agents))
		for i, a := range c.plan.Agents {
			c.places[a.Name] = i
		}
	}
	i, ok := c.places[name]
	if !ok {
		return nil, false
	}
	return &c.plan.Agents[i], true
}
