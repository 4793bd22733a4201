package workfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// Export says what is written of a store's record.
type Export struct {
	From work.Record
	// Plans has the tasks of plans, nil for none. They are no thread's: an export of one leaves them out.
	Plans plan.Store
	// Thread restricts it to the executions of a thread, with the bundles and work sessions that they name; "" for all.
	Thread  thread.ID
	Secrets bool
}

// Written is what was written.
type Written struct {
	Executions, Bundles, Sessions int
	Tasks, Handed                 int      // of plans
	Notes                         []string // what was left out, for people
}

// Empty reports whether there was nothing to write.
func (w Written) Empty() bool { return w.Executions+w.Bundles+w.Sessions+w.Tasks == 0 }

// writer writes one file.
type writer struct {
	Export
	to       *bufio.Writer
	done     Written
	bundles  map[string]bool // names that were met
	sessions map[string]bool
	pieces   map[string]bool // written, or known to be lost
	broken   int             // rows
	spoilt   int             // events
	cut      int             // events
	outs     int             // outputs, left out
	large    int             // rows, left out or without what hangs on them
	missing  int             // pieces
	secret   int             // pieces
}

func (w *writer) note() {
	for _, left := range []struct {
		n          int
		what, noun string
	}{
		{w.broken, "of the record of work, damaged and left out", "row"},
		{w.spoilt, "of the record of work, damaged and empty in it", "event"},
		{w.cut, "of the record of work, too much for one line and cut", "event"},
		{w.outs, "of the record of work, too much for one line and left out", "output"},
		{w.large, "of the record of work, too large, and without what hangs on it or left out", "row"},
		{w.missing, "of bundles, lost or too large and left out", "piece"},
		{w.secret, "of bundles, left out because of secrets in it", "piece"},
	} {
		if left.n > 0 {
			w.done.Notes = append(w.done.Notes, left.what+": "+plaintext.Count(left.n, left.noun))
		}
	}
}

// executions writes those that are selected, newest first.
func (w *writer) executions(ctx context.Context) error {
	q := work.RecordQuery{Thread: w.Thread, Limit: page}
	for {
		list, err := w.From.Recorded(ctx, q)
		if err != nil {
			return err
		}
		for _, x := range list {
			if x.Broken() {
				w.broken++
				continue
			}
			if err := w.execution(ctx, x); err != nil {
				return fmt.Errorf("%s: %w", x.Name, err)
			}
		}
		if len(list) < page {
			return nil
		}
		q.Before = list[len(list)-1].ID
	}
}

func (w *writer) execution(ctx context.Context, x work.Execution) error {
	of := work.Whole{Execution: &x}
	var err error
	for after := int64(0); ; {
		some, err := w.From.Events(ctx, x.ID, after, events)
		if err != nil && !w.lost(err) {
			return err
		}
		of.Events = append(of.Events, some...)
		if len(some) < events {
			break
		}
		after = some[len(some)-1].Seq
	}
	if of.Allocations, err = w.From.Allocations(ctx, x.ID); err != nil && !w.lost(err) {
		return err
	}
	if of.Outputs, err = w.outputs(ctx, x.ID); err != nil && !w.lost(err) {
		return err
	}
	w.shorten(of.Events)
	of.Outputs = w.bound(of.Outputs)
	w.redact(&of)
	w.sessions[x.Session] = true
	w.bundles[x.Bundle] = true
	for _, a := range of.Allocations {
		w.bundles[a.Bundle] = true
	}
	w.done.Executions++
	return w.line(lineExecution, of)
}

// outputs returns those of an execution, oldest first.
func (w *writer) outputs(ctx context.Context, id work.ID) ([]work.Output, error) {
	q, all := work.OutputQuery{Execution: string(id), Limit: page}, []work.Output(nil)
	for {
		list, err := w.From.Outputs(ctx, q)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(list) < page {
			slices.Reverse(all)
			return all, nil
		}
		q.Before = list[len(list)-1].N
	}
}

// lost counts what cannot be read because it is damaged, or was removed meanwhile.
func (w *writer) lost(err error) bool {
	if !errors.Is(err, thread.ErrDamaged) && !errors.Is(err, thread.ErrNotFound) {
		return false
	}
	w.broken++
	return true
}

// shorten bounds the texts of an execution's events, and counts those that are damaged.
func (w *writer) shorten(list []work.Event) {
	total := 0
	for i, e := range list {
		if e.Text == work.DamagedEvent(e.Seq).Text && e.At.IsZero() {
			w.spoilt++
		}
		if total += len(e.Text); total > maxText {
			list[i].Text = thread.Excerpt(e.Text)
			total += len(list[i].Text) - len(e.Text)
			w.cut++
		}
	}
}

// bound leaves out outputs that are too much for a line, the large ones first.
func (w *writer) bound(list []work.Output) []work.Output {
	total, most := 0, maxText
	for _, o := range list {
		total += len(o.Content)
	}
	for total > maxText && most > 0 {
		most /= 2
		list = slices.DeleteFunc(list, func(o work.Output) bool {
			out := total > maxText && len(o.Content) > most
			if out {
				total -= len(o.Content)
				w.outs++
			}
			return out
		})
	}
	return list
}

