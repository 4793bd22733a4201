package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// Executions are executions that are written down by hand, and queries over all.
type Executions struct{ c Config }

// InitExecution writes down an execution before it begins. What it says is a claim.
type InitExecution struct {
	Name    string `json:"execution_id,omitempty"` // the author's choice; "" for the next number
	Session string `json:"session_id,omitempty"`
	Task    string `json:"task,omitempty"` // its title in the work session
	Type    string `json:"agent_type,omitempty"`
	Scope   string `json:"scope,omitempty"`
	Model   string `json:"model,omitempty"`
	Agent   string `json:"agent,omitempty"` // the program
	// Context is how many tokens of context it is given, Bundle the bundle that it is given: at most one of them.
	Context int64      `json:"context_token_count,omitempty"`
	Bundle  *BundleArg `json:"bundle,omitempty"`
	// Prompt is all of what it is asked.
	Prompt string `json:"prompt,omitempty"`
	// Dir is the folder that it works in.
	Dir string `json:"dir,omitempty"`
	// At is when it began, zero for now. Only a person may say so.
	At time.Time `json:"deployed_at,omitzero"`
}

// ExecutionAnswer is an execution after a change.
type ExecutionAnswer struct {
	Execution work.Row `json:"execution"`
	Warnings  []string `json:"warnings,omitempty"`
	// Deliverables are how many files were recorded as its deliverables.
	Deliverables int `json:"deliverables,omitempty"`
}

// Init writes down an execution that is about to begin: the row is durable when it returns. With an error there is none.
func (e *Executions) Init(ctx context.Context, a Author, q InitExecution) (ExecutionAnswer, error) {
	if err := e.c.mayRecord(ctx, a, len(q.Scope)+len(q.Prompt)); err != nil {
		return ExecutionAnswer{}, err
	}
	var given work.KeptBundle
	if q.Bundle != nil {
		var err error
		if given, err = (&Bundles{e.c}).Find(ctx, a, *q.Bundle); err != nil {
			return ExecutionAnswer{}, fmt.Errorf("the bundle: %w", err)
		}
	}
	x, warnings, err := e.intended(ctx, a, q, given)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	if x.Session != "" {
		s, err := e.c.joined(ctx, a, x.Session)
		if err == nil {
			err = s.Open()
		}
		if err != nil {
			return ExecutionAnswer{}, err
		}
	}
	prompt, cut := message("the prompt", q.Prompt)
	var events []work.Event
	if prompt != "" {
		events = append(events, work.Event{Kind: work.KindGiven, Text: prompt})
	}
	added, err := e.c.Store.Add(ctx, x, events...)
	if errors.Is(err, thread.ErrNameTaken) {
		return ExecutionAnswer{}, thread.Hint(thread.Kindf(thread.ErrNameTaken, "there is an execution %s already", q.Name),
			"choose another name, or leave it out for the next number")
	}
	if err != nil {
		return ExecutionAnswer{}, err
	}
	warnings = append(warnings, warned(cut)...)
	// The row is durable: what fails from here on is said with it. An error would have the author begin another.
	if q.Bundle != nil {
		if err := e.allocate(ctx, added, given); err != nil {
			warnings = append(warnings, fmt.Sprintf("what it was given is not written down: %v. Add it with `orchestrator bundle allocate`", err))
		}
	}
	if x.Session != "" {
		if err := errors.Join(e.begun(ctx, x), e.c.settleTask(ctx, added)); err != nil {
			warnings = append(warnings, fmt.Sprintf("its work session and task do not show yet that it has begun: %v", err))
		}
	}
	return ExecutionAnswer{Execution: work.RowOf(added), Warnings: warnings}, nil
}

