// Package rebuild restores turns that the store lost, from the agents' own transcripts.
//
// Guarantees:
//   - An agent's files are only read.
//   - Nothing is invented. A turn is restored with the prompt, the answers, the usage and the piece of the transcript
//     from the agent's file, with the snapshot taken when it ended if there is one, and is marked as rebuilt. What
//     cannot be restored is reported.
//   - What is stored stays. A transcript that does not continue from its stored part adds nothing; one of another
//     session adds what follows the turns that both have.
//   - No turn is stored twice: not by a second run, not by one after a crash, not if its answers are in the spool.
//   - Which threads to examine is stored as intents before anything else forgets it.
package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

// Outcome is the result for one thread.
type Outcome struct {
	Thread thread.Thread // as it is now
	// From and To are the turns that were rebuilt; both are 0 if none were.
	From, To int
	// Again is the turn of its parent at which a fork without turns of its own begins again.
	Again int
	// Was is the turn that the thread had reached, as far as known.
	Was int
	// Why is why there are not more; "" if nothing is known to be missing.
	Why string
}

// Rebuilt counts the rebuilt turns.
func (o Outcome) Rebuilt() int {
	if o.To == 0 {
		return 0
	}
	return o.To - o.From + 1
}

// String describes the outcome for people.
func (o Outcome) String() string {
	text := fmt.Sprintf("thread %q: ", o.Thread.Name)
	switch {
	case o.Again > 0:
		text += fmt.Sprintf("reset to turn %d of its parent", o.Again)
	case o.To == 0:
		text += "no turn was rebuilt"
	case o.From == o.To:
		text += fmt.Sprintf("turn %d was rebuilt from the agent's transcript (%s %s)", o.To, o.Thread.Agent, o.Thread.Session)
	default:
		text += fmt.Sprintf("turns %d to %d were rebuilt from the agent's transcript (%s %s)", o.From, o.To, o.Thread.Agent,
			o.Thread.Session)
	}
	if o.Why != "" {
		text += "; " + o.Why
	}
	return text
}

// lost is the data of an intent: the thread as it was before the loss, if known.
type lost struct {
	Was *thread.Thread `json:"was,omitempty"`
}

// Mark stores that a thread may have lost turns. was is the thread as it was before, nil if unknown.
func Mark(ctx context.Context, store thread.Intents, id thread.ID, was *thread.Thread, now time.Time) error {
	raw, err := json.Marshal(lost{Was: was})
	if err == nil {
		err = store.PutIntent(ctx, thread.Intent{ID: thread.NewID[string](), Kind: Kind, Thread: id, Data: raw, Created: now})
	}
	if err != nil {
		return fmt.Errorf("mark lost turns: %w", err)
	}
	return nil
}

// Run rebuilds the turns of the marked threads, parents first. What fails stays marked for the next run, and is in the
// error.
func Run(ctx context.Context, cfg Config) ([]Outcome, error) {
	marked, intents, err := cfg.marked(ctx)
	if err != nil || len(intents) == 0 {
		return nil, err
	}
	all, err := cfg.Store.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("rebuild turns: %w", err)
	}
	slices.SortStableFunc(all, func(a, b thread.Thread) int { return a.Created.Compare(b.Created) })
	results := make([]result, len(all))
	for wave := range waves(all, marked) {
		each(wave, func(i int) {
			j := job{config: cfg, t: all[i], was: marked[all[i].ID], others: all}
			results[i].outcome, results[i].err = j.run(ctx)
		})
	}
	var outcomes []Outcome
	var errs []error
	done := map[thread.ID]bool{}
	for i, t := range all {
		if _, ok := marked[t.ID]; !ok {
			continue
		}
		done[t.ID] = results[i].err == nil
		if err := results[i].err; err != nil {
			errs = append(errs, fmt.Errorf("rebuild the turns of %s: %w; will be retried at the next start", t.Name, err))
			continue
		}
		outcomes = append(outcomes, results[i].outcome)
	}
	for _, i := range intents {
		if ok, there := done[i.Thread]; there && !ok {
			continue
		}
		if err := cfg.Store.DropIntent(ctx, i.ID); err != nil {
			errs = append(errs, fmt.Errorf("rebuild turns: %w", err))
		}
	}
	return outcomes, errors.Join(errs...)
}

// result is the result for one thread.
type result struct {
	outcome Outcome
	err     error
}

// atOnce is how many threads are worked on at once: a store writes concurrent puts together.
const atOnce = 8