// allBundles writes those that are selected, newest first, each piece with the first that has it.
func (w *writer) allBundles(ctx context.Context) error {
	q := work.BundleQuery{Limit: page}
	for {
		list, err := w.From.Bundles(ctx, q)
		if err != nil {
			return err
		}
		for _, b := range list {
			if w.Thread != "" && !w.bundles[b.Bundle.ID] {
				continue
			}
			if b.Bundle.Created.IsZero() { // it stands for one that cannot be read
				w.broken++
				continue
			}
			if err := w.bundle(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", b.Bundle.ID, err)
			}
		}
		if len(list) < page {
			return nil
		}
		q.Before = list[len(list)-1].Bundle.ID
	}
}

func (w *writer) bundle(ctx context.Context, b work.KeptBundle) error {
	of, total := work.Whole{Bundle: &b, Pieces: map[string][]byte{}}, 0
	for _, hash := range b.Pieces {
		if hash == "" || w.pieces[hash] {
			continue
		}
		content, err := w.From.Piece(ctx, hash)
		switch {
		case errors.Is(err, thread.ErrDamaged), errors.Is(err, thread.ErrNotFound):
			w.missing++
		case err != nil:
			return err
		case !w.Secrets && string(secret.Mask(content)) != string(content):
			w.secret++
		case total+len(content) > maxText:
			w.missing++
			continue // it may come with another bundle
		default:
			total += len(content)
			of.Pieces[hash] = content
		}
		w.pieces[hash] = true
	}
	w.sessions[b.Session] = true
	w.redact(&of)
	w.done.Bundles++
	return w.line(lineBundle, of)
}

// allSessions writes those that are selected with their tasks, newest first.
func (w *writer) allSessions(ctx context.Context) error {
	q := work.SessionQuery{Limit: page}
	for {
		list, err := w.From.Sessions(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range list {
			if w.Thread != "" && !w.sessions[s.Name] {
				continue
			}
			if s.Created.IsZero() { // it stands for one that cannot be read
				w.broken++
				continue
			}
			of := work.Whole{Session: &s}
			if of.Tasks, err = w.From.Tasks(ctx, s.Name); err != nil && !w.lost(err) {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			w.redact(&of)
			w.done.Sessions++
			if err := w.line(lineSession, of); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		if len(list) < page {
			return nil
		}
		q.Before = list[len(list)-1].Name
	}
}

// line writes a row. One that is too large for a line is written with excerpts of its texts, or else by itself, or else it
// is left out: the others are not affected.
func (w *writer) line(kind byte, of work.Whole) error {
	for n, smaller := range []func(*work.Whole){func(*work.Whole) {}, excerpts, bare} {
		smaller(&of)
		line, err := encode(kind, of)
		if err != nil {
			break
		}
		if len(line) > maxLine || bounded(line[sumSize+3:]) != nil {
			continue
		}
		if n > 0 {
			w.large++
		}
		_, err = w.to.Write(line)
		return err
	}
	w.large++
	return nil
}

// excerpts cuts all long texts of an execution's events.
func excerpts(w *work.Whole) {
	for i := range w.Events {
		w.Events[i].Text = thread.Excerpt(w.Events[i].Text)
	}
}

// bare removes all that hangs on a row.
func bare(w *work.Whole) {
	if w.Execution != nil {
		x := *w.Execution
		x.Given, x.Said = 0, 0
		w.Execution = &x
	}
	w.Events, w.Allocations, w.Outputs, w.Tasks, w.Pieces = nil, nil, nil, nil, nil
}

// redact removes secrets from texts, unless they are to stay. What was stored as text without secrets has none anyway.
func (w *writer) redact(of *work.Whole) {
	if w.Secrets {
		return
	}
	text := func(all ...*string) {
		for _, s := range all {
			*s = secret.Redact(*s)
		}
	}
	object := func(b json.RawMessage) json.RawMessage { return secret.Mask(b) } // of the same length, so it stays JSON
	if x := of.Execution; x != nil {
		text(&x.Reason, &x.Answer, &x.Scope, &x.Gap, &x.Failure.What)
	}
	for i := range of.Events {
		text(&of.Events[i].Text)
	}
	for i := range of.Allocations {
		text(&of.Allocations[i].Source)
	}
	for i := range of.Outputs {
		of.Outputs[i].Content = object(of.Outputs[i].Content)
	}
	if s := of.Session; s != nil {
		text(&s.Scope)
		s.Metadata = object(s.Metadata)
	}
	for i := range of.Tasks {
		text(&of.Tasks[i].Body)
	}
	if b := of.Bundle; b != nil {
		text(&b.Bundle.Scope)
		b.Bundle.Items = slices.Clone(b.Bundle.Items) // the store may share them
		for i := range b.Bundle.Items {
			text(&b.Bundle.Items[i].Source)
		}
	}
}
