package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// namespace is where our refs stand; git's own commands show it to nobody who does not ask for all refs.
const namespace = "refs/orchestrator/"

// addRef makes the next numbered ref of a thread lead to a commit.
func (s *Store) addRef(ctx context.Context, w *worktree, id thread.ID, commit string) (string, error) {
	key := w.Common + "\x00" + string(id)
	for range tries {
		n, err := s.free(ctx, w, key, id)
		if err != nil {
			return "", err
		}
		n = w.skipTaken(id, n)
		ref := refName(id, n)
		err = w.updateRefs(ctx, "create "+ref+"\x00"+commit+"\x00")
		if err == nil {
			s.mu.Lock()
			s.next[key] = n + 1
			s.mu.Unlock()
			return ref, nil
		}
		var said *git.Error
		if !errors.As(err, &said) || !strings.Contains(said.Stderr, "already exists") {
			return "", err
		}
		s.mu.Lock() // another process was faster: count again
		delete(s.next, key)
		s.mu.Unlock()
	}
	return "", fmt.Errorf("number snapshot of thread %s: another process takes every number", id)
}

// skipTaken passes over numbers whose file or lock file is there: a damaged ref that git does not list, the lock of a
// git that was killed, or one of another git that is about to take the number.
func (w *worktree) skipTaken(id thread.ID, n int) int {
	for ; ; n++ {
		file := filepath.Join(w.Common, refName(id, n))
		_, err := os.Lstat(file)
		_, lockErr := os.Lstat(file + ".lock")
		if err != nil && lockErr != nil {
			return n
		}
	}
}

// free returns a number that may be free.
func (s *Store) free(ctx context.Context, w *worktree, key string, id thread.ID) (int, error) {
	s.mu.Lock()
	n := s.next[key]
	s.mu.Unlock()
	if n > 0 {
		return n, nil
	}
	refs, err := w.refs(ctx, namespace+string(id)+"/")
	if err != nil {
		return 0, err
	}
	return after(refs, id), nil
}

// after returns the number that follows a thread's refs.
func after(refs map[string]string, id thread.ID) int {
	n := 1
	for ref := range refs {
		if last := number(ref); last >= n && strings.HasPrefix(ref, namespace+string(id)+"/") {
			n = last + 1
		}
	}
	return n
}

// number returns the number of a ref of ours, 0 for any other.
func number(ref string) int {
	n, err := strconv.Atoi(ref[strings.LastIndexByte(ref, '/')+1:])
	if err != nil {
		return 0
	}
	return n
}

func refName(id thread.ID, n int) string { return namespace + string(id) + "/" + strconv.Itoa(n) }

// refs returns the refs below prefixes with what they lead to.
func (w *worktree) refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}
	out, err := w.theirs(ctx, git.Call{Args: append(args, prefixes...)})
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok {
			refs[ref] = oid
		}
	}
	return refs, nil
}

// updateRefs gives one transaction to `update-ref --stdin -z`.
func (w *worktree) updateRefs(ctx context.Context, lines string) error {
	_, err := w.theirs(ctx, git.Call{
		Args: []string{"update-ref", "--no-deref", "--stdin", "-z"}, Stdin: strings.NewReader(lines), Durable: true,
	})
	return err
}

// Drop forgets the snapshots of a purged thread, in every repository that one was taken in. What another thread
// keeps too stays; git itself frees the rest in time.
func (s *Store) Drop(ctx context.Context, id thread.ID) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("drop snapshots: %w", err)
	}
	return s.each(ctx, func(w *worktree) error {
		bad, err := w.hollowRefs(namespace + string(id) + "/")
		for _, ref := range bad {
			err = errors.Join(err, w.dropHollow(ref))
		}
		if err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		refs, err := w.refs(ctx, namespace+string(id)+"/")
		if err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		var lines strings.Builder
		for ref, commit := range refs {
			lines.WriteString("delete " + ref + "\x00" + commit + "\x00")
		}
		if lines.Len() == 0 {
			return nil
		}
		if err := w.updateRefs(ctx, lines.String()); err != nil {
			return fmt.Errorf("drop snapshots: %w", err)
		}
		return nil
	})
}

// Size returns how many bytes our refs keep in the repository beyond what its own branches and tags do.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var total int64
	err := s.each(ctx, func(w *worktree) error {
		out, err := w.theirs(ctx, git.Call{Args: []string{
			"rev-list", "--disk-usage", "--objects", "--glob=" + namespace + "*", "--not", "--branches", "--tags", "--remotes",
		}})
		if err != nil {
			return fmt.Errorf("size of snapshots: %w", err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		total += n
		return err
	})
	return total, err
}
