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
)

// promptsVerb lists and changes prompts.
func promptsVerb(c *cli) *cobra.Command {
	var open bool
	limit := 50
	cmd := &cobra.Command{
		Use: "prompts [thread]", Short: "List prompts and their state, newest last",
		Long: "List prompts and their state, newest last.\n\n" +
			"queued: waiting to be sent; typing, open: the agent has it; answered; interrupted, refused: not answered, can\n" +
			"be sent again; taken: sent, but no answer is reported; cancelled.",
		Args: between(0, 1, "[thread]"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVar(&open, "open", false, "list only prompts that are not finished")
	cmd.Flags().IntVar(&limit, "limit", limit, "maximum number of rows, newest first; 0 for all")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: must be 0 (all) or more", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		list, err := api.Prompts.Do(ctx, cl, api.PromptsRequest{Thread: strings.Join(args, ""), Open: open, Limit: limit + 1})
		if err != nil {
			return err
		}
		if len(list) > limit { // newest last
			first(c, list, limit, "newest prompts", strings.TrimSpace("prompts --limit 0 "+strings.Join(args, "")))
			list = list[1:]
		}
		all, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			return err
		}
		names := map[thread.ID]string{}
		for _, s := range all {
			names[s.ID] = s.Name
		}
		var ids []thread.ID
		for _, p := range list {
			ids = append(ids, p.Thread)
		}
		named(ctx, cl, names, ids)
		return c.out.show(list, func(w io.Writer) { page.Prompts(w, list, names) })
	})
	cmd.AddCommand(promptVerb(c, "edit <prompt> <text>", "Change the text of a queued prompt", 2,
		func(ctx context.Context, cl *client.Client, args []string) (thread.Prompt, error) {
			return api.EditPrompt.Do(ctx, cl, api.EditRequest{ID: thread.PromptID(args[0]), Text: args[1]})
		}))
	cmd.AddCommand(promptVerb(c, "cancel <prompt>", "Withdraw a queued prompt", 1,
		func(ctx context.Context, cl *client.Client, args []string) (thread.Prompt, error) {
			return api.CancelPrompt.Do(ctx, cl, api.PromptRef{ID: thread.PromptID(args[0])})
		}))
	cmd.AddCommand(promptVerb(c, "again <prompt>", "Send an interrupted or refused prompt again", 1,
		func(ctx context.Context, cl *client.Client, args []string) (thread.Prompt, error) {
			return api.AskAgain.Do(ctx, cl, api.PromptRef{ID: thread.PromptID(args[0])})
		}))
	return cmd
}

// promptVerb returns a verb that does one thing to one prompt.
func promptVerb(c *cli, use, short string, n int,
	f func(context.Context, *client.Client, []string) (thread.Prompt, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: exactly(strings.Fields(use)[1 : n+1]...), ValidArgsFunction: c.completePrompts,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			p, err := f(ctx, cl, args)
			if err != nil {
				return err
			}
			return c.out.show(p, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", p.ID, page.PromptState(p)) })
		}),
	}
}

// completePrompts suggests the prompts that can be changed or sent again.
func (c *cli) completePrompts(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || c.prepare() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cl, _, err := c.reach(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer cl.Close()
	list, err := api.Prompts.Do(cmd.Context(), cl, api.PromptsRequest{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, p := range list {
		wanted := p.State == thread.PromptQueued
		if cmd.Name() == "again" {
			wanted = p.State.Again()
		}
		if wanted && strings.HasPrefix(string(p.ID), prefix) {
			ids = append(ids, fmt.Sprintf("%s\t%s", p.ID, page.FirstLine(p.Text)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
