package pack

import (
	"slices"

	"orchestrator/thread"
)

// Sweep finds, among the rows of purged threads, those that nothing is based on any more. All rows are added before the
// first Keep.
type Sweep struct {
	parents map[int64]int64
	numbers map[thread.CheckpointID]int64
	kept    map[int64]bool
}

// NewSweep returns a Sweep over no rows.
func NewSweep() *Sweep {
	return &Sweep{parents: map[int64]int64{}, numbers: map[thread.CheckpointID]int64{}, kept: map[int64]bool{}}
}

// Add adds a row of a purged thread.
func (s *Sweep) Add(n, parent int64, id thread.CheckpointID) {
	s.parents[n], s.numbers[id] = parent, n
}

// Keep keeps a row, if it was added, and all its ancestors.
func (s *Sweep) Keep(n int64) {
	for ; n != 0 && !s.kept[n]; n = s.parents[n] {
		if _, gone := s.parents[n]; !gone {
			return // a row of an existing thread: it stays with all its ancestors
		}
		s.kept[n] = true
	}
}

// KeepIDs keeps the rows of checkpoints.
func (s *Sweep) KeepIDs(ids []thread.CheckpointID) {
	for _, id := range ids {
		s.Keep(s.numbers[id])
	}
}

// Rest returns the rows to delete, children before their parents.
func (s *Sweep) Rest() []int64 {
	rest := []int64{}
	for n := range s.parents {
		if !s.kept[n] {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	slices.Reverse(rest)
	return rest
}
