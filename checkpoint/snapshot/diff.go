package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// maxPatch is the longest patch of one file that Diff returns, in bytes; for longer ones only the counts are returned.
const maxPatch = 1 << 20

// Diff returns the differences between two states of dir's worktree, file by file. from and to are commits of snapshots
// or of the repository (a base). An empty to is the current worktree, an empty from is nothing at all, as for an unborn
// branch. Nothing is written to the repository.
//
// A file of the repository that differs from the worktree only by a conversion from its attributes (line ends, a
// pointer to large-file storage) is left out.
func (s *Store) Diff(ctx context.Context, dir, from, to string) ([]thread.FileDiff, error) {
	diffs, err := s.diff(ctx, dir, from, to)
	if err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	return diffs, nil
}

func (s *Store) diff(ctx context.Context, dir, from, to string) ([]thread.FileDiff, error) {
	w, err := s.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	v, err := openView(ctx, w, to == "", s.cfg.Limit)
	if err != nil {
		return nil, err
	}
	defer v.close()
	if from == "" {
		from = v.empty()
	}
	a, err := v.side(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := v.side(ctx, to)
	if err != nil || a == b {
		return nil, err
	}
	return v.files(ctx, a, b)
}

// Describe describes for people how dir's worktree differs from its last commit.
func (s *Store) Describe(ctx context.Context, dir string) string {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	n, err := s.changed(ctx, dir)
	switch {
	case errors.Is(err, thread.ErrNoRepository):
		return "not a git repository"
	case err != nil:
		return "unknown: " + err.Error()
	case n == 0:
		return "clean"
	case n == 1:
		return "1 file changed"
	}
	return fmt.Sprintf("%d files changed", n)
}

func (s *Store) changed(ctx context.Context, dir string) (int, error) {
	w, err := s.open(ctx, dir)
	if err != nil {
		return 0, err
	}
	base, err := w.work.Head(ctx)
	if err != nil {
		return 0, err
	}
	v, err := openView(ctx, w, true, s.cfg.Limit)
	if err != nil {
		return 0, err
	}
	defer v.close()
	if base == "" {
		base = v.empty()
	}
	a, err := v.side(ctx, base)
	if err != nil {
		return 0, err
	}
	stats, err := numstat(ctx, w.work.Repo, v.env, a, v.now)
	if err != nil {
		return 0, err
	}
	same, err := v.equivalent(ctx, a, v.now)
	return len(stats) - len(same), err
}

// files compares two trees.
func (v *view) files(ctx context.Context, a, b string) ([]thread.FileDiff, error) {
	common := []string{"diff-tree", "-r", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--ignore-submodules=dirty"}
	raw, err := v.w.work.Ours(ctx, git.Call{
		Args: append(common[:len(common):len(common)], "-z", "--raw", "--no-abbrev", "--end-of-options", a, b, "--"),
		Env:  v.env,
	})
	if err != nil {
		return nil, err
	}
	diffs, err := parseDiffs(raw)
	if err != nil {
		return nil, err
	}
	stats, err := numstat(ctx, v.w.work.Repo, v.env, a, b, "-M", "-l1000", "--submodule=short")
	if err != nil {
		return nil, err
	}
	if len(stats) != len(diffs) {
		return nil, fmt.Errorf("git diff-tree wrote %d files and counted %d", len(diffs), len(stats))
	}
	// Without -z, so that a name with a newline is quoted and no line of it looks like a header.
	patch, err := v.w.work.Ours(ctx, git.Call{
		Args: append(common[:len(common):len(common)],
			"-p", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", a, b, "--"),
		Env: v.env,
	})
	if err != nil {
		return nil, err
	}
	patches := splitPatch(string(patch))
	same, err := v.equivalent(ctx, a, b)
	if err != nil {
		return nil, err
	}
	out := diffs[:0]
	for i, d := range diffs {
		d.Insertions, d.Deletions, d.Binary = stats[i].ins, stats[i].del, stats[i].binary
		take := 1
		if d.Status == "type" {
			take = 2 // git writes it as one file removed and another one added
		}
		if len(patches) < take {
			return nil, fmt.Errorf("git diff-tree wrote fewer patches than files")
		}
		d.Patch = strings.Join(patches[:take], "")
		if len(d.Patch) > maxPatch {
			d.Patch = ""
		}
		patches = patches[take:]
		if !same[d.Path] {
			out = append(out, d)
		}
	}
	return out, nil
}

// parseDiffs parses `diff-tree --raw -z -M`: ":mode mode oid oid S\0path\0", with a second path for renames.
func parseDiffs(raw []byte) ([]thread.FileDiff, error) {
	var diffs []thread.FileDiff
	f := git.Fields(raw)
	for i := 0; i < len(f); {
		head := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(head) != 5 || i+1 >= len(f) {
			return nil, fmt.Errorf("git diff-tree wrote %q", git.Printable(f[i]))
		}
		d := thread.FileDiff{Path: f[i+1]}
		i += 2
		switch head[4][0] {
		case 'A':
			d.Status = "added"
		case 'D':
			d.Status = "deleted"
		case 'T':
			d.Status = "type"
		case 'R':
			if i >= len(f) {
				return nil, fmt.Errorf("git diff-tree wrote a rename without its target")
			}
			d.Status, d.OldPath, d.Path = "renamed", d.Path, f[i]
			i++
		default:
			d.Status = "modified"
		}
		diffs = append(diffs, d)
	}
	return diffs, nil
}

// splitPatch splits a patch into its files and removes the headers: the rest of each begins with "@@", or is empty if
// git shows no lines.
func splitPatch(patch string) []string {
	var files []string
	for len(patch) > 0 {
		next := strings.Index(patch[1:], "\ndiff --git ")
		one := patch
		if next >= 0 {
			one, patch = patch[:next+2], patch[next+2:]
		} else {
			patch = ""
		}
		hunk := strings.Index(one, "\n@@ ")
		if hunk < 0 {
			files = append(files, "")
			continue
		}
		files = append(files, one[hunk+1:])
	}
	return files
}
