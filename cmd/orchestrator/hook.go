package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/hook"
)

// hookVerb passes an agent's hook report on to the gateway, where package hook has not done so before the verbs were
// read. It never fails the agent's turn.
func (c *cli) hookVerb() *cobra.Command {
	return &cobra.Command{
		Use: "hook <event>", Short: "Pass an agent's hook report on", Hidden: true, Args: exactly("<event>"),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			if err := hook.Report(lookup(c.environ, hook.AddressVariable), args[0], c.stdin); err != nil {
				fmt.Fprintf(c.stderr, "orchestrator hook: %v\n", err)
			}
			return nil
		},
	}
}
