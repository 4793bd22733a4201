package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// heedLimit is how long a verb waits for warnings that the server sent before it answered.
const heedLimit = 2 * time.Second

// heed calls f and then prints what the server warned of meanwhile, such as files that agents obey and that changed.
// The screen shows that by itself; a verb would end without a word of it. Agents that may not follow what happens
// get their answer without.
func (c *cli) heed(ctx context.Context, cl *client.Client, f func() error) error {
	warnings, err := hearing(ctx, cl, f)
	for _, text := range warnings {
		fmt.Fprintln(c.stderr, "orchestrator:", text)
	}
	return err
}

// hearing calls f and returns what the server warned of meanwhile.
func hearing(ctx context.Context, cl *client.Client, f func() error) ([]string, error) {
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
	go func() { warnings <- warned(events, until) }()
	ferr := f()
	if end, err := api.Info.Do(ctx, cl, api.InfoRequest{}); err == nil && end.Seq > begin.Seq {
		until <- end.Seq
		late := time.AfterFunc(heedLimit, stop)
		defer late.Stop()
	} else {
		stop()
	}
	return <-warnings, ferr
}

// warned collects warnings until the event whose number until names, or the end of the stream.
func warned(events <-chan thread.Event, until <-chan int64) []string {
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
