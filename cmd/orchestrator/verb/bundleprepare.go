package verb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/bundle"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// prepareOptions are the flags with which a bundle is prepared.
type prepareOptions struct {
	order                 bundle.Order
	files, references     []string
	required, recommended []string
	sections              []string
	output                outputFile
	force                 bool
}

func (o *prepareOptions) flags(c *cli, f *pflag.FlagSet) {
	f.StringVar(&o.order.AgentType, "agent-type", "", "what kind of agent it is for, such as task-implementor")
	f.StringVar(&o.order.Scope, "scope", "", "what the agent shall do")
	f.StringArrayVar(&o.files, "files", nil, "`FILES` that it must be given, with commas between them")
	f.StringArrayVar(&o.references, "references", nil, "`FILES` that help it: left out first if there is no room")
	f.StringArrayVar(&o.required, "required", nil, "`FILES` of those that it must be given")
	f.StringArrayVar(&o.recommended, "recommended", nil, "`FILES` of those that are left out first")
	f.StringArrayVar(&o.sections, "section", nil, "only a section of a file: `FILE#HEADING`; can be repeated")
	f.StringVarP(&o.order.Agent, "agent", "a", "", "the agent that it is counted for")
	f.StringVarP(&o.order.Model, "model", "m", "", "the model that it is counted for")
	f.Int64Var(&o.order.Budget, "budget", 0, "`TOKENS` that it may have (default: what the model has room for, 200000 if that is not known)")
	f.StringVar(&o.order.Session, "session", "", "the work session that it is for")
	f.StringVar(&o.order.ID, "id", "", "`NAME` of the bundle (default: the next bundle-001)")
	o.output.json = &c.out.json
	f.VarP(&o.output, "output", "o", "`FILE` to write it to (default: standard output)")
	f.BoolVar(&o.force, "force", false, "replace a file that is no bundle")
}

func bundlePrepare(c *cli) *cobra.Command {
	var o prepareOptions
	cmd := &cobra.Command{
		Use: "prepare", Short: "Make a bundle of files and references, counted for a model", Args: exactly(),
		Example: `orchestrator bundle prepare --agent-type reviewer --scope "Review the parser" --files "lib/parse.ts" --references "docs/grammar.md"`,
		Long: "Make a bundle: the files that an agent is given before it begins. It is counted as its model's provider counts,\n" +
			"and what cannot work is an error before anything is spent: a file that is missing or no text, a heading that is not\n" +
			"there or there twice, more than there is room for. The same again gives the same bundle, byte for byte.",
	}
	o.flags(c, cmd.Flags())
	offer(cmd, "agent", c.completeAgents)
	offer(cmd, "session", flagSessions(c))
	offer(cmd, "agent-type", flagTypes(c))
	spelled(cmd, map[string]string{"session-id": "session", "type": "agent-type", "as": "id"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(c, cmd, args) }
	return cmd
}

// run prepares the bundle and prints it.
func (o *prepareOptions) run(c *cli, cmd *cobra.Command, args []string) error {
	if err := o.read(c); err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		made, err := api.PrepareBundle.Do(ctx, cl, record.PrepareRequest{Order: o.order})
		if err != nil {
			return err
		}
		for _, d := range made.Dropped {
			say(c, "left out %s (%s): %s", d.Source, thread.Tokens(d.Tokens), d.Why)
		}
		for _, source := range made.Redacted {
			say(c, "secrets in %s are replaced in what the agent is given", source)
		}
		b := made.Kept.Bundle
		if o.order.ID != "" && b.ID != o.order.ID {
			say(c, "the same is kept as %s already", b.ID)
		}
		if o.output.name == "" {
			return printBundle(c, b)
		}
		if err := writeOutput(c, o.output.name, bundle.Print(b), o.force, isBundle); err != nil {
			return err
		}
		if c.out.json {
			return printBundle(c, b)
		}
		fmt.Fprintf(c.out.stdout, "%s: %s, %s tokens, %s of the budget left: %s\n", b.ID, page.Counted(int64(len(b.Items)), "item"), thread.Tokens(b.Total), thread.Tokens(b.Remaining), o.output.name)
		return nil
	})(cmd, args)
}

func isBundle(was []byte) bool {
	_, err := bundle.Parse(was)
	return err == nil
}

// read reads what the flags name.
func (o *prepareOptions) read(c *cli) error {
	var wishes []bundle.Item
	add := func(list []string, kind work.ItemType, priority work.Priority) {
		for _, source := range listed(list) {
			wishes = append(wishes, bundle.Item{Type: kind, Source: source, Priority: priority})
		}
	}
	add(o.files, work.ItemFile, work.Required)
	add(o.references, work.ItemReference, work.Recommended)
	for priority, list := range map[work.Priority][]string{work.Required: listed(o.required), work.Recommended: listed(o.recommended)} {
		for _, source := range list {
			i := slices.IndexFunc(wishes, func(w bundle.Item) bool { return w.Source == source })
			if i < 0 {
				return usagef("--%s %s: it is not among --files and --references", priority, source)
			}
			wishes[i].Priority = priority
		}
	}
	for _, s := range o.sections {
		source, heading, found := strings.Cut(s, "#")
		i := slices.IndexFunc(wishes, func(w bundle.Item) bool { return w.Source == source })
		switch {
		case !found || strings.TrimSpace(heading) == "":
			return usagef("--section %s: write FILE#HEADING", s)
		case i < 0:
			return usagef("--section %s: %s is not among --files and --references", s, source)
		}
		wishes[i].Sections = append(wishes[i].Sections, strings.TrimSpace(heading))
	}
	if len(wishes) == 0 {
		return usagef("a bundle of nothing. Name --files or --references")
	}
	from, err := sourcesOf(c)
	if err != nil {
		return err
	}
	o.order.Items, err = from.items(wishes, o.output.name)
	return err
}
