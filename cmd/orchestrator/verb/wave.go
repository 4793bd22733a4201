package verb

import "github.com/spf13/cobra"

func waveVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "wave", Short: "Have several agents work on a task by a plan, in waves",
		Long: "Have several agents work on a task by a plan, in waves: each begins the moment all that it reads is handed over.",
	}
	cmd.AddCommand(wavePlan(c), waveRun(c), waveStatus(c), waveList(c), waveCancel(c), waveRetry(c), waveAnswer(c), waveWatch(c), waveCompare(c), waveArm(c), waveDisarm(c), waveArmed(c))
	return cmd
}
