package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func resumeVerb(c *cli) *cobra.Command {
	var handOver bool
	cmd := &cobra.Command{
		Use: "resume [thread]", Short: "Resume a thread's agent, or without a name all interrupted ones",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			var list []thread.Status
			runs := false // already, so that nothing was resumed
			err := c.withWarnings(ctx, cl, func() (err error) {
				if len(args) == 0 {
					list, err = api.ResumeAll.Do(ctx, cl, api.ResumeRequest{})
					return err
				}
				before, unknown := api.Status.Do(ctx, cl, api.Ref{Thread: args[0]}) // who may resume may not be allowed to look
				s, err := api.Resume.Do(ctx, cl, api.ResumeRequest{Thread: args[0], HandOver: handOver})
				list, runs = append(list, s), err == nil && unknown == nil && before.Execution != nil && s.Execution != nil &&
					before.Execution.ID == s.Execution.ID
				return err
			})
			if err != nil {
				return err
			}
			return c.out.show(list, func(w io.Writer) {
				if len(list) == 0 {
					fmt.Fprintln(w, "no interrupted threads")
				}
				for _, s := range list {
					if runs {
						fmt.Fprintf(w, "%s is already running, at turn %d\n", s.Name, s.Turn)
						continue
					}
					how := ""
					if s.Resume != nil {
						how = ": " + s.Resume.Detail
					}
					fmt.Fprintf(w, "%s resumed at turn %d%s\n", s.Name, s.Turn, how)
					if said := environSaid(s); said != "" {
						fmt.Fprintf(w, "%s: %s\n", s.Name, said)
					}
					if problem := s.SetupProblem(); problem != "" {
						fmt.Fprintf(w, "%s: %s\n", s.Name, problem)
					}
				}
			})
		}),
	}
	cmd.Flags().BoolVar(&handOver, "hand-over", false, handOverHelp)
	return cmd
}
