package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Data is what a template is given: ".Session", ".Executions" and so on.
type Data struct {
	Session Session
	Tasks   []Task
	// Executions are oldest first. Cut is set if there are more than a report has.
	Executions []Execution
	Cut        bool
	// Files are the newest versions of all deliverables, by path; Insights and Errors are those of all executions.
	Files    []File
	Insights []Note
	Errors   []Note
	Totals   Totals
}

// Session is the work session.
type Session struct {
	Name      Text
	Scope     Text
	Status    string
	Phase     string // "execute", "" before the first
	Created   time.Time
	Completed time.Time // zero while it is not
}

// Task is a task of it.
type Task struct {
	Title  Text
	Body   Text
	Status string
}

// Execution is an execution of it.
type Execution struct {
	Name, Type, Model, Agent Text
	Task, Scope              Text
	Status, State, Origin    string // origin: ours, native, hand; hand is a claim
	Bundle                   Text
	Deployed, Completed      time.Time
	Took                     time.Duration
	ContextTokens            int64
	In, Out                  int64
	Money                    string
	Message, Error           Text
	Context                  []Context
	Files                    []File // all versions, oldest first
	Insights, Errors         []Note
	// Checks are what was claimed of checks beside what they said; Denied counts the claims that they deny.
	Checks      []string
	Denied      int
	CheckOutput Text
}

// Context is a piece of context.
type Context struct {
	Type     string
	Source   Text
	Tokens   int64
	Included bool
}

// File is a deliverable.
type File struct {
	Path, From               Text
	Added, Modified, Deleted int
	Note                     string
	Version                  int
	Current                  bool
	Claimed                  bool // nobody has seen it but who says so
	By                       Text // the execution
}

// Note is an insight or an error.
type Note struct {
	By   Text // the execution
	Text Text
}

// Totals sums up.
type Totals struct {
	Executions, Completed, Failed, Open int
	Files                               int // with a current version
	Added, Modified, Deleted            int // of the current versions
	Denied                              int // claims that checks deny
	In, Out                             int64
	Money                               string
}

// DataOf returns what a template is given of a report.
func DataOf(r record.Report) Data {
	s := r.Session
	d := Data{
		Session: Session{Name: Text(s.Name), Scope: Text(s.Scope), Status: string(s.Status), Phase: s.Phase.String(), Created: s.Created, Completed: s.Completed},
		Cut:     r.Cut,
	}
	for _, t := range r.Tasks {
		d.Tasks = append(d.Tasks, Task{Title: Text(t.Title), Body: Text(t.Body), Status: string(t.Status)})
	}
	var cost float64
	var unknown int64
	for _, x := range r.Executions {
		one := executionOf(x)
		d.Executions = append(d.Executions, one)
		d.Insights, d.Errors = append(d.Insights, one.Insights...), append(d.Errors, one.Errors...)
		for _, f := range one.Files {
			if f.Current {
				d.Files = append(d.Files, f)
			}
		}
		d.Totals.add(one)
		if x.Row.Origin == work.OriginNative { // a part of what its parent used
			continue
		}
		d.Totals.In, d.Totals.Out, unknown = d.Totals.In+one.In, d.Totals.Out+one.Out, unknown+x.Row.Unknown
		if x.Row.Cost == nil && x.Row.Unknown == 0 {
			unknown++ // nobody has said what it cost
		}
		if x.Row.Cost != nil {
			cost += *x.Row.Cost
		}
	}
	sortFiles(d.Files)
	for _, f := range d.Files {
		d.Totals.Files++
		d.Totals.Added, d.Totals.Modified, d.Totals.Deleted = d.Totals.Added+f.Added, d.Totals.Modified+f.Modified, d.Totals.Deleted+f.Deleted
	}
	d.Totals.Money = "-"
	if cost > 0 || unknown > 0 {
		d.Totals.Money = thread.Money(cost, unknown)
	}
	return d
}

// add counts an execution in.
func (t *Totals) add(x Execution) {
	t.Executions++
	t.Denied += x.Denied
	switch x.Status {
	case string(work.StatusCompleted):
		t.Completed++
	case string(work.StatusFailed):
		t.Failed++
	default:
		t.Open++
	}
}

func executionOf(r record.Reported) Execution {
	x := r.Row
	e := Execution{
		Name: Text(x.Execution), Type: Text(x.AgentType), Model: Text(x.Model), Agent: Text(x.Agent), Task: Text(x.Task), Scope: Text(x.Scope),
		Status: x.Status, State: string(x.State), Origin: string(x.Origin), Bundle: Text(x.Bundle), Deployed: x.Deployed, Completed: x.Completed,
		Took: x.Took(), ContextTokens: x.Context, In: x.In, Out: x.Out, Money: x.Money(), Message: Text(r.Said), Error: Text(x.Error),
	}
	for _, a := range r.Allocations {
		e.Context = append(e.Context, Context{Type: string(a.Type), Source: Text(a.Source), Tokens: a.Tokens, Included: a.Included})
	}
	for _, o := range r.Outputs {
		switch o.Type {
		case work.OutputInsight:
			e.Insights = append(e.Insights, Note{By: e.Name, Text: Text(record.Text(o))})
		case work.OutputError:
			e.Errors = append(e.Errors, Note{By: e.Name, Text: Text(record.Text(o))})
		case work.OutputDeliverable:
			e.Files = append(e.Files, fileOf(o))
		default: // Compared has the checks
		}
	}
	e.Checks, e.Denied = work.Compared(r.Claimed, r.Checked)
	if r.Checked != nil {
		e.CheckOutput = Text(r.Checked.Output)
	}
	return e
}

func fileOf(o work.Output) File {
	var d work.Deliverable
	if json.Unmarshal(o.Content, &d) != nil {
		d.What = "its record is damaged"
	}
	return File{
		Path: Text(o.Path), From: Text(d.From), Added: d.Added, Modified: d.Modified, Deleted: d.Deleted, Note: string(d.What),
		Version: o.Version, Current: o.Current, Claimed: o.Metadata.Claimed, By: Text(o.Execution),
	}
}

// sortFiles sorts files by path, and by execution where one has two current ones.
func sortFiles(files []File) {
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.By, b.By)) })
}
