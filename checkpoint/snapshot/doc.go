// Package snapshot keeps the files of threads in git: snapshots of worktrees, restoring, and the differences between
// any of these. Package worktree finds the worktrees, and makes those of forks.
//
// A snapshot is a commit under refs/orchestrator/<thread>/<n> of the person's own repository. Its tree holds
// every file that is tracked, or untracked and not ignored, byte for byte as it lies on the disk; its parent is
// the commit that HEAD stood at. A file that is too large, unreadable or of a kind that git cannot keep is named
// as skipped.
//
// Guarantees:
//   - Nothing shows in the person's branches, stash, index, reflog or hooks, and their files are written by
//     Restore only. Git reads the worktree through a git folder of our own, so no filter, hook, attribute or
//     command of the repository's configuration takes part.
//   - An ignored file is never in a snapshot, and never written, overwritten or removed; nor is anything below a
//     folder .orchestrator at a worktree's root.
//   - Restore saves what is there first and touches nothing that is not saved. It writes through no symbolic link and
//     nowhere outside the worktree. It leaves a journal first, by which the Repair of package worktree finishes one
//     that was cut off.
//   - What a call returned is on the disk, synced.
//
// It does not look into submodules and other repositories inside the worktree, does not keep empty folders,
// owners, times or permission bits besides the executable one, and does not stop an agent that writes meanwhile:
// a file that changes under a restore makes it take back what it did and return an error. Its refs are the
// repository's: who pushes with --mirror pushes them too.
package snapshot
