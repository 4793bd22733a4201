package verb

import "github.com/spf13/cobra"

func execVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{Use: "exec",
		Short: "List, show, follow, cancel and continue runs; query and write down executions of all kinds"}
	cmd.AddCommand(execList(c), execShow(c), execLogs(c), execCancel(c), execSend(c), execResume(c), execRetry(c), execFallback(c), execReplay(c),
		execInit(c), execComplete(c), execQuery(c))
	return cmd
}
