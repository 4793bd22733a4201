package record

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// QueryOutputs selects what came of executions.
type QueryOutputs struct {
	Execution string            `json:"execution_id,omitempty"`
	Session   string            `json:"session_id,omitempty"`
	AgentType string            `json:"agent_type,omitempty"`
	Types     []work.OutputType `json:"output_types,omitempty"`
	Path      string            `json:"path,omitempty"`
	Since     time.Time         `json:"since,omitzero"`
	Current   bool              `json:"current,omitempty"` // only the newest version of each
	Before    int64             `json:"before,omitempty"`  // the output after which to go on
	Limit     int               `json:"limit,omitempty"`   // 0 means 100; at most 1000
}

// wholeOutputs is how many bytes of outputs an answer has in full; of texts that follow it has the beginnings, which say
// how long they are.
const wholeOutputs = 8 << 20

// Query returns what came of executions, newest first. A deliverable has what was claimed of its execution's checks, and
// what they said, whenever that was.
func (o *Outputs) Query(ctx context.Context, a Author, q QueryOutputs) ([]work.Output, error) {
	if q.Limit < 0 || q.Limit > 1000 {
		return nil, thread.Kindf(thread.ErrInvalid, "the limit is 1 to 1000")
	}
	for _, t := range q.Types {
		if !slices.Contains(work.OutputTypes(), t) {
			return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "no output type %q", thread.Excerpt(string(t))), "take deliverable, validation_result, insight or error")
		}
	}
	if q.Session != "" {
		if _, err := o.c.Store.Session(ctx, q.Session); err != nil {
			return nil, o.c.unknownSession(ctx, a, q.Session, err)
		}
	}
	if q.Execution != "" {
		if _, err := o.find(ctx, a, q.Execution); err != nil {
			return nil, err
		}
	}
	list, err := o.c.Store.Outputs(ctx, work.OutputQuery{
		Execution: q.Execution, Session: q.Session, AgentType: q.AgentType, Types: q.Types, Path: q.Path, Since: q.Since, By: a.seen(),
		Current: q.Current, Before: q.Before, Limit: q.Limit, Whole: wholeOutputs,
	})
	if err != nil {
		return nil, err
	}
	return o.checked(ctx, list)
}

// checked returns outputs of which the deliverables have what is said of their executions' checks.
func (o *Outputs) checked(ctx context.Context, list []work.Output) ([]work.Output, error) {
	type both struct{ claimed, checked *work.Validation }
	known := map[string]both{}
	for i, one := range list {
		if one.Type != work.OutputDeliverable {
			continue
		}
		v, ok := known[one.Execution]
		if !ok {
			claimed, checked, err := o.validations(ctx, one.Execution)
			if err != nil {
				return nil, err
			}
			v = both{claimed, checked}
			known[one.Execution] = v
		}
		var d work.Deliverable
		if v == (both{}) || json.Unmarshal(one.Content, &d) != nil {
			continue
		}
		d.Validation, d.Claimed = v.checked, v.claimed
		content, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		list[i].Content = content
	}
	return list, nil
}
