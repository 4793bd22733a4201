package verb

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/filter"
)

func threadsVerb(c *cli) *cobra.Command {
	var asTree, all bool
	var only string
	cmd := &cobra.Command{
		Use: "threads", Aliases: []string{"list", "ls"}, Short: "List the threads",
		Args: exactly(),
	}
	cmd.Flags().BoolVar(&asTree, "tree", false, "show forks below their parents, in the order of the screen")
	cmd.Flags().BoolVar(&all, "all", false, "include archived threads")
	cmd.Flags().StringVar(&only, "filter", "", "only some: "+filter.Hint)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		wanted, err := filter.Parse(only)
		if err != nil {
			return usagef("--filter %w", err)
		}
		list, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			return err
		}
		if all {
			if list, err = withArchive(ctx, cl, list); err != nil {
				return err
			}
		}
		names := make(map[thread.ID]string, len(list))
		shared := folders(c.project.Root, list)
		rows := make([]page.Thread, 0, len(list))
		for i := range list {
			s := &list[i]
			names[s.ID] = s.Name
			if (all || s.Archived.IsZero()) && wanted.Match(s) {
				row := page.Thread{Status: s, Group: s.Group()}
				row.SharedWith, row.SharedMore = shared.Names(&s.Thread, page.MostShared)
				rows = append(rows, row)
			}
		}
		return c.out.show(rows, func(w io.Writer) { page.Threads(w, rows, asTree, names, only, time.Now()) })
	})
	return cmd
}

// refVerb returns a verb that does one thing to one thread.
func refVerb(c *cli, name, short string, op api.Command[api.Ref], done string) *cobra.Command {
	return &cobra.Command{
		Use: name + " <thread>", Short: short, Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := op.Do(ctx, cl, api.Ref{Thread: args[0]}); err != nil {
				return err
			}
			return c.out.done(args[0], done)
		}),
	}
}

// folders returns which threads of a list work on the same files.
func folders(project string, list []thread.Status) *thread.Folders {
	return thread.NewFolders(project, func(yield func(*thread.Thread) bool) {
		for i := range list {
			if !yield(&list[i].Thread) {
				return
			}
		}
	})
}

// sharing returns the names of the threads that work on the same files as a thread.
func sharing(ctx context.Context, c *cli, cl *client.Client, ref string) ([]string, error) {
	one, err := api.Status.Do(ctx, cl, api.Ref{Thread: ref})
	if err != nil {
		return nil, err
	}
	list, err := api.List.Do(ctx, cl, api.None{})
	if err != nil {
		return nil, err
	}
	return thread.NamesOf(folders(c.project.Root, list).With(&one.Thread)), nil
}
