package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/git"
)

// odd says, for people, what of a worktree of ours is there and cannot be what it should, in a way that nothing here
// sets right: another thing than a file, or a HEAD on a branch that does not exist. branches are those of the repository.
func odd(common string, r record, branch func(ref string) bool) []string {
	part := filepath.Join(common, "worktrees", r.Name)
	if _, err := os.Lstat(part); err != nil {
		return nil
	}
	var found []string
	for _, file := range []string{
		filepath.Join(r.Root, ".git"), filepath.Join(part, "commondir"), filepath.Join(part, "gitdir"),
		filepath.Join(part, "HEAD"), filepath.Join(part, "index"), branchFile(common, r),
	} {
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			found = append(found, fmt.Sprintf("git cannot work in the worktree %s: %s is no file; move it away, and the next start writes it again",
				r.Root, file))
		}
	}
	if len(found) > 0 {
		return found
	}
	if at, err := git.Find(r.Root); err != nil || at.Root != r.Root || at.GitDir != part {
		if info, err := os.Lstat(r.Root); err == nil && info.IsDir() {
			found = append(found, fmt.Sprintf("git cannot work in the worktree %s: %s does not lead to its repository; move it away, "+
				"and the next start writes it again", r.Root, filepath.Join(r.Root, ".git")))
		}
	}
	head, err := disk.ReadSmall(filepath.Join(part, "HEAD"))
	ref, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if own := "refs/heads/" + r.Branch; err == nil && isRef && ref != own && branch(own) && !branch(ref) {
		found = append(found, fmt.Sprintf("the worktree %s is on the branch %s, which does not exist; unless you have just begun that one, "+
			"`git -C %s symbolic-ref HEAD %s` goes back to its own", r.Root, git.Printable(ref), r.Root, own))
	}
	return found
}

// sweepOdd removes what is no file where we keep what can be made again of a worktree: a pipe would be waited at.
// state is what we keep of one repository.
func sweepOdd(state string) error {
	homes, err := os.ReadDir(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at what is kept of worktrees: %w", err)
	}
	for _, home := range homes {
		for _, name := range []string{
			"stamp", "meta.json", "index", "lock", "view/config", "view/HEAD", "shadow/config", "shadow/HEAD", "shadow/info/attributes",
		} {
			file := filepath.Join(state, home.Name(), name)
			if info, err := os.Lstat(file); err != nil || info.Mode().IsRegular() {
				continue
			}
			if err := disk.RemoveIn(filepath.Dir(file), filepath.Base(file)); err != nil {
				return fmt.Errorf("remove what is no file: %w", err)
			}
		}
	}
	return nil
}
