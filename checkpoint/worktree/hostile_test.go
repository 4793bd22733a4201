package worktree_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// journal writes the journal aaaa.json among those of a repository's folder in our state.
func (r *repo) journal(repository, content string) string {
	r.Helper()
	dir := filepath.Join(r.Top, "state", repository, "journal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.Fatal(err)
	}
	path := filepath.Join(dir, "aaaa.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

// victim makes a folder that is nothing of ours.
func (r *repo) victim() string {
	r.Helper()
	r.WriteIn(filepath.Join(r.Top, "victim"), "precious", "p\n", 0o600)
	return filepath.Join(r.Top, "victim")
}

func (r *repo) unharmed(victim string) {
	r.Helper()
	if b, err := os.ReadFile(filepath.Join(victim, "precious")); err != nil || string(b) != "p\n" {
		r.Errorf("the victim is harmed: %q %v", b, err)
	}
}

// repair lets another store repair and returns what it said.
func (r *repo) repair() string {
	r.Helper()
	r.Store = r.Open(0)
	said, err := r.Store.Repair(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	return strings.Join(said, "\n")
}

// TestForgedJournals plants journals that name what is not ours: each is put aside and named, and nothing that it
// names is opened, moved, written or deleted.
func TestForgedJournals(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	base := r.CommitAll("first")
	r.Take(nil)
	victim := r.victim()
	before := tree(t, r.Dir) // the repository with its refs, index and logs, byte for byte
	const (
		commit  = "0123456789012345678901234567890123456789"
		restore = `"target":{"commit":"` + commit + `","tree":"` + commit + `"}`
	)
	for name, content := range map[string]string{
		"paths of an older kind": `{"id":"aaaa","kind":"remove","root":"/nonexistent","gitDir":"/nonexistent/worktrees/x","trash":"VICTIM","whole":true}`,
		"trash by path":          `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"x","trash":"VICTIM","whole":true}`,
		"trash above":            `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"x","trash":"../../victim","whole":true}`,
		"trash itself":           `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"x","trash":"..","whole":true}`,
		"trash without a time":   `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"x","trash":"victim","whole":true}`,
		"worktree above":         `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"../../../../victim","trash":"20260101T000000-abcdef-x"}`,
		"worktree is ..":         `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"..","trash":"20260101T000000-abcdef-x"}`,
		"add above":              `{"id":"aaaa","kind":"add","thread":"t1","worktree":"../victim","ref":"refs/orchestrator/t1/1","commit":"` + commit + `"}`,
		"add by path":            `{"id":"aaaa","kind":"add","thread":"t1","worktree":"VICTIM","ref":"refs/orchestrator/t1/1","commit":"` + commit + `"}`,
		"restore elsewhere":      `{"id":"aaaa","kind":"restore","thread":"t1","worktree":"VICTIM",` + restore + `}`,
		"restore of a root":      `{"id":"aaaa","kind":"restore","thread":"t1","root":"VICTIM",` + restore + `}`,
		"another's branch":       `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"x","branch":"main","base":"BASE","trash":"20260101T000000-abcdef-x"}`,
		"another's ref":          `{"id":"aaaa","kind":"add","thread":"t1","worktree":"x","ref":"refs/heads/main","commit":"` + commit + `"}`,
		"another thread's ref": `{"id":"aaaa","kind":"add","thread":"t1","worktree":"x",` +
			`"ref":"refs/orchestrator/t2/1","commit":"` + commit + `"}`,
		"another's name":   `{"id":"bbbb","kind":"restore","thread":"t1",` + restore + `}`,
		"thread above":     `{"id":"aaaa","kind":"restore","thread":"../../heads",` + restore + `}`,
		"option for an id": `{"id":"aaaa","kind":"restore","thread":"t1","target":{"commit":"--output=VICTIM/precious"}}`,
		"id above":         `{"id":"../aaaa","kind":"restore","thread":"t1",` + restore + `}`,
		"no kind":          `{"id":"aaaa","kind":"delete","thread":"t1"}`,
		"empty":            ``,
		"zeroes":           "\x00\x00\x00\x00",
		"not JSON":         `{"id":"aaaa"`,
		"escapes":          `{"id":"aaaa","kind":"\u001b]52;c;eA==\u0007","thread":"t1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r.T = t
			content = strings.NewReplacer("VICTIM", victim, "BASE", base).Replace(content)
			path := r.journal("own", content)
			said := r.repair()
			if !strings.Contains(said, "one of our journals") || strings.ContainsAny(said, "\x1b\x07") {
				t.Errorf("said %q", said)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("it is still there")
			}
			r.unharmed(victim)
			if after := tree(t, r.Dir); after != before {
				t.Errorf("the repository was changed:\n%s\n==\n%s", before, after)
			}
			if said := r.repair(); said != "" {
				t.Errorf("said again: %q", said)
			}
		})
	}
}

// TestForgedJournalsOfForeignWorktrees plants journals whose names are well, of a worktree that the person made.
func TestForgedJournalsOfForeignWorktrees(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	base := r.CommitAll("first")
	r.Take(nil)
	theirs := filepath.Join(r.Top, "trees", "theirs")
	r.Git("worktree", "add", "-q", "-b", "theirs", theirs)
	r.WriteIn(theirs, "new", "n\n", 0o644)
	r.journal("own", `{"id":"aaaa","kind":"remove","thread":"t1","worktree":"theirs","branch":"orchestrator/x","base":"`+base+`","trash":"20260101T000000-abcdef-x","whole":true}`)
	if said := r.repair(); !strings.Contains(said, "not made by orchestrator") {
		t.Errorf("said %q", said)
	}
	r.Same("the person's worktree", r.Files(theirs), map[string]string{"a": "a\n", "new": "n\n"})
	r.GitIn(theirs, "status")
}

// TestHalfMadeWorktreeWithFiles has an add be cut off whose folder holds files and is no worktree: they stay.
func TestHalfMadeWorktreeWithFiles(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	snap := r.Take(nil)
	at := filepath.Join(r.Top, "trees", "x")
	r.WriteIn(at, "precious", "p\n", 0o600)
	r.journal("own", `{"id":"aaaa","kind":"add","thread":"t1","worktree":"x","ref":"refs/orchestrator/t1/9","commit":"`+
		snap.Commit+`"}`)
	if said := r.repair(); !strings.Contains(said, "contains files and is not a complete worktree") {
		t.Errorf("said %q", said)
	}
	if b, err := os.ReadFile(filepath.Join(at, "precious")); err != nil || string(b) != "p\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// TestLinksInState puts links, pipes and folders where our own files lie.
func TestLinksInState(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	wt := r.Add("fork", r.Take(nil))
	victim := r.victim()
	journals := filepath.Join(r.Top, "state/own/journal")
	if err := os.MkdirAll(journals, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(victim, "precious"), filepath.Join(journals, "aaaa.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(journals, "bbbb.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := r.repair(); strings.Count(said, "one of our journals") != 2 {
		t.Errorf("said %q", said)
	}
	if err := os.RemoveAll(journals); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, journals); err != nil {
		t.Fatal(err)
	}
	r.Store = r.Open(0)
	if _, err := r.Store.Repair(t.Context()); err == nil {
		t.Error("journals were read through a link")
	}
	if _, err := r.Store.Remove(t.Context(), "t2", wt); err == nil {
		t.Error("a journal was written through a link")
	}
	if err := os.Remove(journals); err != nil {
		t.Fatal(err)
	}
	// The trash is a link to somewhere else.
	if err := os.Remove(filepath.Join(r.Top, "trees/.trash")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(r.Top, "trees/.trash")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Store.Remove(t.Context(), "t2", wt); err == nil {
		t.Error("moved through a link")
	}
	if _, err := os.Lstat(wt.Path); err != nil {
		t.Error("the worktree was moved through a link")
	}
	old := filepath.Join(victim, "20200101T000000-abcdef-x")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Store.EmptyTrash(time.Now()); err == nil {
		t.Error("emptied a trash that is a link")
	}
	if _, err := os.Lstat(old); err != nil {
		t.Error("deleted through a link")
	}
	r.unharmed(victim)
}

// TestTrashRemovesLinksThemselves puts links of every kind into the trash.
func TestTrashRemovesLinksThemselves(t *testing.T) {
	r := isolate(t)
	victim := r.victim()
	trash := filepath.Join(r.Top, "trees/.trash")
	at := filepath.Join(trash, "20200101T000000-abcdef-x")
	r.WriteIn(at, "locked/file", "f", 0o600)
	for name, to := range map[string]string{"abs": victim, "up": "../../../victim", "locked/chain": "../abs",
		"loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(victim, filepath.Join(trash, "20200101T000000-abcdef-y")); err != nil {
		t.Fatal(err)
	}
	r.WriteIn(trash, "not-ours/kept", "k", 0o600)
	for _, dir := range []string{filepath.Join(at, "locked"), victim} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // who is not root could not remove what is in it
		if err := os.Chmod(victim, 0o700); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.Store.EmptyTrash(time.Now()); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(trash)
	if err != nil || len(left) != 1 || left[0].Name() != "not-ours" {
		t.Errorf("left %v %v", left, err)
	}
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("its mode was changed through a link: %v %v", info.Mode(), err)
	}
	r.unharmed(victim)
}

// TestForgedRoots plants folders in our state that name repositories elsewhere, one of them bare with a name that a
// shell would act on.
func TestForgedRoots(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	r.Take(nil)
	other := filepath.Join(r.Top, "other")
	r.Git("init", "-q", "-b", "main", other)
	r.GitIn(other, "commit", "-q", "--allow-empty", "-m", "x")
	r.GitIn(other, "update-ref", "refs/orchestrator/t1/1", "HEAD")
	evil := filepath.Join(r.Dir, "b$(id>x)")
	r.Git("init", "-q", "--bare", evil)
	if err := os.Symlink(other, filepath.Join(r.Dir, "linked")); err != nil {
		t.Fatal(err)
	}
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:8])
	}
	r.Git("init", "-q", filepath.Join(r.Dir, "nested"))
	for key, root := range map[string]string{
		"x": evil, "z": "nested", "y": other, sum(other + "/.git"): other, sum("linked"): "linked",
		sum("../other"): "../other", sum("b$(id>x)"): "b$(id>x)",
	} {
		r.WriteIn(filepath.Join(r.Top, "state", key), "root", root, 0o600)
		r.journal(key, `{"id":"aaaa","kind":"no such","thread":"t1"}`)
	}
	r.WriteIn(filepath.Join(r.Top, "state"), "huge/root", strings.Repeat("x", 1<<20), 0o600)
	if err := os.MkdirAll(filepath.Join(r.Top, "state/linked"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(r.Top, "state/linked/root")); err != nil {
		t.Fatal(err)
	}
	said := r.repair()
	if strings.Count(said, "does not name a repository inside the project") != 7 || strings.Contains(said, "id>x") ||
		strings.Contains(said, "one of our journals") {
		t.Errorf("said %s", said)
	}
	if err := r.Store.Drop(t.Context(), "t1"); err != nil {
		t.Error(err)
	}
	if r.GitIn(other, "for-each-ref", "refs/orchestrator") == "" {
		t.Error("dropped a ref of another repository")
	}
	if r.Git("for-each-ref", "refs/orchestrator") != "" {
		t.Error("the project's own ref is still there")
	}
}

// TestIDsAreNoPaths hands over ids that lead elsewhere.
func TestIDsAreNoPaths(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	snap := r.Take(nil)
	for _, id := range []thread.ID{"", ".", "..", "../../../Doc2", "a/b", "/etc", "a\x00b", "-x", "a.lock",
		"refs/heads/main", "a b", "ä"} {
		if _, err := r.Store.Take(t.Context(), id, r.Dir, nil); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("take %q: %v", id, err)
		}
		if _, err := r.Store.Add(t.Context(), id, r.Dir, "x", snap); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("add %q: %v", id, err)
		}
		if _, err := r.Store.Remove(t.Context(), id, thread.Worktree{Path: r.Dir}); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("remove %q: %v", id, err)
		}
		if _, err := r.Store.Restore(t.Context(), id, r.Dir, snap); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("restore %q: %v", id, err)
		}
		if err := r.Store.Drop(t.Context(), id); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("drop %q: %v", id, err)
		}
		if _, err := r.Store.RepairRefs(t.Context(), id, nil); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("repair %q: %v", id, err)
		}
	}
}

