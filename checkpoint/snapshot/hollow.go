package snapshot

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

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// find returns the worktree that dir lies in. One of ours that a power cut made hollow is rebuilt first. A folder
// among our worktrees is never taken for a part of a repository around them.
func (f *finder) find(ctx context.Context, dir string) (git.Worktree, error) {
	found, err := f.findWhole(dir)
	if err == nil || !errors.Is(err, errHollow) && errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	said, mended := f.mend(ctx, dir)
	if mended != nil {
		return git.Worktree{}, fmt.Errorf("%w; rebuild it: %w", err, mended)
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

var errHollow = errors.New("files of the worktree's part of the repository are empty")

// findWhole finds a worktree; errHollow says that it is ours and lost what makes it one.
func (f *finder) findWhole(dir string) (git.Worktree, error) {
	found, err := git.Find(dir)
	if err != nil {
		return found, err
	}
	trees, real := resolved(f.trees), resolved(dir)
	if git.Within(real, trees) && !git.Within(found.Root, trees) {
		return found, fmt.Errorf("%s has no .git file: %w", git.Printable(real), git.ErrForeign)
	}
	if filepath.Dir(found.Root) == trees && !f.linksHome(found) {
		return found, fmt.Errorf("%s/.git leads to another repository: %w", git.Printable(found.Root), git.ErrForeign)
	}
	if !found.Linked() {
		return found, nil
	}
	w := f.at(found)
	if r, err := recordAt(w.home); err == nil && r.Name == w.name() && len(hollow(found.Common, r, found.Root)) > 0 {
		return found, fmt.Errorf("%s: %w", found.Root, errHollow)
	}
	return found, nil
}

// linksHome reports whether a worktree among ours is one of the project's repository, of one inside of the project, or
// of one that our state has a record for: an agent may write its .git file.
func (f *finder) linksHome(w git.Worktree) bool {
	if !w.Linked() {
		return false
	}
	if key, below := f.repository(w); key == ownRepository || below != "" {
		return true
	}
	_, err := recordAt(f.at(w).home)
	return err == nil
}

// hollow names the files that make a worktree of ours one and that hold nothing, or nothing but zeroes, as a power cut
// leaves files that were not synced. A worktree that the repository does not know any more is not hollow but removed.
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
		b, err := private.ReadRegular(file, smallFile)
		bad := nothing(b) || bytes.IndexByte(b, 0) >= 0
		switch filepath.Base(file) {
		case "HEAD":
			bad = !isRef(b)
		case "commondir":
			bad = bad || !sameFile(filepath.Join(part, strings.TrimSpace(string(b))), common)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, private.ErrTooLarge) || err == nil && bad {
			found = append(found, file)
		}
	}
	// The agent's own git may have written it, which syncs no ref.
	branch := branchFile(common, r)
	if b, err := private.ReadRegular(branch, smallFile); err == nil && !isRef(b) {
		found = append(found, branch)
	}
	if index := filepath.Join(part, "index"); badIndex(index, r.Base != "") {
		found = append(found, index)
	}
	return found
}

// mend rebuilds the worktree of ours that dir lies in and says what it did, nothing where there is none.
func (f *finder) mend(ctx context.Context, dir string) (string, error) {
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
			return f.mendOne(ctx, repo, r, false)
		}
	}
	return "", nil
}

// rebuild looks for the worktrees of a repository that a power cut left hollow, or with files that were not synced
// yet, and sets them right.
func (f *finder) rebuild(ctx context.Context, repo *repository, key string) (said []string, err error) {
	records, damaged, err := f.records(key)
	if err != nil {
		return nil, err
	}
	for _, file := range damaged {
		said = append(said, fmt.Sprintf("the worktree that %s is about is left alone, as the file is damaged; "+
			"git worktree list shows it, git worktree remove removes it, and its thread can be forked", file))
	}
	bad, err := repo.badRefs(ctx, "refs/heads/"+branchPrefix)
	if err != nil {
		return said, err
	}
	there, err := repo.refs(ctx, "refs/heads/"+branchPrefix)
	if err != nil {
		return said, err
	}
	for _, r := range records {
		ref := "refs/heads/" + r.Branch
		head, err := private.ReadRegular(filepath.Join(repo.part(r.Name), "HEAD"), smallFile)
		lost := there[ref] == "" && r.Base != "" && err == nil && strings.TrimSpace(string(head)) == "ref: "+ref
		did, err := f.mendOne(ctx, repo.Worktree, r, lost || slices.Contains(bad, ref))
		if err != nil {
			if ctx.Err() != nil {
				return said, err
			}
			did = fmt.Sprintf("could not rebuild the worktree %s: %v", r.Root, err)
		}
		if did != "" {
			said = append(said, did)
		}
		if _, err := repo.recordOf(r.Name); err == nil {
			said = append(said, odd(repo.Common, r, repo.hasRef(ctx))...)
		}
	}
	return said, nil
}

