package worktree

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

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
)

// find returns the worktree that dir is in. One of ours that a power cut emptied is rebuilt first. A folder inside the
// folder of our worktrees is never taken for part of a repository around them.
func (f *Finder) find(ctx context.Context, dir string) (git.Worktree, error) {
	found, err := f.findWhole(dir)
	if err == nil || !errors.Is(err, errHollow) && errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	said, failed := f.rebuildAt(ctx, dir)
	if failed != nil {
		return git.Worktree{}, fmt.Errorf("%w; rebuild it: %w", err, failed)
	}
	if said == "" {
		return git.Worktree{}, err // not ours
	}
	f.mu.Lock()
	onRepair := f.onRepair
	f.mu.Unlock()
	if onRepair != nil {
		onRepair(said)
	}
	return f.findWhole(dir)
}

var errHollow = errors.New("the worktree's files in the repository are empty")

// findWhole finds a worktree; errHollow says that it is ours and lost its metadata.
func (f *Finder) findWhole(dir string) (git.Worktree, error) {
	found, err := git.Find(dir)
	if err != nil {
		return found, err
	}
	trees, real := resolved(f.trees), resolved(dir)
	if git.Within(real, trees) && !git.Within(found.Root, trees) {
		return found, fmt.Errorf("%s has no .git file: %w", git.Printable(real), git.ErrForeign)
	}
	if filepath.Dir(found.Root) == trees && !f.linksHome(found) {
		return found, fmt.Errorf("%s/.git points to another repository: %w", git.Printable(found.Root), git.ErrForeign)
	}
	if !found.Linked() {
		return found, nil
	}
	w := f.at(found)
	if r, err := recordAt(w.Home); err == nil && r.Name == w.Name() && len(hollow(found.Common, r, found.Root)) > 0 {
		return found, fmt.Errorf("%s: %w", found.Root, errHollow)
	}
	return found, nil
}

// linksHome reports whether a worktree inside the folder of our worktrees belongs to the project's repository, to one
// inside the project, or to one that our state has a record of: an agent may write its .git file.
func (f *Finder) linksHome(w git.Worktree) bool {
	if !w.Linked() {
		return false
	}
	if key, below := f.repository(w); key == ownRepository || below != "" {
		return true
	}
	_, err := recordAt(f.at(w).Home)
	return err == nil
}

// hollow returns the metadata files of a worktree of ours that are empty, or contain only zeroes, which a power cut
// does to files that were not synced. A worktree that the repository no longer knows was removed and is not hollow.
func hollow(common string, r record, root string) []string {
	part := filepath.Join(common, "worktrees", r.Name)
	if info, err := os.Lstat(part); err != nil || !info.IsDir() {
		return nil
	}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() {
		return nil
	}
	var found []string
	for _, file := range []string{
		filepath.Join(root, ".git"), filepath.Join(part, "commondir"), filepath.Join(part, "gitdir"),
		filepath.Join(part, "HEAD"), filepath.Join(part, marker),
	} {
		b, err := disk.ReadSmall(file)
		bad := nothing(b) || bytes.IndexByte(b, 0) >= 0
		switch filepath.Base(file) {
		case "HEAD":
			bad = !repository.IsRef(b)
		case "commondir":
			bad = bad || !sameFile(filepath.Join(part, strings.TrimSpace(string(b))), common)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, private.ErrTooLarge) || err == nil && bad {
			found = append(found, file)
		}
	}
	// The agent's own git may have written it, which syncs no ref.
	branch := branchFile(common, r)
	if b, err := disk.ReadSmall(branch); err == nil && !repository.IsRef(b) {
		found = append(found, branch)
	}
	if index := filepath.Join(part, "index"); git.DamagedIndex(index, r.Base != "") {
		found = append(found, index)
	}
	return found
}

// rebuildAt rebuilds the worktree of ours that dir is in and returns what it did, "" if there is none.
func (f *Finder) rebuildAt(ctx context.Context, dir string) (string, error) {
	all, _, err := f.folders()
	if err != nil {
		return "", err
	}
	real := resolved(dir)
	for _, known := range all {
		records, _, err := f.records(known.key)
		if err != nil {
			return "", err
		}
		for _, r := range records {
			if !git.Within(real, r.Root) {
				continue
			}
			repo, err := git.Find(known.dir)
			if err != nil {
				return "", err
			}
			return f.rebuildOne(ctx, repo, r, false)
		}
	}
	return "", nil
}

