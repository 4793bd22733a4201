package snapshot

import (
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
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// numbers are those of the refs that the snapshots of threads get.
type numbers struct {
	mu   sync.Mutex
	next map[string]int // by common folder and thread: one that may be free
}

// add makes the next numbered ref of a thread lead to a commit.
func (ns *numbers) add(ctx context.Context, repo *repository, id thread.ID, commit string) (string, error) {
	key := repo.Common + "\x00" + string(id)
	for range tries {
		n, err := ns.free(ctx, repo, key, id)
		if err != nil {
			return "", err
		}
		n = repo.skipTaken(id, n)
		ref := refName(id, n)
		err = repo.updateRefs(ctx, "create "+ref+"\x00"+commit+"\x00")
		if err == nil {
			ns.mu.Lock()
			ns.next[key] = n + 1
			ns.mu.Unlock()
			return ref, nil
		}
		var said *git.Error
		if !errors.As(err, &said) || !strings.Contains(said.Stderr, "already exists") {
			return "", err
		}
		ns.mu.Lock() // another process was faster: count again
		delete(ns.next, key)
		ns.mu.Unlock()
	}
	return "", fmt.Errorf("number snapshot of thread %s: another process takes every number", id)
}

// skipTaken passes over numbers whose file or lock file is there: a damaged ref that git does not list, the lock of a
// git that was killed, or one of another git that is about to take the number.
func (repo *repository) skipTaken(id thread.ID, n int) int {
	for ; ; n++ {
		file := filepath.Join(repo.Common, refName(id, n))
		_, err := os.Lstat(file)
		_, lockErr := os.Lstat(file + ".lock")
		if err != nil && lockErr != nil {
			return n
		}
	}
}

// free returns a number that may be free.
func (ns *numbers) free(ctx context.Context, repo *repository, key string, id thread.ID) (int, error) {
	ns.mu.Lock()
	n := ns.next[key]
	ns.mu.Unlock()
	if n > 0 {
		return n, nil
	}
	refs, err := repo.refs(ctx, namespace+string(id)+"/")
	if err != nil {
		return 0, err
	}
	return after(refs, id), nil
}

// refs returns the refs below prefixes with what they lead to.
func (repo *repository) refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}
	out, err := repo.theirs(ctx, git.Call{Args: append(args, prefixes...)})
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
func (repo *repository) updateRefs(ctx context.Context, lines string) error {
	_, err := repo.theirs(ctx, git.Call{
		Args: []string{"update-ref", "--no-deref", "--stdin", "-z"}, Stdin: strings.NewReader(lines), Durable: true,
	})
	return err
}

// isRef reports whether a ref's file leads anywhere.
func isRef(b []byte) bool {
	s := strings.TrimSpace(string(b))
	return git.IsObjectID(s) || strings.HasPrefix(s, "ref: ")
}

// resolve returns the commit that a ref leads to, empty when there is none.
func (repo *repository) resolve(ctx context.Context, ref string) (string, error) {
	out, err := repo.theirs(ctx, git.Call{
		Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}, OK: []int{1},
	})
	at := strings.TrimSpace(string(out))
	if err != nil || !git.IsObjectID(at) {
		return "", err
	}
	return at, nil
}

// hollowRefs returns the refs below a prefix whose file leads nowhere.
func (repo *repository) hollowRefs(prefix string) ([]string, error) {
	top, err := disk.OpenFolder(filepath.Join(repo.Common, "refs"))
	if err != nil {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	defer top.Close()
	var bad []string
	start := strings.TrimSuffix(strings.TrimPrefix(prefix, "refs/"), "/")
	err = fs.WalkDir(top.FS(), start, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() || strings.HasSuffix(path, ".lock"):
			return nil
		}
		b, err := disk.ReadSmall(filepath.Join(repo.Common, "refs", path))
		if err != nil && !errors.Is(err, private.ErrNotRegular) && !errors.Is(err, private.ErrTooLarge) {
			return nil // just removed, or not ours to read: git will say
		}
		if err != nil || !isRef(b) {
			bad = append(bad, "refs/"+path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read refs: %w", err)
	}
	return bad, nil
}

// badRefs returns the refs below a prefix that are damaged.
func (repo *repository) badRefs(ctx context.Context, prefix string) ([]string, error) {
	bad, err := repo.hollowRefs(prefix)
	if err != nil {
		return nil, err
	}
	refs, err := repo.refs(ctx, prefix)
	if err != nil || len(refs) == 0 {
		return bad, err
	}
	names := make([]string, 0, len(refs))
	var in strings.Builder
	for ref, commit := range refs {
		names = append(names, ref)
		in.WriteString(commit + "\n")
	}
	out, err := repo.ours(ctx, git.Call{Args: []string{"cat-file", "--batch-check=%(objecttype)"}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, fmt.Errorf("git cat-file wrote %d lines for %d objects", len(lines), len(names))
	}
	for i, name := range names {
		if lines[i] != "commit" {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	return bad, nil
}

// dropBad takes a damaged ref of ours away.
func (repo *repository) dropBad(ctx context.Context, ref string) error {
	if err := repo.dropHollow(ref); err != nil {
		return err
	}
	refs, err := repo.refs(ctx, ref)
	if err != nil || refs[ref] == "" {
		return err
	}
	err = repo.updateRefs(ctx, "delete "+ref+"\x00"+refs[ref]+"\x00")
	var said *git.Error
	if errors.As(err, &said) && os.Remove(filepath.Join(repo.Common, ref)) == nil {
		return nil // git will not touch what leads to nothing
	}
	return err
}

// dropHollow removes the file of a ref of ours that holds no id, so that the ref can be made again.
func (repo *repository) dropHollow(ref string) error {
	file := filepath.Join(repo.Common, filepath.FromSlash(ref))
	b, err := disk.ReadSmall(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && isRef(b) {
		return nil
	}
	if err != nil && !errors.Is(err, private.ErrNotRegular) && !errors.Is(err, private.ErrTooLarge) {
		return err
	}
	return disk.RemoveIn(filepath.Dir(file), filepath.Base(file))
}

// lastLogged is where a ref stood last by its reflog, "" where there is none: "old new name <mail> time\ttext".
func (repo *repository) lastLogged(ref string) string {
	b, err := private.ReadRegular(filepath.Join(repo.Common, "logs", filepath.FromSlash(ref)), 16<<20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(b), "\x00\n"), "\n")
	f := strings.Fields(lines[len(lines)-1])
	if len(f) < 2 || !git.IsObjectID(f[1]) {
		return ""
	}
	return f[1]
}

// newest returns the commit of a thread's last snapshot, "" where it has none.
func (repo *repository) newest(ctx context.Context, id thread.ID) (string, error) {
	refs, err := repo.refs(ctx, namespace+string(id)+"/")
	if err != nil {
		return "", err
	}
	at, last := "", 0
	for ref, commit := range refs {
		if n := number(ref); n > last && ref == refName(id, n) {
			at, last = commit, n
		}
	}
	return at, nil
}

// hasRef returns a function that reports whether a ref leads to something.
func (repo *repository) hasRef(ctx context.Context) func(ref string) bool {
	return func(ref string) bool {
		at, err := repo.resolve(ctx, ref)
		return err == nil && at != ""
	}
}