// each calls f for some threads, several at once.
func each(wave []int, f func(i int)) {
	var work sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, i := range wave {
		free <- struct{}{}
		work.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	work.Wait()
}

// waves yields the indexes of the marked threads: first those without a marked parent, then those forked from them, and
// so on.
func waves(all []thread.Thread, marked map[thread.ID]*thread.Thread) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		left := map[thread.ID]bool{}
		for id := range marked {
			left[id] = true
		}
		for len(left) > 0 {
			var wave []int
			for i, t := range all {
				if left[t.ID] && !left[t.Parent] {
					wave = append(wave, i)
				}
			}
			if len(wave) == 0 { // what remains are each other's parents, or of no thread
				for i, t := range all {
					if left[t.ID] {
						wave = append(wave, i)
					}
				}
				yield(wave)
				return
			}
			if !yield(wave) {
				return
			}
			for _, i := range wave {
				delete(left, all[i].ID)
			}
		}
	}
}

// marked returns the marked threads, with what was known of each.
func (c Config) marked(ctx context.Context) (map[thread.ID]*thread.Thread, []thread.Intent, error) {
	all, err := c.Store.Intents(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the marked threads: %w", err)
	}
	all = slices.DeleteFunc(all, func(i thread.Intent) bool { return i.Kind != Kind })
	marked := map[thread.ID]*thread.Thread{}
	for _, i := range all {
		var l lost
		if err := json.Unmarshal(i.Data, &l); err != nil || l.Was != nil && l.Was.ID != i.Thread {
			l.Was = nil // the thread is examined all the same
		}
		if was := marked[i.Thread]; was == nil || l.Was != nil && l.Was.Turn > was.Turn {
			marked[i.Thread] = l.Was
		}
	}
	return marked, all, nil
}

// Mend sets one thread whose newest checkpoint cannot be read back to the newest one that can, and rebuilds what
// followed from its agent's transcript. Its agent must not run. mended is false for a thread that needs nothing.
func Mend(ctx context.Context, cfg Config, id thread.ID, now time.Time) (o Outcome, mended bool, err error) {
	t, err := cfg.Store.Thread(ctx, id)
	if err != nil || t.Head == "" {
		return o, false, err
	}
	if _, err = cfg.Store.Checkpoint(ctx, t.Head); !errors.Is(err, thread.ErrDamaged) {
		return o, false, err
	}
	if err := Mark(ctx, cfg.Store, id, &t, now); err != nil {
		return o, false, err
	}
	marked, intents, err := cfg.marked(ctx)
	if err != nil {
		return o, false, err
	}
	all, err := cfg.Store.Threads(ctx)
	if err != nil {
		return o, false, fmt.Errorf("rebuild turns: %w", err)
	}
	j := job{config: cfg, t: t, was: marked[id], others: all}
	if o, err = j.run(ctx); err != nil {
		return o, false, fmt.Errorf("rebuild the turns of %s: %w", t.Name, err)
	}
	for _, i := range intents {
		if i.Thread != id {
			continue
		}
		if err := cfg.Store.DropIntent(ctx, i.ID); err != nil {
			return o, true, fmt.Errorf("rebuild turns: %w", err)
		}
	}
	return o, true, nil
}

func (j *job) run(ctx context.Context) (Outcome, error) {
	if err := j.back(ctx); err != nil {
		return Outcome{Thread: j.t}, err
	}
	o := Outcome{Thread: j.t, Was: j.t.Turn}
	if j.was != nil {
		o.Was = max(o.Was, j.was.Turn)
	}
	if again, err := j.begins(ctx); err != nil || again > 0 {
		o.Again = again
		if err == nil {
			o.Thread, err = j.reread(ctx, false)
		}
		return o, err
	}
	why, err := j.ready()
	if err != nil {
		return o, err
	}
	var w *writer
	if why == "" {
		w, why, err = j.find(ctx)
	}
	if err == nil && w != nil {
		err = w.all(ctx)
		o.From, o.To = w.from, w.to
	}
	if err == nil {
		o.Thread, err = j.reread(ctx, o.To > 0)
	}
	if err != nil {
		return o, err
	}
	if reached := o.Thread.Turn; o.Thread.Head == "" || reached < o.Was {
		if o.Thread.Head == "" {
			reached = 0
		}
		o.Why = why
		if why == "" && reached < o.Was {
			o.Why = fmt.Sprintf("turns %d to %d are not in the transcript", reached+1, o.Was)
		}
	} else if o.To == 0 {
		o.Why = ""
	}
	return o, nil
}
