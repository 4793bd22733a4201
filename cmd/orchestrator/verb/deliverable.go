package verb

import "github.com/spf13/cobra"

func deliverableVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "deliverable", Short: "Show, list and put what agents of plans hand over",
		Long: "Show, list and put what agents of plans hand over. An agent of a plan reads what its plan lets it read, and hands over\n" +
			"for itself only. `orchestrator help plans` says more.",
	}
	cmd.AddCommand(deliverableGet(c), deliverableList(c), deliverablePut(c))
	return cmd
}
