// Package snapshot keeps the files of threads in git: snapshots of worktrees, worktrees of their own for forks,
// restoring, and the differences between any of these.
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
//   - Restore and Remove save what is there first and touch nothing that is not saved. They write through no
//     symbolic link and nowhere outside the worktree.
//   - Every operation of several steps leaves a journal first: after a crash at any point Repair sets right what
//     was left, and nothing uncommitted is lost.
//   - What a call returned is on the disk, synced; a new worktree's files follow in the background. What a power cut
//     left hollow is found at the start or at first use, rebuilt and named.
//   - The state is data, no authority. Journals and records hold names, not paths; what they name is looked for in the
//     folder of our worktrees, its trash and the repository's list of worktrees, and nowhere else. A worktree is ours
//     where our record of it and the marker in the repository agree, so that a copy of a project leaves the
//     original's alone. Deleting follows no link.
//
// It does not look into submodules and other repositories inside the worktree, does not keep empty folders,
// owners, times or permission bits besides the executable one, and does not stop an agent that writes meanwhile:
// a file that changes under a restore makes it take back what it did and return an error. Its refs are the
// repository's: who pushes with --mirror pushes them too.
package snapshot
