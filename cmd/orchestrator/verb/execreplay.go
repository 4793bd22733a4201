package verb

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

func execReplay(c *cli) *cobra.Command {
	var r thread.NewRequest
	var once onceOptions
	var t followOptions
	cmd := &cobra.Command{
		Use: "replay [flags] <execution> [-- agent arguments]", Short: "Give an agent again what an execution was given, as a new run",
		Long: "Give an agent again what an execution was given, word for word, in a new thread: its bundle as it was prepared and its\n" +
			"prompt. The files that it works in are as they are now. The agent is the same, or for one that was started\n" +
			"elsewhere the one of --agent; --model takes another model. The new execution says what it repeats; it is in\n" +
			"no work session unless --session names one.\n" + runCodes,
		ValidArgsFunction: completeExecutions(c, 1),
	}
	newFlags(c, cmd, &r)
	once.flags(c, cmd, true)
	t.flags(c, cmd)
	for _, name := range []string{"once", "bundle", "as-prepared"} {
		_ = cmd.Flags().MarkHidden(name)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // it is always a run
		f.Usage = strings.TrimPrefix(strings.TrimPrefix(f.Usage, "with --once: "), "with --once, ")
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		words, _ := split(cmd, args)
		return exactly("<execution>")(cmd, words)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		once.once.On = true
		if err := once.check(cmd); err != nil {
			return err
		}
		if once.bundle.name != "" {
			return usagef("exec replay gives the bundle that was given: leave --bundle out")
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			x, err := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: words[0]})
			if err != nil {
				return err
			}
			text, err := whatWasGiven(ctx, cl, x)
			if err != nil {
				return err
			}
			r.Prompt, r.Agent, r.Model = text, cmp.Or(r.Agent, x.Agent), cmp.Or(r.Model, x.Model)
			r.Given = thread.Given{Bundle: x.Bundle, Replays: string(x.ID), Scope: x.Scope}
			once.once.Type = cmp.Or(once.once.Type, x.Type)
			if err := agentArgs(c, &r, rest); err != nil {
				return err
			}
			return startRun(ctx, c, cl, r, once, t)
		})(cmd, args)
	}
	return cmd
}

// mostBefore is more than how many events an execution has before it is given its prompt.
const mostBefore = 200

// whatWasGiven returns the whole prompt of an execution, as it was given first.
func whatWasGiven(ctx context.Context, cl *client.Client, x work.Execution) (string, error) {
	if x.Given > 0 {
		// The first one: what a later attempt was given may be about the one before.
		events, err := api.ExecutionEvents.Do(ctx, cl, api.ExecutionEventsRequest{Execution: string(x.ID), Limit: mostBefore})
		if err != nil {
			return "", err
		}
		for _, e := range events {
			if e.Kind == work.KindGiven {
				return withoutLimits(e.Text), nil
			}
		}
	}
	if x.Bundle != "" { // somebody says so of one by hand
		b, err := api.ShowBundle.Do(ctx, cl, record.BundleArg{Ref: x.Bundle})
		if err != nil {
			return "", err
		}
		return bundle.Brief(b.Kept, b.Pieces, "")
	}
	return "", thread.Hint(thread.Kindf(thread.ErrNotFound, "%s: what it was given is not recorded", x.Name),
		"what runs are given is kept from their start on")
}

// withoutLimits returns a prompt without what the program added of the run's limits: the new run has its own.
func withoutLimits(text string) string {
	if !strings.HasSuffix(text, "</"+work.ToldTag+">") {
		return text
	}
	return strings.TrimSpace(text[:strings.LastIndex(text, "<"+work.ToldTag+">")])
}
