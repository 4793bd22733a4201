package verb

import "github.com/spf13/cobra"

func sessionVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "session", Short: "Keep work sessions: what a piece of work is for, its phases, tasks and executions",
		Long: "Keep work sessions: what a piece of work is for, with its phases, its tasks, and all that agents did for it. A work\n" +
			"session is no conversation of an agent. See \"orchestrator help record\".",
	}
	cmd.AddCommand(sessionInit(c), sessionPhase(c), sessionComplete(c), sessionList(c), sessionShow(c), sessionTask(c), sessionReport(c))
	return cmd
}
