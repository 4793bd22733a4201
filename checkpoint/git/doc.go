// Package git runs the git program, in one careful way, for the packages under checkpoint.
//
// Guarantees: never a shell; no hook, no file-system monitor and no pager runs; no GIT_* variable of the process leaks
// in, except those for identity and configuration files; nothing waits for a terminal; the whole process group ends
// with the context, and within about a second, with an error that names the file, if git waits at a file that never
// ends, such as a pipe in a repository from an archive; git's stderr is in the error, without control characters; what
// it writes is synced to disk if the call says so.
//
// It does not prevent filter drivers from running: calls that would convert file contents must be avoided by callers
// (snapshot) or made with a frozen view of the repository (branch). Such a view has the repository's own configuration
// as it was when read, once, limited to data and to programs that the person accepted; what is written to the
// configuration while git runs changes nothing. Only a push may connect to anything.
package git
