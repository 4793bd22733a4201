// Package branch brings the work of threads together with git: commits, merges, pushes, pull requests.
//
// Commits and merges are the person's: their identity, their signing key, their reflog. Guarantees: no hook runs,
// theirs included (Commit and Merge say nothing about what a hook would have said); what a worktree holds
// uncommitted is never overwritten, ignored files included: a merge that would is refused untouched, with the
// files' names; a program that the repository's own configuration names as filter, merge driver or signer is not
// run unless the person's global configuration names the same: the call is refused and says which. A merge that is
// killed at any moment, or that a full disk ends, is taken back by the next call on its worktree, file by file and
// only what git itself had written; what was not committed before it is there again.
//
// It resolves no conflicts, deletes no branch and rewrites no history.
package branch
