package orchestration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/record/report"
	"orchestrator/thread/work"
)

// CollectOutputs writes down what came of the execution.
func (e *Execution) CollectOutputs(ctx context.Context, q record.CollectOutputs) ([]work.Output, error) {
	q.Execution = e.ID()
	return api.CollectOutputs.Do(ctx, e.server, q)
}

// Check runs the project's accepted checks where the execution worked; without names all of them.
func (e *Execution) Check(ctx context.Context, only ...string) (record.Checked, error) {
	return api.CheckOutputs.Do(ctx, e.server, record.CheckOutputs{Execution: e.ID(), Only: only})
}

// QueryOutputs lists what came of executions, newest first.
func QueryOutputs(ctx context.Context, server api.Doer, q record.QueryOutputs) ([]work.Output, error) {
	return api.QueryOutputs.Do(ctx, server, q)
}

// Outputs lists what came of the executions of the work session, newest first.
func (s *Session) Outputs(ctx context.Context, q record.QueryOutputs) ([]work.Output, error) {
	q.Session = s.name
	return QueryOutputs(ctx, s.server, q)
}

// Validation is what came of an execution, and what the project's checks say of it.
type Validation struct {
	Execution    string
	Deliverables []work.Output // the newest version of each file, in the order in which they were recorded
	// Checked is nil if the checks did not run, for the reason Unchecked: nobody has accepted any, its folder is gone.
	Checked   *record.Checked
	Unchecked error
}

// OK reports whether there are deliverables, and no check fails.
func (v Validation) OK() bool {
	return len(v.Deliverables) > 0 && (v.Checked == nil || !v.Checked.Failed)
}

// most is how many rows are asked for at once.
const most = 1000

// ValidateOutputs runs the project's checks on each execution of the work session that has completed, oldest first.
func (s *Session) ValidateOutputs(ctx context.Context) ([]Validation, error) {
	rows, err := s.Query(ctx, record.QueryExecutions{Status: work.StatusCompleted, Limit: most})
	if err != nil {
		return nil, err
	}
	all := make([]Validation, len(rows))
	for i, row := range rows {
		v := &all[len(rows)-1-i]
		e := &Execution{s.server, row}
		v.Execution = e.ID()
		made, err := QueryOutputs(ctx, s.server, record.QueryOutputs{
			Execution: e.ID(), Types: []work.OutputType{work.OutputDeliverable}, Current: true, Limit: most,
		})
		if err != nil {
			return nil, err
		}
		for _, o := range made {
			v.Deliverables = append([]work.Output{o}, v.Deliverables...)
		}
		checked, err := e.Check(ctx)
		switch {
		case err == nil:
			v.Checked = &checked
		case errors.Is(err, thread.ErrRefused), errors.Is(err, thread.ErrNotFound), errors.Is(err, thread.ErrUnsupported):
			v.Unchecked = err
		default:
			return nil, err
		}
	}
	return all, nil
}

// GenerateSynthesisReport writes the report of the work session by a template: a file, the name of a built-in one, or "" for the usual one.
func (s *Session) GenerateSynthesisReport(ctx context.Context, template string) (string, error) {
	template = cmp.Or(template, report.Synthesis)
	text, builtin := report.Builtin(template)
	if content, err := s.read(template, report.MaxTemplate); err == nil {
		text = string(content) // a file goes before what is built in
	} else if !builtin || !errors.Is(err, thread.ErrNotFound) {
		return "", fmt.Errorf("%s: %w", template, err)
	}
	r, err := api.SessionReport.Do(ctx, s.server, record.MakeReport{Session: s.name})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = report.Write(&out, r, template, text)
	return out.String(), err
}
