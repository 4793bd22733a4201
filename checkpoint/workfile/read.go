package workfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Import says how a file is read.
type Import struct {
	To work.Keeper
	// Plans takes the tasks of plans; nil has them be left out.
	Plans plan.Keeper
	Now   time.Time
	// As makes it that of a thread that was just imported; the zero value takes everything as it was.
	As As
}

// Read is what was read.
type Read struct {
	Executions, Bundles, Sessions int
	Tasks                         int      // of plans
	Existing                      int      // that were there already
	Notes                         []string // for people
}

// reader reads one file.
type reader struct {
	Import
	file io.ReaderAt
	// sessions and bundles have the names here of what the file has, those that are others; all of what is As.
	sessions, bundles map[string]string
	tasks             map[string]string // of plans, all that are here
	done              Read
	lost              int      // lines
	renamed           []string // old → new
}

// lines stores lines, oldest first.
func (r *reader) lines(ctx context.Context, all []place) error {
	var some []work.Whole
	bytes := int64(0)
	for _, at := range slices.Backward(all) {
		w, err := r.line(at)
		if errors.Is(err, thread.ErrInvalid) {
			r.lost++
			continue
		}
		if err != nil {
			return err
		}
		some, bytes = append(some, w), bytes+at.size
		if len(some) < batch && bytes < weight {
			continue
		}
		if err := r.store(ctx, some); err != nil {
			return err
		}
		some, bytes = some[:0], 0
	}
	return r.store(ctx, some)
}

// line reads one line, with the names that it has here.
func (r *reader) line(at place) (work.Whole, error) {
	var w work.Whole
	b := make([]byte, at.size)
	if _, err := r.file.ReadAt(b, at.at); err != nil {
		return w, err
	}
	if err := bounded(b); err != nil {
		return w, err
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return w, thread.Kindf(thread.ErrInvalid, "a line is no JSON")
	}
	if err := w.Check(); err != nil {
		return w, err
	}
	r.As.apply(&w, r.Now)
	w.Settle(r.Now)
	r.As.alone(&w, r.sessions, r.bundles)
	if x := w.Execution; x != nil && x.Part.Task != "" { // of a task that came along, or of none
		if x.Part.Task = r.tasks[x.Part.Task]; x.Part.Task == "" {
			x.Part = thread.Part{}
		}
	}
	w.Clean()
	if w.Bundle != nil { // what the file says is no proof, and a name or an author may be another now
		w.Bundle.Hash = bundle.Hash(*w.Bundle)
	}
	return w, nil
}

// store stores some in one transaction, those whose names are taken by themselves.
func (r *reader) store(ctx context.Context, some []work.Whole) error {
	if len(some) == 0 {
		return nil
	}
	taken, err := r.To.Load(ctx, some)
	if errors.Is(err, thread.ErrInvalid) && len(some) > 1 { // one of them
		for _, w := range some {
			if err := r.store(ctx, []work.Whole{w}); err != nil {
				return err
			}
		}
		return nil
	}
	if errors.Is(err, thread.ErrInvalid) {
		r.lost++
		return nil
	}
	if err != nil {
		return err
	}
	for n, w := range some {
		if !slices.Contains(taken, n) {
			r.count(w)
			r.called(w, w.Name(), w.Name())
			continue
		}
		if err := r.beside(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) count(w work.Whole) {
	switch {
	case w.Execution != nil:
		r.done.Executions++
	case w.Bundle != nil:
		r.done.Bundles++
	default:
		r.done.Sessions++
	}
}

// most is how many names are tried for one.
const most = 1000

// beside finds what is here in place of something, or stores it under another name.
func (r *reader) beside(ctx context.Context, w work.Whole) error {
	was := w.Name()
	for n := 2; n < most; n++ {
		here, err := r.here(ctx, w)
		if err != nil {
			return err
		}
		if here != "" {
			r.done.Existing++
			r.called(w, was, here)
			return nil
		}
		w.SetName(work.Another(was, n))
		taken, err := r.To.Load(ctx, []work.Whole{w})
		if errors.Is(err, thread.ErrInvalid) {
			r.lost++
			return nil
		}
		if err != nil {
			return err
		}
		if len(taken) == 0 {
			r.count(w)
			r.called(w, was, w.Name())
			if w.Bundle == nil || w.Bundle.Bundle.ID != was {
				r.renamed = append(r.renamed, was+" \u2192 "+w.Name())
			}
			return nil
		}
	}
	return thread.Kindf(thread.ErrLimit, "%s: too many have this name", was)
}

// here returns the name of what is the same here, "" if the name is something else's. A work session of an archive is never
// the same as one that did not come with it, whatever it says.
func (r *reader) here(ctx context.Context, w work.Whole) (string, error) {
	switch {
	case w.Execution != nil:
		x, err := r.To.Execution(ctx, string(w.Execution.ID))
		if err != nil || x.ID != w.Execution.ID {
			return "", unless(err)
		}
		return x.Name, nil
	case w.Bundle != nil:
		b, err := r.To.Bundle(ctx, w.Bundle.Hash)
		if err != nil || b.Hash != w.Bundle.Hash {
			return "", unless(err)
		}
		return b.Bundle.ID, nil
	default:
		s, err := r.To.Session(ctx, w.Session.Name)
		if err != nil || !s.Same(*w.Session) || r.As.Thread != "" && s.By != r.As.Thread {
			return "", unless(err)
		}
		return s.Name, nil
	}
}

// unless returns an error but that something is not there, or cannot be read: then it is something else.
func unless(err error) error {
	if errors.Is(err, thread.ErrNotFound) || errors.Is(err, thread.ErrDamaged) {
		return nil
	}
	return err
}

// called keeps that something has another name here.
func (r *reader) called(w work.Whole, was, now string) {
	switch {
	case was == now && r.As.Thread == "":
	case w.Bundle != nil:
		r.bundles[was] = now
	case w.Session != nil:
		r.sessions[was] = now
	}
}

// maxNamed is how many other names are told.
const maxNamed = 20

func (r *reader) note() {
	if r.lost > 0 {
		r.done.Notes = append(r.done.Notes, "of the record of work in the file, damaged and lost: "+plaintext.Count(r.lost, "row"))
	}
	for n, names := range r.renamed {
		if n == maxNamed {
			r.done.Notes = append(r.done.Notes, fmt.Sprintf("%d more names of the record are another's here", len(r.renamed)-n))
			return
		}
		r.done.Notes = append(r.done.Notes, "a name in the record of work is another's here: "+names)
	}
}
