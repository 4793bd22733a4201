package branch

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
)

// Preview says what Merge would come to and changes nothing.
func (m *Merger) Preview(ctx context.Context, into, branch string) (thread.Merged, error) {
	t, err := m.open(ctx, into)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("preview merge: %w", err)
	}
	what, err := t.preview(ctx, branch)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("preview merge: %w", err)
	}
	return what, nil
}

func (t tree) preview(ctx context.Context, branch string) (thread.Merged, error) {
	tip, head, merged, err := t.ends(ctx, branch)
	if err != nil {
		return thread.Merged{}, err
	}
	if merged {
		return thread.Merged{UpToDate: true, Commit: head}, nil
	}
	if err := t.roomFor(ctx, head, tip, false); err != nil {
		return thread.Merged{}, err
	}
	tr, err := t.try(ctx, head, tip)
	if err != nil {
		return thread.Merged{}, err
	}
	defer tr.close()
	return thread.Merged{Conflicts: tr.conflicts}, nil
}

// trial is a merge in memory; its objects go with it.
type trial struct {
	dir       string
	env       []string
	result    string // tree
	conflicts []string
}

func (tr *trial) close() { _ = os.RemoveAll(tr.dir) }

// try merges two commits without a worktree.
func (t tree) try(ctx context.Context, head, tip string) (*trial, error) {
	dir, err := os.MkdirTemp("", "orchestrator-merge-*")
	if err != nil {
		return nil, err
	}
	tr := &trial{dir: dir, env: []string{
		"GIT_OBJECT_DIRECTORY=" + dir,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Alternate(filepath.Join(t.Common, "objects")),
	}}
	out, code, err := t.code(ctx, git.Call{
		Args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "--end-of-options", head, tip},
		OK:   []int{1, 129}, Env: tr.env,
	})
	if err == nil && code == 129 {
		err = thread.Hint(fmt.Errorf("this git cannot try a merge: %w", thread.ErrUnsupported), "install git 2.38 or newer")
	}
	if err != nil {
		tr.close()
		return nil, err
	}
	names := split(bytes.TrimSuffix(out, []byte{0}))
	if len(names) > 0 {
		tr.result = strings.TrimSpace(names[0])
	}
	if code == 1 && len(names) > 1 {
		tr.conflicts = names[1:]
	}
	return tr, nil
}

// halfDone looks at files that are in the way of a merge. Those that hold exactly what the merge would write were
// left by a merge that was killed before its commit; nothing is lost when they are put back, and with change they
// are. Any other one refuses the merge.
func (t tree) halfDone(ctx context.Context, head, tip string, inTheWay []string, change bool) error {
	slices.Sort(inTheWay)
	same, err := t.alreadyMerged(ctx, head, tip, inTheWay)
	if err != nil && !errors.Is(err, thread.ErrUnsupported) {
		return err
	}
	blocked := slices.DeleteFunc(slices.Clone(inTheWay), func(path string) bool { return same[path] })
	if len(blocked) > 0 {
		return thread.Hint(&DirtyError{Dir: t.Root, Files: blocked}, "commit or move them first")
	}
	if !change {
		return nil
	}
	return t.putBack(ctx, head, inTheWay)
}

// alreadyMerged names the paths whose file is what the merge would write.
func (t tree) alreadyMerged(ctx context.Context, head, tip string, paths []string) (map[string]bool, error) {
	tr, err := t.try(ctx, head, tip)
	if err != nil {
		return nil, err
	}
	defer tr.close()
	out, err := t.run(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", head, tr.result, "--",
	}, Env: tr.env})
	if err != nil {
		return nil, err
	}
	want := map[string]string{} // blob, "" for a file that goes
	f := split(out)
	for i := 0; i+1 < len(f); i += 2 {
		head := strings.Fields(f[i])
		if len(head) == 5 && strings.HasPrefix(head[1], "100") {
			want[f[i+1]] = head[3]
		} else if len(head) == 5 && head[1] == "000000" {
			want[f[i+1]] = ""
		}
	}
	same := map[string]bool{}
	for _, path := range paths {
		oid, changes := want[path]
		info, err := os.Lstat(filepath.Join(t.Root, path))
		switch {
		case !changes:
		case oid == "":
			same[path] = errors.Is(err, fs.ErrNotExist)
		case err == nil && info.Mode().IsRegular():
			have, err := t.run(ctx, git.Call{Args: []string{"hash-object", "--stdin-paths"}, Stdin: strings.NewReader(path + "\n")})
			same[path] = err == nil && strings.TrimSpace(string(have)) == oid && !strings.Contains(path, "\n")
		}
	}
	return same, nil
}

// putBack sets files to a commit's, in index and worktree; what the commit has not is removed.
func (t tree) putBack(ctx context.Context, head string, paths []string) error {
	known, err := t.names(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", head)
	if err != nil {
		return err
	}
	var back, gone strings.Builder
	for _, path := range paths {
		if known[path] {
			back.WriteString(path + "\x00")
			continue
		}
		gone.WriteString(path + "\x00")
		if err := os.Remove(filepath.Join(t.Root, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if gone.Len() > 0 {
		_, err := t.run(ctx, git.Call{Args: []string{"update-index", "-z", "--force-remove", "--stdin"}, Stdin: strings.NewReader(gone.String())})
		if err != nil {
			return err
		}
	}
	if back.Len() == 0 {
		return nil
	}
	_, err = t.run(ctx, git.Call{
		Args:  []string{"restore", "--quiet", "--source=" + head, "--staged", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"},
		Stdin: strings.NewReader(back.String()),
	})
	return err
}
