package verb

import "github.com/spf13/cobra"

func execVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "exec",
		Short: "List, show, follow, cancel and continue runs: agents without a terminal"}
	cmd.AddCommand(execList(c), execShow(c), execLogs(c), execCancel(c), execSend(c), execResume(c), execRetry(c), execFallback(c), execReplay(c))
	return cmd
}
