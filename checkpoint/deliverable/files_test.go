package deliverable_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orchestrator/checkpoint/deliverable"
	"orchestrator/checkpoint/git/gittest"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// place is a repository and what tells of its files.
type place struct {
	*snapshottest.Repo
	files *deliverable.Files
}

func newPlace(t snapshottest.T, top string) place {
	t.Helper()
	r := snapshottest.New(t, top)
	return place{Repo: r, files: deliverable.New(snapshot.NewCounter(r.Store.Store), r.Store.Finder, r.Dir)}
}

func (p place) ask(q record.FileQuery) []work.Deliverable {
	p.Helper()
	if q.Dir == "" {
		q.Dir = p.Dir
	}
	out, err := p.files.Deliverables(context.Background(), q)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

var bare = cmpopts.IgnoreFields(work.Deliverable{}, "Blob", "Base", "Bytes")

func (p place) want(what string, got []work.Deliverable, want ...work.Deliverable) {
	p.Helper()
	if d := cmp.Diff(want, got, bare); d != "" {
		p.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func lines(words ...string) string { return strings.Join(words, "\n") + "\n" }

// TestCounted: lines are counted by hunk, since HEAD at the beginning, committed or not, and in each state of a file.
func TestCounted(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("keep.txt", "same\n")
	p.Write("lib/a.txt", lines("1", "2", "3", "4", "5", "6", "7", "8"))
	p.Write("old.txt", lines("a", "b", "c", "d", "e", "f"))
	p.Write("gone.txt", lines("x", "y"))
	p.Write("data.bin", "\x00\x01")
	p.Write(".gitignore", "ignored/\n")
	p.CommitAll("first")
	base, err := p.files.Base(context.Background(), p.Dir)
	if err != nil || len(base) != 40 {
		t.Fatalf("base %q, %v", base, err)
	}
	before := p.Visible()
	p.Write("lib/a.txt", lines("1", "TWO", "3", "4", "five", "5a", "5b", "6", "8", "9")) // 1 by 1, 1 by 3, -1, +1
	p.Remove("old.txt")
	p.Write("new name.txt", lines("a", "b", "c", "d", "e", "F"))
	p.Remove("gone.txt")
	p.Write("data.bin", "\x00\x02")
	p.Write("fresh\n.txt", "one\ntwo") // without a newline at the end, and one in the name
	p.Write("ignored/x", "x\n")
	p.Link("link", "/etc/passwd")
	all := []work.Deliverable{
		{Path: "data.bin", What: work.FileBinary},
		{Path: "fresh\n.txt", Added: 2},
		{Path: "gone.txt", Deleted: 2, What: work.FileDeleted},
		{Path: "lib/a.txt", Added: 3, Modified: 2, Deleted: 1},
		{Path: "link", What: work.FileSymlink},
		{Path: "new name.txt", From: "old.txt", Modified: 1},
	}
	got := p.ask(record.FileQuery{From: base})
	p.want("everything", got, all...)
	if got[3].Base != base || got[3].Blob != p.Git("hash-object", "lib/a.txt") || got[3].Bytes != int64(len(lines("1", "TWO", "3", "4", "five", "5a", "5b", "6", "8", "9"))) {
		t.Errorf("lib/a.txt: %+v", got[3])
	}
	if now := p.Visible(); now != before {
		t.Errorf("the repository has changed:\n%s\n--- was\n%s", now, before)
	}
	p.CommitAll("an agent commits its work")
	p.want("committed", p.ask(record.FileQuery{From: base}), all...)
	p.want("named", p.ask(record.FileQuery{From: base, Paths: []string{
		"lib/a.txt", "./lib//a.txt", p.Dir + "/keep.txt", "nowhere.txt", "lib", "ignored/x", "link", "gone.txt", "keep.txt/below", "ignored"}}),
		all[3], work.Deliverable{Path: "keep.txt"}, work.Deliverable{Path: "nowhere.txt", What: work.FileMissing},
		work.Deliverable{Path: "ignored/x", What: work.FileIgnored}, all[4], all[2],
		work.Deliverable{Path: "keep.txt/below", What: work.FileMissing}, work.Deliverable{Path: "ignored", What: work.FileFolder})
}

// TestSinceSnapshot: what was uncommitted at the start is not counted, and two snapshots tell the same for ever.
func TestSinceSnapshot(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", lines("1", "2", "3"))
	p.CommitAll("first")
	p.Write("a.txt", lines("1", "2", "3", "the person's"))
	p.Write("person.txt", "mine\n")
	start := p.Take(nil)
	p.want("nothing done", p.ask(record.FileQuery{From: start.Commit}))
	p.Write("a.txt", lines("1", "2", "3", "the person's", "the agent's"))
	end := p.Take(&start)
	p.Write("a.txt", "somebody else was here later\n")
	p.want("between", p.ask(record.FileQuery{From: start.Commit, To: end.Commit}), work.Deliverable{Path: "a.txt", Added: 1})
	if d := p.ask(record.FileQuery{From: start.Commit, To: end.Commit})[0]; d.Blob != p.Git("rev-parse", end.Commit+":a.txt") || d.Bytes == 0 {
		t.Errorf("%+v", d)
	}
}

// TestOutside: what is not in the repository is never read, whoever names it, and has no figures.
func TestOutside(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	base := p.CommitAll("first")
	secret := filepath.Join(p.Top, "secret.txt")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Link("out", p.Top)
	if err := syscall.Mkfifo(filepath.Join(p.Dir, "pipe"), 0o600); err != nil { // reading it would never end
		t.Fatal(err)
	}
	named := []string{secret, "../secret.txt", "out/secret.txt", ".git/config", "/etc/passwd", "", strings.Repeat("x", 5000), "a\x00b"}
	for i, d := range p.ask(record.FileQuery{From: base, Paths: named}) {
		if d.What != work.FileOutside || d.Bytes != 0 || d.Blob != "" || d.Base != "" {
			t.Errorf("%d: %+v", i, d)
		}
	}
	p.want("a pipe", p.ask(record.FileQuery{From: base, Paths: []string{"pipe"}}), work.Deliverable{Path: "pipe", What: work.FileSpecial})
	if _, err := p.files.Deliverables(context.Background(), record.FileQuery{Dir: p.Dir, Paths: make([]string, record.MostDeliverables+1)}); err == nil {
		t.Error("more paths than there may be")
	}
}

// TestNoBase: a commit that is gone leaves claims without figures, and is an error for who asks for all.
func TestNoBase(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	p.CommitAll("first")
	gone := strings.Repeat("ab", 20)
	got := p.ask(record.FileQuery{From: gone, Paths: []string{"a.txt"}})
	p.want("named", got, work.Deliverable{Path: "a.txt", What: work.FileNoBase})
	if got[0].Blob == "" || got[0].Bytes != 2 {
		t.Errorf("%+v", got[0])
	}
	if _, err := p.files.Deliverables(context.Background(), record.FileQuery{Dir: p.Dir, From: gone}); err == nil {
		t.Error("everything since a commit that is gone")
	}
	p.want("not known", p.ask(record.FileQuery{Unbased: true, Paths: []string{"a.txt"}}), work.Deliverable{Path: "a.txt", What: work.FileNoBase})
	if _, err := p.files.Deliverables(context.Background(), record.FileQuery{Dir: p.Dir, Unbased: true}); err == nil {
		t.Error("everything since nobody knows what")
	}
}

// TestElsewhere: of another repository nothing is told, whoever says that it was worked in.
func TestElsewhere(t *testing.T) {
	p, other := newPlace(t, t.TempDir()), newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	p.CommitAll("first")
	other.Write("private.txt", "1\n")
	base := other.CommitAll("theirs")
	other.Write("private.txt", "2\n")
	if got, err := p.files.Base(context.Background(), other.Dir); got != "" || err != nil || p.files.Holds(other.Dir) || !p.files.Holds(p.Dir) {
		t.Errorf("base %q, %v", got, err)
	}
	got := p.ask(record.FileQuery{Dir: other.Dir, From: base, Paths: []string{"private.txt"}})
	if len(got) != 1 || got[0] != (work.Deliverable{Path: "private.txt", What: work.FileOutside}) {
		t.Errorf("%+v", got)
	}
	if got := p.ask(record.FileQuery{Dir: other.Dir, From: base}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestPlaces: without a repository, without a commit, in a fork's worktree, in a project below its repository, in a
// repository below the project.
func TestPlaces(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		p := newPlace(t, t.TempDir())
		dir := filepath.Join(p.Top, "plain")
		p.WriteIn(dir, "sub/a.txt", "12345", 0o600)
		files := deliverable.New(snapshot.NewCounter(p.Store.Store), p.Store.Finder, dir)
		if base, err := files.Base(context.Background(), dir); base != "" || err != nil {
			t.Errorf("base %q, %v", base, err)
		}
		got, err := files.Deliverables(context.Background(), record.FileQuery{Dir: dir, Paths: []string{"sub/a.txt", "../x"}})
		if err != nil || len(got) != 2 || got[0].Bytes != 5 || got[0].What != work.FileNoGit || got[0].Path != "sub/a.txt" || got[1].What != work.FileOutside {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("unborn", func(t *testing.T) {
		p := newPlace(t, t.TempDir())
		p.Write("a.txt", "1\n2\n")
		if base, err := p.files.Base(context.Background(), p.Dir); base != "" || err != nil {
			t.Errorf("base %q, %v", base, err)
		}
		p.want("named", p.ask(record.FileQuery{Paths: []string{"a.txt"}}), work.Deliverable{Path: "a.txt", Added: 2})
	})
	t.Run("fork", func(t *testing.T) {
		p := newPlace(t, t.TempDir())
		p.Write("pkg/a.txt", "1\n")
		p.CommitAll("first")
		start := p.Take(nil)
		tree := p.Add("x", start)
		p.WriteIn(tree.Path, "pkg/a.txt", "1\n2\n", 0o644)
		want := work.Deliverable{Path: "pkg/a.txt", Added: 1}
		p.want("a fork", p.ask(record.FileQuery{Dir: tree.Path, From: start.Commit}), want)
		p.want("from within", p.ask(record.FileQuery{Dir: filepath.Join(tree.Path, "pkg"), From: start.Commit, Paths: []string{"a.txt"}}), want)
		p.want("the person's", p.ask(record.FileQuery{From: start.Commit}))
		below := deliverable.New(snapshot.NewCounter(p.Store.Store), p.Store.Finder, filepath.Join(p.Dir, "pkg")) // a project that is a part of its repository
		got, err := below.Deliverables(context.Background(), record.FileQuery{Dir: filepath.Join(tree.Path, "pkg"), From: start.Commit})
		if err != nil || len(got) != 1 || got[0].Path != "a.txt" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("submodule", func(t *testing.T) {
		p := newPlace(t, t.TempDir())
		p.Write("a.txt", "1\n")
		base := p.CommitAll("first")
		sub := filepath.Join(p.Dir, "sub")
		p.WriteIn(sub, "b.txt", "1\n", 0o644)
		gittest.Init(t, sub)
		p.GitIn(sub, "add", "-A")
		p.GitIn(sub, "-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "in it")
		inner := p.GitIn(sub, "rev-parse", "HEAD")
		p.Git("add", "sub")
		p.want("as one", p.ask(record.FileQuery{From: base}), work.Deliverable{Path: "sub", What: work.FileSubmodule})
		p.WriteIn(sub, "b.txt", "1\n2\n", 0o644)
		p.want("worked in", p.ask(record.FileQuery{Dir: sub, From: inner}), work.Deliverable{Path: "sub/b.txt", Added: 1})
	})
}

// TestTooLarge: a file of 100 MB is not read.
func TestTooLarge(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	base := p.CommitAll("first")
	if err := os.Truncate(filepath.Join(p.Dir, "a.txt"), 100<<20); err != nil { // tracked, and sparse
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(p.Dir, "dump"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(snapshot.DefaultLimit + 1); err != nil {
		t.Fatal(err)
	}
	for _, paths := range [][]string{nil, {"a.txt", "dump"}} {
		got := p.ask(record.FileQuery{From: base, Paths: paths})
		if len(got) != 2 || got[0].Bytes != 100<<20 || got[1].Bytes != snapshot.DefaultLimit+1 ||
			got[0].What != work.FileTooLarge || got[1].What != work.FileTooLarge {
			t.Errorf("%q: %+v", paths, got)
		}
	}
}

// TestMany: of more files than are recorded the first are, and those that somebody names.
func TestMany(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	base := p.CommitAll("first")
	for i := range record.MostDeliverables + 20 {
		p.Write("many/"+strings.Repeat("n", i%7)+string(rune('a'+i%26))+strings.Repeat("x", i/100)+"-"+strings.Repeat("0", i%100), "1\n2\n")
	}
	more := 0
	all := p.ask(record.FileQuery{From: base, Cut: func(n int) { more = n }})
	if more != 20 {
		t.Errorf("%d files more, not 20", more)
	}
	if len(all) != record.MostDeliverables || !slices.IsSortedFunc(all, func(a, b work.Deliverable) int { return strings.Compare(a.Path, b.Path) }) {
		t.Fatalf("%d files", len(all))
	}
	p.Write("zz.txt", "1\n2\n3\n")
	p.want("the last one", p.ask(record.FileQuery{From: base, Paths: []string{"zz.txt"}}), work.Deliverable{Path: "zz.txt", Added: 3})
}

// TestNothingRuns: nothing that the repository's configuration and attributes name is started.
func TestNothingRuns(t *testing.T) {
	p := newPlace(t, t.TempDir())
	program, ran := gittest.Canary(t, p.Top)
	p.Write("a.txt", "1\n")
	base := p.CommitAll("first")
	for _, key := range []string{"diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "core.fsmonitor"} {
		p.Git("config", key, program)
	}
	p.Git("config", "core.abbrev", "4")
	p.Git("config", "diff.context", "9")
	p.Git("config", "diff.interHunkContext", "9")
	p.Git("config", "diff.algorithm", "patience")
	p.Write(".gitattributes", "*.txt diff=evil filter=evil\n")
	p.Write("a.txt", "1\n2\n")
	was := ran()
	p.want("counted", p.ask(record.FileQuery{From: base}), work.Deliverable{Path: ".gitattributes", Added: 1}, work.Deliverable{Path: "a.txt", Added: 1})
	if n := ran() - was; n > 0 {
		t.Errorf("%d programs of the repository's were started", n)
	}
}
