package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrator/thread/work"
)

// Settle writes down by itself what an execution that has ended has made of files, and why it failed. It can be repeated,
// also by another server: what is there already is not stored again, since both states of the files are kept.
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
	if len(all) == 0 {
		return err
	}
	if _, added := o.c.Store.AddOutputs(ctx, x.ID, all); added != nil {
		return fmt.Errorf("write down what came of %s: %w", x.Name, added)
	}
	return err
}

// mostSettled is how many of the newest executions SettleAll looks at.
const mostSettled = 200

// SettleAll does what Settle does for the newest executions that have ended: a server that was killed may have stored an
// end and not what came of it.
func (o *Outputs) SettleAll(ctx context.Context) error {
	list, err := o.c.Store.Recorded(ctx, work.RecordQuery{Kinds: []work.Kind{work.KindRun, work.KindTerminal}, Limit: mostSettled})
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range list {
		if x.Result == "" || x.Result == x.Base || !x.State.Final() {
			continue
		}
		known, err := o.c.Store.Outputs(ctx, work.OutputQuery{Execution: string(x.ID), Types: []work.OutputType{work.OutputDeliverable}, Limit: 1})
		if err == nil && len(known) == 0 {
			err = o.Settle(ctx, x)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		errs = append(errs, err) // its files may be gone; those of the others are not
	}
	return errors.Join(errs...)
}
