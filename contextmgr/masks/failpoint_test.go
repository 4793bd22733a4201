//go:build failpoint

package masks_test

import (
	"fmt"
	"testing"

	"orchestrator/checkpoint/killtest"
)

// TestKilledAtFailpoints kills a writer between the steps of storing a batch, of beginning a fork and of mending.
func TestKilledAtFailpoints(t *testing.T) {
	h := newHunt(t)
	for _, place := range []string{
		"masks.copy.created", "masks.copy.written", "masks.add.copied", "masks.add.half", "masks.add.written",
		"masks.add.synced", "masks.mend.written",
	} {
		for round := range killtest.Rounds(t, 3) {
			for _, n := range []int{1, 2 + round*3} {
				if place == "masks.mend.written" && n > 2 {
					n = 2
				}
				h.kill(t, fmt.Sprint(place, ":", n), 0)
			}
		}
	}
}
