package verb

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/planfile"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/wave"
)

// checkedPlan is what `wave plan` says.
type checkedPlan struct {
	wave.Checked
	File     string `json:"file"`
	Accepted bool   `json:"accepted"` // it may run as far as trust goes
}

func wavePlan(c *cli) *cobra.Command {
	var vars []string
	var sample bool
	r := wave.CheckRequest{Draft: true}
	cmd := &cobra.Command{
		Use: "plan <plan>", Short: "Check a plan: its waves, what is wrong with it, and its longest chain", Args: between(0, 1, "<plan>"),
		Long: "Check a plan without starting anything: its waves, its longest chain, and all that is wrong with it. The plan is a\n" +
			"file, or the name of one in .orchestrator.d/plans or in your configuration. `orchestrator help plans` says how plans\n" +
			"are written; --example prints one to begin with, with --json as JSON.\n\n" +
			"Exit codes: 0 it can run; 2 something is wrong with it; 4 you have to agree to something before it runs.",
	}
	f := cmd.Flags()
	f.StringArrayVar(&vars, "var", nil, "`NAME=VALUE` of a variable of the plan; may be given again")
	f.IntVar(&r.MaxParallel, "max-parallel", 0, "how many agents work at once (default: what the plan says)")
	f.BoolVar(&sample, "example", false, "print a whole plan to copy, and check nothing")
	cmd.ValidArgsFunction = completePlans(c)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case sample && len(args) == 0:
			p, err := planfile.Decode("example.toml", []byte(planfile.Example()))
			if err != nil {
				return err
			}
			return c.out.show(p, func(w io.Writer) { fmt.Fprint(w, planfile.Example()) })
		case sample || len(args) == 0:
			return usagef("name a plan, or give --example")
		case r.MaxParallel < 0:
			return usagef("--max-parallel %d: must be 1 or more", r.MaxParallel)
		}
		file, accepted, err := findPlan(c, args[0])
		if err != nil {
			return err
		}
		r.Plan = file.Plan
		if r.Vars, err = planVars(r.Plan, vars); err != nil {
			return err
		}
		known := agents.New("", c.environ, "", "")
		v := checkedPlan{wave.Check(r, planfile.World(known, c.config, c.project.Repository)), file.Path, accepted}
		err = c.out.show(v, func(w io.Writer) {
			page.CheckedPlan(w, v.Checked)
			if !accepted {
				fmt.Fprintf(w, "It is the project's, and not accepted as it is now: `orchestrator trust --plans %s`\n", args[0])
			}
		})
		return errors.Join(err, checkedExit(v.Checked))
	}
	return cmd
}

// checkedExit is the exit of a verb for what was found, nil for a plan that runs.
func checkedExit(v wave.Checked) error {
	switch {
	case v.Wrong():
		return &silentError{exitcode.Usage}
	case v.Asks():
		return &silentError{exitcode.Refused}
	}
	return nil
}
