// Package notify runs the person's own commands when something happens, whether a screen is open or not.
//
// Guarantees: nobody waits for a command. Each runs once at a time, at most PerMinute times a minute and PerThread of
// these for one thread; what is more is left out and counted. A run that takes longer than Limit, or prints more than
// mostOutput, is killed with everything that it has started, and so is what a run leaves behind. Nothing runs any more
// once Run has returned; what a server that was killed has left is killed by the next. The texts of an event reach a
// command as data only, on its standard input and in its environment, never as words of a command line. Trouble is
// reported seldom, as events that start no command.
package notify

import (
	"context"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
)

// Run runs commands on events until the channel or the context ends, and ends all that they have started.
func Run(ctx context.Context, cfg Config, events <-chan thread.Event) {
	if cfg.Limit == 0 {
		cfg.Limit = Limit
	}
	if cfg.Count == 0 {
		cfg.Count = countTime
	}
	process.End(ctx, 0, process.Kin(markedBy(runOf(cfg.Owner)))) // left by a server that was killed
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var all []*caller
	for _, c := range cfg.Commands {
		one := newCaller(cfg, c)
		all = append(all, one)
		running.Go(func() { one.work(ctx) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			for _, c := range all {
				if h := e.Happening; h != nil && c.wants(*h) {
					c.offer(*h)
				}
			}
		}
	}
}
