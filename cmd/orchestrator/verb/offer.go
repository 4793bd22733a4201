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

// offerVerb lists and answers what is offered.
func offerVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "offer [thread]", Short: "List or answer what is offered for threads", Args: between(0, 1, "[thread]"),
		Long: "List what is offered for threads: a fork where a prompt begins something else, an MCP server that a task needs, a\n" +
			"tool that an agent's base leaves out and that it asked for.\n\n" +
			"accept forks, switches the server on, or restarts the agent with the tool once it waits; its conversation goes on.\n" +
			"fork makes a fork that has the tool, and leaves the thread as it is.",
		ValidArgsFunction: c.completeThreads,
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		list, err := offered(ctx, cl, strings.Join(args, ""))
		if err != nil {
			return err
		}
		offers := []thread.Offer{}
		for _, s := range list {
			offers = append(offers, *s.Offer)
		}
		return c.out.show(offers, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "nothing is offered")
				return
			}
			page.Offers(w, list)
		})
	})
	cmd.AddCommand(
		offerAnswer(c, "accept", "Accept what is offered for a thread", "take"),
		offerAnswer(c, "fork", "Fork a thread with the tool that is offered for it", "fork"),
		offerAnswer(c, "decline", "Decline what is offered for a thread", "dismiss"),
	)
	return cmd
}

// offerAnswer returns a verb that answers the offer of a thread.
func offerAnswer(c *cli, name, short, answer string) *cobra.Command {
	return &cobra.Command{
		Use: name + " <thread>", Short: short, Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			list, err := offered(ctx, cl, args[0])
			if err != nil {
				return err
			}
			if len(list) == 0 {
				return thread.Hint(thread.Kindf(thread.ErrRefused, "%s: nothing is offered for it", args[0]), "`orchestrator offer` lists all offers")
			}
			of, o := list[0], *list[0].Offer
			s, err := api.AnswerOffer.Do(ctx, cl, api.OfferAnswer{Offer: o.ID, Answer: answer})
			if err != nil {
				return err
			}
			return c.out.show(s, func(w io.Writer) { fmt.Fprintln(w, page.Answered(of, o, answer, s)) })
		}),
	}
}

// offered returns the threads for which something is offered; only the one that is named, if one is.
func offered(ctx context.Context, cl *client.Client, name string) ([]thread.Status, error) {
	var list []thread.Status
	if name == "" {
		all, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			return nil, err
		}
		list = all
	} else {
		s, err := api.Status.Do(ctx, cl, api.Ref{Thread: name})
		if err != nil {
			return nil, err
		}
		list = []thread.Status{s}
	}
	var open []thread.Status
	for _, s := range list {
		if s.Offer != nil {
			open = append(open, s)
		}
	}
	return open, nil
}
