package verb

import "github.com/spf13/cobra"

func checkpointVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "checkpoint", Aliases: []string{"checkpoints"},
		Short: "List, show, compare and restore a thread's checkpoints"}
	cmd.AddCommand(checkpointList(c), checkpointShow(c), checkpointDiff(c), checkpointRestore(c))
	return cmd
}
