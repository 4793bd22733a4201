package snapshot

import "orchestrator/checkpoint/repository"

// files are those of one worktree: what is taken of them, and written to them.
type files struct{ *repository.Worktree }

// tries is how often a snapshot is begun again when files change while git reads them.
const tries = 3
