package verb

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/wave"
)

func waveAnswer(c *cli) *cobra.Command {
	var yes, no, only bool
	cmd := &cobra.Command{
		Use: "answer <task> <gate or agent> [remark]", Short: "Answer a gate, or what a task asks about an agent",
		Args: between(2, 3, "<task>", "<gate or agent>", "[remark]"),
		Long: "Answer a gate, or what a task asks about an agent, once. Later agents are told the remark. The same as\n" +
			"\"orchestrator approve TASK/NODE\" and \"orchestrator deny TASK/NODE\".",
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "yes")
	cmd.Flags().BoolVar(&no, "no", false, "no")
	cmd.Flags().BoolVar(&only, "only", false, "not the others that ask about the same missing hand-overs, too")
	cmd.MarkFlagsMutuallyExclusive("yes", "no")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if yes == no {
			return usagef("wave answer: say --yes or --no")
		}
		return answerNode(ctx, c, cl, wave.AnswerRequest{Task: args[0], Agent: args[1], Yes: yes, Only: only, Text: strings.TrimSpace(append(args, "")[2])})
	})
	return cmd
}

// answerNode answers what is asked about a node of a task.
func answerNode(ctx context.Context, c *cli, cl *client.Client, q wave.AnswerRequest) error {
	v, err := api.AnswerWave.Do(ctx, cl, q)
	if err != nil {
		return err
	}
	return c.out.show(v, func(w io.Writer) { page.Wave(w, v, false) })
}

// nodeOf finds the task and the node in TASK/NODE; ok is false for a thread.
func nodeOf(arg string) (q wave.AnswerRequest, ok bool) {
	q.Task, q.Agent, ok = strings.Cut(arg, "/")
	return q, ok && q.Task != "" && q.Agent != ""
}
