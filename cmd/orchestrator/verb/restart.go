package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
	"orchestrator/ui/plain"
)

// restarted is the result of a restart.
type restarted struct {
	Resumed []string `json:"resumed"`
	// Failed has the threads that were not resumed, with the reason.
	Failed map[string]string `json:"failed,omitempty"`
	// warned are the new server's warnings.
	warned []string
}

// restart stops the server, starts one with this program, and resumes the running agents in terminals of the given
// size. It also stops a server with another protocol version; its agents are then resumed as interrupted threads.
func (c *cli) restart(ctx context.Context, cols, rows int) (restarted, error) {
	done := restarted{Resumed: []string{}}
	var ran []thread.Status
	cl, err := c.reachHolder(ctx, healLimit)
	switch {
	case err != nil && gone(err):
	case err != nil:
		return done, err
	default:
		list, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			cl.Close()
			return done, fmt.Errorf("list running agents: %w", err)
		}
		for _, s := range list {
			if s.Execution != nil && !s.Run.Working() { // runs go on as their threads' policy says
				ran = append(ran, s)
			}
		}
		_, err = c.endServer(ctx, cl, false)
		cl.Close()
		if err != nil {
			return done, err
		}
	}
	cl, err = c.connect(ctx)
	if err != nil {
		return done, err
	}
	defer cl.Close()
	done.warned, err = collectWarnings(ctx, cl, func() error {
		for _, s := range ran {
			if _, err := api.Resume.Do(ctx, cl, api.ResumeRequest{Thread: string(s.ID), Cols: cols, Rows: rows}); err != nil {
				if done.Failed == nil {
					done.Failed = map[string]string{}
				}
				done.Failed[s.Name] = err.Error()
				continue
			}
			done.Resumed = append(done.Resumed, s.Name)
		}
		return nil
	})
	return done, err
}

func restartVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "restart", Short: "Restart the server with this program, and resume its agents",
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes, err := c.mayCut(cmd.Context()); err != nil || !yes {
				return err
			}
			done, err := c.restart(cmd.Context(), 0, 0)
			for _, text := range done.warned {
				fmt.Fprintln(c.out.stderr, "orchestrator:", text)
			}
			if err != nil {
				return err
			}
			if err := c.out.show(done, func(w io.Writer) {
				fmt.Fprintf(w, "server restarted; %d resumed\n", len(done.Resumed))
				for name, why := range done.Failed {
					fmt.Fprintf(w, "could not resume %s: %s\n", name, why)
				}
			}); err != nil {
				return err
			}
			if len(done.Failed) > 0 {
				return &silentError{code: exitcode.Error}
			}
			return nil
		},
	}
}

// mayCut asks on a terminal whether the turns that are running may be cut off; a script has said so with the verb.
func (c *cli) mayCut(ctx context.Context) (bool, error) {
	if c.terminalFit() != nil {
		return true, nil
	}
	cl, err := c.reachHolder(ctx, healLimit)
	if err != nil {
		return true, nil // the restart tells
	}
	defer cl.Close()
	list, err := api.List.Do(ctx, cl, api.None{})
	if err != nil {
		return true, nil // of another build: the restart tells
	}
	var working []string
	for _, s := range list {
		if s.Execution != nil && s.State.Works() {
			working = append(working, s.Name)
		}
	}
	if len(working) == 0 {
		return true, nil
	}
	return c.ask(fmt.Sprintf("orchestrator: %s at work: %s. Unfinished turns are lost, and their prompts are not sent again automatically.\n"+
		"Restart all the same? (y/n)\n", plaintext.Count(len(working), "agent"), plain.Few(working)))
}
