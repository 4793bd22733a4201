// Package branch brings the work of threads together with git: commits, merges, pushes, pull requests.
//
// Commits and merges are the person's: their identity, their signing key, their reflog. Guarantees: no hook runs,
// theirs included (Commit and Merge say nothing about what a hook would have said); what a worktree holds
// uncommitted is never overwritten, ignored files included: a merge that would is refused untouched, with the
// files' names. git reads the repository's own configuration as it was when the call began, and of that only what is
// data: a filter, merge driver or signer that it names, or what it says about how a remote is reached, is used when the
// person's own configuration says the same or the person accepted exactly that; otherwise the call is refused and says
// which, and nothing is committed unfiltered or pushed another way. A remote that is a folder of this machine runs
// none of its own either. Large files of git-lfs are pushed with their branch. A merge that is killed at any moment, or that a full disk ends, is taken back by the next call on its worktree, file by file and
// only what git itself had written; what was not committed before it is there again.
//
// It resolves no conflicts, deletes no branch and rewrites no history.
package branch
