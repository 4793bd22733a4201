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
	"orchestrator/thread/work"
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
	return each(p.Runs+p.Live, func(i int) error { return p.put(ctx, s, i) })
}

// Executions stores a completed execution with some events of each run that is stored.
func Executions(ctx context.Context, s thread.Store, to work.Store, events int) error {
	var runs []thread.Thread
	err := thread.EachThread(ctx, s, thread.Query{}, func(t thread.Thread) error {
		if t.Once.On {
			runs = append(runs, t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(len(runs), func(i int) error { return complete(ctx, to, runs[i], events) })
}

// each calls do with each number below n, with many at once.
func each(n int, do func(int) error) error {
	todo := make(chan int)
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := range todo {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var first error
	for i := 0; i < n && first == nil; i++ {
		select {
		case todo <- i:
		case first = <-errs:
		}
	}
	close(todo)
	all.Wait()
	close(errs)
	for err := range errs {
		first = errors.Join(first, err)
	}
	return first
}

// complete stores the execution of a run.
func complete(ctx context.Context, to work.Store, t thread.Thread, events int) error {
	x, err := to.Add(ctx, work.Execution{
		ID: thread.NewID[work.ID](), Thread: t.ID, Prompt: thread.NewID[thread.PromptID](), Agent: t.Agent, Created: t.Created, Lost: work.PolicyAsk,
	})
	if err == nil {
		x, err = to.Claim(ctx, x.ID, "a server", t.Created)
	}
	said := make([]work.Event, events)
	for i := range said {
		said[i] = work.Event{At: t.Created, Kind: "text", Text: fmt.Sprintf("part %d of what %s printed", i, t.Name)}
	}
	for _, state := range []work.State{work.Running, work.Completed} {
		if err == nil {
			x, err = to.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error { x.State = state; return nil }, said...)
		}
		said = nil
	}
	if err != nil {
		return fmt.Errorf("store the execution of %s: %w", t.Name, err)
	}
	return nil
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
