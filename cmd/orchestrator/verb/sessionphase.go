package verb

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func sessionPhase(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "phase <session> <phase>", Short: "Move a work session to a phase, by its number or its word",
		Args: exactly("<session>", "<phase>"), Example: "orchestrator session phase work-001 validate",
		Long: "Move a work session to a phase: 1 analyze, 2 plan, 3 execute, 4 validate, 5 confirm. The first execution of it\n" +
			"moves it to the third by itself. It may also go back.",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return phases(), cobra.ShellCompDirectiveNoFileComp
			}
			return completeSessions(c)(cmd, args, prefix)
		},
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			phase, err := parsePhase(args[1])
			if err != nil {
				return err
			}
			s, err := api.PhaseSession.Do(ctx, cl, record.PhaseSession{Session: args[0], Phase: phase})
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) { page.SessionLine(w, s.Session) })
		}),
	}
}

// phases returns the words of all phases.
func phases() (all []string) {
	for p := work.PhaseAnalyze; p <= work.PhaseConfirm; p++ {
		all = append(all, p.String())
	}
	return all
}

// parsePhase reads a phase as people write it.
func parsePhase(text string) (work.Phase, error) {
	for i, word := range phases() {
		if p := work.Phase(i + 1); text == word || text == strconv.Itoa(int(p)) {
			return p, nil
		}
	}
	return 0, usagef("no phase %q: use 1 to 5, or %s", text, choices(phases()))
}
