// Package worktree keeps the worktrees of a project: it finds and opens those that threads work in, makes one for each
// fork and removes it again, and sets right what a crash, a power cut or a move left.
//
// Guarantees:
//   - A worktree is ours where our record of it and the marker in the repository agree, so that a copy of a project
//     leaves the original's alone. What our state names is looked for in the folder of our worktrees, its trash and
//     the repository's list of worktrees, and nowhere else.
//   - Remove has a Saver save what is there first and touches nothing that is not saved. What a snapshot cannot hold
//     goes to the trash. Deleting follows no link.
//   - Add and Remove leave a journal first: after a crash at any point Repair sets right what was left, with the
//     restores that were cut off, and nothing uncommitted is lost.
//   - What makes a folder a worktree is on the disk when Add has returned; its files follow in the background. What a
//     power cut left hollow is found at the start or at first use, rebuilt and named.
package worktree
