// Package repository is a person's git repository as we access it: how git is run on it, its refs, objects and
// worktrees, and our state and our journals for it. Package git runs the program itself.
//
// Guarantees:
//   - Nothing that the repository's configuration, attributes or hooks name is run. Git reads a worktree's files
//     through our own git folder and index, and everything else through a frozen view of the repository.
//   - A ref of ours whose file is invalid is found, although git skips it.
//   - A journal is on disk before the first step of its operation, and locked as long as its process lives. It contains
//     names, not paths. Files among the journals that are not ours are quarantined and reported; nothing that they name
//     is touched.
//     A merge has no journal here: its note (package branch) lies in the git folder, because whoever merges next, another
//     user of a shared repository too, must see it and roll it back, and because a git that outlives us holds its lock.
//   - Within one process, locks are granted in the order in which they were requested.
package repository
