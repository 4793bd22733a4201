package server

import "orchestrator/thread/wave"

// standing is what takes tasks that wait: by a person's word, by plans that are armed, and out of a text.
type standing struct {
	tasks  *wave.Tasks
	splits *wave.Splits
	armed  *wave.Standing
}

// newStanding makes it over what puts plans at work. Nothing is taken before its Run.
func newStanding(c wave.Config, w *wave.Waves) standing {
	s := standing{splits: wave.NewSplits(c, w)}
	s.armed = wave.NewStanding(c, w.Took, s.splits.Propose)
	s.tasks = wave.NewTasks(c, w, s.armed.Wake)
	return s
}
