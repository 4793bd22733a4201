package branch_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestPreview: it says what a commit and a merge then come to, and leaves no trace.
func TestPreview(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*repo)
		want string
	}{
		"nothing":         {func(*repo) {}, "up to date"},
		"an ignored file": {func(r *repo) { r.writeIn(r.side, "x.env", "SECRET\n") }, "up to date"},
		"a changed file":  {func(r *repo) { r.writeIn(r.side, "a", "side\n") }, "merged"},
		"a new file":      {func(r *repo) { r.writeIn(r.side, "new/file", "side\n") }, "merged"},
		"a deleted file":  {func(r *repo) { r.remove(r.side, "b") }, "merged"},
		"a staged file": {func(r *repo) {
			r.writeIn(r.side, "x.env", "side\n")
			r.gitIn(r.side, "add", "-f", "x.env")
		}, "merged"},
		"another repository": {func(r *repo) {
			r.gitIn(r.side, "init", "-q", "nested")
			r.writeIn(filepath.Join(r.side, "nested"), "inner", "x")
		}, "up to date"},
		"a change that the target committed otherwise": {func(r *repo) {
			r.writeIn(r.side, "a", "1\nside\n3\n")
			r.write("a", "1\nmain\n3\n")
			r.commit(r.dir, "main")
		}, "conflicts in a"},
		"a new file that the target committed otherwise": {func(r *repo) {
			r.writeIn(r.side, "new", "side\n")
			r.write("new", "main\n")
			r.commit(r.dir, "main")
		}, "conflicts in new"},
		"a deleted file that the target changed": {func(r *repo) {
			r.remove(r.side, "b")
			r.write("b", "main\n")
			r.commit(r.dir, "main")
		}, "conflicts in b"},
		"a change beside the target's own": {func(r *repo) {
			r.writeIn(r.side, "a", "side\n")
			r.write("b", "mine\n")
			r.write("new", "mine\n")
		}, "merged"},
		"a change of what is changed in the target": {func(r *repo) {
			r.writeIn(r.side, "a", "side\n")
			r.write("a", "mine\n")
		}, "uncommitted changes in DIR: a"},
		"a new file that lies in the target": {func(r *repo) {
			r.writeIn(r.side, "new", "side\n")
			r.write("new", "mine\n")
		}, "uncommitted changes in DIR: new"},
		"a staged file that the target ignores": {func(r *repo) {
			r.writeIn(r.side, "x.env", "side\n")
			r.gitIn(r.side, "add", "-f", "x.env")
			r.write("x.env", "MY SECRET\n")
		}, "uncommitted changes in DIR: x.env"},
		"the same work in both": {func(r *repo) {
			for _, dir := range []string{r.dir, r.side} {
				r.writeIn(dir, "a", "the same\n")
				r.writeIn(dir, "new", "the same\n")
			}
		}, "merged"},
		"what is merged already": {func(r *repo) {
			r.writeIn(r.side, "a", "side\n")
			r.commit(r.side, "work")
			r.merge()
		}, "up to date"},
		"more after a merge": {func(r *repo) {
			r.writeIn(r.side, "a", "side\n")
			r.commit(r.side, "work")
			r.merge()
			r.writeIn(r.side, "a", "more\n")
			r.write("a", "mine\n")
		}, "uncommitted changes in DIR: a"},
		"a commit taken back by what is not committed": {func(r *repo) {
			r.writeIn(r.side, "a", "side\n")
			r.commit(r.side, "work")
			r.writeIn(r.side, "a", "1\n2\n3\n")
			r.write("a", "main\n")
			r.commit(r.dir, "main")
		}, "merged"},
		"a split index": {func(r *repo) {
			r.gitIn(r.side, "config", "core.splitIndex", "true")
			for i := range 50 {
				r.writeIn(r.side, fmt.Sprint("new", i), "side\n")
			}
			r.gitIn(r.side, "update-index", "--split-index")
			r.write("new7", "mine\n")
		}, "uncommitted changes in DIR: new7"},
		"a filter of the person's": {func(r *repo) {
			r.git("config", "--global", "filter.lower.clean", "tr A-Z a-z")
			r.writeIn(r.side, ".gitattributes", "new filter=lower\n")
			r.writeIn(r.side, "new", "THE SAME\n")
			r.write("new", "the same\n")
		}, "merged"},
		"a filter of the repository's": {func(r *repo) {
			r.git("config", "filter.evil.clean", "touch "+filepath.Join(r.dir, "canary"))
			r.writeIn(r.side, ".gitattributes", "* filter=evil\n")
		}, "is not trusted"},
		"a merge of its own": {func(r *repo) {
			r.write("a", "main\n")
			r.commit(r.dir, "main")
			r.gitIn(r.side, "merge", "-q", "--no-commit", "--no-ff", "main")
		}, "a merge is in progress"},
		"a branch without a commit": {func(r *repo) {
			r.gitIn(r.side, "checkout", "-q", "--orphan", "other")
		}, "no common history"},
		"nobody to commit as": {func(r *repo) {
			r.git("config", "--global", "--unset", "user.email")
			r.writeIn(r.side, "a", "side\n")
		}, "git config --global user.name"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			tc.do(r)
			want := strings.ReplaceAll(tc.want, "DIR", r.dir)
			before := r.everything()
			said := outcome(r.merger.Preview(t.Context(), r.dir, r.side))
			if !strings.Contains(said, want) {
				t.Errorf("a preview says %q, not %q", said, want)
			}
			if after := r.everything(); after != before {
				t.Errorf("a preview changed something:\n%s\n==\n%s", before, after)
			}
			if did := outcome(r.commitAndMerge()); did != said {
				t.Errorf("a preview says %q, but the merge came to %q", said, did)
			}
		})
	}
}

// outcome is what a merge, or its preview, came to.
func outcome(m thread.Merged, err error) string {
	switch {
	case err != nil:
		_, why, _ := strings.Cut(err.Error(), ": ") // behind what was being done
		return why
	case m.UpToDate:
		return "up to date"
	case len(m.Conflicts) > 0:
		return "conflicts in " + strings.Join(m.Conflicts, ", ")
	}
	return "merged"
}

// commitAndMerge is what a preview foretells.
func (r *repo) commitAndMerge() (thread.Merged, error) {
	r.Helper()
	commit, err := r.merger.Commit(r.Context(), r.side, "work")
	if err != nil {
		return thread.Merged{}, err
	}
	return r.merger.Merge(r.Context(), r.dir, commit, "m")
}

func (r *repo) merge() {
	r.Helper()
	if _, err := r.merger.Merge(r.Context(), r.dir, "side", "m"); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) remove(dir, name string) {
	r.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		r.Fatal(err)
	}
}

// everything is each file of the repository and its worktrees, but for the target's index: git may note there what
// it saw of the files.
func (r *repo) everything() string {
	r.Helper()
	var b strings.Builder
	b.WriteString(r.state() + "\n")
	for _, dir := range []string{r.dir, r.side} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path == filepath.Join(r.dir, ".git", "index") {
				return err
			}
			content, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", path, content)
			return err
		})
		if err != nil {
			r.Fatal(err)
		}
	}
	return b.String()
}
