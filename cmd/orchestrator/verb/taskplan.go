package verb

import (
	"encoding/json"
	"errors"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// taskVars reads the values of variables as people write them: by the plan where it is here, and else as text.
func taskVars(c *cli, name string, words []string) (map[string]json.RawMessage, error) {
	if len(words) == 0 && name == "" {
		return nil, nil
	}
	if name != "" {
		p, err := readPlan(c, name)
		if err == nil {
			return checkedVars(p, words)
		}
		if !errors.Is(err, thread.ErrNotFound) && !errors.Is(err, thread.ErrRefused) { // what is not accepted may still be what is armed
			return nil, err
		}
	}
	p := plan.Plan{Variables: map[string]plan.Variable{}}
	for _, w := range words {
		of, _, _ := strings.Cut(w, "=")
		p.Variables[of] = plan.Variable{}
	}
	return planVars(p, words)
}

// checkedVars reads values of a plan's variables, and checks that it can begin with them.
func checkedVars(p plan.Plan, words []string) (map[string]json.RawMessage, error) {
	vars, err := planVars(p, words)
	if err != nil {
		return nil, err
	}
	_, findings := plan.Values(p, vars)
	for _, f := range findings {
		if f.Level == plan.Wrong {
			return nil, f.Err()
		}
	}
	return vars, nil
}

// mostOffered is how many plans an agent is told of.
const mostOffered = 20

// offeredPlans are the plans that an agent may propose for the tasks in a text: those that would run.
func offeredPlans(c *cli) (all []wave.Offered) {
	for _, name := range plansOf(c).Names() {
		if len(all) == mostOffered {
			break
		}
		if p, err := readPlan(c, name); err == nil {
			all = append(all, wave.Offered{Name: name, Description: p.Description})
		}
	}
	return all
}
