package verb

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/planfile"
	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// findPlan reads a plan by its name or its path, whether it is accepted or not.
func findPlan(c *cli, ref string) (f planfile.File, accepted bool, err error) {
	if c.project.Root == "" {
		if err := c.prepare(); err != nil {
			return f, false, err
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return f, false, err
	}
	if f, err = plansOf(c).Find(ref, here); err != nil {
		return f, false, err
	}
	return f, !f.Asks || c.trust().accepted(f.Place(), f.Content()), nil
}

// plansOf is where plans are found.
func plansOf(c *cli) planfile.Library { return planfile.New(c.project.Root, c.configHome()) }

// readPlan reads a plan that is to run, as it was accepted: what it returns was read once.
func readPlan(c *cli, ref string) (plan.Plan, error) {
	f, accepted, err := findPlan(c, ref)
	if err == nil && !accepted {
		err = thread.Hint(thread.Kindf(thread.ErrRefused, "the plan %s is the project's, and nobody has accepted it as it is now", f.Plan.Name),
			"read and accept it: `orchestrator trust --plans "+ref+"`")
	}
	return f.Plan, err
}

// planVars reads the values of a plan's variables as people write them.
func planVars(p plan.Plan, words []string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		v, known := p.Variables[name]
		if !ok || !known {
			return nil, usagef("--var %s: write NAME=VALUE of a variable that the plan has", w)
		}
		values[name] = plan.ReadValue(v, text)
	}
	return values, nil
}

// completePlans suggests the plans that are found by name.
func completePlans(c *cli) completion {
	return func(_ *cobra.Command, args []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
		if len(args) == 0 && c.prepare() == nil {
			for _, name := range plansOf(c).Names() {
				if strings.HasPrefix(name, prefix) {
					names = append(names, name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveDefault // or a file
	}
}
