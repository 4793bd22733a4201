package verb

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/help"
)

// topics returns the help topics as commands that cannot be run, which `orchestrator help TOPIC` prints.
func topics() []*cobra.Command {
	var all []*cobra.Command
	for _, t := range help.Topics() {
		cmd := &cobra.Command{Use: t.Name, Short: t.Short}
		cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
			text, err := help.Text(cmd.Name())
			if err != nil { // a topic without a text; a test checks that there is none
				text = err.Error() + "\n"
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
		})
		all = append(all, cmd)
	}
	return all
}

// knownHelp has the help on what there is not fail.
func knownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Run, cmd.PersistentPreRunE = nil, func(*cobra.Command, []string) error { return nil }
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no help on %q; `%s help` lists verbs and topics", strings.Join(args, " "), root.Name())
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		}
	}
}
