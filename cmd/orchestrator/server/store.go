package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/postgres"
	"orchestrator/checkpoint/roster"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/rebuild"
	"orchestrator/thread/work"
)

// backend is what every store offers.
type backend = roster.Backend

// openStore is a server's store, with the findings of its start.
type openStore struct {
	backend
	// About describes the store: "SQLite, …/state.db".
	About string
	// Problems are warnings for the user, besides damage that was moved aside.
	Problems []string
	// RolledBack is set if imports were interrupted and rolled back at the start.
	RolledBack bool
	// Short reports whether the disk is full and the space reserved for answers is in use; nil if none is reserved.
	Short func() bool
	// Check checks all of the store in the background, if its start did not; nil for one that does so itself.
	Check func(context.Context, time.Time) error
	// Away returns since when the store does not answer, zero if it does; nil for one that cannot go away.
	Away func() time.Time
	// Lost are the threads that lost turns, as far as the list of threads can tell.
	Lost []roster.Loss
	// Damaged is set if the store was damaged at the start. Doubtful is set if it may lack threads that the list does not
	// know either, because it was damaged or knows no threads at all.
	Damaged, Doubtful bool
	// Listed returns a thread as it is known here, also while a store that may go away is away; nil if that is not known.
	Listed func(thread.ID) (thread.Thread, bool)
	// Work has the executions; nil if they are in a file of their own.
	Work work.Record
	// Sizes describes what the store holds and how much space it takes.
	Sizes func(context.Context) (string, error)
	// Compact returns free space to the disk.
	Compact func(context.Context) error
	Close   func() error
}

// newStore opens the configured store.
func newStore(ctx context.Context, p project.Project, c config.Config) (*openStore, error) {
	open := newSQLite
	if c.Store != "" {
		open = newPostgres
	}
	o, err := open(ctx, p, c)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	said, err := archive.Repair(ctx, o)
	o.Problems, o.RolledBack = append(o.Problems, said...), len(said) > 0
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
	}
	return o, nil
}

func newSQLite(ctx context.Context, p project.Project, _ config.Config) (*openStore, error) {
	const room = 4 << 20 // about a hundred answers of 30 KB
	s, err := sqlite.Open(ctx, filepath.Join(p.StateDir(), fileName), sqlite.Options{Room: room})
	if err != nil {
		return nil, err
	}
	about, err := storeName(p, "")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	o := &openStore{backend: s, About: about, Close: s.Close, Compact: s.Compact, Short: s.Short, Check: s.Check,
		Sizes: func(ctx context.Context) (string, error) {
			z, err := s.Sizes(ctx)
			return fmt.Sprintf("%d threads, %d checkpoints: %s in %s; file %s with %s free, log %s",
				z.Threads, z.Checkpoints, thread.Bytes(z.Content), thread.Bytes(z.Packed), thread.Bytes(z.File),
				thread.Bytes(z.Free), thread.Bytes(z.Log)), err
		}}
	o.Damaged = s.Report() != nil
	if err := o.watch(ctx, p, fileName+"-threads", s.Commit); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// watch keeps the list of threads up to date with the store. With commit, which says at which commit the store is and
// whether it is as it was left, the store is ours alone: threads that are listed but not stored were lost. They are stored
// again, marked as having lost turns. A list that ended where a store as it was left is needs no comparison. Failing to
// write the list affects nothing else.
func (o *openStore) watch(ctx context.Context, p project.Project, name string, commit func() (string, bool)) error {
	dir, err := private.Open(p.StateDir())
	if err != nil {
		return err
	}
	restore := commit != nil
	if restore {
		if at, asLeft := commit(); asLeft {
			if list := roster.Resume(dir, name, at); list != nil {
				o.follow(dir, list, commit)()
				o.backend = list.Follow(o.backend, time.Now)
				return nil
			}
		}
	}
	list, err := roster.Open(dir, name)
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	compared := o.follow(dir, list, commit)
	stored, err := o.Threads(ctx)
	if err != nil {
		err = fmt.Errorf("compare with the list of threads: %w", err)
	}
	if restore && err == nil {
		var lost []roster.Loss
		changed := false
		lost, changed, err = list.Restore(ctx, o.backend, stored)
		if changed {
			again, unread := o.Threads(ctx)
			stored, err = again, errors.Join(err, unread)
		}
		err = errors.Join(err, o.mark(ctx, lost, stored))
	}
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
		return nil // the list is left alone until it can be compared
	}
	watched, err := list.Watch(o.backend, stored, time.Now)
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
	} else {
		compared()
	}
	o.Doubtful = restore && (o.Damaged || list.Len() == 0)
	if o.backend = watched; restore {
		list.Forget() // what it knows is in the file, and in the store
	} else {
		o.Listed = list.Thread
	}
	return nil
}

