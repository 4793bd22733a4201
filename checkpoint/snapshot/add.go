package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Add makes a worktree with the files of a snapshot, on a new branch at the commit that HEAD stood at when the
// snapshot was taken: what was uncommitted then is uncommitted in it, what was untracked is untracked. A branch of
// that name is taken up again when it stands at that very commit and no worktree has it.
//
// What makes it a worktree is on the disk when Add returns, its branch and the snapshot too. Its files are synced in
// the background, as they can be made again; until then Repair looks whether a power cut emptied some.
func (s *Store) Add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error) {
	made, err := s.add(ctx, id, dir, name, at)
	if err != nil {
		return thread.Worktree{}, fmt.Errorf("add worktree: %w", err)
	}
	return made, nil
}

func (s *Store) add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error) {
	if err := checkID(id); err != nil {
		return thread.Worktree{}, err
	}
	if err := git.CheckBranch(name); err != nil {
		return thread.Worktree{}, err
	}
	if strings.Contains(name, "/") {
		return thread.Worktree{}, fmt.Errorf("worktree name %q holds a slash: %w", name, thread.ErrInvalid)
	}
	w, err := s.finder.open(ctx, dir)
	if err != nil {
		return thread.Worktree{}, err
	}
	if !git.IsObjectID(at.Tree) || !git.IsObjectID(at.Commit) {
		if at.Tree, err = w.repo.snapshotTree(ctx, at); err != nil {
			return thread.Worktree{}, err
		}
	}
	made := thread.Worktree{Path: filepath.Join(w.repo.trees, name), Branch: branchPrefix + name, Base: at.Base}
	o := op{Kind: opAdd, Thread: id, Worktree: name, Base: at.Base, Commit: at.Commit}
	if o.NewBranch, o.Ref, err = w.repo.free(ctx, id, made); err != nil {
		return thread.Worktree{}, err
	}
	if err := os.MkdirAll(w.repo.trees, 0o700); err != nil {
		return thread.Worktree{}, err
	}
	j, err := w.repo.journals.begin(o)
	if err != nil {
		return thread.Worktree{}, err
	}
	failpoint.Hit("snapshot.add.begun")
	n, err := s.fill(ctx, w, j.op, made, at)
	if err != nil {
		j.leave()
		// The context may be what failed: taking back must not depend on it.
		if back := s.takeBack(context.WithoutCancel(ctx), w.repo, j.op); back != nil {
			return thread.Worktree{}, errors.Join(err, fmt.Errorf("take it back: %w", back))
		}
		return thread.Worktree{}, errors.Join(err, j.end())
	}
	failpoint.Hit("snapshot.add.filled")
	if err := j.end(); err != nil {
		return thread.Worktree{}, err
	}
	s.settling.Go(func() { n.settle(context.WithoutCancel(ctx)) })
	return made, nil
}

// free makes sure that folder and branch can be used, and tells whether the branch is to be made and which ref of
// the thread is the next.
func (repo *repository) free(ctx context.Context, id thread.ID, made thread.Worktree) (newBranch bool, next string, err error) {
	if _, err := os.Lstat(made.Path); err == nil {
		return false, "", fmt.Errorf("folder %s exists: %w", made.Path, thread.ErrNameTaken)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, "", err
	}
	refs, err := repo.refs(ctx, "refs/heads/", namespace+string(id)+"/")
	if err != nil {
		return false, "", err
	}
	newBranch, err = repo.branchFree(ctx, made, refs)
	return newBranch, refName(id, repo.skipTaken(id, after(refs, id))), err
}

// branchFree tells whether the branch is to be made, as it is not there.
func (repo *repository) branchFree(ctx context.Context, o thread.Worktree, refs map[string]string) (bool, error) {
	want := "refs/heads/" + o.Branch
	for ref, tip := range refs {
		switch {
		case ref == want:
			if err := repo.mayTakeUp(ctx, o, tip); err != nil {
				return false, err
			}
			return false, nil
		case strings.EqualFold(ref, want):
			return false, fmt.Errorf("branch %s differs from %s in upper and lower case only: %w",
				strings.TrimPrefix(ref, "refs/heads/"), o.Branch, thread.ErrNameTaken)
		case strings.EqualFold(ref+"/", "refs/heads/"+branchPrefix) || strings.HasPrefix(ref, want+"/"):
			return false, fmt.Errorf("branch %s is in the way of %s: %w",
				strings.TrimPrefix(ref, "refs/heads/"), o.Branch, thread.ErrNameTaken)
		}
	}
	return true, nil
}

