package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Take takes a snapshot of dir's worktree for a thread. prev is the previous one: if nothing changed since, its commit
// is returned and nothing is written.
func (s *Store) Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error) {
	if err := repository.CheckID(id); err != nil {
		return thread.Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	w, err := s.open(ctx, dir)
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	unlock, err := w.work.Lock(ctx)
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	defer unlock()
	leave, ok := s.taking.Acquire(ctx)
	if !ok {
		return thread.Snapshot{}, fmt.Errorf("take snapshot: %w", context.Cause(ctx))
	}
	defer leave()
	snap, err := s.take(ctx, w, order{thread: id, prev: prev, limit: s.cfg.Limit, note: "snapshot"})
	if err != nil {
		return thread.Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	return snap, nil
}

// Keep takes a snapshot of everything in a worktree, files of any size included; note is the first line of its commit.
// The caller holds the worktree's lock.
func (s *Store) Keep(ctx context.Context, w *repository.Worktree, id thread.ID, note string) (thread.Snapshot, error) {
	return s.take(ctx, files{w}, order{thread: id, note: note})
}

// order describes which snapshot to take.
type order struct {
	thread thread.ID
	prev   *thread.Snapshot // for the counts
	limit  int64            // 0 includes files of any size
	note   string           // first line of the commit
}

// take takes a snapshot. The caller holds the worktree's lock.
func (s *Store) take(ctx context.Context, w files, o order) (thread.Snapshot, error) {
	h, trusted, base, err := w.currentIndex(ctx)
	if err != nil {
		return thread.Snapshot{}, err
	}
	if w.work.Settings.Sparse { // which files exist may have changed silently
		trusted = false
	}
	if err := os.Remove(w.work.Index() + ".lock"); err != nil && !os.IsNotExist(err) {
		return thread.Snapshot{}, err // left by a killed git: the lock says that nobody works here
	}
	tree, skipped := "", []thread.Skip(nil)
	for try := 1; ; try++ {
		if tree, skipped, err = w.tree(ctx, trusted, h, o.limit); err == nil {
			break
		}
		if try == tries || ctx.Err() != nil || errors.Is(err, thread.ErrDiskFull) || errors.Is(err, thread.ErrReadOnly) {
			return thread.Snapshot{}, err
		}
		trusted = false
	}
	failpoint.Hit("snapshot.take.tree")
	snap := thread.Snapshot{Tree: tree, Base: base, Skipped: skipped}
	if snap.Commit, err = s.keep(ctx, w, o, h, trusted, snap); err != nil {
		return thread.Snapshot{}, err
	}
	if err := count(ctx, w.work.Repo, &snap, o.prev); err != nil {
		return thread.Snapshot{}, err
	}
	return snap, nil
}

// currentIndex returns the content of the private index, whether it can be trusted and is kept by a ref, and the commit
// of HEAD.
func (w files) currentIndex(ctx context.Context) (h repository.Held, trusted bool, base string, err error) {
	h, trusted = w.work.Holds()
	var wg sync.WaitGroup
	var at string
	var refErr error
	if trusted {
		wg.Go(func() { at, refErr = w.work.Repo.Resolve(ctx, h.Ref) })
	}
	base, err = w.work.Head(ctx)
	wg.Wait()
	if err != nil {
		return repository.Held{}, false, "", err
	}
	if refErr != nil {
		return repository.Held{}, false, "", refErr
	}
	return h, trusted && at == h.Commit, base, nil
}

// tree updates the private index from disk and writes it as a tree.
func (w files) tree(ctx context.Context, trusted bool, h repository.Held, limit int64) (string, []thread.Skip, error) {
	if !trusted {
		if err := w.seed(ctx); err != nil {
			return "", nil, err
		}
	}
	found, err := w.scan(ctx, nil, limit)
	if err != nil {
		return "", nil, err
	}
	if trusted && found.empty() {
		return h.Tree, found.skip, nil
	}
	if err := w.work.Invalidate(); err != nil {
		return "", nil, err
	}
	failpoint.Hit("snapshot.take.scanned")
	skipped, err := w.apply(ctx, found, nil, true)
	if err != nil {
		return "", nil, err
	}
	failpoint.Hit("snapshot.take.indexed")
	write := []string{"write-tree"}
	if w.work.Settings.Partial {
		write = append(write, "--missing-ok") // what is on disk was added above
	}
	out, err := w.work.Ours(ctx, git.Call{Args: write, Durable: true})
	if err != nil {
		return "", nil, err
	}
	return strings.TrimSpace(string(out)), append(found.skip, skipped...), nil
}

// apply updates an index of ours (env selects it) from a scan. It returns what git would not accept.
func (w files) apply(ctx context.Context, found scan, env []string, durable bool) ([]thread.Skip, error) {
	if len(found.remove) > 0 {
		var in bytes.Buffer
		for _, path := range found.remove {
			fmt.Fprintf(&in, "0 %s\t%s\x00", w.noObject(), path)
		}
		_, err := w.work.Ours(ctx, git.Call{
			Args: []string{"update-index", "-z", "--index-info"}, Stdin: &in, Env: env, Durable: durable,
		})
		if err != nil {
			return nil, err
		}
	}
	if !durable || len(found.add) < disk.SyncAtOnce {
		return w.addFiles(ctx, found.add, env, durable)
	}
	skipped, err := w.addFiles(ctx, found.add, env, false)
	if err == nil {
		err = disk.SyncTree(filepath.Join(w.work.Git.Common, "objects"))
	}
	return skipped, err
}

// noObject is the null object id, in the length of the repository's ids.
func (w files) noObject() string {
	if w.work.Settings.Format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// addFiles reads files into an index. If git refuses, bisection finds the file.
func (w files) addFiles(ctx context.Context, paths, env []string, durable bool) ([]thread.Skip, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	_, err := w.work.Ours(ctx, git.Call{
		Args:  []string{"update-index", "-z", "--add", "--replace", "--remove", "--stdin"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"), Env: env, Durable: durable,
	})
	var said *git.Error
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &said) || errors.Is(err, thread.ErrDiskFull) || errors.Is(err, thread.ErrReadOnly):
		return nil, err
	case strings.Contains(said.Stderr, ".lock"):
		return nil, err
	case len(paths) == 1:
		if keep, reason := w.look(paths[0], false, 0); !keep {
			if reason == "" {
				return nil, nil // gone in the meantime
			}
			return []thread.Skip{{Path: paths[0], Reason: reason}}, nil
		}
		return []thread.Skip{{Path: paths[0], Reason: "git refuses it: " + said.Error()}}, nil
	}
	first, err := w.addFiles(ctx, paths[:len(paths)/2], env, durable)
	if err != nil {
		return nil, err
	}
	second, err := w.addFiles(ctx, paths[len(paths)/2:], env, durable)
	return append(first, second...), err
}

// keep makes sure that a ref of the thread points to a commit with the snapshot, and returns the commit.
func (s *Store) keep(
	ctx context.Context, w files, o order, h repository.Held, trusted bool, snap thread.Snapshot,
) (string, error) {
	about := s.about(o.thread)
	same := trusted && h.Tree == snap.Tree && h.Base == snap.Base
	said := about == About{} || about == h.About
	if same && said && h.Thread == o.thread {
		return h.Commit, nil
	}
	commit := h.Commit
	if !same || !said {
		var err error
		if commit, err = commitTree(ctx, w.work.Repo, o, snap, about); err != nil {
			return "", err
		}
		failpoint.Hit("snapshot.take.committed")
	}
	ref, err := s.numbers.add(ctx, w.work.Repo, o.thread, commit)
	if err != nil {
		return "", err
	}
	failpoint.Hit("snapshot.take.referenced")
	err = w.work.Hold(repository.Held{
		Thread: o.thread, Ref: ref, Commit: commit, Tree: snap.Tree, Base: snap.Base, About: about,
	})
	if err != nil {
		return "", err
	}
	return commit, nil
}

// commitTree writes the commit of a snapshot.
func commitTree(
	ctx context.Context, repo *repository.Repository, o order, snap thread.Snapshot, about About,
) (string, error) {
	text, err := json.Marshal(note{
		Version: 1, Thread: o.thread, Base: snap.Base, Skipped: snap.Skipped, At: time.Now().UTC(), About: about,
	})
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree"}
	if snap.Base != "" {
		args = append(args, "-p", snap.Base)
	}
	out, err := repo.Ours(ctx, git.Call{
		Args:  append(args, "-F", "-", snap.Tree),
		Stdin: strings.NewReader("orchestrator: " + o.note + "\n\n" + string(text) + "\n"),
		Env: []string{
			"GIT_AUTHOR_NAME=orchestrator", "GIT_AUTHOR_EMAIL=orchestrator@localhost",
			"GIT_COMMITTER_NAME=orchestrator", "GIT_COMMITTER_EMAIL=orchestrator@localhost",
		},
		Durable: true,
	})
	return strings.TrimSpace(string(out)), err
}
