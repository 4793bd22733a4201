package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

// porter takes threads out of a project and into it.
type porter struct {
	manager *manager.Manager
	store   backend
	files   *snapshot.Store // nil without a repository
	project string
	spool   string
	// known returns the agent that stands for one that an archive names.
	known func(agent string) string
}

// Export writes a thread's archive to a file that is not there yet.
func (p porter) Export(ctx context.Context, r thread.TransferRequest) (thread.Status, error) {
	s, err := p.manager.Status(ctx, r.Thread)
	if err != nil {
		return s, err
	}
	e := archive.Export{Thread: s.ID, Program: version(), Now: time.Now(), Secrets: r.WithSecrets}
	if p.files != nil && !r.NoFiles && s.Head != "" {
		bundle, end, err := p.bundle(ctx, s.Thread)
		if err != nil {
			return s, err
		}
		defer end()
		e.Snapshots = bundle
	}
	if err := writeFile(r.File, func(w io.Writer) error { return e.Write(ctx, p.store, w) }); err != nil {
		return s, fmt.Errorf("export %s: %w", s.Name, err)
	}
	return s, nil
}

// writeFile writes a file that gets its name when it is whole and synced, and never takes that of one that is there.
func writeFile(file string, write func(io.Writer) error) error {
	out, err := beginFile(file)
	if err != nil {
		return err
	}
	err = errors.Join(write(out), out.Sync())
	if err == nil {
		err = os.Link(out.Name(), file) // refuses what is there already
	}
	if errors.Is(err, fs.ErrExist) {
		err = thread.Hint(fmt.Errorf("%s: %w", file, fs.ErrExist), "choose another name")
	}
	// Its lock ends after its name, so that who waits for it does not get a file that is gone.
	err = errors.Join(err, os.Remove(out.Name()), out.Close())
	if err == nil {
		err = syncFolder(filepath.Dir(file))
	}
	return err
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// beginFile opens the file that an export is written to before it gets its name. What an export that was killed left there
// is overwritten; one that is being written is locked.
func beginFile(file string) (*os.File, error) {
	part := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".orchestrator-part")
	for {
		f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
			return nil, errors.Join(thread.Hint(fmt.Errorf("another export to %s runs: %w", file, thread.ErrBusy),
				"wait for it, or choose another name"), f.Close())
		}
		found, err := os.Lstat(part)
		opened, err2 := f.Stat()
		switch {
		case err == nil && err2 == nil && os.SameFile(found, opened):
			if !opened.Mode().IsRegular() {
				return nil, errors.Join(fmt.Errorf("%s is not a file: %w", part, thread.ErrInvalid), f.Close())
			}
			if err := f.Truncate(0); err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return f, nil
		case err2 != nil || err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, errors.Join(err, err2, f.Close())
		}
		f.Close() // the export that had it has ended
	}
}

// bundle streams the snapshots of a thread's lineage, none where there are none. What end ends is over when it
// returns.
func (p porter) bundle(ctx context.Context, t thread.Thread) (bundle io.Reader, end func(), err error) {
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

// Import takes a thread from an archive, after the whole file was checked.
func (p porter) Import(ctx context.Context, r thread.TransferRequest) (thread.Status, error) {
	f, err := os.Open(r.File)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: %w", r.File, thread.ErrNotFound)
		}
		return thread.Status{}, fmt.Errorf("import: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return thread.Status{}, fmt.Errorf("import %s: %w: not a file", r.File, thread.ErrInvalid)
	}
	in := archive.Import{File: r.File, Dir: p.project, Now: time.Now(), Agent: p.known}
	if p.files != nil && !r.NoFiles {
		in.Snapshots = func(id thread.ID, bundle io.Reader) error { return p.unbundle(ctx, id, bundle) }
	}
	t, err := in.Read(ctx, p.store, f)
	if err != nil {
		return thread.Status{}, err
	}
	return p.manager.Adopt(ctx, t.ID)
}

// unbundle takes the files of an import.
func (p porter) unbundle(ctx context.Context, id thread.ID, bundle io.Reader) error {
	f, err := os.CreateTemp(p.spool, "bundle-*")
	if err != nil {
		return fmt.Errorf("spool the files: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, bundle)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("spool the files: %w", err)
	}
	_, err = p.files.Unbundle(ctx, f.Name(), id)
	return err
}
