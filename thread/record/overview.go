package record

import (
	"context"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// Overview is the record as screens show it: at a glance, and one execution on a page.
type Overview struct{ c Config }

// OverviewRequest asks for a Glance.
type OverviewRequest struct {
	// Only are the names of the work sessions that are returned; none for the newest, and what is in none.
	Only []string `json:"only,omitempty"`
	// Open are those of which tasks and executions are returned; with Newest set the newest one is open, too.
	Open   []string `json:"open,omitempty"`
	Newest bool     `json:"newest,omitempty"`
}

// Glance is the record at a glance, the newest first.
type Glance struct {
	Sessions []SessionGlance `json:"sessions"`
	// Loose are executions in no work session; nil if only some work sessions were asked for.
	Loose []work.Row `json:"loose,omitempty"`
	// More is set if there are older work sessions.
	More bool `json:"more,omitempty"`
}

// SessionGlance is a work session at a glance.
type SessionGlance struct {
	Session work.Session `json:"session"`
	// Sum is of all its executions that have begun; Queued counts those that have not.
	Sum    work.Stat `json:"sum"`
	Queued int       `json:"queued,omitempty"`
	// Tasks and Executions are those of one that is open, the newest executions first; More is set if there are older ones.
	Tasks      []work.Task `json:"tasks,omitempty"`
	Executions []work.Row  `json:"executions,omitempty"`
	More       bool        `json:"more,omitempty"`
}

const (
	// glanced is how many work sessions there are at a glance, and how many executions of each and in none.
	glanced      = 50
	glancedRuns  = 200
	glancedLoose = 30
	// glancedQueued is how many queued executions are counted.
	glancedQueued = 1000
	// glancedText is how many bytes a text has in a list.
	glancedText = 300
	// pagedText is how many bytes a text has on a page.
	pagedText = 64 << 10
)

// Glance returns the record at a glance.
func (o *Overview) Glance(ctx context.Context, a Author, q OverviewRequest) (Glance, error) {
	if o.c.Store == nil {
		return Glance{}, thread.Kindf(thread.ErrUnsupported, "this server keeps no record of work")
	}
	g := Glance{Sessions: []SessionGlance{}}
	list, err := o.sessions(ctx, a, q.Only)
	if err != nil {
		return g, err
	}
	if g.More = len(list) > glanced; g.More {
		list = list[:glanced]
	}
	sums, err := o.sums(ctx, a, list)
	if err != nil {
		return g, err
	}
	for i, s := range list {
		one, err := o.glance(ctx, a, sums[s.Name], s, q.Newest && i == 0 || slices.Contains(q.Open, s.Name))
		if err != nil {
			return g, err
		}
		g.Sessions = append(g.Sessions, one)
	}
	if len(q.Only) > 0 {
		return g, nil
	}
	all, err := o.c.Store.Recorded(ctx, work.RecordQuery{Seen: a.seen(), Limit: glancedRuns})
	if err != nil {
		return g, err
	}
	all = slices.DeleteFunc(all, func(x work.Execution) bool { return x.Session != "" })
	g.Loose = glances(all[:min(len(all), glancedLoose)])
	return g, nil
}

// sessions returns the newest work sessions, one more than there are at a glance, or those that are named and exist.
func (o *Overview) sessions(ctx context.Context, a Author, only []string) (list []work.Session, err error) {
	if !a.all() && a.Thread == "" {
		return nil, nil // an agent in no thread has none
	}
	if len(only) == 0 {
		q := work.SessionQuery{Limit: glanced + 1}
		if !a.all() {
			q.By = a.Thread
		}
		return o.c.Store.Sessions(ctx, q)
	}
	for _, name := range only[:min(len(only), glanced)] {
		s, err := o.c.Store.Session(ctx, name)
		switch {
		case errors.Is(err, thread.ErrNotFound), err == nil && !a.all() && s.By != a.Thread:
		case err != nil:
			return nil, err
		default:
			list = append(list, s)
		}
	}
	return list, nil
}

// sums sums up what is in some work sessions, by as many questions however many they are.
func (o *Overview) sums(ctx context.Context, a Author, list []work.Session) (map[string]SessionGlance, error) {
	all := map[string]SessionGlance{}
	if len(list) == 0 {
		return all, nil
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	stats, err := spent(ctx, o.c.Store, work.StatsQuery{By: work.StatBySession, Sessions: names, Seen: a.seen()})
	if err != nil {
		return nil, err
	}
	for _, sum := range stats {
		all[sum.Key] = SessionGlance{Sum: sum}
	}
	waiting, err := o.c.Store.Recorded(ctx, work.RecordQuery{States: []work.State{work.Queued}, Seen: a.seen(), Limit: glancedQueued})
	for _, x := range waiting {
		one := all[x.Session]
		one.Queued++
		all[x.Session] = one
	}
	return all, err
}

// glance completes what is summed up of a work session.
func (o *Overview) glance(ctx context.Context, a Author, one SessionGlance, s work.Session, open bool) (_ SessionGlance, err error) {
	if one.Session = s; !open {
		return one, nil
	}
	if one.Tasks, err = o.c.Store.Tasks(ctx, s.Name); err != nil {
		return one, err
	}
	all, err := o.c.Store.Recorded(ctx, work.RecordQuery{Session: s.Name, Seen: a.seen(), Limit: glancedRuns + 1})
	if one.More = len(all) > glancedRuns; one.More {
		all = all[:glancedRuns]
	}
	one.Executions = glances(all)
	return one, err
}

// glances returns executions as a list shows them.
func glances(all []work.Execution) []work.Row {
	rows := make([]work.Row, len(all))
	for i, x := range all {
		x.Scope, x.Answer, x.Reason = brief(x.Scope), brief(x.Answer), brief(x.Reason)
		rows[i] = work.RowOf(x)
		if !x.State.Final() {
			rows[i].Error = x.Reason // why it waits
		}
	}
	return rows
}

func brief(text string) string { return plaintext.Cut(plaintext.FirstLine(text), glancedText) }

// PageRequest asks for a Page.
type PageRequest struct {
	Execution string `json:"execution"` // id or name
}

// Page is one execution with what it was given, what it said, and what came of it.
type Page struct {
	Row    work.Row `json:"execution"`
	Reason string   `json:"reason,omitempty"`
	// Given and Said are in full up to 64 KB; what is missing is counted.
	Given       string            `json:"given,omitempty"`
	GivenMore   int               `json:"given_more,omitempty"`
	Said        string            `json:"said,omitempty"`
	SaidMore    int               `json:"said_more,omitempty"`
	Allocations []work.Allocation `json:"allocations,omitempty"`
	Outputs     []work.Output     `json:"outputs,omitempty"`
	// Explained is how the bundle that it was given could be smaller; nil without one.
	Explained *bundle.Explained `json:"explained,omitempty"`
	// Inside are the sub-agents that it has started by itself.
	Inside []work.Row `json:"inside,omitempty"`
	Dir    string     `json:"dir,omitempty"`
}

// Page returns one execution.
func (o *Overview) Page(ctx context.Context, a Author, q PageRequest) (Page, error) {
	if o.c.Store == nil {
		return Page{}, thread.Kindf(thread.ErrUnsupported, "this server keeps no record of work")
	}
	x, err := o.c.Store.Execution(ctx, q.Execution)
	switch {
	case err != nil:
		return Page{}, err
	case !a.sees(x):
		return Page{}, unseen(x.Name)
	}
	p := Page{Row: work.RowOf(x), Reason: x.Reason, Dir: x.Dir}
	if p.Given, p.GivenMore, err = o.text(ctx, x.ID, x.Given, work.KindGiven); err != nil {
		return p, err
	}
	if p.Said, p.SaidMore, err = o.text(ctx, x.ID, x.Said, work.KindSaid); err != nil {
		return p, err
	}
	if p.Said == "" {
		p.Said = x.Answer
	}
	if p.Allocations, err = o.c.Store.Allocations(ctx, x.ID); err != nil {
		return p, err
	}
	if p.Outputs, err = o.c.Store.Outputs(ctx, work.OutputQuery{Execution: string(x.ID), Limit: glancedRuns, Whole: wholeOutputs}); err != nil {
		return p, err
	}
	if x.Bundle != "" { // one that cannot be read explains nothing, and the page has the rest
		if b, err := (&Bundles{o.c}).Show(ctx, a, BundleArg{Ref: x.Bundle}); err == nil {
			e := bundle.Explain(b.Kept, b.Pieces)
			p.Explained = &e
		}
	}
	inside, err := o.c.Store.Recorded(ctx, work.RecordQuery{Parent: x.ID, Limit: glancedRuns})
	p.Inside = glances(inside)
	return p, err
}

// text returns a text in full that an event has, "" for none, and how many bytes of it are missing.
func (o *Overview) text(ctx context.Context, id work.ID, n int64, kind string) (text string, more int, err error) {
	if n == 0 {
		return "", 0, nil
	}
	events, err := o.c.Store.Events(ctx, id, n-1, 1)
	if err != nil || len(events) == 0 || events[0].Kind != kind {
		return "", 0, err
	}
	text = plaintext.Cut(events[0].Text, pagedText)
	return text, len(events[0].Text) - len(text), nil
}
