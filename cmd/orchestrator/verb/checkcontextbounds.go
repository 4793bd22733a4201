package verb

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
)

// contextBounds is what files or a bundle have of a budget.
type contextBounds struct {
	Budget bundle.Budget    `json:"budget"`
	Items  bundle.Explained `json:"items"`
}

// checkContextBounds is the hidden verb check_context_bounds: it counts files or a bundle, and keeps nothing.
func checkContextBounds(c *cli) *cobra.Command {
	var files []string
	var name string
	var o bundle.Order
	var b bundle.Budget
	cmd := &cobra.Command{
		Use: "check_context_bounds", Short: "Count files or a bundle, and say what of a budget they use", Args: exactly(), Hidden: true,
	}
	f := cmd.Flags()
	f.StringArrayVar(&files, "files", nil, "`FILES`, with commas between them")
	f.StringVar(&name, "bundle", "", "a bundle: a file, or an id")
	f.Int64Var(&b.Budget, "budget", 0, "`TOKENS` that they may have (default: 200000)")
	f.Float64Var(&b.Warn, "warn-threshold", 0, "the part of it at which to warn (default: 0.75)")
	f.StringVarP(&o.Agent, "agent", "a", "", "the agent that they are counted for")
	f.StringVarP(&o.Model, "model", "m", "", "the model that they are counted for")
	formatted(c, cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (name == "") == (len(listed(files)) == 0) {
			return usagef("needs --files or --bundle: %s --files a.md,b.md", cmd.CommandPath())
		}
		from, err := sourcesOf(c)
		if err != nil {
			return err
		}
		var wishes []bundle.Item
		for _, source := range listed(files) {
			wishes = append(wishes, bundle.Item{Source: source})
		}
		if o.Items, err = from.items(wishes, ""); err != nil {
			return err
		}
		var arg record.BundleArg
		if name != "" {
			if arg, err = bundleArg(c, name); err != nil {
				return err
			}
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			var of record.BundleContent
			if name != "" {
				of, err = api.ShowBundle.Do(ctx, cl, arg)
			} else {
				o.Claims = true // what is over the budget is told below, with all the counts
				var made bundle.Made
				made, err = api.PrepareBundle.Do(ctx, cl, record.PrepareRequest{Order: o, Measure: true})
				of.Kept = made.Kept
			}
			if err != nil {
				return err
			}
			b.Parts = []bundle.BudgetPart{{Bundle: of.Kept.Bundle.ID, Tokens: of.Kept.Bundle.Total}}
			sum, err := b.Sum()
			if err != nil {
				return err
			}
			got := contextBounds{sum, bundle.Explain(of.Kept, of.Pieces)}
			err = c.out.show(got, func(w io.Writer) { page.Bounds(w, sum, got.Items) })
			return errors.Join(err, sayBudget(c, sum))
		})(cmd, args)
	}
	return cmd
}
