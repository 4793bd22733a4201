package record

import (
	"context"
	"encoding/json"
	"slices"

	"orchestrator/thread/work"
)

// Made is an output of an execution as answers print it.
type Made struct {
	Output    int64           `json:"output_id"`
	Execution string          `json:"execution_id"`
	Type      work.OutputType `json:"output_type"`
	Path      string          `json:"file_path,omitempty"`
	Version   int             `json:"version,omitempty"`
	Current   bool            `json:"current"`
	Added     int             `json:"lines_added,omitempty"`
	Modified  int             `json:"lines_modified,omitempty"`
	Deleted   int             `json:"lines_deleted,omitempty"`
	Note      work.FileNote   `json:"note,omitempty"` // why lines are not counted
	Base      string          `json:"base_commit,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	// Checked is what checks of ours said, Claimed what the agent or the person said.
	Checked *work.Validation `json:"validation,omitempty"`
	Claimed *work.Validation `json:"claimed,omitempty"`
	Text    string           `json:"text,omitempty"` // of an insight or an error
	// Said is set if all of it is a claim.
	Said bool `json:"is_claim,omitempty"`
}

// madeOf returns an output as answers print it. Content that cannot be read is left out.
func madeOf(o work.Output, execution string) Made {
	m := Made{
		Output: o.N, Execution: execution, Type: o.Type, Path: o.Path, Version: o.Version, Current: o.Current,
		Said: o.Metadata.Claimed,
	}
	switch o.Type {
	case work.OutputDeliverable:
		var d work.Deliverable
		if json.Unmarshal(o.Content, &d) == nil {
			m.Added, m.Modified, m.Deleted, m.Note = d.Added, d.Modified, d.Deleted, d.What
			m.Base, m.Blob, m.Checked, m.Claimed = d.Base, d.Blob, d.Validation, d.Claimed
			if m.Path == "" {
				m.Path = d.Path
			}
		}
	case work.OutputValidation:
		var v work.Validation
		if json.Unmarshal(o.Content, &v) != nil {
			break
		}
		if o.Metadata.Claimed {
			m.Claimed = &v
		} else {
			m.Checked = &v
		}
	case work.OutputInsight, work.OutputError:
		if json.Unmarshal(o.Content, &m.Text) != nil {
			m.Text = string(o.Content)
		}
	}
	return m
}

// Worked is an execution with what came of it.
type Worked struct {
	Execution work.Row `json:"execution"`
	Outputs   []Made   `json:"outputs"`
}

// mostOutputs is how many outputs of an execution an answer has.
const mostOutputs = 100

// worked returns executions with what came of them, with those of a path only if it is set.
func (a *Answers) worked(ctx context.Context, list []work.Execution, path string) ([]Worked, error) {
	made, err := a.made(ctx, list, path)
	if err != nil {
		return nil, err
	}
	out := make([]Worked, len(list))
	for i, x := range list {
		out[i] = Worked{Execution: work.RowOf(x), Outputs: made[x.Name]}
	}
	return out, nil
}

// made returns what came of executions, by their names: the newest of each, oldest first, with those of a path only if it is
// set. All have an entry.
func (a *Answers) made(ctx context.Context, list []work.Execution, path string) (map[string][]Made, error) {
	out := make(map[string][]Made, len(list))
	for _, x := range list {
		out[x.Name] = []Made{}
	}
	q, left := work.OutputQuery{Path: path, Limit: most}, wholeOutputs
	for {
		q.Whole = max(left, 1) // 0 is all
		q.Of = nil
		for _, x := range list {
			if len(out[x.Name]) < mostOutputs {
				q.Of = append(q.Of, x.ID)
			}
		}
		if len(q.Of) == 0 {
			break
		}
		page, err := a.c.Store.Outputs(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			left -= len(o.Content)
			if of := out[o.Execution]; len(of) < mostOutputs {
				out[o.Execution] = append(of, madeOf(o, o.Execution))
			}
		}
		if len(page) < most {
			break
		}
		q.Before = page[len(page)-1].N
	}
	for _, made := range out {
		slices.Reverse(made)
	}
	return out, nil
}
