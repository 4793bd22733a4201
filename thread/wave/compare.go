package wave

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// CompareRequest has an agent's work of a task done once more beside it, or compares two versions of what it handed over.
type CompareRequest struct {
	Task  string `json:"task_id"`
	Agent string `json:"agent_name"`
	// With is what works this time: the name of an agent's program, "model:NAME" or "tier:NAME".
	With string `json:"with,omitempty"`
	// Execution is that of a comparison which has begun: it is looked at, and nothing begins.
	Execution string `json:"execution,omitempty"`
	// Take makes its result the current version, once it is there.
	Take bool `json:"take,omitempty"`
	// Versions are two to compare.
	Versions []int `json:"versions,omitempty"`
}

// Compared is one result beside another.
type Compared struct {
	Task  string `json:"task_id"`
	Agent string `json:"agent_name"`
	Is    Result `json:"current"` // or the first of two versions
	Other Result `json:"other"`
	// Running is set while there is no other result yet.
	Running bool     `json:"running,omitempty"`
	Diff    []string `json:"diff,omitempty"`  // see plan.Diff; none for the same
	Taken   int      `json:"taken,omitempty"` // the version that it has become
}

// Result is what a run of an agent came to.
type Result struct {
	Version   int           `json:"version,omitempty"` // 0 for one that is not handed over
	Execution string        `json:"execution,omitempty"`
	Program   string        `json:"program,omitempty"`
	Model     string        `json:"model,omitempty"`
	Usage     thread.Usage  `json:"usage"`
	Took      time.Duration `json:"took,omitempty"`
	Summary   string        `json:"output_summary,omitempty"`
	Data      string        `json:"output_data,omitempty"`
	Files     []plan.File   `json:"output_files,omitempty"`
	Error     string        `json:"error,omitempty"` // why there is none
	text      string
}

// Compare has an agent's work done once more with the same inputs by something else, and shows what came of it beside the
// current version. It is a run of its own, of no round: it is never the current version unless the person takes it, and
// nothing that reads the agent begins by it. The first call begins it, the next ones, which name its execution, look at it.
func (w *Waves) Compare(ctx context.Context, r CompareRequest) (Compared, error) {
	t, err := w.cfg.Store.Task(ctx, r.Task)
	if err != nil {
		return Compared{}, err
	}
	n, err := w.cfg.Store.Node(ctx, t.Name, r.Agent)
	if err != nil {
		return Compared{}, err
	}
	c := Compared{Task: t.Name, Agent: n.Agent}
	switch {
	case len(r.Versions) > 0:
		return w.versions(ctx, c, r.Versions)
	case n.Gate || t.Plan == nil || n.Round == 0:
		return c, thread.Kindf(thread.ErrRefused, "%s of %s has not worked yet: there is nothing to compare with", n.Agent, t.Name)
	case n.Version > 0:
		if c.Is, err = w.result(ctx, t.Name, n.Agent, n.Version); err != nil {
			return c, err
		}
	default:
		c.Is.Execution, c.Is.Error = n.Exec, cmp.Or(n.Reason, string(n.State))
	}
	a, _ := t.Plan.Agent(n.Agent)
	if r.Execution == "" {
		x, err := w.beside(ctx, t, n, a, r.With)
		c.Running, c.Other = err == nil, ran(x)
		return c, err
	}
	x, err := w.cfg.Record.Execution(ctx, r.Execution)
	if err != nil {
		return c, err
	}
	if x.Part.Task != t.Name || x.Part.Agent != n.Agent || x.Part.Round >= 0 {
		return c, thread.Kindf(thread.ErrInvalid, "%s is no comparison of %s of %s", x.Name, n.Agent, t.Name)
	}
	if c.Other = ran(x); !x.State.Final() {
		c.Running = true
		return c, nil
	}
	return w.compared(ctx, c, t, a, x, r.Take)
}

