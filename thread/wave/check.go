package wave

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// Check says what there is to say of a plan before it runs with some values: the one answer to that, for who writes a plan
// and for who is about to run it.
func Check(r CheckRequest, w plan.World) Checked {
	p := r.Plan
	if r.MaxParallel > 0 {
		p.MaxParallel = r.MaxParallel
	}
	c := Checked{Plan: p.Name, Agents: len(p.Agents), Waves: [][]string{}, Critical: []string{}, Findings: append([]plan.Finding{}, plan.Check(p, w)...)}
	hash, err := plan.Hash(r.Plan)
	if err != nil {
		c.Findings = append(c.Findings, plan.Finding{Level: plan.Wrong, Text: err.Error()})
	}
	c.Hash = hash
	if r.Draft {
		p.Variables = maps.Clone(p.Variables)
		for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
			if _, given := r.Vars[name]; !given && len(p.Variables[name].Default) == 0 {
				delete(p.Variables, name)
				c.Findings = append(c.Findings, plan.Finding{Level: plan.Warn, Text: fmt.Sprintf("%q has no value yet", name), Do: fmt.Sprintf("Give it with --var %s=VALUE when it runs.", name)})
			}
		}
	}
	_, problems := plan.Values(p, r.Vars)
	c.Findings = append(append([]plan.Finding{}, problems...), c.Findings...)
	nodes, err := plan.Layout(r.Plan)
	if err != nil {
		return c // Check has found why
	}
	c.Waves = append(c.Waves, plan.Waves(nodes)...)
	if !c.Wrong() { // else it may be beyond all bounds
		c.Critical = critical(nodes)
	}
	return c
}

// Wrong reports whether the plan does not run.
func (c Checked) Wrong() bool { return c.has(plan.Wrong) }

// Asks reports whether a person has to agree before it runs.
func (c Checked) Asks() bool { return c.has(plan.Ask) }

func (c Checked) has(level plan.Level) bool {
	return slices.ContainsFunc(c.Findings, func(f plan.Finding) bool { return f.Level == level })
}

// Fit refuses a plan that does not run, and one that asks what nobody has agreed to.
func (c Checked) Fit(agreed bool) error {
	for _, level := range []plan.Level{plan.Wrong, plan.Ask} {
		var first *plan.Finding
		more := 0
		for i := range c.Findings {
			switch {
			case c.Findings[i].Level != level:
			case first == nil:
				first = &c.Findings[i]
			default:
				more++
			}
		}
		if first == nil || level == plan.Ask && agreed {
			continue
		}
		kind, text, do := thread.ErrInvalid, first.Text, first.Do
		if first.Agent != "" {
			text = first.Agent + ": " + text
		}
		if level == plan.Ask {
			kind = thread.ErrRefused
			do = strings.TrimSpace("Agree with --yes. " + do)
		}
		if more > 0 {
			do = strings.TrimSpace(do + " There is more: `orchestrator wave plan` lists all.")
		}
		return thread.Hint(thread.Kindf(kind, "plan %s: %s", c.Plan, text), do)
	}
	return nil
}

// fits refuses a plan that cannot run here, as it is or with what is given.
func (c Config) fits(r CheckRequest, agreed bool) error {
	if c.World == nil {
		_, err := plan.Layout(r.Plan)
		return err
	}
	if err := Check(r, c.World()).Fit(agreed); err != nil {
		return err
	}
	for _, a := range r.Plan.Agents {
		if _, err := c.filled().Program(a); err != nil { // it has what is accepted now be what runs
			return err
		}
	}
	return nil
}

// critical returns the agents of a longest chain, each of which is taken to need as long as another.
func critical(nodes []plan.Node) []string {
	at, views := make(map[string]int, len(nodes)), make([]NodeView, len(nodes))
	for i, n := range nodes {
		at[n.Agent] = i
		n.State = plan.NodeDelivered
		views[i] = NodeView{Node: n, Took: time.Hour}
	}
	chain := []string{}
	for _, i := range longest(views, at) {
		if !nodes[i].Gate {
			chain = append(chain, nodes[i].Agent)
		}
	}
	return chain
}
