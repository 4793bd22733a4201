package record

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// CheckOutputs runs the project's checks in the folder of an execution.
type CheckOutputs struct {
	Execution string   `json:"execution_id"`
	Only      []string `json:"only,omitempty"` // names of checks; none for all
}

// Checked is what checks said, beside what was claimed of them.
type Checked struct {
	Execution string           `json:"execution_id"`
	Output    int64            `json:"output_id"`
	Checked   *work.Validation `json:"validation"`
	Claimed   *work.Validation `json:"claimed,omitempty"`
	// Denied counts the claims that the checks deny.
	Denied int      `json:"denied"`
	Failed bool     `json:"failed"`            // one of them failed
	Since  []string `json:"changed,omitempty"` // deliverables that are no longer as they were recorded
}

// Check runs the project's accepted checks in the folder where an execution worked, and writes down what they say, as
// something that we saw.
func (o *Outputs) Check(ctx context.Context, a Author, q CheckOutputs) (Checked, error) {
	if err := o.c.mayRecord(ctx, a, 0); err != nil {
		return Checked{}, err
	}
	for _, name := range q.Only {
		if !slices.Contains(work.CheckNames(), name) {
			return Checked{}, thread.Hint(thread.Kindf(thread.ErrNotFound, "no check is called %q", thread.Excerpt(name)), "there are "+strings.Join(work.CheckNames(), ", "))
		}
	}
	x, err := o.own(ctx, a, q.Execution)
	if err != nil {
		return Checked{}, err
	}
	dir := x.Dir
	if dir == "" {
		dir = o.c.Root
	}
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return Checked{}, thread.Hint(thread.Kindf(thread.ErrNotFound, "the folder in which %s worked is gone: %s", x.Name, dir),
			"its thread brings it back: `orchestrator resume`")
	case err != nil:
		return Checked{}, err
	case o.c.Files != nil && !o.c.Files.Holds(dir):
		return Checked{}, thread.Kindf(thread.ErrRefused, "%s worked in %s, which is not the project's: its checks do not run there", x.Name, dir)
	case o.c.Checks == nil:
		return Checked{}, thread.Kindf(thread.ErrUnsupported, "this server runs no checks")
	}
	v, err := o.c.Checks.Check(ctx, CheckRun{Execution: x.Name, Dir: dir, Only: q.Only})
	if err != nil {
		return Checked{}, err
	}
	v.Output = clean(v.Output)
	v.At = o.c.Now().UTC().Truncate(time.Microsecond)
	claimed, before, err := o.validations(ctx, string(x.ID))
	if err != nil {
		return Checked{}, err
	}
	if before != nil && len(q.Only) > 0 {
		v = v.Over(*before)
	}
	out, err := validationOutput(v, false)
	if err != nil {
		return Checked{}, err
	}
	out.By = a.Thread
	stored, err := o.c.Store.AddOutputs(ctx, x.ID, []work.Output{out})
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Execution: x.Name, Output: stored[0].N, Checked: &v, Claimed: claimed, Failed: v.Fails()}
	_, c.Denied = work.Compared(claimed, &v)
	c.Since, err = o.changedSince(ctx, x)
	return c, err
}

// changedSince returns the paths of an execution's deliverables that are no longer as they were recorded.
func (o *Outputs) changedSince(ctx context.Context, x work.Execution) ([]string, error) {
	if o.c.Files == nil {
		return nil, nil
	}
	list, err := o.c.Store.Outputs(ctx, work.OutputQuery{Execution: string(x.ID), Types: []work.OutputType{work.OutputDeliverable}, Limit: MostDeliverables})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	blobs := map[string]string{}
	var paths []string
	for _, one := range list { // newest first
		var d work.Deliverable
		if _, known := blobs[one.Path]; known || json.Unmarshal(one.Content, &d) != nil || !d.Seen() {
			continue
		}
		blobs[one.Path] = d.Blob
		paths = append(paths, one.Path)
	}
	if len(paths) == 0 {
		return nil, nil
	}
	x.Result = "" // as they are now
	now, err := o.files(ctx, x, paths)
	if err != nil {
		return nil, err
	}
	var since []string
	for _, one := range now {
		var d work.Deliverable
		if err := json.Unmarshal(one.Content, &d); err == nil && d.Blob != blobs[one.Path] {
			since = append(since, one.Path)
		}
	}
	slices.Sort(since)
	return since, nil
}
