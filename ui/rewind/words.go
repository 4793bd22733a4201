package rewind

import (
	"fmt"

	"orchestrator/thread"
)

// counts sums up the files that a rewind reverts: "2 reverted (+3 −1)".
func counts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	return fmt.Sprintf("%d reverted (+%d −%d)", len(files), add, del)
}
