package workfile

import (
	"crypto/sha256"
	"encoding/hex"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// As makes rows those of a thread that was imported under an id of its own: an archive may be imported many times, and by
// others than who wrote it.
type As struct{ Thread thread.ID }

// apply makes a row the thread's. It refers to executions of the archive only, bears no budget, and is no prompt's.
func (a As) apply(w *work.Whole) {
	if a.Thread == "" {
		return
	}
	by := func(id *thread.ID) {
		if *id != "" {
			*id = a.Thread
		}
	}
	if x := w.Execution; x != nil {
		x.Thread = a.Thread
		by(&x.By)
		for _, id := range []*work.ID{&x.ID, &x.Parent, &x.Within, &x.For, &x.Instead, &x.Replays} {
			*id = a.id(*id)
		}
		x.Prompt, x.Process, x.Server, x.Account, x.Group, x.Dir = "", "", "", "", "", ""
		x.Output, x.Whole, x.Budget = "", "", thread.Budget{}
	}
	for i := range w.Allocations {
		w.Allocations[i].N = 0
		w.Allocations[i].Execution = string(w.Execution.ID)
	}
	for i := range w.Outputs {
		w.Outputs[i].N = 0
		w.Outputs[i].Execution = string(w.Execution.ID)
		by(&w.Outputs[i].By)
	}
	if s := w.Session; s != nil {
		s.Budget = thread.Budget{}
		by(&s.By)
	}
	for i := range w.Tasks {
		by(&w.Tasks[i].By)
	}
	if w.Bundle != nil {
		by(&w.Bundle.By)
	}
}

// id returns the id that an execution of the archive has here.
func (a As) id(id work.ID) work.ID {
	if id == "" {
		return ""
	}
	h := sha256.Sum256([]byte(string(a.Thread) + "/" + string(id)))
	return work.ID(hex.EncodeToString(h[:8]))
}
