package verb

import "github.com/spf13/cobra"

// mostAnswers is how many rows an answer about the record has at most.
const mostAnswers = 1000

// limitVar defines the option for the number of rows.
func limitVar(cmd *cobra.Command, n *int, usual int) {
	cmd.Flags().IntVarP(n, "limit", "n", usual, "maximum number of rows")
}
