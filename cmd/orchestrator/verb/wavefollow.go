package verb

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// waveCodes says with what a verb ends that follows a task.
const waveCodes = "Exit codes: 0 complete; 1 failed; 4 it waits for you, and nothing else goes on; 6 cancelled."

// waveExit is the exit of a verb for how a task stands, nil for one that goes on or is complete.
func waveExit(v wave.View) error {
	switch {
	case v.Task.Status == plan.Complete:
		return nil
	case v.Task.Status == plan.Cancelled:
		return &silentError{exitcode.Cancelled}
	case v.Task.Status == plan.Failed:
		return &silentError{exitcode.Error}
	case waveWaits(v):
		return &silentError{exitcode.Refused}
	}
	return nil
}

// waveWaits reports whether a person is asked and nothing else goes on.
func waveWaits(v wave.View) bool {
	return len(v.Open) > 0 && !slices.ContainsFunc(v.Nodes, func(n wave.NodeView) bool { return n.State == plan.NodeWorking })
}

// wavePause is how long a follower waits at most until it looks again.
const wavePause = time.Second

// followWave prints what becomes of a task until it has ended, or waits for a person only.
func followWave(ctx context.Context, c *cli, cl *client.Client, v wave.View) error {
	said := map[string]string{}
	if !c.out.json {
		fmt.Fprintln(c.out.stdout, v.Task.Name)
	}
	listening, stop := context.WithCancel(ctx)
	defer stop()
	events, err := api.Events.Open(listening, cl, api.None{})
	if err != nil {
		events = nil // an agent may not: it looks from time to time
	}
	for {
		now, err := api.WaveStatus.Do(ctx, cl, wave.TaskRef{Task: v.Task.Name})
		if err != nil {
			return err
		}
		v = now
		if !c.out.json {
			page.WaveSteps(c.out.stdout, v, said)
		}
		if v.Task.Status.Final() || waveWaits(v) {
			break
		}
		if err := waveChanged(ctx, events, v.Task.Name); err != nil {
			return err
		}
	}
	if err := c.out.show(v, func(w io.Writer) { page.WaveEnd(w, v) }); err != nil {
		return err
	}
	return waveExit(v)
}

// waveChanged waits until a task may have changed.
func waveChanged(ctx context.Context, events <-chan thread.Event, task string) error {
	pause := time.NewTimer(wavePause)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
			return nil
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if e.Record != nil && slices.Contains(e.Record.Tasks, task) {
				return nil
			}
		}
	}
}
