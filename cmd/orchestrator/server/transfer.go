package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/archive"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/manager"
)

// transfer exports, imports, backs up and restores the threads of a project.
type transfer struct {
	manager *manager.Manager
	store   backend
	files   *keptFiles // nil without a repository
	carry   carry
	project string
	spool   string
	// known maps an agent's name in an archive to a known agent.
	known func(agent string) string
}

// Export writes a thread's archive to a new file.
func (p transfer) Export(ctx context.Context, r thread.TransferRequest) (thread.Exported, error) {
	var done thread.Exported
	var err error
	if done.Status, err = p.manager.Threads.Status(ctx, r.Thread); err != nil {
		return done, err
	}
	e := archive.Export{Thread: done.ID, Program: buildinfo.Version(), Now: time.Now(), Secrets: r.WithSecrets}
	var lost []string
	e.Lost = func(list []thread.Checkpoint) {
		u := thread.Unreadable{Name: done.Name}
		for _, c := range list {
			u.Turns = append(u.Turns, c.Turn)
		}
		lost = append(lost, u.String()+"; left out")
	}
	notes, err := p.carry.into(ctx, &e, p.store, done.Thread)
	if err != nil {
		return done, fmt.Errorf("export %s: %w", done.Name, err)
	}
	recorded, endWork, err := p.carry.work.into(ctx, &e)
	defer endWork()
	if err != nil {
		return done, fmt.Errorf("export %s: %w", done.Name, err)
	}
	if p.files != nil && !r.NoFiles && done.Head != "" {
		bundle, end, err := p.bundle(ctx, done.Thread)
		if err != nil {
			return done, err
		}
		defer end()
		e.Snapshots = bundle
	}
	if err := writeFile(r.File, func(w io.Writer) error { return e.Write(ctx, p.store, w) }); err != nil {
		return done, fmt.Errorf("export %s: %w", done.Name, err)
	}
	done.Notes = slices.Concat(notes(), recorded(), lost)
	return done, nil
}

// writeFile writes a file that gets its name once it is complete and synced. It never replaces an existing file.
func writeFile(file string, write func(io.Writer) error) error {
	out, err := beginFile(file)
	if err != nil {
		return err
	}
	err = errors.Join(write(out), out.Sync())
	if err == nil {
		err = os.Link(out.Name(), file) // fails if the file exists
	}
	if errors.Is(err, fs.ErrExist) {
		err = thread.Hint(fmt.Errorf("%s: %w", file, fs.ErrExist), "choose another name")
	}
	// The lock is released after the name is removed, so that a waiter does not get a file that no longer exists.
	err = errors.Join(err, os.Remove(out.Name()), out.Close())
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(file))
	}
	return err
}

// beginFile opens the temporary file of an export. It overwrites what a killed export left, and locks the file while it
// is written.
func beginFile(file string) (*os.File, error) {
	part := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".orchestrator-part")
	for {
		f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, cannotWrite(file, err)
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
			return nil, errors.Join(thread.Hint(fmt.Errorf("another export to %s is running: %w", file, thread.ErrBusy),
				"wait for it, or choose another name"), f.Close())
		}
		found, err := os.Lstat(part)
		opened, err2 := f.Stat()
		switch {
		case err == nil && err2 == nil && os.SameFile(found, opened):
			if !opened.Mode().IsRegular() {
				return nil, errors.Join(thread.Kindf(thread.ErrInvalid, "%s is not a regular file", part), f.Close())
			}
			if err := f.Truncate(0); err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return f, nil
		case err2 != nil || err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, errors.Join(err, err2, f.Close())
		}
		f.Close() // the export that held the lock has ended
	}
}

// cannotWrite returns why a file that a person named cannot be written, by the name that they know.
func cannotWrite(file string, err error) error {
	why := err.Error()
	at := (*fs.PathError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "there is no folder " + filepath.Dir(file)
	case errors.As(err, &at):
		why = at.Err.Error()
	}
	return thread.Kindf(err, "cannot write %s: %s", file, why)
}

// bundle streams the snapshots of a thread's lineage, if there are any. The stream has stopped once end returns.
func (p transfer) bundle(ctx context.Context, t thread.Thread) (bundle io.Reader, end func(), err error) {
	lineage, err := p.store.Lineage(ctx, t.Head, thread.Page{Limit: 1 << 20})
	if err != nil {
		return nil, nil, fmt.Errorf("export %s: %w", t.Name, err)
	}
	var commits []string
	for _, c := range lineage {
		if c.Snapshot != nil {
			commits = append(commits, c.Snapshot.Commit)
		}
	}
	out, in := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := p.files.Bundle(ctx, in, commits)
		in.CloseWithError(err)
	}()
	return out, func() { _ = out.Close(); <-done }, nil
}

// Import imports a thread from an archive, after checking the whole file.
func (p transfer) Import(ctx context.Context, r thread.TransferRequest) (thread.Imported, error) {
	f, err := openRegular(r.File)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = thread.Kindf(thread.ErrNotFound, "no file %s", r.File)
		}
		return thread.Imported{}, fmt.Errorf("import: %w", err)
	}
	defer f.Close()
	in := archive.Import{File: r.File, Dir: p.project, Now: time.Now(), Agent: p.known}
	if p.files != nil && !r.NoFiles {
		in.Snapshots = func(id thread.ID, bundle io.Reader) error { return p.unbundle(ctx, id, bundle) }
	}
	carried := p.carry.outOf(ctx, nil)
	in.Staged, in.Masks, in.Undo = carried.Staged, carried.Masks, carried.Undo
	recorded := p.carry.work.outOf()
	defer recorded.close()
	in.Work = recorded.Part
	t, err := in.Read(ctx, p.store, f)
	if err != nil {
		return thread.Imported{}, err
	}
	said := recorded.put(ctx, t.ID)
	var done thread.Imported
	done.Status, err = p.manager.Threads.Adopt(ctx, t.ID)
	done.LeftOut, done.Notes = p.manager.Lifecycle.Imported(ctx, []thread.ID{t.ID}), append(carried.Notes(), said...)
	for _, note := range done.Notes {
		p.manager.Traffic.Tell(t.ID, thread.Notice{Level: thread.LevelInfo, Text: note})
	}
	return done, err
}

// openRegular opens a file that a person has named. Anything else, such as a pipe or a device, is refused without
// waiting for whoever writes to it.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) { // a socket
		return nil, thread.Kindf(thread.ErrInvalid, "%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(thread.Kindf(thread.ErrInvalid, "%s is not a regular file", path), err, f.Close())
	}
	return f, nil
}

// unbundle imports the files of an archive.
func (p transfer) unbundle(ctx context.Context, id thread.ID, bundle io.Reader) error {
	f, err := os.CreateTemp(p.spool, "bundle-*")
	if err != nil {
		return fmt.Errorf("store the files temporarily: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, bundle)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store the files temporarily: %w", err)
	}
	_, err = p.files.Unbundle(ctx, f.Name(), id)
	return err
}
