package record

import (
	"context"
	"encoding/json"
	"slices"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// MakeReport asks for what a report of a work session tells.
type MakeReport struct {
	Session string `json:"session_id"`
}

// Report is what is recorded of a work session: the same as long as nothing more is recorded. An agent's has what it sees.
type Report struct {
	Session work.Session `json:"session"`
	Tasks   []work.Task  `json:"tasks"`
	// Executions are its executions, oldest first; Cut is set if there are more.
	Executions []Reported `json:"executions"`
	Cut        bool       `json:"cut,omitempty"`
}

// Reported is an execution in a report.
type Reported struct {
	Row work.Row `json:"execution"`
	// Said is its whole final message, as far as it is kept.
	Said        string            `json:"said,omitempty"`
	Allocations []work.Allocation `json:"context_allocations"`
	// Outputs are what came of it in all versions, oldest first. Claimed is the newest that was said of checks, Checked what
	// these said.
	Outputs []work.Output    `json:"outputs"`
	Claimed *work.Validation `json:"claimed,omitempty"`
	Checked *work.Validation `json:"validation,omitempty"`
}

const (
	mostReported = 2000    // executions of a report
	mostMessages = 8 << 20 // bytes of their final messages
)

// Report returns what is recorded of a work session, whenever that was.
func (o *Outputs) Report(ctx context.Context, a Author, q MakeReport) (Report, error) {
	s, err := o.c.session(ctx, a, q.Session)
	if err != nil {
		return Report{}, err
	}
	r := Report{Session: s, Executions: []Reported{}}
	if r.Tasks, err = o.c.Store.Tasks(ctx, s.Name); err != nil {
		return Report{}, err
	}
	list, err := o.recorded(ctx, work.RecordQuery{Session: s.Name, Seen: a.seen()})
	if err != nil {
		return Report{}, err
	}
	if len(list) > mostReported {
		list, r.Cut = list[:mostReported], true
	}
	room, texts := mostMessages, wholeOutputs
	for _, x := range slices.Backward(list) {
		one, err := o.reported(ctx, x, &room, &texts)
		if err != nil {
			return Report{}, err
		}
		r.Executions = append(r.Executions, one)
	}
	return r, nil
}

// recorded returns executions, newest first: some more than a report has, if there are more.
func (o *Outputs) recorded(ctx context.Context, q work.RecordQuery) ([]work.Execution, error) {
	var all []work.Execution
	for q.Limit = 1000; len(all) <= mostReported; {
		list, err := o.c.Store.Recorded(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) < q.Limit {
			break
		}
		q.Before = list[len(list)-1].ID
	}
	return all, nil
}

// reported returns an execution as a report has it. room is how many bytes of messages it may still take, texts how many
// of outputs.
func (o *Outputs) reported(ctx context.Context, x work.Execution, room, texts *int) (r Reported, err error) {
	r.Row, r.Said = work.RowOf(x), x.Answer
	if x.Said > 0 {
		events, err := o.c.Store.Events(ctx, x.ID, x.Said-1, 1)
		if err != nil {
			return r, err
		}
		if len(events) == 1 && events[0].Kind == work.KindSaid && len(events[0].Text) <= *room {
			r.Said = events[0].Text
		}
	}
	r.Said = plaintext.Text(r.Said)
	*room -= len(r.Said)
	if r.Allocations, err = o.c.Store.Allocations(ctx, x.ID); err != nil {
		return r, err
	}
	q := work.OutputQuery{Execution: string(x.ID), Limit: 1000}
	for {
		q.Whole = max(*texts, 1) // 0 is all
		list, err := o.c.Store.Outputs(ctx, q)
		if err != nil {
			return r, err
		}
		for _, one := range list {
			*texts -= len(one.Content)
		}
		r.Outputs = append(r.Outputs, list...)
		if len(list) < q.Limit || len(r.Outputs) >= 2*MostDeliverables {
			break
		}
		q.Before = list[len(list)-1].N
	}
	slices.Reverse(r.Outputs)
	r.Claimed, r.Checked, err = o.validations(ctx, string(x.ID))
	return r, err
}

// Text returns the text of an insight or an error, "" for other outputs.
func Text(o work.Output) string {
	var s string
	if o.Type != work.OutputInsight && o.Type != work.OutputError || json.Unmarshal(o.Content, &s) != nil {
		return ""
	}
	return plaintext.Text(s)
}