// TestCopyLeavesTheOriginalAlone works in a copy of a project, whose state is its own: nothing that the copy carries
// of the original is repaired, pruned or swept.
func TestCopyLeavesTheOriginalAlone(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	snap := r.Take(nil)
	wt := r.Add("fork", snap)
	r.WriteIn(wt.Path, "b", "b\n", 0o644)
	if err := r.Store.Close(); err != nil {
		t.Fatal(err)
	}
	// A remove of the original's is cut off, and a ref and a worktree of it are hollow.
	other := r.Add("other", snap)
	copied := newRepoAt(t, filepath.Join(r.Top, "copy"))
	if err := os.RemoveAll(copied.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied.Dir, os.DirFS(r.Dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HEAD", "index"} {
		if err := os.Truncate(filepath.Join(copied.Dir, ".git/worktrees/other", name), 0); err != nil {
			t.Fatal(err)
		}
	}
	ref := filepath.Join(copied.Dir, ".git/refs/orchestrator/t2/1")
	if err := os.Truncate(ref, 0); err != nil {
		t.Fatal(err)
	}
	before := tree(t, copied.Dir)
	if said := copied.repair(); said != "" {
		t.Errorf("said %q", said)
	}
	if list, err := copied.Store.Finder.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("the copy takes worktrees for its own: %v %v", list, err)
	}
	for _, w := range []thread.Worktree{wt, other} {
		if _, err := copied.Store.Remove(t.Context(), "t2", w); err == nil {
			t.Errorf("the copy removed %s", w.Path)
		}
	}
	if after := tree(t, copied.Dir); after != before {
		t.Errorf("the copy was changed:\n%s\n%s", before, after)
	}
	r.Same("the original's fork", r.Files(wt.Path), map[string]string{"a": "a\n", "b": "b\n"})
	if s := r.GitIn(wt.Path, "status", "--porcelain"); s != "?? b" {
		t.Errorf("status %q", s)
	}
	fork := copied.Add("fork2", copied.Take(nil))
	if s := copied.GitIn(fork.Path, "status", "--porcelain"); s != "" {
		t.Errorf("status %q", s)
	}
}