// intended returns an execution as it is to be written down.
func (e *Executions) intended(ctx context.Context, a Author, q InitExecution, given work.KeptBundle) (x work.Execution, warnings []string, err error) {
	now := e.c.Now()
	x = work.Execution{
		ID: thread.NewID[work.ID](), Name: q.Name, Kind: work.KindHand, Thread: a.Thread, By: a.Thread, State: work.Deployed, Attempt: 1,
		Created: now, Started: now, Context: q.Context, Session: q.Session, Dir: q.Dir, Host: e.c.Host, User: e.c.User,
	}
	if q.Name != "" {
		if err := work.CheckOwnName(q.Name); err != nil {
			return x, nil, err
		}
	}
	for _, f := range []struct {
		what string
		from string
		to   *string
	}{{"the agent type", q.Type, &x.Type}, {"the model", q.Model, &x.Model}, {"the agent's name", q.Agent, &x.Agent}, {"the task", q.Task, &x.Task}} {
		if *f.to, err = word(f.what, f.from); err != nil {
			return x, nil, err
		}
	}
	x.Scope = line(q.Scope)
	switch {
	case q.Context < 0:
		return x, nil, thread.Kindf(thread.ErrInvalid, "the number of tokens is 0 or more")
	case q.Context > 0 && q.Bundle != nil:
		return x, nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "give the context as a number of tokens or as a bundle"), "a bundle has its number")
	}
	if q.Bundle != nil {
		fromBundle(given, &x)
	}
	if x.Type == "" {
		return x, nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "an execution needs the type of its agent"), "name it with --type, such as debugger")
	}
	if err := work.CheckBelongs(x.Session, x.Task, x.Type); err != nil {
		return x, nil, err
	}
	if x.Scope == "" {
		x.Scope = x.Task
	}
	warning := "it has no scope: nobody will know what it was for"
	if x.Scope != "" {
		if warning, err = work.CheckScope(x.Scope); err != nil {
			return x, nil, err
		}
	}
	if x.Started, err = backdated(a, q.At, now); err != nil {
		return x, nil, err
	}
	return x, append(warned(warning), e.base(ctx, &x)...), nil
}

// fromBundle takes over what a bundle says of the execution that is given it.
func fromBundle(given work.KeptBundle, x *work.Execution) {
	b := given.Bundle
	x.Bundle, x.Context = b.ID, b.Total
	x.Type, x.Scope, x.Model = cmp.Or(x.Type, b.AgentType), cmp.Or(x.Scope, line(b.Scope)), cmp.Or(x.Model, given.Model)
}

// base finds the commit with which what an execution makes of files is compared. What is not known is no reason not to
// record: the warning says so.
func (e *Executions) base(ctx context.Context, x *work.Execution) []string {
	if e.c.Files == nil || x.Dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, baseLimit)
	defer cancel()
	base, err := e.c.Files.Base(ctx, x.Dir)
	if err != nil {
		return warned(fmt.Sprintf("what it changes of files will be counted without a base: %v", err))
	}
	x.Base = base
	return nil
}

// baseLimit is how long git may take to tell a commit.
const baseLimit = 5 * time.Second

// clockSkew is how far a client's clock may be ahead.
const clockSkew = 2 * time.Minute

// backdated returns when something happened of which an author says when, or now.
func backdated(a Author, at, now time.Time) (time.Time, error) {
	switch {
	case at.IsZero():
		return now, nil
	case a.Agent:
		return now, thread.Hint(thread.Kindf(thread.ErrNotGranted, "an agent records what happens now"), "leave out the time")
	case at.After(now.Add(clockSkew)):
		return now, thread.Kindf(thread.ErrInvalid, "%s is in the future", at.Local().Format(time.DateTime))
	default:
		return at, nil
	}
}

// begun has the work session of an execution that is stored go on executing, if it moves that. One that has ended meanwhile
// stays so.
func (e *Executions) begun(ctx context.Context, x work.Execution) error {
	errStays := errors.New("it stays as it is")
	_, err := e.c.Store.ChangeSession(ctx, x.Session, func(s *work.Session) error {
		if !x.Moves(s.By) {
			return errStays
		}
		s.Updated = e.c.Now()
		return s.Begin()
	})
	if errors.Is(err, thread.ErrRefused) || errors.Is(err, errStays) {
		return nil
	}
	return err
}

// allocate records what a bundle has as the context of an execution that, as somebody says, was given it.
func (e *Executions) allocate(ctx context.Context, x work.Execution, given work.KeptBundle) error {
	pieces := bundle.Allocations(x, given, func(work.BundleItem, string) bool { return true })
	for i := range pieces {
		pieces[i].Claimed = true
	}
	return e.c.Store.Allocate(ctx, x.ID, pieces)
}
