package share

import "slices"

// Step is the change of a shared folder up to the end of a thread's turn, since the previous step.
type Step struct {
	Thread string   // whose turn ended; "" for the changes after the last
	Paths  []string // changed paths
	// Alone is set if no other thread was in the middle of a turn in between.
	Alone bool
}

// Own divides the changed paths into those that only one thread can have written and the others.
func Own(thread string, steps []Step) (own, others []string) {
	mine, theirs := map[string]bool{}, map[string]bool{}
	for _, s := range steps {
		for _, p := range s.Paths {
			if s.Thread == thread && s.Alone {
				mine[p] = true
			} else {
				theirs[p] = true
			}
		}
	}
	for p := range mine {
		if !theirs[p] {
			own = append(own, p)
		}
	}
	for p := range theirs {
		others = append(others, p)
	}
	slices.Sort(own)
	slices.Sort(others)
	return own, others
}
