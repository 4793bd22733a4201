package verb

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// logPage is how many events of a record are read at once.
const logPage = 500

func execLogs(c *cli) *cobra.Command {
	var follow bool
	var t followOptions
	cmd := &cobra.Command{
		Use: "logs <execution>", Short: "Print what an execution did, from its record, and then as it happens",
		Long: "Print what an execution did: its states, what the agent said, the tools it called and what they returned, each\n" +
			"as an excerpt without secrets. With --follow what comes is printed as it happens, until it has ended; Ctrl+C\n" +
			"leaves it. With -o ndjson, or --json, each event is a line of JSON.\n\n" + runCodes,
		Args: exactly("<execution>"), ValidArgsFunction: completeExecutions(c, 1),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as it happens, until it has ended")
	t.flags(c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.check(c.out.json); err != nil {
			return err
		}
		if c.out.json { // events are lines
			c.out.json, t.as.format = false, formatNDJSON
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			x, err := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: args[0]})
			if err != nil {
				return err
			}
			l := runLog{cli: c, client: cl, lines: t.lines(), x: x}
			if !follow || x.State.Final() {
				if err := l.print(ctx, func(work.Event) bool { return true }); err != nil || !follow {
					return err
				}
				return (&runFollower{cli: c, print: newRunPrinter(c, t), x: x}).over(nil)
			}
			// What the running attempt has reported comes live.
			if err := l.print(ctx, func(e work.Event) bool { return e.Attempt < x.Attempt }); err != nil {
				return err
			}
			return followRun(ctx, c, cl, t, x, false)
		})(cmd, args)
	}
	return cmd
}

// runLog prints the record of an execution.
type runLog struct {
	cli    *cli
	client *client.Client
	lines  bool // of JSON
	x      work.Execution
}

// recordLine is a line of -o ndjson.
type recordLine struct {
	Execution string `json:"execution"`
	work.Event
}

// print prints those events of the record that are wanted.
func (l *runLog) print(ctx context.Context, wanted func(work.Event) bool) error {
	r := api.ExecutionEventsRequest{Execution: string(l.x.ID), Limit: logPage}
	for {
		list, err := api.ExecutionEvents.Do(ctx, l.client, r)
		if err != nil {
			return err
		}
		var some []work.Event
		for _, e := range list {
			r.After = e.Seq
			if wanted(e) {
				some = append(some, e)
			}
		}
		if err := l.put(some); err != nil || len(list) < logPage {
			return err
		}
	}
}

// put prints events.
func (l *runLog) put(list []work.Event) error {
	if !l.lines {
		page.RunLog(l.cli.out.stdout, list)
		return nil
	}
	w := plaintext.NewJSONWriter(l.cli.out.stdout)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range list {
		if err := enc.Encode(recordLine{l.x.Name, e}); err != nil {
			return fmt.Errorf("print an event: %w", err)
		}
	}
	return w.Flush()
}
