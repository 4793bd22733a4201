package verb

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"
)

func threadsVerb(c *cli) *cobra.Command {
	var asTree, all bool
	cmd := &cobra.Command{
		Use: "threads", Aliases: []string{"list", "ls"}, Short: "List the threads",
		Args: exactly(),
	}
	cmd.Flags().BoolVar(&asTree, "tree", false, "show forks below their parents, in the order of the screen")
	cmd.Flags().BoolVar(&all, "all", false, "include archived threads")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		list, err := api.List.Do(ctx, cl, api.None{})
		if err != nil {
			return err
		}
		names := make(map[thread.ID]string, len(list))
		folders := c.folders(list)
		rows := make([]listed, 0, len(list))
		for i := range list {
			s := &list[i]
			names[s.ID] = s.Name
			if all || s.Archived.IsZero() {
				row := listed{Status: s}
				row.SharedWith, row.SharedMore = folders.Names(&s.Thread, mostShared)
				rows = append(rows, row)
			}
		}
		return c.show(rows, func(w io.Writer) { printThreads(w, rows, asTree, names, time.Now()) })
	})
	return cmd
}

// listed is a thread of the list.
type listed struct {
	*thread.Status
	// SharedWith names the threads that work in the same folder, up to mostShared of them.
	SharedWith []string `json:"sharedWith,omitempty"`
	// SharedMore is how many more there are.
	SharedMore int `json:"sharedMore,omitempty"`
}

// mostShared limits the names of threads in the same folder per row: with 5,000 threads in one folder, there would be
// 25 million names in total.
const mostShared = 50

// sharedWith names the first of them and how many more there are.
func (l listed) sharedWith() string {
	if l.SharedMore == 0 {
		return plain.Few(l.SharedWith)
	}
	return fmt.Sprintf("%s +%d", l.SharedWith[0], len(l.SharedWith)-1+l.SharedMore)
}

// printThreads prints a table of threads. names has the names of all threads, for forks whose parent is not in the
// table.
func printThreads(w io.Writer, list []listed, asTree bool, names map[thread.ID]string, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no threads yet; `orchestrator new` starts one")
		return
	}
	has := func(f func(listed) bool) bool { return slices.ContainsFunc(list, f) }
	titles := has(func(s listed) bool { return s.Title != "" })
	shared := has(func(s listed) bool { return len(s.SharedWith) > 0 })
	var t columns
	add := func(name, title string, rest []string, with string) {
		cells := []string{name}
		if titles {
			cells = append(cells, title)
		}
		if cells = append(cells, rest...); shared {
			cells = append(cells, with)
		}
		t.row(cells...)
	}
	add("THREAD", "TITLE", []string{"AGENT", "STATE", "TURNS", "CONTEXT", "COST", "AGE"}, "SHARED WITH")
	for _, row := range rowsOf(list, asTree) {
		s := row.status
		of := ""
		if asTree && row.branch == "" && names[s.Parent] != "" {
			of = " (of " + names[s.Parent] + ")"
		}
		add(row.branch+s.Name+of, plain.Cut(plain.Line(s.Title), mostTitle),
			[]string{s.Agent, stateOf(*s.Status), fmt.Sprint(s.Turn), contextOf(s.Gauge),
				costOf(*s.Status), thread.Age(now.Sub(s.Updated))}, s.sharedWith())
	}
	t.print(w)
	for _, s := range list {
		if s.Aside != "" {
			fmt.Fprintf(w, "%s: not through the gateway, so that nothing can be masked: %s\n", s.Name, plain.Line(s.Aside))
		}
	}
}

// treeRow is a thread with its tree lines.
type treeRow struct {
	status listed
	branch string
}

// rowsOf orders threads as a tree, as the screen does, or leaves them as they are.
func rowsOf(list []listed, asTree bool) []treeRow {
	rows := make([]treeRow, 0, len(list))
	if !asTree {
		for _, s := range list {
			rows = append(rows, treeRow{status: s})
		}
		return rows
	}
	byID := make(map[thread.ID]listed, len(list))
	all := make([]*thread.Status, len(list))
	for i := range list {
		byID[list[i].ID], all[i] = list[i], list[i].Status
	}
	for _, r := range tree.Rows(all, nil) {
		rows = append(rows, treeRow{status: byID[r.ID], branch: r.Guide})
	}
	return rows
}

// refVerb returns a verb that does one thing to one thread.
func refVerb(c *cli, name, short string, op api.Command[api.Ref], done string) *cobra.Command {
	return &cobra.Command{
		Use: name + " <thread>", Short: short, Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := op.Do(ctx, cl, api.Ref{Thread: args[0]}); err != nil {
				return err
			}
			return c.done(args[0], done)
		}),
	}
}

// folders returns which threads of a list work on the same files.
func (c *cli) folders(list []thread.Status) *thread.Folders {
	return thread.NewFolders(c.project.Root, func(yield func(*thread.Thread) bool) {
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
	return thread.NamesOf(c.folders(list).With(&one.Thread)), nil
}
