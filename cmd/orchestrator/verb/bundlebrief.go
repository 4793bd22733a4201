package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
)

// briefOptions are the flags of what writes a briefing.
type briefOptions struct {
	bundle, template string
	output           outputFile
	force            bool
}

func (o *briefOptions) flags(c *cli, f *pflag.FlagSet) {
	f.StringVar(&o.template, "template", "", "`FILE` of Go's template language; "+bundle.TemplateName+" is built in, unless there is a file of that name")
	o.output.json = &c.out.json
	f.VarP(&o.output, "output", "o", "`FILE` to write it to (default: standard output)")
	f.BoolVar(&o.force, "force", false, "replace a file that is there")
}

func bundleBrief(c *cli) *cobra.Command {
	var o briefOptions
	cmd := &cobra.Command{
		Use: "brief <bundle>", Short: "Write what an agent is given of a bundle", Args: exactly("<bundle>"),
		ValidArgsFunction: oneOf(completeBundles(c)),
		Long: "Write what an agent is given of a bundle: what it shares with others first, then the rest, then its scope. The same\n" +
			"bundle and template give the same text, byte for byte. `orchestrator help bundles` has the template's functions.",
	}
	o.flags(c, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.bundle = args[0]
		return o.run(c, cmd, args)
	}
	return cmd
}

func (o *briefOptions) run(c *cli, cmd *cobra.Command, args []string) error {
	text, err := templateText(c, o.template)
	if err != nil {
		return err
	}
	arg, err := bundleArg(c, o.bundle)
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		b, err := api.ShowBundle.Do(ctx, cl, arg)
		if err != nil {
			return err
		}
		brief, err := bundle.Brief(b.Kept, b.Pieces, text)
		if err != nil {
			return err
		}
		if o.output.name == "" && !c.out.json {
			_, err := c.out.data().Write([]byte(brief))
			return err //nolint:wrapcheck // of the output
		}
		got := written{Bundle: b.Kept.Bundle.ID, File: o.output.name, Bytes: len(brief)}
		if got.File == "" {
			got.Text = brief
			return c.out.show(got, nil)
		}
		// One that a bundle was written to before is that verb's own, whatever it was made of.
		if err := writeOutput(c, o.output.name, []byte(brief), o.force, isBrief); err != nil {
			return err
		}
		return c.out.show(got, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s from %s\n", got.File, thread.Bytes(int64(got.Bytes)), got.Bundle)
		})
	})(cmd, args)
}

// written is what a verb has written: a file, or the text itself.
type written struct {
	Bundle string `json:"bundle_id"`
	File   string `json:"file,omitempty"`
	Bytes  int    `json:"bytes"`
	Text   string `json:"text,omitempty"`
}

// isBrief reports whether a file is a briefing of the built-in template.
func isBrief(was []byte) bool {
	return plaintext.FirstLine(string(was)) == plaintext.FirstLine(bundle.Template)
}

// templateText returns the text of a template: that of a file, or "" for the one that is built in.
func templateText(c *cli, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	from, err := sourcesOf(c)
	if err != nil {
		return "", err
	}
	text, err := from.read(name)
	if errors.Is(err, thread.ErrNotFound) && filepath.Base(name) == bundle.TemplateName {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	return string(text), nil
}
