package main

import (
	"fmt"

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
