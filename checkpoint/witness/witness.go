package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/work"
)

// owner is the thread, which does not exist, that all places belong to in the repository.
const owner = thread.ID("witness")

// Trees makes and removes worktrees, and takes the snapshots that are in them; see thread.Worktrees.
type Trees interface {
	Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error)
	Add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error)
	Remove(ctx context.Context, id thread.ID, w thread.Worktree) (thread.Snapshot, error)
	Drop(ctx context.Context, id thread.ID) error
	DropBranch(ctx context.Context, w thread.Worktree) error
}

// Witness implements work.Witness. It is safe for concurrent use, in one process.
type Witness struct {
	mark     string // path of the file that is there while there may be places
	trees    Trees
	found    *worktree.Finder
	failed   func(error)    // may be nil
	removing sync.WaitGroup // of places that nobody is in

	turn   chan struct{} // holds an element while somebody joins or leaves, and guards all below
	places []*place
	runs   map[work.ID]*run
}

var _ work.Witness = (*Witness)(nil)

// place is a worktree that runs share.
type place struct {
	from    string // the root of the worktree that its files are of
	at      thread.Snapshot
	made    thread.Worktree
	seen    index
	link    []byte // what its .git file says
	changed bool   // it is not what it was: nobody joins any more
	runs    int
}

// run is a run in a place.
type run struct {
	in      *place
	thread  thread.ID
	changes map[string]bool
}

// New returns a Witness of the worktrees of a project. Mark is the path of a file that is there while there may be places,
// so that Repair looks for them only then. Failed is called if a place cannot be removed, which the next Repair tries
// again; it may be nil.
func New(trees Trees, found *worktree.Finder, mark string, failed func(error)) *Witness {
	return &Witness{trees: trees, found: found, mark: mark, failed: failed, turn: make(chan struct{}, 1), runs: map[work.ID]*run{}}
}

// most is how many paths a run is told at most.
const most = 1000

// lock takes the turn.
func (w *Witness) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Join gives a run a place with the files of a folder as they are now. An error that is thread.ErrNoRepository means that
// the folder is in no repository: there is nothing to make a place of.
func (w *Witness) Join(ctx context.Context, x work.Execution, dir string) (work.Place, error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return work.Place{}, err
	}
	defer unlock()
	at, err := w.join(ctx, x, dir)
	if err != nil {
		return work.Place{}, fmt.Errorf("a place to read in: %w", err)
	}
	return at, nil
}

func (w *Witness) join(ctx context.Context, x work.Execution, dir string) (work.Place, error) {
	if w.runs[x.ID] != nil {
		return work.Place{}, thread.Kindf(thread.ErrInvalid, "run %s has one", x.ID)
	}
	snap, err := w.trees.Take(ctx, x.Thread, dir, nil)
	if err != nil {
		return work.Place{}, err
	}
	source, err := w.found.Open(ctx, dir)
	if err != nil {
		return work.Place{}, err
	}
	below, err := inside(source.Git.Root, dir)
	if err != nil {
		return work.Place{}, err
	}
	p, err := w.find(source.Git.Root, snap)
	if err != nil {
		return work.Place{}, err
	}
	if p == nil {
		if err := os.WriteFile(w.mark, nil, 0o600); err != nil {
			return work.Place{}, err
		}
		if p, err = w.make(ctx, dir, source.Git.Root, snap); err != nil {
			return work.Place{}, err
		}
		w.places = append(w.places, p)
	}
	// An ignored or empty folder is in no snapshot.
	if err := p.need(below); err != nil {
		if p.runs == 0 {
			_, remove := w.remove(ctx, p, owner)
			err = errors.Join(err, remove)
		}
		return work.Place{}, err
	}
	p.runs++
	w.runs[x.ID] = &run{in: p, thread: x.Thread, changes: map[string]bool{}}
	return work.Place{Dir: filepath.Join(p.made.Path, below), Root: p.made.Path, Snapshot: p.at}, nil
}

// inside returns where a folder is in a worktree.
func inside(root, dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(root, real)
	if err == nil && !filepath.IsLocal(below) {
		err = thread.Kindf(thread.ErrInvalid, "%s is not in the worktree %s", dir, root)
	}
	return below, err
}

