package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Settle writes down by itself what an execution that has ended has made of files, and why it failed, and then marks it as
// Settled. It can be repeated, also by another server: what is there already is not stored again, since both states of the
// files are kept.
func (o *Outputs) Settle(ctx context.Context, x work.Execution) error {
	if !x.State.Final() {
		return nil
	}
	var all []work.Output
	if reason := line(x.Reason); reason != "" && x.State != work.Completed {
		content, err := json.Marshal(reason)
		if err != nil {
			return err
		}
		all = append(all, work.Output{Type: work.OutputError, Content: content})
	}
	var err error
	if x.Base != "" && x.Result != "" && x.Base != x.Result && !x.ReadOnly {
		var files []work.Output
		if files, err = o.files(ctx, x, nil); err != nil {
			err = fmt.Errorf("find what %s has made of files: %w", x.Name, err)
		}
		all = append(all, files...)
	}
	if len(all) > 0 {
		if _, added := o.c.Store.AddOutputs(ctx, x.ID, all); added != nil {
			return fmt.Errorf("write down what came of %s: %w", x.Name, added)
		}
	}
	if err != nil && !errors.Is(err, thread.ErrNotFound) { // what is not found never will be
		return err
	}
	_, marked := o.c.Store.Change(ctx, x.ID, x.Fence, func(x *work.Execution) error {
		if !x.State.Final() {
			return work.ErrFence
		}
		x.Settled = true
		return nil
	})
	if errors.Is(marked, work.ErrFence) {
		marked = nil // it goes on, and is settled when it ends again
	}
	return errors.Join(err, marked)
}

// settledPage is how many executions SettleAll looks at at once.
const settledPage = 1000

// SettleAll does what Settle does for all that have ended and are not settled: a server that was killed may have stored an
// end and not what came of it. It goes back as far as it finds one in a page.
func (o *Outputs) SettleAll(ctx context.Context) error {
	q := work.RecordQuery{Kinds: []work.Kind{work.KindRun, work.KindTerminal}, Limit: settledPage}
	var errs []error
	for {
		list, err := o.c.Store.Recorded(ctx, q)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		found := false
		for _, x := range list {
			if x.Settled || !x.State.Final() {
				continue
			}
			err := o.Settle(ctx, x)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, thread.ErrDamaged) {
				continue // nothing can be written of it
			}
			found = true
			if err != nil && len(errs) < mostErrors {
				errs = append(errs, err) // its files may be gone; those of the others are not
			}
		}
		if len(list) < q.Limit || !found {
			return errors.Join(errs...)
		}
		q.Before = list[len(list)-1].ID
	}
}

// mostErrors is how many errors SettleAll tells.
const mostErrors = 20
