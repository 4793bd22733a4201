package verb

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

func contextSummaryVerb(c *cli) *cobra.Command {
	var write, drop, edit bool
	var by string
	cmd := &cobra.Command{
		Use: "summary <thread> [summary]", Short: "Show, write, edit or drop summaries of older turns",
		Long: "Show the summaries that stand in place of a thread's older turns, and what another one would mean; or print one.\n" +
			"\n--write has one written, of all turns but the newest, for the requests that follow. The model of the conversation\n" +
			"writes it, where its last request went and with the same key; what it names must be in what it replaces. Nothing is\n" +
			"lost: the summary names the file with all that it stands for, and --drop sends everything again.",
		Example: "  orchestrator context summary fix-auth-1a2b --write\n" +
			"  orchestrator context summary fix-auth-1a2b --write --by extract   # without a model\n" +
			"  orchestrator context summary fix-auth-1a2b 4c2e > s.md            # and, once it is changed:\n" +
			"  orchestrator context summary fix-auth-1a2b 4c2e --edit < s.md",
		Args: between(1, 2, "<thread>", "[summary]"), ValidArgsFunction: c.completeThreads,
	}
	f := cmd.Flags()
	f.BoolVar(&write, "write", false, "have a summary of the older turns written")
	f.StringVar(&by, "by", "default", "who writes it: model, extract, program or default, as configured")
	f.BoolVar(&edit, "edit", false, "read another text for the summary from standard input")
	f.BoolVar(&drop, "drop", false, "send again what the summary stands for")
	cmd.MarkFlagsMutuallyExclusive("write", "edit", "drop")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r := thread.ContextChange{Thread: args[0]}
		switch {
		case (edit || drop) && len(args) < 2:
			return fmt.Errorf("name the summary: `orchestrator context summary %s` lists them: %w", args[0], thread.ErrInvalid)
		case write && len(args) > 1:
			return thread.Kindf(thread.ErrInvalid, "--write takes no summary: it makes one")
		case cmd.Flags().Changed("by") && !write:
			return thread.Kindf(thread.ErrInvalid, "--by is for --write")
		case write:
			r.Summarise = thread.SummaryAuthor(by)
		case drop:
			r.DropSummary = args[1]
		case edit:
			text, err := io.ReadAll(io.LimitReader(c.stdin, mostTyped+1))
			if err != nil {
				return fmt.Errorf("read the text: %w", err)
			}
			if len(text) > mostTyped {
				return fmt.Errorf("the text is longer than %s: %w", thread.Bytes(mostTyped), thread.ErrLimit)
			}
			r.EditSummary = &thread.SummaryEdit{ID: args[1], Text: string(text)}
		default:
			report, err := api.Context.Do(ctx, cl, api.Ref{Thread: args[0]})
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return c.out.show(report, func(w io.Writer) { page.Summaries(w, report) })
			}
			sum, err := summaryNamed(report, args[1])
			if err != nil {
				return err
			}
			return c.out.show(sum, func(w io.Writer) { fmt.Fprintln(w, plaintext.Text(sum.Text)) })
		}
		report, err := api.ChangeContext.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) { page.Summaries(w, report) })
	})
	return cmd
}

// summaryNamed returns the summary whose id begins like this.
func summaryNamed(r thread.ContextReport, id string) (thread.ContextSummary, error) {
	for _, s := range r.Summaries {
		if id != "" && strings.HasPrefix(s.ID, id) {
			return s, nil
		}
	}
	return thread.ContextSummary{}, thread.Hint(fmt.Errorf("no summary of %s is called %q: %w", r.Name, id, thread.ErrNotFound),
		"run `orchestrator context summary "+r.Name+"` to list them")
}
