package verb

import (
	"fmt"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/hook"
	"orchestrator/thread"
)

// hookVerb forwards an agent's hook report to the gateway, if package hook has not already done so during
// initialisation. It never fails the agent's turn.
func hookVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "hook <event>", Short: "Forward an agent's hook report", Hidden: true, Args: exactly("<event>"),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, args []string) error {
			if err := hook.Report(thread.Lookup(c.environ, hook.AddressVariable), args[0], c.stdin, c.out.stdout); err != nil {
				fmt.Fprintf(c.out.stderr, "orchestrator hook: %v\n", err)
			}
			return nil
		},
	}
}
