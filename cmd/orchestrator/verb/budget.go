package verb

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/budget"
)

func budgetVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "budget", Short: "Show what may be spent and what is; set it with `budget set`", Args: exactly(),
		Long: "Show the budgets of the project, of groups, work sessions, threads and runs: what is spent, what is held back\n" +
			"for requests in flight, and the limit. A \"?\" stands for what is not known, such as what a subscription login costs.",
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			r, err := api.Budgets.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			return c.out.show(r, func(w io.Writer) { page.Budgets(w, r.Accounts) })
		}),
	}
	cmd.AddCommand(budgetSet(c), budgetClear(c))
	return cmd
}

func budgetSet(c *cli) *cobra.Command {
	var usd, tokens string
	cmd := &cobra.Command{
		Use: "set <scope>", Short: "Set what a thread, a run, a group, a work session or the project may spend", Args: exactly("<scope>"),
		Long: "Set what may be spent: of project, group:NAME, session:NAME (a work session), a thread or a run that\n" +
			"has not ended. It holds from the next request on, and what waited for it goes on. 0 allows nothing.",
		Example:           "orchestrator budget set group:night --usd 5\norchestrator budget set exec-003 --tokens 200k",
		ValidArgsFunction: completeScopes(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := budget.Change{Scope: args[0]}
			for _, f := range []struct{ name, before, text string }{{"usd", "$", usd}, {"tokens", "", tokens}} {
				if !cmd.Flags().Changed(f.name) {
					continue
				}
				b, err := budget.Parse(f.before + f.text)
				if err != nil {
					return usagef("--%s %s: %v", f.name, f.text, err)
				}
				switch {
				case f.name == "usd" && b.Tokens == nil:
					change.USD = b.USD
				case f.name == "tokens" && b.USD == nil:
					change.Tokens = b.Tokens
				default:
					return usagef("--%s %s: give each by its own flag", f.name, f.text)
				}
			}
			if change.USD == nil && change.Tokens == nil {
				return usagef("budget set needs an amount: %s %s --usd 5, or --tokens 200k", cmd.CommandPath(), args[0])
			}
			return setBudget(c, change)(cmd, args)
		},
	}
	cmd.Flags().StringVar(&usd, "usd", "", "`AMOUNT` in US dollars, such as 2.50")
	cmd.Flags().StringVar(&tokens, "tokens", "", "`NUMBER` of tokens, all kinds of input and output: 200000, 200k or 1.5M")
	return cmd
}

func budgetClear(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "clear <scope>", Short: "Take a budget away: what is configured holds again", Args: exactly("<scope>"),
		ValidArgsFunction: completeScopes(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			return setBudget(c, budget.Change{Scope: args[0], Clear: true})(cmd, args)
		},
	}
}

// setBudget changes a budget and prints how it stands then.
func setBudget(c *cli, change budget.Change) func(*cobra.Command, []string) error {
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		a, err := api.SetBudget.Do(ctx, cl, change)
		if err != nil {
			return err
		}
		return c.out.show(a, func(w io.Writer) { page.Budgets(w, []budget.Account{a}) })
	})
}

// completeScopes offers what has a budget, and the threads.
func completeScopes(c *cli) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, directive := c.completeThreads(cmd, args, prefix)
		return append(all, "project", budget.GroupPrefix, budget.SessionPrefix), directive
	}
}

// budgetFlag is a budget as people write it.
type budgetFlag struct{ text string }

func (b *budgetFlag) String() string { return b.text }
func (*budgetFlag) Type() string     { return "amount" }

func (b *budgetFlag) Set(text string) error {
	if _, err := budget.Parse(text); err != nil {
		return fmt.Errorf("%w", err)
	}
	b.text = text
	return nil
}
