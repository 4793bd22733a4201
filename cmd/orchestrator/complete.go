package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// completion is how cobra asks what could stand at the cursor: each a word, and what it is behind a tab.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// mostPoints is how many of a thread's newest turns or checkpoints are offered.
const mostPoints = 50

// complete asks a server that runs; it starts none, and where it cannot be asked nothing is offered.
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

// completeThreads offers the names of threads.
func (c *cli) completeThreads(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
		list, err := api.List.Do(ctx, cl, api.None{})
		var names []string
		for _, s := range list {
			about := firstLine(s.Agent + ", " + stateOf(s))
			if s.Title == "" {
				names = append(names, s.Name+"\t"+about)
				continue
			}
			names = append(names, s.Name+"\t"+firstLine(s.Title)+", "+about)
			if prefix != "" { // who begins with what it is called gets that
				names = append(names, plaintext.Line(s.Title)+"\t"+about)
			}
		}
		return names, err
	})
}

// completeAgents offers the agents.
func (c *cli) completeAgents(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(newAgents("", c.environ, "", "").Names(),
		func(s string) bool { return !strings.HasPrefix(s, prefix) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePoints offers a thread, and behind it most points of that thread, beside other words that may stand there.
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

// completeFork offers the points at which fork can fork.
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

// points are a thread's turns by their numbers, newest first; where what was typed is no number, its checkpoints.
func points(ctx context.Context, cl *client.Client, ref, prefix string) ([]string, error) {
	_, err := strconv.Atoi(prefix)
	turns := prefix == "" || err == nil
	list, err := api.Timeline.Do(ctx, cl,
		api.TimelineRequest{Thread: ref, Page: thread.Page{Turns: turns, Limit: mostPoints}})
	var out []string
	for _, cp := range list {
		about := aboutOf(cp.Prompt, cp.Note)
		if !turns || err != nil {
			out = append(out, fmt.Sprintf("%s\tturn %d, %s: %s", cp.ID[:8], cp.Turn, kindOf(cp), about))
			continue
		}
		if word := strconv.Itoa(cp.Turn) + "\t"; !slices.ContainsFunc(out,
			func(s string) bool { return strings.HasPrefix(s, word) }) {
			out = append(out, word+about)
		}
	}
	return out, err
}

// offer has the shell complete a flag.
func offer(cmd *cobra.Command, flag string, f completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not there: found by any call of the program
	}
}
