package verb

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// warningsLimit is how long a verb waits for warnings that the server sent before its answer.
const warningsLimit = 2 * time.Second

// withWarnings calls f and then prints the server's warnings during the call, such as that instruction files of agents
// have changed. The screen shows warnings anyway, but a verb would exit without them. Agents that may not read events
// get none.
func (c *cli) withWarnings(ctx context.Context, cl *client.Client, f func() error) error {
	warnings, err := collectWarnings(ctx, cl, f)
	for _, text := range warnings {
		fmt.Fprintln(c.out.stderr, "orchestrator:", text)
	}
	return err
}

// collectWarnings calls f and returns the server's warnings during the call.
func collectWarnings(ctx context.Context, cl *client.Client, f func() error) ([]string, error) {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Events.Open(listening, cl, api.None{})
	if err != nil {
		return nil, f()
	}
	begin, err := api.Info.Do(ctx, cl, api.InfoRequest{})
	if err != nil {
		return nil, err
	}
	until, warnings := make(chan int64, 1), make(chan []string, 1)
	go func() { warnings <- untilEvent(events, until) }()
	ferr := f()
	if end, err := api.Info.Do(ctx, cl, api.InfoRequest{}); err == nil && end.Seq > begin.Seq {
		until <- end.Seq
		late := time.AfterFunc(warningsLimit, stop)
		defer late.Stop()
	} else {
		stop()
	}
	return <-warnings, ferr
}

// untilEvent collects warnings up to the event with the number from until, or the end of the stream.
func untilEvent(events <-chan thread.Event, until <-chan int64) []string {
	var texts []string
	last, limit := int64(0), int64(math.MaxInt64)
	for last < limit {
		select {
		case limit = <-until:
		case e, ok := <-events:
			if !ok {
				return texts
			}
			last = e.Seq
			if e.Notice != nil && e.Notice.Level != thread.LevelInfo {
				texts = append(texts, e.Notice.Text)
			}
		}
	}
	return texts
}

// shownFound is how many warnings of a start the verb that started the server prints.
const shownFound = 10

// printFound prints the warnings of the server that this run has started.
func printFound(w io.Writer, found []string) {
	for _, text := range found[:min(shownFound, len(found))] {
		fmt.Fprintln(w, "orchestrator:", text)
	}
	if more := len(found) - shownFound; more > 0 {
		fmt.Fprintf(w, "orchestrator: %d more; `orchestrator doctor` lists them\n", more)
	}
}