// mayTakeUp says whether a branch that exists may be used again.
func (repo *repository) mayTakeUp(ctx context.Context, o thread.Worktree, tip string) error {
	if tip != o.Base {
		return fmt.Errorf("branch %s exists and stands elsewhere: %w", o.Branch, thread.ErrNameTaken)
	}
	unlock, err := repo.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	out, err := repo.live(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		if strings.TrimSuffix(line, "\n") == "branch refs/heads/"+o.Branch {
			return fmt.Errorf("branch %s is checked out in another worktree: %w", o.Branch, thread.ErrNameTaken)
		}
	}
	return nil
}

// fill makes the worktree, its files, its index, its private index, its record and its marker.
func (s *Store) fill(ctx context.Context, w *worktree, o op, made thread.Worktree, at thread.Snapshot) (*worktree, error) {
	files, err := w.repo.register(ctx, o, made, at)
	if err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.registered")
	n, err := s.finder.openLike(ctx, made.Path, w)
	if err != nil {
		return nil, err
	}
	unlock, err := n.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := record{
		ID: o.ID, Name: n.name(), Root: n.Root, Thread: o.Thread, Branch: made.Branch, Base: at.Base, Commit: at.Commit,
	}
	if err := keepRecord(n.home, r); err != nil {
		return nil, err
	}
	if err := n.checkOut(ctx, files.tree); err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.checkedout")
	if err := both(
		func() error { return n.startIndex(ctx, files, at) },
		func() error { return n.keepMarker(r) },
	); err != nil {
		return nil, err
	}
	if err := n.syncPart(); err != nil {
		return nil, err
	}
	failpoint.Hit("snapshot.add.indexed")
	if files.tree != at.Tree {
		return n, nil // the private index is not the snapshot's
	}
	return n, n.hold(held{Thread: o.Thread, Ref: o.Ref, Commit: at.Commit, Tree: at.Tree, Base: at.Base})
}

// both does two things at once.
func both(a, b func() error) error {
	var wg sync.WaitGroup
	var errA, errB error
	wg.Go(func() { errA = a() })
	errB = b()
	wg.Wait()
	return errors.Join(errA, errB)
}

// register makes the refs, in one transaction, and the worktree without files. It returns which files go into it.
func (repo *repository) register(ctx context.Context, o op, made thread.Worktree, at thread.Snapshot) (toFill, error) {
	lines := "create " + o.Ref + "\x00" + at.Commit + "\x00"
	if at.Base != "" && o.NewBranch {
		lines += "create refs/heads/" + made.Branch + "\x00" + at.Base + "\x00"
	}
	from := at.Base
	if from == "" {
		from = at.Commit // nothing was committed yet: HEAD is set below, before anybody looks
	}
	var files toFill
	err := both(
		func() (err error) {
			files, err = repo.toFill(ctx, at)
			return errors.Join(err, repo.updateRefs(ctx, lines))
		},
		func() error { return repo.addEmpty(ctx, made.Path, from) },
	)
	if err != nil {
		return files, err
	}
	failpoint.Hit("snapshot.add.referenced")
	n, err := git.Find(made.Path)
	if err != nil {
		return files, err
	}
	return files, repo.setHead(ctx, n, "refs/heads/"+made.Branch)
}

