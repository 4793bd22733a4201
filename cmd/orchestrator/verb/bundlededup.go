package verb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
)

// dedupOptions are the flags of what compares bundles.
type dedupOptions struct {
	bundles []string
	output  outputFile
	force   bool
}

func (o *dedupOptions) flags(c *cli, f *pflag.FlagSet) {
	f.StringArrayVar(&o.bundles, "bundles", nil, "`BUNDLES` in the order in which they are used, with commas between them: files, or ids")
	o.output.json = &c.out.json
	f.VarP(&o.output, "output", "o", "`FILE` to write what is shared to, such as shared-context.json")
	f.BoolVar(&o.force, "force", false, "replace a file that was not written by this verb")
}

func bundleDedup(c *cli) *cobra.Command {
	var o dedupOptions
	cmd := &cobra.Command{
		Use: "dedup [bundles...]", Short: "Find what several bundles share, and put it first in each of them", ValidArgsFunction: completeBundles(c),
		Long: "Find what several bundles share. Each is kept once more with its shared items first, in one order, so that the\n" +
			"provider serves what it has just read from its cache; what a bundle has twice is left out. Each agent has a window\n" +
			"of its own: what is shared fills each of them all the same, it only costs less. The answer tells both apart.",
	}
	o.flags(c, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.bundles = append(o.bundles, args...)
		return o.run(c, cmd, args)
	}
	return cmd
}

func (o *dedupOptions) run(c *cli, cmd *cobra.Command, args []string) error {
	names := listed(o.bundles)
	if len(names) < 2 {
		return usagef("needs two or more bundles: %s a.json b.json", cmd.CommandPath())
	}
	all, err := bundleArgs(c, names)
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		shared, err := api.DedupBundles.Do(ctx, cl, record.DedupRequest{Bundles: all})
		if err != nil {
			return err
		}
		if o.output.name != "" {
			var form bytes.Buffer
			e := json.NewEncoder(&form)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(shared); err != nil {
				return fmt.Errorf("print what is shared: %w", err)
			}
			if err := writeOutput(c, o.output.name, form.Bytes(), o.force, isShared); err != nil {
				return err
			}
		}
		return c.out.show(shared, func(w io.Writer) { page.Shared(w, shared) })
	})(cmd, args)
}

func isShared(was []byte) bool {
	var s bundle.Shared
	d := json.NewDecoder(bytes.NewReader(was))
	d.DisallowUnknownFields()
	return d.Decode(&s) == nil && len(s.Bundles) > 0
}
