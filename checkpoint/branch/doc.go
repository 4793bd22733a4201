// Package branch brings the work of threads together with git: commits, merges, pushes, pull requests.
//
// Commits and merges are the person's: their identity, their signing key, their reflog. Guarantees: no hook runs,
// theirs included (Commit and Merge say nothing about what a hook would have said); what a worktree holds
// uncommitted is never overwritten, ignored files included: a merge that would is refused untouched, with the
// files' names; a program that the repository's own configuration names as filter, merge driver or signer is not
// run unless the person's global configuration names the same: the call is refused and says which.
//
// It resolves no conflicts, deletes no branch and rewrites no history.
package branch