// addEmpty makes a worktree without files, detached.
func (repo *repository) addEmpty(ctx context.Context, root, from string) error {
	unlock, err := repo.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// git makes the folder, but not through a link that leads nowhere.
	if err := os.Mkdir(filepath.Join(repo.Common, "worktrees"), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for try := 1; ; try++ {
		_, err := repo.theirs(ctx, git.Call{Args: []string{
			"worktree", "add", "--quiet", "--no-checkout", "--detach", "--", root, from,
		}})
		if err == nil {
			return repo.leadHome(root)
		}
		var said *git.Error
		if try == tries || !errors.As(err, &said) || !strings.Contains(said.Stderr, "commondir") {
			return err // else the person's own git was about to make one
		}
	}
}

// leadHome makes a new worktree's .git lead to the repository, where git wrote the view.
func (repo *repository) leadHome(root string) error {
	n, err := git.Find(root) // follows the view's link
	if err != nil {
		return err
	}
	return disk.Write(filepath.Join(root, ".git"), []byte("gitdir: "+n.GitDir+"\n"), false)
}

// setHead puts a new worktree on a branch, unborn or not. Where refs are files it writes the one line itself.
func (repo *repository) setHead(ctx context.Context, n git.Worktree, ref string) error {
	head := filepath.Join(n.GitDir, "HEAD")
	b, err := os.ReadFile(head)
	if err != nil {
		return err
	}
	if git.IsObjectID(strings.TrimSpace(string(b))) {
		return disk.Write(head, []byte("ref: "+ref+"\n"), false)
	}
	_, err = repo.git.Run(ctx, git.Call{Dir: n.Root, Env: n.In(repo.view()), Args: []string{"symbolic-ref", "HEAD", ref}})
	return err
}

// checkOut writes a tree's files into an empty worktree, byte for byte, and fills the private index.
func (w *worktree) checkOut(ctx context.Context, tree string) error {
	for _, name := range []string{w.index(), w.index() + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	update := "-m"
	if w.set.Partial {
		if err := w.leaveOutMissing(ctx, tree); err != nil {
			return err
		}
		update = "--reset" // writes what the index holds and the disk does not
	}
	_, err := w.ours(ctx, git.Call{
		Args:   []string{"read-tree", update, "-u", tree},
		Config: []string{"checkout.workers=0", "checkout.thresholdForParallelism=200"},
	})
	return err
}

// leaveOutMissing fills the private index and marks the files whose contents a partial clone never fetched as not
// checked out, which they are not where the snapshot was taken either.
func (w *worktree) leaveOutMissing(ctx context.Context, tree string) error {
	if _, err := w.ours(ctx, git.Call{Args: []string{"read-tree", tree}}); err != nil {
		return err
	}
	out, err := w.ours(ctx, git.Call{Args: []string{"ls-files", "-v", "-s", "-z"}})
	if err != nil {
		return err
	}
	entries, err := parseEntries(out)
	if err != nil {
		return err
	}
	var oids []string
	for _, e := range entries {
		if e.mode != modeRepo {
			oids = append(oids, e.oid)
		}
	}
	lacks, err := w.repo.missing(ctx, oids)
	if err != nil {
		return err
	}
	var missing strings.Builder
	for _, e := range entries {
		if lacks[e.oid] {
			missing.WriteString(e.path + "\x00")
		}
	}
	if missing.Len() == 0 {
		return nil
	}
	_, err = w.ours(ctx, git.Call{Args: []string{"update-index", "-z", "--skip-worktree", "--stdin"}, Stdin: strings.NewReader(missing.String())})
	return err
}

// startIndex gives the worktree its own index: the base's entries, with stat data where the file is the base's.
func (w *worktree) startIndex(ctx context.Context, files toFill, at thread.Snapshot) error {
	if at.Base == "" {
		return nil
	}
	index := filepath.Join(w.GitDir, "index")
	if err := git.CopyIndex(w.index(), index); err != nil {
		return err
	}
	// Through our own git folder: git compares contents where times tell nothing, and must not filter them.
	_, err := w.ours(ctx, git.Call{Args: []string{"read-tree", "-m", at.Base}, Env: []string{"GIT_INDEX_FILE=" + index}})
	if err != nil || len(at.Skipped) == 0 && !files.foreign {
		return err
	}
	return w.standIn(ctx, files.tree, at)
}

// standIn writes the base's version of tracked files that the snapshot skipped or that are not ours to keep: they
// would look deleted.
func (w *worktree) standIn(ctx context.Context, tree string, at thread.Snapshot) error {
	skipped := map[string]bool{}
	for _, sk := range at.Skipped {
		skipped[sk.Path] = true
	}
	list, err := w.repo.between(ctx, tree, at.Base)
	if err != nil {
		return err
	}
	var in strings.Builder
	for _, st := range list.steps {
		if st.oldMode == "" && st.newMode != modeRepo && (skipped[st.path] || git.IsForeign(st.path)) {
			in.WriteString(st.path + "\x00")
		}
	}
	if in.Len() == 0 {
		return nil
	}
	_, err = w.ours(ctx, git.Call{
		Args: []string{"checkout-index", "-u", "-z", "--stdin"}, Stdin: strings.NewReader(in.String()),
		Env: []string{"GIT_INDEX_FILE=" + filepath.Join(w.GitDir, "index")},
	})
	return err
}