// follow has the list end with the store. What it returns is called once the list has all of the store.
func (o *openStore) follow(dir *private.Folder, list *roster.Roster, commit func() (string, bool)) (compared func()) {
	closeStore, has := o.Close, false
	o.Close = func() error {
		err := closeStore()
		at := ""
		if commit != nil && err == nil && has {
			at, _ = commit()
		}
		return errors.Join(err, list.End(at, time.Now()), dir.Close())
	}
	o.Listed = func(id thread.ID) (thread.Thread, bool) {
		t, err := o.Thread(context.Background(), id)
		return t, err == nil
	}
	return func() { has = true }
}

// newPostgres opens a database that several servers may share. A server is identified by its machine and folder. Clones
// of a repository are one project, identified by its first commit.
func newPostgres(ctx context.Context, p project.Project, c config.Config) (*openStore, error) {
	host := c.Host
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("get the name of this machine: %w", err)
		}
	}
	project := c.Project
	if project == "" {
		var err error
		if project, err = sharedName(ctx, p); err != nil {
			return nil, err
		}
	}
	s, err := postgres.Open(ctx, c.Store, postgres.Options{Project: project, Host: host + ":" + p.Root, Alone: true})
	if err != nil {
		return nil, err
	}
	o := &openStore{backend: s, About: s.About(), Away: s.Away, Close: s.Close, Work: s.Work(time.Now),
		Compact: func(context.Context) error { return nil },
		Sizes: func(ctx context.Context) (string, error) {
			z, err := s.Sizes(ctx)
			return fmt.Sprintf("%d threads here, %d checkpoints in the whole project: %s in %s; database of all projects %s",
				z.Threads, z.Checkpoints, thread.Bytes(z.Content), thread.Bytes(z.Packed), thread.Bytes(z.Database)), err
		}}
	name, err := listName(c.Store)
	if err == nil {
		err = o.watch(ctx, p, name, nil)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// sharedName returns the project's name in a shared store. It is kept in the state, so that a first commit after the
// first use, or the root commit of another branch, does not make it another project.
func sharedName(ctx context.Context, p project.Project) (string, error) {
	name, err := p.Shared()
	if err != nil {
		return "", fmt.Errorf("read the project's name: %w", err)
	}
	if name != "" {
		return name, nil
	}
	name = firstCommit(ctx, p)
	if err := p.KeepShared(name); err != nil {
		return "", fmt.Errorf("store the project's name: %w", err)
	}
	return name, nil
}

// firstCommit returns a name that is the same in all clones of a repository, or the folder's name if there is no
// commit.
func firstCommit(ctx context.Context, p project.Project) string {
	var out []byte
	g, err := git.New()
	if err == nil {
		out, err = g.Run(ctx, git.Call{Dir: p.Root, Args: []string{"rev-list", "--max-parents=0", "HEAD", "--"}})
	}
	roots := strings.Fields(string(out))
	if err != nil || len(roots) == 0 {
		return filepath.Base(p.Root)
	}
	return roots[len(roots)-1]
}

// fileName is the file of a store of our own.
const fileName = "state.db"

// storeName returns which store it is, without its password.
func storeName(p project.Project, url string) (string, error) {
	if url == "" {
		return "SQLite, " + filepath.Join(p.StateDir(), fileName), nil
	}
	return postgres.About(url)
}

// listName returns the name of the file with the last list of threads of a store.
func listName(url string) (string, error) {
	if url == "" {
		return fileName + "-threads", nil
	}
	about, err := postgres.About(url)
	sum := sha256.Sum256([]byte(about))
	return "threads-" + hex.EncodeToString(sum[:4]), err
}

// mark records which of the stored threads may have lost turns, before the list of threads is updated from the store.
func (o *openStore) mark(ctx context.Context, lost []roster.Loss, stored []thread.Thread) error {
	o.Lost = lost
	now := time.Now()
	listed := map[thread.ID]bool{}
	for _, l := range lost {
		listed[l.Was.ID] = true
		if err := rebuild.Mark(ctx, o.backend, l.Was.ID, &l.Was, now); err != nil {
			return err
		}
	}
	if !o.Damaged {
		return nil
	}
	for _, t := range stored {
		if listed[t.ID] || t.Session == "" {
			continue
		}
		if err := rebuild.Mark(ctx, o.backend, t.ID, nil, now); err != nil {
			return err
		}
	}
	return nil
}
