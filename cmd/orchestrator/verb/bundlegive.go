package verb

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
)

// bundleFlags are the flags of verbs that give a run a bundle.
type bundleFlags struct {
	name       string
	template   string
	asPrepared bool
}

func (b *bundleFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&b.name, "bundle", "", "with --once: give it a `BUNDLE`, a file or an id, before your words")
	f.BoolVar(&b.asPrepared, "as-prepared", false, "with --bundle: as it was prepared, even if its files have changed since")
}

// give puts what a bundle is before the words of a prompt, and says what the run is for. A bundle whose files have changed
// or are missing is an error.
func (b *bundleFlags) give(ctx context.Context, c *cli, cl *client.Client, prompt *string, g *thread.Given, once *thread.Once) error {
	if b.name == "" {
		return nil
	}
	content, err := b.content(ctx, c, cl)
	if err != nil {
		return err
	}
	text, err := bundle.Brief(content.Kept, content.Pieces, b.template)
	if err != nil {
		return err
	}
	words := strings.TrimSpace(*prompt)
	of := content.Kept.Bundle
	g.Bundle, g.Scope = of.ID, cmp.Or(of.Scope, words)
	once.Type = cmp.Or(once.Type, of.AgentType)
	*prompt = strings.TrimRight(text, "\n") + "\n\n" + words
	return nil
}

// content returns the bundle with its content, as it is kept. The files of one that is named by its id are looked at, too.
func (b *bundleFlags) content(ctx context.Context, c *cli, cl *client.Client) (record.BundleContent, error) {
	arg, err := bundleArg(c, b.name)
	if err != nil {
		return record.BundleContent{}, err
	}
	arg.Fresh = !b.asPrepared
	content, err := api.ShowBundle.Do(ctx, cl, arg)
	if err != nil || arg.Form != nil || b.asPrepared {
		return content, err
	}
	from, err := sourcesOf(c)
	if err != nil {
		return content, err
	}
	return content, bundle.Changed(content.Kept, from.found(content.Kept.Bundle))
}
