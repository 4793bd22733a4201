package verb

import (
	"context"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// threadNames returns the names of threads by id: of those in use, and of those of some executions.
func threadNames(ctx context.Context, cl *client.Client, of ...work.Execution) (map[thread.ID]string, error) {
	all, err := api.List.Do(ctx, cl, api.None{})
	names := make(map[thread.ID]string, len(all))
	for _, s := range all {
		names[s.ID] = s.Name
	}
	if err == nil {
		var ids []thread.ID
		for i := range of {
			ids = append(ids, of[i].Thread, of[i].By)
		}
		named(ctx, cl, names, ids)
	}
	return names, err
}

// completeExecutions suggests the newest executions, as far as they are in some states; none are all.
func completeExecutions(c *cli, most int, states ...work.State) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
			list, err := api.Executions.Do(ctx, cl, api.ExecutionsRequest{States: states, Limit: mostPoints})
			var names []string
			for _, x := range list {
				names = append(names, x.Name+"\t"+page.FirstLine(x.Agent+", "+string(x.State)))
			}
			return names, err
		})
	}
}

// executionOf finds the execution of a prompt among the newest of its thread.
func executionOf(ctx context.Context, cl *client.Client, id thread.ID, prompt thread.PromptID) (work.Execution, bool, error) {
	list, err := api.Executions.Do(ctx, cl, api.ExecutionsRequest{Thread: string(id)})
	for _, x := range list {
		if x.Prompt == prompt {
			return x, true, nil
		}
	}
	return work.Execution{}, false, err
}

// steeredWords say that a prompt went into the turn of an execution that works.
const steeredWords = " works: its agent takes the prompt into the running turn"

// takesIt returns the execution into whose turn a prompt went; false if there is none.
func takesIt(ctx context.Context, cl *client.Client, id thread.ID, p thread.Prompt) (work.Execution, bool, error) {
	if p.State != thread.PromptOpen && p.State != thread.PromptTyping && p.State != thread.PromptAnswered {
		return work.Execution{}, false, nil
	}
	list, err := api.Executions.Do(ctx, cl, api.ExecutionsRequest{Thread: string(id), Limit: 1})
	if err != nil || len(list) == 0 {
		return work.Execution{}, false, err
	}
	return list[0], list[0].State.Holds(), nil
}

// newestExecution returns the newest execution of a thread.
func newestExecution(ctx context.Context, cl *client.Client, s thread.Status) (work.Execution, error) {
	list, err := api.Executions.Do(ctx, cl, api.ExecutionsRequest{Thread: string(s.ID), Limit: 1})
	if err != nil {
		return work.Execution{}, err
	}
	if len(list) == 0 {
		return work.Execution{}, thread.Kindf(thread.ErrNotFound, "%s has no execution", s.Name)
	}
	return list[0], nil
}

// flagExecutions suggests executions for a flag.
func flagExecutions(c *cli) completion {
	suggest := completeExecutions(c, 1)
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return suggest(cmd, nil, prefix)
	}
}
