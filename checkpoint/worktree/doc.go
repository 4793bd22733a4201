// Package worktree manages the worktrees of a project: it finds and opens those that threads work in, creates one for
// each fork and removes it again, and repairs what a crash, a power cut or a move left behind.
//
// Guarantees:
//   - A worktree is ours if our record of it and the marker in the repository agree, so a copy of a project leaves the
//     original's alone. What our state names is looked up in the folder of our worktrees, its trash and the
//     repository's list of worktrees, and nowhere else.
//   - Remove has a Saver save the current files first and touches nothing that is not saved. What a snapshot cannot
//     contain goes to the trash. Deleting follows no link.
//   - Add and Remove write a journal first: after a crash at any point Repair completes them or rolls them back, like
//     interrupted restores, and nothing uncommitted is lost.
//   - A worktree's metadata is on disk when Add has returned; its files follow in the background. Files that a power
//     cut emptied are found at the start or at first use, restored and reported.
package worktree