// beside begins the run of a comparison. Its round is below 0, so that the engine has nothing to do with it.
func (w *Waves) beside(ctx context.Context, t plan.Task, n plan.Node, a plan.Agent, with string) (work.Execution, error) {
	kind, name, named := strings.Cut(with, ":")
	switch {
	case with == "" || named && name == "":
		return work.Execution{}, thread.Kindf(thread.ErrInvalid, "name what works this time: an agent, model:NAME or tier:NAME")
	case kind == "model" && named:
		a.Model, a.Tier = name, ""
	case kind == "tier" && named:
		a.Model, a.Tier = "", thread.Tier(name)
		if !slices.Contains(thread.Tiers(), a.Tier) {
			return work.Execution{}, thread.Kindf(thread.ErrInvalid, "tier %q: use one of %v", thread.Excerpt(name), thread.Tiers())
		}
	default:
		a.Agent, a.Model, a.Tier, a.Program = with, "", "", nil
	}
	a.Spawn, a.Merge = 0, "keep"
	before, err := w.cfg.Record.Recorded(ctx, work.RecordQuery{Part: thread.Part{Task: t.Name, Agent: n.Agent}, Limit: 1000})
	if err != nil {
		return work.Execution{}, err
	}
	n.Round = -1
	for _, x := range before {
		n.Round = min(n.Round, x.Part.Round-1)
	}
	r, err := w.engine.newRun(t, n, a)
	if err != nil {
		return work.Execution{}, err
	}
	r.Name, r.Label = t.Name+" "+n.Agent+" beside", r.Label+" (beside)"
	return w.cfg.Runs.Start(ctx, r)
}

// compared reads what a comparison has come to.
func (w *Waves) compared(ctx context.Context, c Compared, t plan.Task, a plan.Agent, x work.Execution, take bool) (Compared, error) {
	if x.State != work.Completed {
		c.Other.Error = cmp.Or(x.Reason, string(x.State))
		return c, nil
	}
	said, err := Said(ctx, w.cfg.Record, x)
	if err != nil {
		return c, err
	}
	h, err := w.cfg.handedOver(ctx, said, t, a, x)
	if errors.Is(err, thread.ErrInvalid) {
		c.Other.Error = "handed over what cannot be used: " + reason(err)
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.Other.takes(h)
	if c.Is.text != "" {
		c.Diff = plan.Diff(c.Is.text, c.Other.text)
	}
	if !take {
		return c, nil
	}
	h.Round = x.Part.Round
	answer, err := w.deliver(ctx, h, plan.Anyway, w.corrects)
	c.Taken = answer.Version
	return c, err
}

// versions compares two versions.
func (w *Waves) versions(ctx context.Context, c Compared, two []int) (_ Compared, err error) {
	if len(two) != 2 || two[0] < 1 || two[1] < 1 {
		return c, thread.Kindf(thread.ErrInvalid, "name two versions, from 1")
	}
	if c.Is, err = w.result(ctx, c.Task, c.Agent, two[0]); err != nil {
		return c, err
	}
	if c.Other, err = w.result(ctx, c.Task, c.Agent, two[1]); err != nil {
		return c, err
	}
	c.Diff = plan.Diff(c.Is.text, c.Other.text)
	return c, nil
}

// result returns a version with what is known of the run that it came from.
func (w *Waves) result(ctx context.Context, task, agent string, version int) (Result, error) {
	h, err := w.cfg.Store.HandOver(ctx, task, agent, version)
	if err != nil {
		return Result{}, err
	}
	r := Result{Execution: h.Exec}
	if h.Execution != "" {
		x, err := w.cfg.Record.Execution(ctx, string(h.Execution))
		if err != nil && !errors.Is(err, thread.ErrNotFound) {
			return Result{}, err
		}
		if err == nil {
			r = ran(x)
		}
	}
	r.Version = h.Version
	r.takes(h)
	return r, nil
}

// ran is what an execution has used.
func ran(x work.Execution) Result {
	r := Result{Execution: x.Name, Program: x.Agent, Model: x.Model, Usage: x.Usage}
	if !x.Started.IsZero() && !x.Ended.IsZero() {
		r.Took = x.Ended.Sub(x.Started)
	}
	return r
}

// takes takes over what is handed over.
func (r *Result) takes(h plan.HandOver) {
	r.Summary, r.Data, r.Files = h.Summary, h.Data, h.Files
	r.text, _ = h.Readable()
	r.text = fmt.Sprintf("summary: %s\n%s", h.Summary, r.text)
	for _, f := range h.Files {
		r.text += fmt.Sprintf("\nfile: %s, %d bytes, sha256 %s", f.Path, f.Bytes, f.Hash)
	}
}
