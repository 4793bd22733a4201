package masks_test

import (
	"fmt"
	"orchestrator/thread/ground/sample"
	"os"
	"strconv"
	"testing"
)

// TestKilledAtFailpoints kills a writer between the steps of storing a batch, of beginning a fork and of mending.
func TestKilledAtFailpoints(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("FAILPOINT_ROUNDS")); err == nil {
		rounds = n
	}
	h := newHunt(t)
	for _, place := range sample.Of(t, 2, []string{
		"masks.add.half", "masks.add.written", "masks.add.synced", "masks.copy.created", "masks.copy.written",
		"masks.mend.written",
	}) {
		for round := range rounds {
			for _, n := range []int{1, 2 + round*3} {
				if place == "masks.mend.written" && n > 2 {
					n = 2
				}
				h.kill(t, fmt.Sprint(place, ":", n), 0)
			}
		}
	}
}
