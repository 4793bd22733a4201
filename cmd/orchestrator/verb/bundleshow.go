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
	"orchestrator/thread/bundle"
)

func bundleShow(c *cli) *cobra.Command {
	var item string
	cmd := &cobra.Command{
		Use: "show <bundle>", Short: "Print a bundle, or with --item what an agent is given of a file",
		Long: "Print a bundle in its printed form: that of an id, a hash or a file. With --item the content of one of its\n" +
			"items, as it was when the bundle was prepared.",
		Args: exactly("<bundle>"), ValidArgsFunction: oneOf(completeBundles(c)),
	}
	cmd.Flags().StringVar(&item, "item", "", "print the content of this `FILE`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arg, err := bundleArg(c, args[0])
		if err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			b, err := api.ShowBundle.Do(ctx, cl, arg)
			if err != nil {
				return err
			}
			if item == "" {
				if len(b.Kept.Left) > 0 {
					say(c, "there was no room for what is recommended: %s", strings.Join(b.Kept.Left, ", "))
				}
				return printBundle(c, b.Kept.Bundle)
			}
			for i, it := range b.Kept.Bundle.Items {
				if it.Source != item || i >= len(b.Kept.Pieces) {
					continue
				}
				content, ok := b.Pieces[b.Kept.Pieces[i]]
				if ok && c.out.json {
					return c.out.show(written{Bundle: b.Kept.Bundle.ID, File: item, Bytes: len(content), Text: string(content)}, nil)
				}
				if ok {
					_, err := c.out.data().Write(content)
					return err //nolint:wrapcheck // of the output
				}
			}
			return thread.Kindf(thread.ErrNotFound, "%s: the content of %s is not known", b.Kept.Bundle.ID, item)
		})(cmd, args)
	}
	return cmd
}

func bundleExplain(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "explain <bundle>", Short: "Say what fills a bundle, and how it could be smaller",
		Long: fmt.Sprintf("Say what fills a bundle: KEEP an item, REVIEW one of more than %s tokens, OPTIMIZE one of more than %s;\n"+
			"what can be left out first, what is in it twice, and data of more than %s tokens that should be staged.",
			thread.Tokens(bundle.ReviewAbove), thread.Tokens(bundle.OptimizeAbove), thread.Tokens(bundle.InlineAbove)),
		Args: exactly("<bundle>"), ValidArgsFunction: oneOf(completeBundles(c)),
		RunE: func(cmd *cobra.Command, args []string) error {
			arg, err := bundleArg(c, args[0])
			if err != nil {
				return err
			}
			return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
				b, err := api.ShowBundle.Do(ctx, cl, arg)
				if err != nil {
					return err
				}
				return showExplained(c, bundle.Explain(b.Kept, b.Pieces))
			})(cmd, args)
		},
	}
}

func showExplained(c *cli, e bundle.Explained) error {
	return c.out.show(e, func(w io.Writer) { page.Explained(w, e) })
}
