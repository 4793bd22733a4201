package verb

import "github.com/spf13/cobra"

func taskVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "task", Short: "Keep tasks: add them, have a text split into some, start them with a plan",
		Long: "Keep tasks. Each waits until it is started, or until a plan that is armed takes it. A proposed one waits for you,\n" +
			"whatever is armed. See \"orchestrator help tasks\".",
	}
	cmd.AddCommand(taskAdd(c), taskList(c), taskShow(c), taskEdit(c), taskStart(c), taskSplit(c), taskCancel(c))
	return cmd
}
