// Package git calls the git program, in one careful way, for the packages under checkpoint.
//
// Guarantees: never a shell; no hook, no file-system monitor and no pager runs; no GIT_* variable of the
// process leaks in, identity and configuration-file choices aside; nothing waits for a terminal; the whole
// process group ends with the context; what git says on stderr is in the error, without control characters;
// what it writes is synced to disk where the call says so.
//
// It does not keep filter drivers from running: calls that would convert file contents are for the callers to
// avoid (snapshot) or to want (branch).
package git
