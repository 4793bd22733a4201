package wave

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
)

// Standing is armed plans: each takes pending tasks as they come, the first ones first, so many at once, until it is
// disarmed. What is armed, and whether it is paused, follows from the rows, so that it goes on after any crash; the store
// gives a task to one who takes it, however many servers ask.
type Standing struct {
	c Config
	// took puts a task that was taken to work. ended is called in each turn, for what follows on tasks that have ended.
	took  func(context.Context, plan.Task, []plan.Node)
	ended func(context.Context) error
	woken chan struct{}

	mu   sync.Mutex      // guards said
	said map[string]bool // pauses that people were told of
}

// NewStanding returns the armed plans of a store.
func NewStanding(c Config, took func(context.Context, plan.Task, []plan.Node), ended func(context.Context) error) *Standing {
	return &Standing{c: c.filled(), took: took, ended: ended, woken: make(chan struct{}, 1), said: map[string]bool{}}
}

// Wake has it look for tasks to take: one was added, one has ended, a plan was armed. It does not block.
func (s *Standing) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

const (
	// sweepArmed is how often it looks without having been woken, which must find nothing.
	sweepArmed = 30 * time.Second
	// retryTaking is how long until it looks again after the store has failed.
	retryTaking = time.Second
)

// Run takes tasks until the context ends.
func (s *Standing) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepArmed)
	defer tick.Stop()
	for swept := false; ; {
		taken, err := s.turn(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var retry <-chan time.Time
		if err != nil {
			s.c.Log.Warn("take tasks of armed plans", "err", err)
			retry = time.After(retryTaking)
		}
		if swept && len(taken) > 0 {
			s.c.Log.Warn("the sweep found tasks that armed plans had not taken", "tasks", taken)
		}
		swept = false
		select {
		case <-s.woken:
		case <-retry:
		case <-tick.C:
			swept = err == nil
		case <-ctx.Done():
			return nil
		}
	}
}

// turn takes what may be taken now.
func (s *Standing) turn(ctx context.Context) (taken []string, err error) {
	if s.ended != nil {
		err = s.ended(ctx)
	}
	all, listErr := s.c.Store.Armed(ctx)
	if listErr != nil {
		return nil, errors.Join(err, listErr)
	}
	for _, a := range all {
		if !a.On {
			continue
		}
		names, takeErr := s.takeAll(ctx, a)
		taken, err = append(taken, names...), errors.Join(err, takeErr)
	}
	return taken, err
}

// takeAll takes tasks of one plan until it has enough, there are none, or it is paused.
func (s *Standing) takeAll(ctx context.Context, a plan.Armed) (taken []string, err error) {
	why, err := s.paused(ctx, a)
	if err != nil || why != "" {
		if why != "" {
			s.sayPaused(a, why)
		}
		return nil, err
	}
	for {
		var unfit *unfitError
		var nodes []plan.Node
		t, ok, err := s.c.Store.TakeTask(ctx, a.Name, s.c.Server, s.c.Now(), func(t plan.Task) (_ []plan.Node, err error) {
			p := a.Plan
			if t.Plan != nil { // it may have been armed again just now
				p = *t.Plan
			}
			if err := checkVars(p, t.Vars); err != nil {
				return nil, &unfitError{t, err}
			}
			nodes, err = plan.Layout(p)
			return nodes, err
		})
		switch {
		case errors.As(err, &unfit):
			if err := s.putBack(ctx, unfit); err != nil {
				return taken, err
			}
			continue
		case err != nil || !ok:
			return taken, err
		}
		taken = append(taken, t.Name)
		failpoint.Hit("wave.armed-took")
		s.took(ctx, t, nodes)
	}
}

// unfitError means that a task cannot be worked on as it is.
type unfitError struct {
	task plan.Task
	why  error
}

func (e *unfitError) Error() string { return e.task.Name + ": " + e.why.Error() }

// putBack has a task that no plan can take wait for a person, so that those behind it are taken.
func (s *Standing) putBack(ctx context.Context, e *unfitError) error {
	_, err := s.c.Store.ChangeTask(ctx, e.task.Name, e.task.Fence, func(t *plan.Task) error {
		if err := hasNotBegun(*t); err != nil {
			return err
		}
		t.Status, t.Reason, t.Updated = plan.Proposed, cleanLine(e.why.Error()), s.c.Now()
		return nil
	})
	if err != nil {
		return fmt.Errorf("put back %s: %w", e.task.Name, err)
	}
	s.c.Changed(e.task.Name)
	s.notice(thread.LevelWarn, fmt.Sprintf("%s was not begun: %v. `orchestrator task edit %s` changes it", e.task.Name, e.why, e.task.Name))
	return nil
}

// mostEnded is how many final tasks of a plan are looked at for whether its newest have failed.
const mostEnded = 100

// paused says why a plan takes no more tasks, "" if it does.
func (s *Standing) paused(ctx context.Context, a plan.Armed) (string, error) {
	ended, err := s.c.Store.Tasks(ctx, plan.TaskQuery{
		Plan: a.Name, Statuses: []plan.Status{plan.Complete, plan.Failed}, Limit: mostEnded,
	})
	return a.Paused(ended), err
}

