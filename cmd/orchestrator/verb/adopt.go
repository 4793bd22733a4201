package verb

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/project"
)

// adoptVerb lets the user decide which threads belong to a folder if the program cannot tell.
func adoptVerb(c *cli) *cobra.Command {
	var begin bool
	cmd := &cobra.Command{
		Use: "adopt [state]", Short: "Use the threads of a project that was moved or restored",
		Args: between(0, 1, "[state]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names, err := project.Names(c.places())
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&begin, "new", false, "start without threads if it is unclear which are this project's")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := c.alone("adopt"); err != nil {
			return err
		}
		switch {
		case begin && len(args) > 0:
			return usagef("--new takes no argument")
		case begin:
			if err := c.project.Begin(); err != nil {
				return err
			}
		default:
			if err := c.project.Adopt(strings.Join(args, "")); err != nil {
				return err
			}
		}
		for _, n := range c.project.Notices {
			fmt.Fprintln(c.out.stderr, "orchestrator:", n)
		}
		return c.out.show(map[string]string{"project": c.project.Root, "state": c.project.StateDir()}, func(w io.Writer) {
			fmt.Fprintf(w, "the threads of %s are in %s\n", c.project.Root, c.project.StateDir())
		})
	}
	return cmd
}
