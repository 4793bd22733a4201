// Package snapshot keeps the files of threads in git: snapshots of worktrees, restoring, and the differences between
// any of these. Package worktree finds the worktrees, and creates those of forks.
//
// A snapshot is a commit under refs/orchestrator/<thread>/<n> in the person's own repository. Its tree contains every
// file that is tracked, or untracked and not ignored, byte for byte as it is on disk; its parent is the commit of HEAD.
// A file that is too large, unreadable or of a kind that git cannot store is listed as skipped.
//
// Guarantees:
//   - Nothing shows in the person's branches, stash, index, reflog or hooks, and only Restore writes their files. Git
//     reads the worktree through our own git folder, so no filter, hook, attribute or command of the repository's
//     configuration is involved.
//   - An ignored file is never in a snapshot, and never written, overwritten or removed; nor is anything in a folder
//     .orchestrator in a worktree's root.
//   - Restore saves the current files first and touches nothing that is not saved. It writes through no symbolic link
//     and nowhere outside the worktree. It writes a journal first, so that the Repair of package worktree completes an
//     interrupted one.
//   - The results of a call are on disk, synced.
//
// It does not look into submodules and other repositories inside the worktree, does not keep empty folders, owners,
// times or permission bits except the executable one, and does not stop an agent that writes at the same time: a file
// that changes during a restore makes it roll back and return an error. Its refs belong to the repository: whoever
// pushes with --mirror pushes them too.
package snapshot
