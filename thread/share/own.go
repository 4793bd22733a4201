package share

import "slices"

// Step is what changed in a shared folder up to the end of a thread's turn, since the step before.
type Step struct {
	Thread string   // whose turn ended; empty for what changed after the last
	Paths  []string // that changed
	// Alone is set where no other thread was in the middle of a turn meanwhile.
	Alone bool
}

// Own splits the paths that changed into those that only one thread can have written and the others.
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
