// Package orchestration is the record of work for Go programs: a work session in its five phases, what each agent of it is
// given, what it did, and what came of it.
//
// Each method makes one of the calls of package api that the verbs of the program make, so that a program and a person at
// the terminal can do the same, and see what the other did. Nothing is kept here but names.
//
// Before something is deployed it is written down: only what InitDeployment returned, or Execution found, can be completed.
package orchestration

import (
	"context"
	"encoding/json"
	"io/fs"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Options describe a new work session.
type Options struct {
	Scope string
	ID    string // such as "orch-2025-01-17-001"; "" for the next number
	// Policy and Budget are a person's alone.
	Policy   work.Approval
	Budget   thread.Budget
	WarnAt   float64
	Metadata json.RawMessage
	// Files is where PrepareContext finds files; the process's folder if nil.
	Files fs.FS
}

// Session is a work session.
type Session struct {
	server api.Doer
	files  fs.FS
	name   string
}

// New begins a work session on a server.
func New(ctx context.Context, server api.Doer, o Options) (*Session, error) {
	made, err := api.InitSession.Do(ctx, server, record.InitSession{
		Scope: o.Scope, Name: o.ID, Policy: o.Policy, Budget: o.Budget, WarnAt: o.WarnAt, Metadata: o.Metadata,
	})
	if err != nil {
		return nil, err
	}
	return &Session{server, o.Files, made.Name}, nil
}

// Open goes on with a work session that there is.
func Open(ctx context.Context, server api.Doer, id string, files fs.FS) (*Session, error) {
	s := &Session{server, files, id}
	view, err := s.Show(ctx)
	if err != nil {
		return nil, err
	}
	s.name = view.Name
	return s, nil
}

// Sessions lists work sessions, newest first.
func Sessions(ctx context.Context, server api.Doer, q record.QuerySessions) ([]work.Session, error) {
	return api.Sessions.Do(ctx, server, q)
}

// Query lists executions of all kinds, newest first.
func Query(ctx context.Context, server api.Doer, q record.QueryExecutions) ([]work.Row, error) {
	return api.QueryExecutions.Do(ctx, server, q)
}

// ID is the work session's name.
func (s *Session) ID() string { return s.name }

// Show returns the work session with what belongs to it.
func (s *Session) Show(ctx context.Context) (record.SessionView, error) {
	return api.Session.Do(ctx, s.server, record.SessionRef{Session: s.name})
}

// SetPhase moves it to a phase: work.PhaseAnalyze to work.PhaseConfirm.
func (s *Session) SetPhase(ctx context.Context, phase work.Phase) (record.SessionAnswer, error) {
	return api.PhaseSession.Do(ctx, s.server, record.PhaseSession{Session: s.name, Phase: phase})
}

// Task adds a task to it, or changes the one with the title.
func (s *Session) Task(ctx context.Context, t record.PutTask) (work.Task, error) {
	t.Session = s.name
	return api.PutTask.Do(ctx, s.server, t)
}

// InitDeployment writes down that an agent will be deployed, before it is.
func (s *Session) InitDeployment(ctx context.Context, d record.InitExecution) (*Execution, error) {
	d.Session = s.name
	made, err := api.InitExecution.Do(ctx, s.server, d)
	if err != nil {
		return nil, err
	}
	return &Execution{s.server, made.Execution}, nil
}

// Execution goes on with an execution of it that was written down before. One that was not is thread.ErrNotFound.
func (s *Session) Execution(ctx context.Context, id string) (*Execution, error) {
	return find(ctx, s.server, s.name, id)
}

// Query lists its executions, newest first.
func (s *Session) Query(ctx context.Context, q record.QueryExecutions) ([]work.Row, error) {
	q.Session = s.name
	return Query(ctx, s.server, q)
}

// Complete ends it. What was written down by hand and not completed is named.
func (s *Session) Complete(ctx context.Context) (record.SessionAnswer, error) {
	return s.End(ctx, work.SessionCompleted)
}

// End ends it as completed, failed or cancelled.
func (s *Session) End(ctx context.Context, status work.SessionStatus) (record.SessionAnswer, error) {
	return api.CompleteSession.Do(ctx, s.server, record.CompleteSession{Session: s.name, Status: status})
}
