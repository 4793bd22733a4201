// Package many fills a store with the threads of a project that has run for a long time: a few in use, and very many
// runs that have ended and were archived. It writes them as a server does, through the store, for tests that measure.
package many

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// Project says what to store.
type Project struct {
	Dir string // of its threads
	// Live are threads in use, Runs are those of agents without a terminal that have ended and were archived.
	Live, Runs int
	// Turns is how many turns a run has; every second has one more.
	Turns int
	Now   time.Time
}

// writers is how many threads are written at once: they share commits.
const writers = 64

// Fill stores the threads of a project: those in use named live-N, the runs run-N, each with four digits.
func Fill(ctx context.Context, s thread.Store, p Project) error {
	work := make(chan int)
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := range work {
				if err := p.put(ctx, s, i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var first error
	for i := 0; i < p.Runs+p.Live && first == nil; i++ {
		select {
		case work <- i:
		case first = <-errs:
		}
	}
	close(work)
	all.Wait()
	close(errs)
	for err := range errs {
		first = errors.Join(first, err)
	}
	return first
}

// put stores one thread with its turns, and archives it if it is a run.
func (p Project) put(ctx context.Context, s thread.Store, i int) error {
	run := i < p.Runs
	label, at := fmt.Sprintf("live %d", i-p.Runs), p.Now.Add(-time.Hour)
	if run {
		label, at = fmt.Sprintf("run %d", i), p.Now.Add(-time.Duration(p.Runs-i)*time.Minute)
	}
	t := thread.Thread{
		ID: thread.NewID[thread.ID](), Name: fmt.Sprintf("%s-%04x", thread.Slug(label), i%(1<<16)), Label: label, Agent: "demo",
		Dir: p.Dir, Created: at, Updated: at, Seen: true,
	}
	t.Once.On = run
	if err := s.CreateThread(ctx, t); err != nil {
		return fmt.Errorf("store %s: %w", t.Name, err)
	}
	var head thread.Checkpoint
	for turn := 1; turn <= p.Turns+i%2; turn++ {
		prompt := fmt.Sprintf("look at part %d of the work of %s and say what is to be done there", turn, label)
		answer := strings.Repeat(fmt.Sprintf("In part %d of %s, nothing is to be done but what was said. ", turn, label), 6)
		d := thread.Delta{Keep: head.Items, Items: []thread.Item{item("user", prompt), item("assistant", answer)}}
		next, err := s.PutCheckpoint(ctx, thread.Checkpoint{
			ID: thread.NewID[thread.CheckpointID](), Thread: t.ID, Parent: head.ID, Turn: turn, Kind: thread.KindTurn,
			Created: at.Add(time.Duration(turn) * time.Second), Prompt: prompt, Answer: answer, Model: "demo-1", Stop: "end_turn",
			Usage: thread.Usage{Input: 1200, Output: 90, CostUSD: .001, Priced: true}, Session: "session-" + string(t.ID),
		}, d)
		if err != nil {
			return fmt.Errorf("store turn %d of %s: %w", turn, t.Name, err)
		}
		head = next
		x := thread.Execution{
			ID: thread.NewID[thread.ExecutionID](), Thread: t.ID, Agent: t.Agent, Started: at,
			Ended: at.Add(time.Duration(turn) * time.Second), Exit: thread.Exit{Reason: "exited"},
		}
		if err := s.BeginExecution(ctx, x); err != nil {
			return fmt.Errorf("store a run of %s: %w", t.Name, err)
		}
	}
	if !run {
		return nil
	}
	_, err := s.UpdateThread(ctx, t.ID, func(t *thread.Thread) error { t.Archived = at.Add(time.Minute); return nil })
	if err != nil {
		return fmt.Errorf("archive %s: %w", t.Name, err)
	}
	return nil
}

func item(role, text string) thread.Item {
	raw, _ := json.Marshal(map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}})
	return thread.Item{Wire: "anthropic", Raw: raw}
}
