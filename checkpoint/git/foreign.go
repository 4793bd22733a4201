package git

import "strings"

// Foreign is the folder at a worktree's root that is never ours to keep, tracked or not: what lies there is in no
// snapshot, no restore writes or removes it, and we commit nothing of it. A repository that brings one, or an agent
// that writes one, would otherwise have its content kept and pushed in our name.
const Foreign = ".orchestrator"

// IsForeign reports whether a path of a worktree, with slashes, is Foreign or lies in it; also where the file system
// does not tell upper from lower case.
func IsForeign(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return strings.EqualFold(top, Foreign)
}
