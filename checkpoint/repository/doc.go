// Package repository is a person's git repository as we reach it: how git is run on it, its refs, objects and
// worktrees, and our state and our journals for it. Package git runs the program itself.
//
// Guarantees:
//   - Nothing that the repository's configuration, attributes or hooks name is run. Git reads a worktree's files
//     through a git folder and an index of our own, and everything else by a frozen view of the repository.
//   - A ref of ours that leads nowhere is found, although git passes over it.
//   - A journal is on the disk before the first step of its operation, and locked as long as its process lives. It
//     holds names, not paths. What lies among the journals and is none of ours is put aside and named; nothing that it
//     names is looked at.
//   - A lock goes to who asked for it first, as far as one process goes.
package repository
