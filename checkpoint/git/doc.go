// Package git calls the git program, in one careful way, for the packages under checkpoint.
//
// Guarantees: never a shell; no hook, no file-system monitor and no pager runs; no GIT_* variable of the
// process leaks in, identity and configuration-file choices aside; nothing waits for a terminal; the whole
// process group ends with the context, and within about a second where git waits at a file that never ends, such as a
// pipe in a repository that came in an archive, with an error that names it; what git says on stderr is in the error,
// without control characters; what it writes is synced to disk where the call says so.
//
// It does not keep filter drivers from running: calls that would convert file contents are for the callers to
// avoid (snapshot) or to make with a frozen view of the repository (branch). Such a view holds what the repository's
// own configuration said when it was read, once, as far as that is data, or a program that the person accepted; what
// is written into it while git runs changes nothing. Only a push may connect to anything.
package git
