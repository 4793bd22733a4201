// Package branch connects the work of threads to git: commits, merges, pushes and pull requests.
//
// Commits and merges are made in the person's name: with their identity, their signing key and their reflog.
// Guarantees: no hook runs, not even the person's own (Commit and Merge cannot report what a hook would have refused);
// uncommitted changes in a worktree are never overwritten, and neither are ignored files: a merge that would do so is
// refused before it changes anything, with the names of the files. git reads the repository's own configuration as it
// was when the call began, and only the settings in it that are data: a filter, a merge driver, a signer or a way to
// reach a remote that it names is used only if the person's own configuration names the same or the person accepted
// exactly that; otherwise the call is refused with the setting's name, and nothing is committed unfiltered or pushed
// another way. A remote that is a folder of this machine runs no hook of its own either. Large files of git-lfs are
// pushed with their branch. A merge that is killed at any moment, or that a full disk interrupts, is rolled back by the
// next call on its worktree: file by file, and only what git itself had written; the uncommitted changes from before it
// are restored.
//
// The package resolves no conflicts, deletes no branch and rewrites no history.
package branch
