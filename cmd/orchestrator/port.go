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

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
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
func (p porter) Export(ctx context.Context, r thread.PortRequest) (thread.Status, error) {
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
		err = thread.Hint(fmt.Errorf("%s is there already: %w", file, fs.ErrExist), "choose another name")
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
			return nil, errors.Join(thread.Hint(fmt.Errorf("another export to %s runs: %w", file, thread.ErrBusy), "wait for it, or choose another name"), f.Close())
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
func (p porter) Import(ctx context.Context, r thread.PortRequest) (thread.Status, error) {
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

func (c *cli) exportVerb() *cobra.Command {
	var r thread.PortRequest
	cmd := &cobra.Command{
		Use: "export <thread>", Short: "Write a thread, with its conversation and files, to one file", Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().StringVarP(&r.File, "output", "o", "", "file to write; NAME.orchestrator without it")
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "keep the keys and passwords that the conversation holds")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		s, err := api.Status.Do(ctx, cl, api.Ref{Thread: args[0]})
		if err != nil {
			return err
		}
		r.Thread = string(s.ID)
		if r.File == "" {
			r.File = s.Name + ".orchestrator"
		}
		if r.File, err = filepath.Abs(r.File); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if _, err := api.Export.Do(ctx, cl, r); err != nil {
			return err
		}
		done := exported{Thread: s.Name, File: r.File, Secrets: r.WithSecrets, Files: !r.NoFiles}
		return c.show(done, func(w io.Writer) { fmt.Fprintf(w, "%s → %s\n%s\n", done.Thread, done.File, done.about()) })
	})
	return cmd
}

// exported is what export prints.
type exported struct {
	Thread  string `json:"thread"`
	File    string `json:"file"`
	Secrets bool   `json:"secrets"` // are in it
	Files   bool   `json:"files"`
}

// about says what is in the file that a person may not want to hand on.
func (e exported) about() string {
	said := "keys and passwords of known shapes are left out of the conversation (--with-secrets keeps them)"
	if e.Secrets {
		said = "it holds the conversation with all keys and passwords in it"
	}
	if e.Files {
		said += "; the project's files are in it as they are (--no-files leaves them out)"
	}
	return said
}

func (c *cli) importVerb() *cobra.Command {
	var r thread.PortRequest
	cmd := &cobra.Command{Use: "import <file>", Short: "Take a thread from a file that export wrote", Args: exactly("<file>")}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("import: %w", err)
		}
		s, err := api.Import.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s at turn %d, %s\n", s.Name, s.Turn, s.Agent) })
	})
	return cmd
}
