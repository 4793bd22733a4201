package rewind

import (
	"fmt"

	"orchestrator/thread"
)

// counts sums up what is reverted: "2 change (+3 −1 reverted)".
func counts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	verb := "change"
	if len(files) == 1 {
		verb = "changes"
	}
	return fmt.Sprintf("%d %s (+%d −%d reverted)", len(files), verb, add, del)
}