// find returns the place with a snapshot that nobody has changed, nil if there is none.
func (w *Witness) find(root string, at thread.Snapshot) (*place, error) {
	for _, p := range w.places {
		if p.from != root || p.at.Tree != at.Tree || p.at.Base != at.Base || p.changed {
			continue
		}
		if err := w.compare(p); err != nil || !p.changed {
			return p, err
		}
	}
	return nil, nil
}

// names is how many names of places are tried.
const names = 1000

// make makes a place with a snapshot of a folder.
func (w *Witness) make(ctx context.Context, dir, root string, at thread.Snapshot) (*place, error) {
	for n := 1; ; n++ {
		made, err := w.trees.Add(ctx, owner, dir, fmt.Sprint("readonly-", n), at)
		if errors.Is(err, thread.ErrNameTaken) && n < names {
			continue
		}
		if err != nil {
			return nil, err
		}
		failpoint.Hit("witness.join.added")
		p := &place{from: root, at: at, made: made}
		if err := w.look(ctx, p); err != nil {
			_, remove := w.remove(ctx, p, owner)
			return nil, errors.Join(err, remove)
		}
		return p, nil
	}
}

// look keeps in mind what is in a new place.
func (w *Witness) look(ctx context.Context, p *place) error {
	in, err := w.found.Open(ctx, p.made.Path)
	if err != nil {
		return err
	}
	out, err := in.Repo.Ours(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--full-tree", p.at.Tree}})
	if err != nil {
		return err
	}
	blobs := map[string]string{}
	for _, line := range git.Fields(out) { // mode SP type SP id TAB path
		head, path, ok := strings.Cut(line, "\t")
		if f := strings.Fields(head); ok && len(f) == 3 && f[1] == "blob" {
			blobs[path] = f[2]
		}
	}
	if p.link, err = os.ReadFile(filepath.Join(p.made.Path, ".git")); err != nil {
		return err
	}
	if p.seen, err = lookAt(p.made.Path); err != nil {
		return err
	}
	return p.seen.learn(p.made.Path, blobs)
}

// need makes a folder in the place, if it is not there, without that counting as a change.
func (p *place) need(below string) error {
	at := ""
	for _, name := range strings.Split(filepath.ToSlash(below), "/") {
		at = filepath.Join(at, name)
		path := filepath.Join(p.made.Path, at)
		if err := os.Mkdir(path, 0o755); err != nil {
			if info, look := os.Lstat(path); look != nil || !info.IsDir() {
				return err
			}
			continue
		}
		e, err := look(path)
		if err != nil {
			return err
		}
		p.seen[filepath.ToSlash(at)] = e
	}
	return nil
}

// compare finds what was changed in a place since it was compared before, and tells it of each run that is in it.
func (w *Witness) compare(p *place) error {
	now, err := lookAt(p.made.Path)
	if errors.Is(err, os.ErrNotExist) {
		now, err = index{}, nil // all of it is gone
	}
	if err != nil {
		return err
	}
	var changed []string
	if len(now) > 0 {
		changed, err = now.since(p.made.Path, p.seen)
	} else {
		changed = []string{"."}
	}
	if err != nil {
		return err
	}
	p.seen = now
	p.changed = p.changed || len(changed) > 0
	for _, r := range w.runs {
		if r.in == p {
			for _, path := range changed {
				r.changes[path] = true
			}
		}
	}
	return nil
}

// Leave tells what was changed while a run was in its place, whose processes have all ended. The place goes with the last:
// at once if it was changed, else in a moment, unless another run joins. An error besides does not undo that the run has left.
func (w *Witness) Leave(ctx context.Context, id work.ID) (work.Traces, error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return work.Traces{}, err
	}
	defer unlock()
	r := w.runs[id]
	if r == nil {
		return work.Traces{}, fmt.Errorf("run %s has no place to read in: %w", id, thread.ErrNotFound)
	}
	err = w.compare(r.in)
	failpoint.Hit("witness.leave.compared")
	left := work.Traces{}
	for path := range r.changes {
		left.Changed = append(left.Changed, path)
	}
	slices.Sort(left.Changed)
	if n := len(left.Changed); n > most {
		left.Changed, left.More = left.Changed[:most], n-most
	}
	delete(w.runs, id)
	r.in.runs--
	switch {
	case r.in.runs > 0:
	case r.in.changed: // that is kept as long as the run's thread is
		var remove error
		left.Saved, remove = w.remove(ctx, r.in, r.thread)
		err = errors.Join(err, remove)
	default:
		w.removing.Go(func() { w.removeIdle(context.WithoutCancel(ctx), r.in) })
	}
	if err != nil {
		err = fmt.Errorf("leave the place to read in: %w", err)
	}
	return left, err
}

