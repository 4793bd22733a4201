package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/backup"
	"orchestrator/checkpoint/workfile"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// carryWork takes the record of work along. The zero value has none.
type carryWork struct {
	store work.Keeper
	plans plan.Keeper // nil for none
	spool string      // for files of a moment
}

// all adds the record to a backup. A record that cannot be read keeps no backup from being made: it is missing from it,
// as the notes say, which are complete once the backup is written.
func (c carryWork) all(b *backup.Backup, kept *thread.BackupReport) func() []string {
	var notes []string
	if c.store == nil {
		return func() []string { return nil }
	}
	b.Work = func(ctx context.Context, w io.Writer) (bool, error) {
		to := &watchedWriter{to: w}
		done, err := c.export(b).Write(ctx, to)
		if err != nil && to.err == nil && ctx.Err() == nil { // the record's, whatever it is
			notes = append(notes, fmt.Sprintf("the record of work is missing from it: %v", err))
			return false, nil
		}
		notes = append(notes, done.Notes...)
		kept.Executions, kept.Sessions, kept.Bundles, kept.Tasks = done.Executions, done.Sessions, done.Bundles, done.Tasks
		return !done.Empty(), err
	}
	return func() []string { return notes }
}

// export says what of the record goes into a backup.
func (c carryWork) export(b *backup.Backup) workfile.Export {
	e := workfile.Export{From: c.store, Secrets: !b.Redacted}
	if c.plans != nil {
		e.Plans = c.plans
	}
	return e
}

// watchedWriter keeps an error of what it writes to.
type watchedWriter struct {
	to  io.Writer
	err error
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.err = err
	return n, err
}

// unreadable reports whether an error is that the record itself cannot be read now.
func unreadable(err error) bool {
	return errors.Is(err, work.ErrNoRecord) || errors.Is(err, thread.ErrDamaged) || errors.Is(err, thread.ErrUnreachable) || errors.Is(err, thread.ErrUnsupported)
}

// into adds to an export the executions of the thread. It returns a function that says what was left out, once it is
// written, and one that removes what was made for it.
func (c carryWork) into(ctx context.Context, e *archive.Export) (notes func() []string, end func(), err error) {
	end = func() {}
	var said []string
	notes = func() []string { return said }
	if c.store == nil {
		return notes, end, nil
	}
	kept := &spooled{room: c.room}
	end = kept.close
	to := &watchedWriter{to: kept}
	done, err := workfile.Export{From: c.store, Thread: e.Thread, Secrets: e.Secrets}.Write(ctx, to)
	if err != nil && to.err == nil && ctx.Err() == nil {
		said = append(said, fmt.Sprintf("what was recorded of it is missing from the file: %v", err))
		return notes, end, nil
	}
	if said = done.Notes; err != nil || done.Executions == 0 {
		return notes, end, err
	}
	e.Work = kept.copy
	return notes, end, nil
}

// room returns an empty file without a name.
func (c carryWork) room() (*os.File, error) {
	f, err := os.CreateTemp(c.spool, "work-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("take the record of work along: %w", err)
	}
	return f, nil
}

// takenWork is the record of a thread that is being imported.
type takenWork struct {
	carryWork
	Part archive.Part
	file *os.File // nil if the archive has none
}

// outOf returns what takes the executions out of an archive.
func (c carryWork) outOf() *takenWork {
	t := &takenWork{carryWork: c, Part: archive.Part{Check: workfile.Check}}
	if c.store == nil {
		return t
	}
	t.Part.Read = func(_ thread.ID, r io.Reader) (_ map[thread.Token]thread.Token, err error) {
		if t.file, err = c.room(); err != nil {
			return nil, err
		}
		if _, err = io.Copy(t.file, r); err != nil {
			err = fmt.Errorf("take the record of work along: %w", err)
		}
		return nil, err
	}
	return t
}

// put stores the executions for the thread, once that is imported: so a crash leaves none of no thread. It returns
// notes. A record that cannot be written makes no import fail.
func (t *takenWork) put(ctx context.Context, id thread.ID) []string {
	if t.file == nil {
		return nil
	}
	info, err := t.file.Stat()
	if err != nil {
		return []string{fmt.Sprintf("what was recorded of it was not imported: %v", err)}
	}
	in := workfile.Import{To: t.store, Now: time.Now(), As: workfile.As{Thread: id}}
	done, err := in.Read(ctx, t.file, info.Size())
	if err != nil {
		return append(done.Notes, fmt.Sprintf("not all that was recorded of it was imported: %v", err))
	}
	return done.Notes
}

func (t *takenWork) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// back adds to a restore the record of a backup.
func (c carryWork) back(r *backup.Restore, kept *thread.BackupReport) func() []string {
	var said []string
	r.CheckWork = workfile.Check
	if c.store != nil {
		r.Work = func(ctx context.Context, f io.ReaderAt, size int64, whole bool) error {
			if !whole {
				said = append(said, "the record of work in the file is damaged: what verifies of it is restored")
			}
			in := workfile.Import{To: c.store, Plans: c.plans, Now: r.Now}
			done, err := in.Read(ctx, f, size)
			said = append(said, done.Notes...)
			kept.Executions, kept.Sessions, kept.Bundles, kept.Recorded = done.Executions, done.Sessions, done.Bundles, done.Existing
			kept.Tasks = done.Tasks
			if err != nil && unreadable(err) {
				said = append(said, fmt.Sprintf("the record of work was not restored: %v. Restore the file again once that is mended", err))
				return nil
			}
			return err
		}
	}
	return func() []string { return said }
}

// sizes says what the record holds, and what is wrong with it. One that does not answer is said to.
func (c carryWork) sizes(ctx context.Context) []string {
	if c.store == nil {
		return nil
	}
	m, err := c.store.Measure(ctx)
	if err != nil {
		return []string{fmt.Sprintf("record of work: %v", err)}
	}
	line := fmt.Sprintf("record of work: %s with %s, %s, %s, %s: %s", plaintext.Count(m.Executions, "execution"),
		plaintext.Count(m.Events, "event"), plaintext.Count(m.Sessions, "work session"), plaintext.Count(m.Outputs, "output"),
		plaintext.Count(m.Bundles, "bundle"), thread.Bytes(m.Bytes))
	if m.Tasks > 0 {
		line += fmt.Sprintf(", of plans %s with %s", plaintext.Count(m.Tasks, "task"), plaintext.Count(m.Handed, "deliverable"))
	}
	if m.Log > 0 {
		line += ", log " + thread.Bytes(m.Log)
	}
	if !m.Checked.IsZero() {
		line += ", checked " + m.Checked.Local().Format("2006-01-02 15:04")
	}
	lines := []string{line}
	if m.Damaged > 0 {
		lines = append(lines, "record of work: "+plaintext.Count(m.Damaged, "row")+" cannot be read; the others are not affected")
	}
	if m.Readers > 0 || m.Log > longLog {
		lines = append(lines, "record of work: somebody reads it in a transaction that does not end, so its log grows: end that program")
	}
	return lines
}

// longLog is a log that a reader keeps from being folded.
const longLog = 256 << 20
