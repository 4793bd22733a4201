package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
)

// ErrNoRecord means that a project's record of work is there, but not of use now.
var ErrNoRecord = errors.New("the record of work cannot be used")

// Refusing returns the record of a project whose own cannot be used: each call returns why. All but the record goes on
// without it.
func Refusing(why error) Keeper { return refusing{fmt.Errorf("%w: %w", ErrNoRecord, why)} }

type refusing struct{ why error }

func (r refusing) Add(context.Context, Execution, ...Event) (Execution, error) {
	return Execution{}, r.why
}

func (r refusing) Claim(context.Context, ID, string, time.Time) (Execution, error) {
	return Execution{}, r.why
}

func (r refusing) Change(context.Context, ID, int64, func(*Execution) error, ...Event) (Execution, error) {
	return Execution{}, r.why
}

func (r refusing) Supersede(context.Context, ID, func(*Execution) error, ...Event) (Execution, error) {
	return Execution{}, r.why
}

func (r refusing) Append(context.Context, ID, int64, ...Event) error { return r.why }

func (r refusing) Execution(context.Context, string) (Execution, error) {
	return Execution{}, r.why
}

func (r refusing) Executions(context.Context, Query) ([]Execution, error) {
	return nil, r.why
}

func (r refusing) Open(context.Context) ([]Execution, error) {
	return nil, r.why
}

func (r refusing) Events(context.Context, ID, int64, int) ([]Event, error) {
	return nil, r.why
}

func (r refusing) Purge(context.Context, []thread.ID) (int, error) {
	return 0, r.why
}

func (r refusing) AddSession(context.Context, Session) (Session, error) {
	return Session{}, r.why
}

func (r refusing) ChangeSession(context.Context, string, func(*Session) error) (Session, error) {
	return Session{}, r.why
}

func (r refusing) Session(context.Context, string) (Session, error) {
	return Session{}, r.why
}

func (r refusing) Sessions(context.Context, SessionQuery) ([]Session, error) {
	return nil, r.why
}

func (r refusing) ChangeTask(context.Context, string, string, func(*Task) error) (Task, error) {
	return Task{}, r.why
}

func (r refusing) Tasks(context.Context, string) ([]Task, error) {
	return nil, r.why
}

func (r refusing) Allocate(context.Context, ID, []Allocation) error { return r.why }

func (r refusing) Allocations(context.Context, ID) ([]Allocation, error) {
	return nil, r.why
}

func (r refusing) AddOutputs(context.Context, ID, []Output) ([]Output, error) {
	return nil, r.why
}

func (r refusing) End(context.Context, ID, int64, func(*Execution) error, []Output, ...Event) (Execution, []Output, error) {
	return Execution{}, nil, r.why
}

func (r refusing) Outputs(context.Context, OutputQuery) ([]Output, error) {
	return nil, r.why
}

func (r refusing) PutBundle(context.Context, KeptBundle, map[string][]byte) (KeptBundle, error) {
	return KeptBundle{}, r.why
}

func (r refusing) Bundle(context.Context, string) (KeptBundle, error) {
	return KeptBundle{}, r.why
}

func (r refusing) Bundles(context.Context, BundleQuery) ([]KeptBundle, error) {
	return nil, r.why
}

func (r refusing) Piece(context.Context, string) ([]byte, error) {
	return nil, r.why
}

func (r refusing) Recorded(context.Context, RecordQuery) ([]Execution, error) {
	return nil, r.why
}

func (r refusing) Stats(context.Context, StatsQuery) ([]Stat, error) {
	return nil, r.why
}

func (r refusing) Written(context.Context, thread.ID) (int64, int64, error) {
	return 0, 0, r.why
}

func (r refusing) Load(context.Context, []Whole) ([]int, error) {
	return nil, r.why
}

func (r refusing) Expire(context.Context, time.Time, bool) (Expired, error) {
	return Expired{}, r.why
}

func (r refusing) Measure(context.Context) (Measure, error) {
	return Measure{}, r.why
}
