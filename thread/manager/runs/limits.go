package runs

import "fmt"

// perRun is about what an agent takes of the memory.
const perRun = 3 << 29 // 1.5 GB

// DefaultParallel returns how many runs a machine carries at once, and why. Memory of 0 is not known.
func DefaultParallel(cores int, memory int64) (int, string) {
	n := 2 * cores
	why := fmt.Sprintf("for %d cores", cores)
	if m := int(memory / perRun); memory > 0 && m < n {
		n, why = m, fmt.Sprintf("for %d GB of memory", memory>>30)
	}
	return max(2, n), why
}
