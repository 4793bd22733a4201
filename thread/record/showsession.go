package record

import (
	"context"

	"orchestrator/thread/work"
)

// SessionRef names a work session.
type SessionRef struct {
	Session string `json:"session_id"`
}

// SessionView is a work session with what belongs to it.
type SessionView struct {
	work.Session
	Tasks []work.Task `json:"tasks"`
	// Executions are the newest ones, newest first. Runs counts all that have begun, More is set if there are others.
	Executions []work.Row `json:"executions"`
	More       bool       `json:"more_executions,omitempty"`
	// Outputs counts what came of them, by type.
	Outputs map[work.OutputType]int `json:"outputs"`
	Spent   work.Spent              `json:"spent"`
	Sums    work.Stat               `json:"sums"`
}

const (
	// mostShown is how many executions of a work session are shown.
	mostShown = 100
	// mostCounted is how many outputs are counted at most.
	mostCounted = 10_000
)

// Show returns a work session with its tasks, its executions, and what they came to.
func (s *Sessions) Show(ctx context.Context, a Author, q SessionRef) (SessionView, error) {
	one, err := s.c.session(ctx, a, q.Session)
	if err != nil {
		return SessionView{}, err
	}
	v := SessionView{Session: one, Tasks: []work.Task{}, Executions: []work.Row{}, Outputs: map[work.OutputType]int{}}
	tasks, err := s.c.Store.Tasks(ctx, one.Name)
	if err != nil {
		return v, err
	}
	v.Tasks = append(v.Tasks, tasks...)
	list, err := s.c.Store.Recorded(ctx, work.RecordQuery{Session: one.Name, Seen: a.seen(), Limit: mostShown + 1})
	if err != nil {
		return v, err
	}
	v.More = len(list) > mostShown
	for _, x := range list[:min(len(list), mostShown)] {
		v.Executions = append(v.Executions, work.RowOf(x))
	}
	if err := s.countOutputs(ctx, a, one.Name, v.Outputs); err != nil {
		return v, err
	}
	sums, err := spent(ctx, s.c.Store, work.StatsQuery{By: work.StatBySession, Session: one.Name, Seen: a.seen()})
	if err != nil {
		return v, err
	}
	for _, sum := range sums {
		v.Sums = sum
	}
	// What sub-agents used is within what others did, and of executions by hand it may be that nobody knows it.
	all, err := (&Answers{s.c}).Stats(ctx, a, StatsRequest{By: work.StatBySession, Session: one.Name})
	v.Spent = all.Total.Spent
	return v, err
}

// countOutputs counts the outputs of a work session.
func (s *Sessions) countOutputs(ctx context.Context, a Author, name string, into map[work.OutputType]int) error {
	q := work.OutputQuery{Session: name, By: a.seen(), Limit: 1000, Whole: 1} // their texts are not asked for
	for counted := 0; counted < mostCounted; {
		page, err := s.c.Store.Outputs(ctx, q)
		if err != nil {
			return err
		}
		for _, o := range page {
			into[o.Type]++
		}
		if counted += len(page); len(page) < q.Limit {
			return nil
		}
		q.Before = page[len(page)-1].N
	}
	return nil
}
