package verb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

// completion is cobra's completion function. Each result is a word and, after a tab, its description.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// mostPoints is how many of a thread's newest turns or checkpoints are suggested.
const mostPoints = 50

// complete asks a running server. It does not start one, and suggests nothing if none can be asked.
func (c *cli) complete(cmd *cobra.Command, prefix string,
	offers func(context.Context, *client.Client) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	const only = cobra.ShellCompDirectiveNoFileComp
	if c.prepare() != nil {
		return nil, only
	}
	cl, _, err := c.reach(cmd.Context())
	if err != nil {
		return nil, only
	}
	defer cl.Close()
	all, err := offers(cmd.Context(), cl)
	if err != nil {
		return nil, only
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, prefix) }),
		only | cobra.ShellCompDirectiveKeepOrder
}

// completeThreads suggests thread names.
func (c *cli) completeThreads(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
		list, err := api.List.Do(ctx, cl, api.None{})
		if err == nil && prefix != "" { // the archive is long, and completed once something of a name is typed
			const most = 50
			page, err := api.Archived.Do(ctx, cl, api.ArchivedRequest{Prefix: prefix, Limit: most})
			if err != nil {
				return nil, err
			}
			list = append(list, slices.DeleteFunc(page.Threads, func(s thread.Status) bool {
				return slices.ContainsFunc(list, func(o thread.Status) bool { return o.ID == s.ID })
			})...)
		}
		var names []string
		for _, s := range list {
			about := page.FirstLine(s.Agent + ", " + page.State(s))
			if s.Title == "" {
				names = append(names, s.Name+"\t"+about)
				continue
			}
			names = append(names, s.Name+"\t"+page.FirstLine(s.Title)+", "+about)
			if prefix != "" { // complete labels too
				names = append(names, plaintext.Line(s.Title)+"\t"+about)
			}
		}
		return names, err
	})
}

// completeAgents suggests agents.
func (c *cli) completeAgents(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(agents.New("", c.environ, "", "").Names(),
		func(s string) bool { return !strings.HasPrefix(s, prefix) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeProfiles suggests the profiles of the person.
func completeProfiles(c *cli) completion {
	return func(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
		if c.prepare() == nil {
			for _, p := range c.config.Profiles {
				if strings.HasPrefix(p.Name, prefix) {
					names = append(names, p.Name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeBases suggests profiles of what agents leave out.
func completeBases(c *cli) completion {
	return func(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
		if c.prepare() == nil {
			for _, name := range c.config.Base.Names() {
				if strings.HasPrefix(name, prefix) {
					names = append(names, name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePoints suggests a thread, and then up to most points of that thread besides other words.
func (c *cli) completePoints(most int, words ...string) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return c.completeThreads(cmd, args, prefix)
		}
		if len(args) > most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			all, err := points(ctx, cl, args[0], prefix)
			return append(all, words...), err
		})
	}
}

// completeFork suggests points to fork at.
func (c *cli) completeFork(ref *string) completion {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			of := *ref
			if of == "" {
				var err error
				if of, err = shown(ctx, cl); err != nil {
					return nil, err
				}
			}
			return points(ctx, cl, of, prefix)
		})
	}
}

// beginsTurn reports whether what was typed begins the number of a turn. Longer numbers are checkpoint ids without a
// letter, as they are for the server.
func beginsTurn(typed string) bool {
	_, err := strconv.Atoi(typed)
	return typed == "" || err == nil && len(typed) < 8
}

// points returns the numbers of a thread's turns, newest first. If the prefix begins none, it returns checkpoint ids.
func points(ctx context.Context, cl *client.Client, ref, prefix string) ([]string, error) {
	turns := beginsTurn(prefix)
	list, err := api.Timeline.Do(ctx, cl,
		api.TimelineRequest{Thread: ref, Page: thread.Page{Turns: turns, Limit: mostPoints}})
	var out []string
	for _, cp := range list {
		about := page.About(cp.Prompt, cp.Note)
		if !turns {
			out = append(out, fmt.Sprintf("%s\tturn %d, %s: %s", cp.ID[:8], cp.Turn, page.Kind(cp), about))
			continue
		}
		if word := strconv.Itoa(cp.Turn) + "\t"; !slices.ContainsFunc(out,
			func(s string) bool { return strings.HasPrefix(s, word) }) {
			out = append(out, word+about)
		}
	}
	return out, err
}

// offer registers a completion for a flag.
func offer(cmd *cobra.Command, flag string, f completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // no such flag: any run of the program finds this
	}
}

// completeTokens completes tokens of staged data.
func (c *cli) completeTokens(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
		list, err := api.StageList.Do(ctx, cl, api.None{})
		var tokens []string
		for _, d := range list {
			tokens = append(tokens, fmt.Sprintf("%s\t%s of %s, %s", d.Token, page.Counted(d.Records, "record"), page.Dash(d.Source),
				thread.Bytes(d.Bytes)))
		}
		return tokens, err
	})
}

// ofThread prepares a verb that, if an agent runs it, uses the project of the agent's thread in any folder.
func (c *cli) ofThread(cmd *cobra.Command, _ []string) error {
	if dir := session.Project(c.environ); dir != "" && !cmd.Flags().Changed("project") {
		c.dir = dir
	}
	return c.prepare()
}
