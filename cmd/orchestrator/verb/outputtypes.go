package verb

import (
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/thread/work"
)

// outputTypes are the names of the types of outputs.
func outputTypes() []string { return names(work.OutputTypes()) }

// typesVar defines the option for types of outputs.
func typesVar(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringSliceVar(to, "output-type", nil, "only of this type: "+choices(outputTypes()))
	offer(cmd, "output-type", cobra.FixedCompletions(outputTypes(), cobra.ShellCompDirectiveNoFileComp))
}

// typesOf returns types of outputs by their names; "validation" stands for validation_result.
func typesOf(words []string) []work.OutputType {
	var all []work.OutputType
	for _, w := range words {
		w = strings.ToLower(strings.TrimSpace(w))
		if w == "validation" {
			w = string(work.OutputValidation)
		}
		all = append(all, work.OutputType(w))
	}
	return all
}
