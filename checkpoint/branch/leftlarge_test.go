package branch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestContentLeftOut: files of git-lfs of which only the pointer came, or whose content a push did not upload, are told,
// and nothing of those whose content is there or was nowhere.
func TestContentLeftOut(t *testing.T) {
	content := "the picture\n"
	sum := sha256.Sum256([]byte(content))
	oid := hex.EncodeToString(sum[:])
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, len(content))
	const setUp = "git config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.smudge 'git-lfs smudge -- %f'; "
	stored := "mkdir -p .git/lfs/objects/" + oid[:2] + "/" + oid[2:4] + "; printf 'the picture\\n' > .git/lfs/objects/" + oid[:2] + "/" +
		oid[2:4] + "/" + oid + "; "
	for name, c := range map[string]struct {
		op      thread.Operation
		prepare string // in the repository, p
		fork    string // the content of a.psd in the worktree, "" as checked out
		since   string
		want    string
	}{
		"a fork with the pointer alone":       {op: thread.OpFork, prepare: "cp content a.psd", want: "content a.psd: only its git-lfs pointer"},
		"a fork with the content":             {op: thread.OpFork, prepare: "cp content a.psd", fork: content},
		"a fork of a folder without it":       {op: thread.OpFork},
		"a merge that brings the pointer":     {op: thread.OpMerge, fork: content, want: "content a.psd: only its git-lfs pointer"},
		"a dry run of it":                     {op: thread.OpDryRun, fork: content, want: "content a.psd: only its git-lfs pointer"},
		"a merge with the content":            {op: thread.OpMerge, prepare: "cp content a.psd", fork: content},
		"a rewind to the pointer":             {op: thread.OpRewind, want: "content a.psd: only its git-lfs pointer"},
		"a push without git-lfs":              {op: thread.OpPush, prepare: stored, want: "content a.psd: git-lfs is not set up"},
		"a push without the content":          {op: thread.OpPush, prepare: setUp, want: "content a.psd: its content is not on this machine"},
		"a push of what git-lfs uploads":      {op: thread.OpPush, prepare: setUp + stored},
		"a push of a branch that left it":     {op: thread.OpPush, since: "HEAD"},
		"a push of a branch that changed it":  {op: thread.OpPush, since: "HEAD~1", want: "content a.psd: its content is not on this machine"},
		"a push of content kept elsewhere":    {op: thread.OpPush, prepare: setUp + stored + "mv .git/lfs .git/large; git config lfs.storage large"},
		"a push of content that is committed": {op: thread.OpPush, prepare: "cp content a.psd; git -c filter.lfs.clean= commit -qam raw"},
		"an import without the content":       {op: thread.OpImport, want: "content a.psd: only its git-lfs pointer came"},
		"an import beside the content":        {op: thread.OpImport, prepare: stored},
		"an import beside content elsewhere":  {op: thread.OpImport, prepare: stored + "mv .git/lfs .git/large; git config lfs.storage large"},
		"an import of committed content":      {op: thread.OpImport, prepare: "cp content a.psd; git -c filter.lfs.clean= commit -qam raw"},
		"an import from deep below":           {op: thread.OpImport, prepare: stored + "mkdir -p 'd e'; git mv a.psd .gitattributes 'd e'; sed s/oid.sha256:./\\&0/ pointer > 'd e/a.psd'; git commit -qam deep", want: "content d e/a.psd: only"},
		"an import of what only reads so":     {op: thread.OpImport, prepare: "git rm -q --cached a.psd; git mv pointer b.txt; git commit -qam text; rm .gitattributes; git commit -qam none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo := filepath.Join(top, "p")
			if err := os.Mkdir(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@e",
				"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@e"}
			for file, text := range map[string]string{"content": content, "pointer": pointer, ".gitattributes": "*.psd filter=lfs -text\n"} {
				if err := os.WriteFile(filepath.Join(repo, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-ec", "git init -q; git add .; git commit -qm one; cp pointer a.psd; git add a.psd; git commit -qm two\n"+
				"git worktree add -q ../fork\n"+c.prepare)
			cmd.Dir, cmd.Env = repo, env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			fork := filepath.Join(top, "fork")
			if c.fork != "" {
				if err := os.WriteFile(filepath.Join(fork, "a.psd"), []byte(c.fork), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			m, err := New(Config{State: filepath.Join(top, "state"), Env: []string{"HOME=" + top, "GIT_CONFIG_NOSYSTEM=1"}})
			if err != nil {
				t.Fatal(err)
			}
			dir, from := repo, fork
			switch c.op {
			case thread.OpFork:
				dir, from = fork, repo
			case thread.OpPush, thread.OpRewind:
				from = c.since
			case thread.OpMerge, thread.OpDryRun, thread.OpImport: // from the branch to the project's folder
			}
			left, err := []thread.LeftOut(nil), error(nil)
			if c.op == thread.OpImport {
				left, err = m.ContentLeft(t.Context(), repo, strings.TrimSpace(headOf(t, repo, env)))
			} else {
				left, err = m.LeftOut(t.Context(), c.op, dir, from)
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range left {
				got = append(got, l.String())
			}
			if said := strings.Join(got, "\n"); !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") || len(left) > 1 {
				t.Errorf("%q, want %q", said, c.want)
			}
		})
	}
}

// headOf is the newest commit of a repository.
func headOf(t *testing.T, repo string, env []string) string {
	t.Helper()
	cmd := exec.Command("git", "rev-parse", "HEAD")
	cmd.Dir, cmd.Env = repo, env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