// sayPaused tells people once that a plan is paused.
func (s *Standing) sayPaused(a plan.Armed, why string) {
	key := a.Name + a.Changed.String()
	s.mu.Lock()
	told := s.said[key]
	s.said[key] = true
	s.mu.Unlock()
	if !told {
		s.notice(thread.LevelError, fmt.Sprintf("the plan %s takes no more tasks: %s. `orchestrator wave arm %s` goes on", a.Name, why, a.Name))
	}
}

func (s *Standing) notice(level thread.Level, text string) {
	s.c.Notice(level, cleanLine(text))
}

// Arm arms a plan, or disarms it: it takes no more tasks then, and what is at work goes on. To arm one again goes on after a
// pause, with the plan of the request, or as it was.
func (s *Standing) Arm(ctx context.Context, a Author, q ArmRequest) (StandingPlan, error) {
	if a.Agent {
		return StandingPlan{}, thread.Kindf(thread.ErrNotGranted, "only the user arms and disarms plans")
	}
	all, err := s.c.Store.Armed(ctx)
	if err != nil {
		return StandingPlan{}, err
	}
	one, err := s.toArm(all, q)
	if err != nil {
		return StandingPlan{}, err
	}
	if asks := s.asked(one, all, q); len(asks) > 0 {
		return StandingPlan{Armed: one, Asks: asks}, nil
	}
	if err := s.c.Store.Arm(ctx, one); err != nil {
		return StandingPlan{}, err
	}
	s.Wake()
	return s.standing(ctx, one)
}

// toArm returns a plan as it is to be stored.
func (s *Standing) toArm(all []plan.Armed, q ArmRequest) (plan.Armed, error) {
	name := q.Name
	if q.Plan != nil {
		name = cmp.Or(name, q.Plan.Name)
	}
	var one plan.Armed
	i := slices.IndexFunc(all, func(a plan.Armed) bool { return a.Name == name })
	if i >= 0 {
		one = all[i]
	}
	switch {
	case i < 0 && (!q.On || q.Plan == nil):
		return one, thread.Hint(thread.Kindf(thread.ErrNotFound, "no plan named %q was armed", thread.Excerpt(cleanLine(name))), armedNames(all))
	case q.AtOnce < 0 || q.AtOnce > plan.MaxAtOnce:
		return one, thread.Kindf(thread.ErrInvalid, "%d tasks at once: it must be 1 to %d", q.AtOnce, plan.MaxAtOnce)
	}
	one.Name, one.On, one.Changed, one.Server = name, q.On, s.c.Now(), s.c.Server
	if !q.On {
		return one, nil
	}
	one.AtOnce = cmp.Or(q.AtOnce, one.AtOnce, 1)
	if q.Plan == nil {
		return one, nil
	}
	if _, err := planNameOf(name); err != nil || name == "" {
		return one, cmp.Or(err, noPlanName(name))
	}
	named := *q.Plan
	named.Name = name
	if err := s.c.fits(CheckRequest{Plan: named, Draft: true}, q.Agreed); err != nil {
		return one, err
	}
	q.Plan.Name = name
	hash, err := plan.Hash(*q.Plan)
	one.Plan, one.Hash, one.Session, one.Dir, one.Ref = *q.Plan, hash, q.Session, q.Dir, cleanLine(q.Ref)
	return one, err
}

// armedNames says which plans were armed.
func armedNames(all []plan.Armed) string {
	if len(all) == 0 {
		return "`orchestrator wave arm PLAN` arms one"
	}
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return "these were: " + strings.Join(names, ", ")
}

// asked returns what a person has to agree to before a plan is armed.
func (s *Standing) asked(one plan.Armed, all []plan.Armed, q ArmRequest) []plan.Finding {
	if !one.On || q.Agreed {
		return nil
	}
	var asks []plan.Finding
	for _, other := range all {
		if !other.On || other.Name == one.Name {
			continue
		}
		if file := plan.BothWrite(one.Plan, other.Plan); file != "" {
			asks = append(asks, plan.Finding{
				Level: plan.Ask, Text: fmt.Sprintf("the plan %s, which is armed too, also writes %s: their results may not merge", other.Name, file),
				Do: "Disarm one of them, or agree.",
			})
		}
	}
	return asks
}

// Armed returns the plans that were armed once, as they stand.
func (s *Standing) Armed(ctx context.Context, _ Author) ([]StandingPlan, error) {
	all, err := s.c.Store.Armed(ctx)
	out := make([]StandingPlan, 0, len(all))
	for _, a := range all {
		one, oneErr := s.standing(ctx, a)
		out, err = append(out, one), errors.Join(err, oneErr)
	}
	return out, err
}

// mostCounted is how many waiting tasks are counted.
const mostCounted = 1000

// standing tells how an armed plan stands.
func (s *Standing) standing(ctx context.Context, a plan.Armed) (StandingPlan, error) {
	one := StandingPlan{Armed: a, AtWork: []string{}}
	waits, err := s.c.Store.Tasks(ctx, plan.TaskQuery{Plan: a.Name, Statuses: []plan.Status{plan.Pending}, Limit: mostCounted})
	if err != nil {
		return one, err
	}
	one.Pending = len(waits)
	working, err := s.c.Store.Tasks(ctx, plan.TaskQuery{Plan: a.Name, Statuses: []plan.Status{plan.InProgress}, Oldest: true})
	if err != nil {
		return one, err
	}
	for _, t := range working {
		one.AtWork = append(one.AtWork, t.Name)
	}
	if a.On {
		one.Paused, err = s.paused(ctx, a)
	}
	return one, err
}
