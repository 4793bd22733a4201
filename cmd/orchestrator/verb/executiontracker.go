package verb

import "github.com/spf13/cobra"

// executionTracker is the script of that name: work sessions and executions by hand.
func executionTracker(c *cli) *cobra.Command {
	return script("execution_tracker", "Write down work sessions and executions: the script's names of `session` and `exec`",
		tracked(c, sessionInit(c), "init-session"), tracked(c, execInit(c), "init-deployment"), tracked(c, execComplete(c), "record-completion"),
		tracked(c, execQuery(c), "query"), tracked(c, sessionComplete(c), "complete-session"))
}

// tracked returns a verb under the name that the script has for it.
func tracked(c *cli, cmd *cobra.Command, name string) *cobra.Command {
	cmd = renamed(cmd, name)
	formatted(c, cmd, "text", "json", "table")
	return cmd
}