// rebuild finds and repairs the worktrees of a repository that a power cut emptied, or whose files were not synced yet.
func (f *Finder) rebuild(ctx context.Context, repo *repository.Repository, key string) (said []string, err error) {
	records, damaged, err := f.records(key)
	if err != nil {
		return nil, err
	}
	for _, file := range damaged {
		said = append(said, fmt.Sprintf("skipped a worktree because its record %s is damaged; "+
			"find it with git worktree list, remove it with git worktree remove, or fork its thread", file))
	}
	bad, err := repo.BadRefs(ctx, "refs/heads/"+repository.BranchPrefix)
	if err != nil {
		return said, err
	}
	there, err := repo.Refs(ctx, "refs/heads/"+repository.BranchPrefix)
	if err != nil {
		return said, err
	}
	for _, r := range records {
		ref := "refs/heads/" + r.Branch
		head, err := disk.ReadSmall(filepath.Join(repo.Part(r.Name), "HEAD"))
		lost := there[ref] == "" && r.Base != "" && err == nil && strings.TrimSpace(string(head)) == "ref: "+ref
		did, err := f.rebuildOne(ctx, repo.Git, r, lost || slices.Contains(bad, ref))
		if err != nil {
			if ctx.Err() != nil {
				return said, err
			}
			did = fmt.Sprintf("cannot rebuild worktree %s: %v", r.Root, err)
		}
		if did != "" {
			said = append(said, did)
		}
		if _, err := recordOf(repo, r.Name); err == nil {
			said = append(said, odd(repo.Git.Common, r, hasRef(ctx, repo))...)
		}
	}
	return said, nil
}

// rebuildOne repairs one worktree of ours and returns what it did, "" if there was nothing to do. lost is set if its
// branch is known to be gone or to point to nothing.
func (f *Finder) rebuildOne(ctx context.Context, repo git.Worktree, r record, lost bool) (string, error) {
	main := f.at(repo).Repo
	empty := hollow(repo.Common, r, r.Root)
	branch := branchFile(repo.Common, r)
	if lost && !slices.Contains(empty, branch) {
		if _, err := recordOf(main, r.Name); err == nil {
			empty = append(empty, branch)
		}
	}
	if len(empty) == 0 {
		if _, err := recordOf(main, r.Name); err != nil || r.Settled {
			return "", nil // no longer ours, or intact
		}
	}
	w := f.at(git.Worktree{Root: r.Root, GitDir: main.Part(r.Name), Common: repo.Common})
	unlock, err := w.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if len(empty) > 0 {
		if err := refill(ctx, w, main, r, empty); err != nil {
			return "", thread.Hint(err, "fork the thread: its last snapshot has the files")
		}
	}
	if found, err := git.Find(r.Root); err != nil || found != w.Git {
		return "", nil // moved or removed: nothing of ours to check
	}
	if w.Settings, err = w.ReadSettings(ctx); err != nil {
		return "", err
	}
	if err := w.WriteShadow(); err != nil {
		return "", err
	}
	files, err := refillFiles(ctx, w, r)
	if err != nil {
		return "", err
	}
	if err := disk.SyncTree(r.Root); err != nil {
		return "", err
	}
	if r.Settled = true; len(empty)+len(files) == 0 {
		return "", keepRecord(w.Home, r)
	}
	return rebuiltText(r, empty, files), keepRecord(w.Home, r)
}

func rebuiltText(r record, empty, files []string) string {
	said := "rebuilt worktree " + r.Root + " after a power cut"
	var what []string
	for _, file := range empty {
		what = append(what, filepath.Base(file))
	}
	if len(what) > 0 {
		said += "; restored " + strings.Join(what, ", ")
	}
	if slices.Contains(what, "index") {
		said += "; staged changes are now unstaged"
	}
	if n := len(files); n > 0 {
		said += fmt.Sprintf("; restored %d of its files from the last snapshot: %s", n, git.PrintableList(files))
	}
	return said
}

// refill rewrites a worktree's metadata. The caller holds its lock.
func refill(ctx context.Context, w *repository.Worktree, main *repository.Repository, r record, empty []string) error {
	unlock, err := main.LockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if w.Settings, err = main.ReadSettings(ctx); err != nil {
		return err
	}
	for _, file := range empty {
		if file == branchFile(main.Git.Common, r) {
			if err := keepBranch(ctx, main, r); err != nil {
				return err
			}
			continue
		}
		var text string
		switch name := filepath.Base(file); name {
		case ".git":
			text = "gitdir: " + w.Git.GitDir + "\n"
		case "commondir":
			text = "../..\n"
		case "gitdir":
			text = filepath.Join(w.Git.Root, ".git") + "\n"
		case "HEAD":
			if err := keepBranch(ctx, main, r); err != nil {
				return err
			}
			text = "ref: refs/heads/" + r.Branch + "\n"
		case marker:
			if err := keepMarker(w, r); err != nil {
				return err
			}
			continue
		case "index":
			continue
		}
		if err := atomicfile.Write(file, []byte(text), true); err != nil {
			return err
		}
	}
	index := filepath.Join(w.Git.GitDir, "index")
	if !slices.Contains(empty, index) {
		return nil
	}
	if err := os.Remove(index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	head, err := w.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	// Through our own git folder: no filter or hook is involved. Files are compared at the next status.
	if err := w.WriteShadow(); err != nil {
		return err
	}
	_, err = w.Ours(ctx, git.Call{
		Args: []string{"read-tree", head}, Env: []string{"GIT_INDEX_FILE=" + index}, Durable: true,
	})
	return err
}
