package snapshot

import "orchestrator/checkpoint/repository"

// files are the files of one worktree, to take snapshots of and to restore.
type files struct{ work *repository.Worktree }

// tries is how often a snapshot is started again when files change while git reads them.
const tries = 3
