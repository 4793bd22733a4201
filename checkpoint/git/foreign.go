package git

import "strings"

// Foreign is the folder in a worktree's root that we never store, tracked or not: its content is in no snapshot, no
// restore writes or removes it, and we commit nothing of it. Otherwise, if a repository or an agent brought one, its
// content would be stored and pushed in our name.
const Foreign = ".orchestrator"

// IsForeign reports whether a slash-separated path of a worktree is Foreign or inside it, ignoring case as some file
// systems do.
func IsForeign(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return strings.EqualFold(top, Foreign)
}