// tree lists the names, sizes and modes of all that lies in a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil && !info.IsDir() {
			b, _ := os.ReadFile(path)
			sum := sha256.Sum256(b)
			path += " " + info.Mode().String() + " " + hex.EncodeToString(sum[:4])
		}
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

func newRepoAt(t *testing.T, top string) *repo {
	t.Helper()
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	return newRepo(t, top)
}

// TestRecordsAreValidated forges the record of a worktree.
func TestRecordsAreValidated(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	wt := r.Add("fork", r.Take(nil))
	if err := r.Store.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(r.Top, "state/own/*/made.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	good, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]string{
		"id": "../x", "name": "../../x", "root": "relative", "thread": "../x", "branch": "main", "base": "--all",
		"commit": "",
	} {
		var rec map[string]any
		if err := json.Unmarshal(good, &rec); err != nil {
			t.Fatal(err)
		}
		rec[field] = value
		b, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(found[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		if said := r.repair(); !strings.Contains(said, "is damaged") {
			t.Errorf("%s: said %q", field, said)
		}
		if _, err := r.Store.Remove(t.Context(), "t2", wt); err == nil {
			t.Errorf("%s: removed", field)
		}
	}
	if err := os.WriteFile(found[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Store.Remove(t.Context(), "t2", wt); err != nil {
		t.Error(err)
	}
}
