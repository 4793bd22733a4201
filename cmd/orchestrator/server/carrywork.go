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
	"orchestrator/thread/work"
)

// carryWork takes the record of work along. The zero value has none.
type carryWork struct {
	store work.Keeper
	spool string // for files of a moment
}

// carryWork returns what takes this server's record along.
func (a *Server) carryWork() carryWork {
	store, _ := a.executions.(work.Keeper)
	return carryWork{store: store, spool: a.Project.StateDir()}
}

// all adds the record to a backup. A record that cannot be read keeps no backup from being made: it is missing from it,
// as the notes say, which are complete once the backup is written.
func (c carryWork) all(b *backup.Backup) func() []string {
	var notes []string
	if c.store == nil {
		return func() []string { return nil }
	}
	b.Work = func(ctx context.Context, w io.Writer) (bool, error) {
		done, err := workfile.Export{From: c.store, Secrets: !b.Redacted}.Write(ctx, w)
		if err != nil && unreadable(err) {
			notes = append(notes, fmt.Sprintf("the record of work is missing from it: %v", err))
			return false, nil
		}
		notes = append(notes, done.Notes...)
		return !done.Empty(), err
	}
	return func() []string { return notes }
}

// unreadable reports whether an error is that the record itself cannot be read now.
func unreadable(err error) bool {
	return errors.Is(err, thread.ErrDamaged) || errors.Is(err, thread.ErrUnreachable) || errors.Is(err, thread.ErrUnsupported)
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
	f, err := c.file()
	if err != nil {
		return notes, end, err
	}
	end = func() { _ = f.Close() }
	done, err := workfile.Export{From: c.store, Thread: e.Thread, Secrets: e.Secrets}.Write(ctx, f)
	if err != nil && unreadable(err) {
		said = append(said, fmt.Sprintf("what was recorded of it is missing from the file: %v", err))
		return notes, end, nil
	}
	if said = done.Notes; err != nil || done.Executions == 0 {
		return notes, end, err
	}
	e.Work = func(w io.Writer) error {
		_, err := f.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.Copy(w, f)
		}
		return err
	}
	return notes, end, nil
}

// file returns an empty file without a name.
func (c carryWork) file() (*os.File, error) {
	f, err := os.CreateTemp(c.spool, "work-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("take the record of work along: %w", err)
	}
	return f, nil
}

// outOf returns what imports the executions of an archive, and their notes. They are removed with the thread if it is not
// imported after all.
func (c carryWork) outOf(ctx context.Context) (p archive.Part, undo func(thread.ID) error, notes func() []string) {
	var said []string
	notes = func() []string { return said }
	undo = func(thread.ID) error { return nil }
	p.Check = workfile.Check
	if c.store == nil {
		return p, undo, notes
	}
	undo = func(id thread.ID) error {
		_, err := c.store.Purge(ctx, []thread.ID{id})
		return err
	}
	p.Read = func(id thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
		f, err := c.file()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		size, err := io.Copy(f, r)
		if err != nil {
			return nil, fmt.Errorf("take the record of work along: %w", err)
		}
		in := workfile.Import{To: c.store, Now: time.Now(), As: workfile.As{Thread: id}}
		done, err := in.Read(ctx, f, size)
		said = append(said, done.Notes...)
		if err != nil && unreadable(err) {
			said = append(said, fmt.Sprintf("what was recorded of it was not imported: %v", err))
			err = nil
		}
		return nil, err
	}
	return p, undo, notes
}

// back adds to a restore the record of a backup.
func (c carryWork) back(r *backup.Restore) func() []string {
	var said []string
	r.CheckWork = workfile.Check
	if c.store != nil {
		r.Work = func(ctx context.Context, f io.ReaderAt, size int64, whole bool) error {
			if !whole {
				said = append(said, "the record of work in the file is damaged: what verifies of it is restored")
			}
			done, err := workfile.Import{To: c.store, Now: r.Now}.Read(ctx, f, size)
			said = append(said, done.Notes...)
			if n := done.Executions + done.Sessions + done.Bundles; n+done.Existing > 0 {
				said = append(said, fmt.Sprintf("of the record of work, restored: %d executions, %d work sessions, %d bundles; there already: %d",
					done.Executions, done.Sessions, done.Bundles, done.Existing))
			}
			if err != nil && unreadable(err) {
				said = append(said, fmt.Sprintf("the record of work was not restored: %v. Restore the file again once that is mended", err))
				return nil
			}
			return err
		}
	}
	return func() []string { return said }
}
