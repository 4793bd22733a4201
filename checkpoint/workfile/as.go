package workfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// As makes rows those of a thread that was imported under an id of its own: an archive may be imported many times, and by
// others than who wrote it. What it says is the word of a stranger: nothing of it belongs to what is here, or is taken for
// what was seen here.
type As struct{ Thread thread.ID }

// most is how many rows of each kind an archive's thread may have here.
const mostOfThread = 50_000

// apply makes a row the thread's. It is over, refers to executions of the archive only, bears no budget, is no prompt's and
// no commit's, and is a claim.
func (a As) apply(w *work.Whole, now time.Time) {
	if a.Thread == "" {
		return
	}
	if x := w.Execution; x != nil {
		a.execution(x, now)
		w.End(now)
	}
	for i := range w.Allocations {
		p := &w.Allocations[i]
		p.N, p.Execution, p.Claimed = 0, w.Execution.Name, true
	}
	for i := range w.Outputs {
		a.output(&w.Outputs[i], w.Execution.Name)
	}
	if s := w.Session; s != nil {
		s.By, s.Budget, s.WarnAt, s.Approval = a.Thread, thread.Budget{}, 0, work.ApproveSuggest
		if !s.Status.Final() {
			s.Status = work.SessionCancelled
		}
		if s.Completed.IsZero() || s.Completed.After(now) {
			s.Completed = now
		}
		s.Updated = earlier(s.Updated, now)
	}
	for i := range w.Tasks {
		w.Tasks[i].By = a.Thread
	}
	if w.Bundle != nil {
		w.Bundle.By = a.Thread
		for i := range w.Bundle.Bundle.Items {
			w.Bundle.Bundle.Items[i].SharedWith = nil // others have these names here
		}
	}
}

func (a As) execution(x *work.Execution, now time.Time) {
	x.Thread, x.Claimed = a.Thread, true
	if x.By != "" || x.Kind == work.KindHand {
		x.By = a.Thread
	}
	for _, id := range []*work.ID{&x.ID, &x.Parent, &x.Within, &x.For, &x.Instead, &x.Replays} {
		*id = a.id(*id)
	}
	x.Prompt, x.Process, x.Server, x.Account, x.Group, x.Dir, x.Base, x.Result, x.Key = "", "", "", "", "", "", "", "", ""
	x.Output, x.Whole, x.Budget, x.Before = "", "", thread.Budget{}, thread.Usage{}
	x.Lost, x.OnFail, x.Fallback, x.Dispose = work.PolicyAsk, work.FailAsk, "", work.DisposeKeep
	x.Depth, x.Priority, x.After, x.Question, x.Reporting, x.Agreed = 0, 0, time.Time{}, nil, false, false
	if x.State.Final() && x.Ended.IsZero() {
		x.Ended = now
	}
	x.Ended = earlier(x.Ended, now)
}

// output makes an output a claim: also what it says that checks have said.
func (a As) output(o *work.Output, of string) {
	o.N, o.Execution, o.By, o.Metadata.Claimed = 0, of, a.Thread, true
	var d work.Deliverable
	if o.Type != work.OutputDeliverable || json.Unmarshal(o.Content, &d) != nil || d.Validation == nil {
		return
	}
	if d.Claimed == nil {
		d.Claimed = d.Validation
	}
	d.Validation = nil
	if doc, err := json.Marshal(d); err == nil {
		o.Content = doc
	}
}

func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

// alone has a row refer to no work session and no bundle but those of the archive, by the names that they have here.
func (a As) alone(w *work.Whole, sessions, bundles map[string]string) {
	if a.Thread == "" {
		w.Rename(sessions, bundles)
		return
	}
	if x := w.Execution; x != nil {
		x.Bundle = bundles[x.Bundle]
		if x.Session = sessions[x.Session]; x.Session == "" {
			x.Task = ""
		}
	}
	for i := range w.Allocations {
		w.Allocations[i].Bundle = bundles[w.Allocations[i].Bundle]
	}
	if w.Bundle != nil {
		w.Bundle.Session = sessions[w.Bundle.Session]
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
