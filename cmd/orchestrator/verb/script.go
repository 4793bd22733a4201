package verb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// script returns a hidden verb with the name of a script that instructions for agents call, such as execution_tracker.
// What is below it has the script's names and flags, and does what a verb of ours does: the help names that one.
func script(name, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Hidden: true}
	cmd.AddCommand(below...)
	return cmd
}

// alias returns a verb below a script, which takes flags only, and that of ours which does the same.
func alias(use, ours string) *cobra.Command {
	return &cobra.Command{Use: use, Short: fmt.Sprintf("The same as `orchestrator %s`", ours), Args: exactly()}
}

// scriptFormat is the flag --format of scripts.
type scriptFormat struct {
	json *bool
	may  []string
	is   string
}

// formatted gives a verb of a script the flag --format. The first of its formats is the usual one; json means the same as
// --json, and table the same as text.
func formatted(c *cli, cmd *cobra.Command, may ...string) *scriptFormat {
	f := &scriptFormat{json: &c.out.json, may: may, is: may[0]}
	cmd.Flags().Var(f, "format", "how to print: "+choices(may))
	offer(cmd, "format", cobra.FixedCompletions(may, cobra.ShellCompDirectiveNoFileComp))
	return f
}

// String returns the format.
func (f *scriptFormat) String() string { return f.is }

// Set takes a format.
func (f *scriptFormat) Set(text string) error {
	if !slices.Contains(f.may, text) {
		return fmt.Errorf("must be %s", choices(f.may))
	}
	if f.is = text; text == string(formatJSON) {
		*f.json = true
	}
	return nil
}

// Type names the kind of value in help.
func (f *scriptFormat) Type() string { return "format" }

// renamed returns a verb under the name that a script has for it.
func renamed(cmd *cobra.Command, name string) *cobra.Command {
	_, args, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + args)
	return cmd
}