// removeIdle removes a place that the last run has left as it was, unless another one has joined by now.
func (w *Witness) removeIdle(ctx context.Context, p *place) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if p.runs > 0 || !slices.Contains(w.places, p) {
		return
	}
	if _, err := w.remove(ctx, p, owner); err != nil && w.failed != nil {
		w.failed(fmt.Errorf("remove the place %s: %w", p.made.Path, err))
	}
}

// Close waits until the places that all runs have left are gone. Those that runs are still in stay; Repair removes them.
func (w *Witness) Close() error {
	w.removing.Wait()
	return nil
}

// remove removes a place that nobody is in.
func (w *Witness) remove(ctx context.Context, p *place, saver thread.ID) (thread.Snapshot, error) {
	ctx = context.WithoutCancel(ctx)
	w.places = slices.DeleteFunc(w.places, func(other *place) bool { return other == p })
	if err := p.relink(); err != nil {
		return thread.Snapshot{}, err
	}
	saved, err := w.clear(ctx, saver, p.made)
	failpoint.Hit("witness.leave.removed")
	if err == nil && len(w.places) == 0 {
		err = w.trees.Drop(ctx, owner)
	}
	return saved, err
}

// relink has the worktree belong to its repository, whatever an agent did to its .git file.
func (p *place) relink() error {
	now, err := os.ReadFile(filepath.Join(p.made.Path, ".git"))
	if err == nil && bytes.Equal(now, p.link) || len(p.link) == 0 {
		return nil
	}
	if _, err := os.Lstat(p.made.Path); errors.Is(err, os.ErrNotExist) {
		return nil // git unregisters it
	}
	if err := disk.RemoveIn(p.made.Path, ".git"); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(p.made.Path, ".git"), p.link, false)
}

// clear removes a worktree with its branch. What an agent committed to that is in the snapshot's history.
func (w *Witness) clear(ctx context.Context, saver thread.ID, made thread.Worktree) (thread.Snapshot, error) {
	saved, err := w.trees.Remove(ctx, saver, made)
	if err != nil {
		openUp(made.Path) // an agent may have removed the permission
		saved, err = w.trees.Remove(ctx, saver, made)
	}
	if err != nil {
		return saved, err
	}
	return saved, w.trees.DropBranch(ctx, made)
}

// openUp lets us into all folders of a place.
func openUp(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = os.Chmod(path, info.Mode().Perm()|0o700)
			}
		}
		return nil
	})
}

// Repair removes the places that a killed server left, and returns how many. It is for the start, when nobody has joined.
func (w *Witness) Repair(ctx context.Context) (removed int, err error) {
	unlock, err := w.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if _, err := os.Lstat(w.mark); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	list, err := w.found.List(ctx)
	if errors.Is(err, thread.ErrNoRepository) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove places to read in: %w", err)
	}
	var errs []error
	for _, e := range list {
		if e.Thread != owner || slices.ContainsFunc(w.places, func(p *place) bool { return p.made.Path == e.Path }) {
			continue
		}
		if _, err := w.clear(ctx, owner, e.Worktree); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	if len(errs) == 0 && len(w.places) == 0 {
		if errs = append(errs, w.trees.Drop(ctx, owner)); errs[0] == nil {
			errs = append(errs, os.Remove(w.mark))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return removed, fmt.Errorf("remove places to read in: %w", err)
	}
	return removed, nil
}