// mendOne sets one worktree of ours right and says what it did, nothing where nothing was to be done.
// lost is set when its branch is known to be gone or to lead to nothing.
func (f *finder) mendOne(ctx context.Context, repo git.Worktree, r record, lost bool) (string, error) {
	main := f.at(repo).repo
	empty := hollow(repo.Common, r, r.Root)
	branch := branchFile(repo.Common, r)
	if lost && !slices.Contains(empty, branch) {
		if _, err := main.recordOf(r.Name); err == nil {
			empty = append(empty, branch)
		}
	}
	if len(empty) == 0 {
		if _, err := main.recordOf(r.Name); err != nil || r.Settled {
			return "", nil // not ours any more, or whole
		}
	}
	w := f.at(git.Worktree{Root: r.Root, GitDir: main.part(r.Name), Common: repo.Common})
	unlock, err := w.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if len(empty) > 0 {
		if err := w.refill(ctx, main, r, empty); err != nil {
			return "", thread.Hint(err, "its snapshots can still be forked: the thread's last turn holds its files")
		}
	}
	if found, err := git.Find(r.Root); err != nil || found != w.Worktree {
		return "", nil // moved or taken down: nothing of ours to look at
	}
	if w.set, err = w.readSettings(ctx); err != nil {
		return "", err
	}
	if err := w.writeShadow(); err != nil {
		return "", err
	}
	files, err := w.refillFiles(ctx, r)
	if err != nil {
		return "", err
	}
	if err := syncTree(r.Root); err != nil {
		return "", err
	}
	if r.Settled = true; len(empty)+len(files) == 0 {
		return "", keepRecord(w.home, r)
	}
	return mended(r, empty, files), keepRecord(w.home, r)
}

func mended(r record, empty, files []string) string {
	said := "rebuilt the worktree " + r.Root + ", which a power cut had emptied"
	var what []string
	for _, file := range empty {
		what = append(what, filepath.Base(file))
	}
	if len(what) > 0 {
		said += "; empty were " + strings.Join(what, ", ")
	}
	if slices.Contains(what, "index") {
		said += "; what was staged is not staged any more"
	}
	if n := len(files); n > 0 {
		said += fmt.Sprintf("; %d of its files are those of the last snapshot again: %s", n, listed(files))
	}
	return said
}

// listed names the first of many.
func listed(names []string) string {
	const most = 10
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, git.Printable(name))
	}
	if len(names) > most {
		shown = append(shown, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(shown, ", ")
}

// refill writes what makes a worktree one again. The caller holds its lock.
func (w *worktree) refill(ctx context.Context, main *repository, r record, empty []string) error {
	unlock, err := main.lockAll(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if w.set, err = main.readSettings(ctx); err != nil {
		return err
	}
	for _, file := range empty {
		if file == branchFile(main.Common, r) {
			if err := main.keepBranch(ctx, r); err != nil {
				return err
			}
			continue
		}
		var text string
		switch name := filepath.Base(file); name {
		case ".git":
			text = "gitdir: " + w.GitDir + "\n"
		case "commondir":
			text = "../..\n"
		case "gitdir":
			text = filepath.Join(w.Root, ".git") + "\n"
		case "HEAD":
			if err := main.keepBranch(ctx, r); err != nil {
				return err
			}
			text = "ref: refs/heads/" + r.Branch + "\n"
		case marker:
			if err := w.keepMarker(r); err != nil {
				return err
			}
			continue
		case "index":
			continue
		}
		if err := writeFile(file, []byte(text), true); err != nil {
			return err
		}
	}
	index := filepath.Join(w.GitDir, "index")
	if !slices.Contains(empty, index) {
		return nil
	}
	if err := os.Remove(index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	head, err := w.head(ctx)
	if err != nil || head == "" {
		return err
	}
	// Through our own git folder: no filter or hook takes part. Files are compared at the next status.
	if err := w.writeShadow(); err != nil {
		return err
	}
	_, err = w.ours(ctx, git.Call{Args: []string{"read-tree", head}, Env: []string{"GIT_INDEX_FILE=" + index}, Durable: true})
	return err
}
