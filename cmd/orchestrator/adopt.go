package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/project"
)

// adoptVerb is how the person says which threads are a folder's where that cannot be told.
func (c *cli) adoptVerb() *cobra.Command {
	var begin bool
	cmd := &cobra.Command{
		Use: "adopt [state]", Short: "Continue here with the threads of a project that was moved or restored",
		Args: between(0, 1, "[state]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names, err := project.Names(c.places())
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&begin, "new", false, "start with no threads where it is not clear whose they are")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := c.alone("adopt"); err != nil {
			return err
		}
		switch {
		case begin && len(args) > 0:
			return usagef("--new takes no state")
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
			fmt.Fprintln(c.stderr, "orchestrator:", n)
		}
		return c.show(map[string]string{"project": c.project.Root, "state": c.project.StateDir()}, func(w io.Writer) {
			fmt.Fprintf(w, "the threads of %s are in %s\n", c.project.Root, c.project.StateDir())
		})
	}
	return cmd
}

// askWide asks whether a folder that holds much else is to be a project, where there is a person to ask.
func (c *cli) askWide(why error) error {
	in, inOK := c.stdin.(*os.File)
	out, outOK := c.terminal()
	if !inOK || !outOK || !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return why
	}
	if err := c.alone("trust"); err != nil {
		return errors.Join(why, err)
	}
	yes, err := c.ask(fmt.Sprintf("orchestrator: %v\nMake %s a project? y or n:\n", why, c.project.Root))
	if err != nil || !yes {
		return errors.Join(why, err)
	}
	if err := c.trust().accept(wideKey(c.project.Root), []byte(c.project.Root)); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	return c.project.Claim()
}

// ask asks the person at the terminal; anything but a yes is a no.
func (c *cli) ask(question string) (bool, error) {
	fmt.Fprint(c.stderr, question)
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
}
