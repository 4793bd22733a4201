package wave

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
	"orchestrator/thread/wave/folder"
	"orchestrator/thread/work"
)

// Put hands over: the run of a plan's agent for itself while its round is at work, a person for any agent that is not. Another
// content than the current version is a new one, and whoever was given an older one is stale; the same again is no-op.
func (w *Waves) Put(ctx context.Context, a Author, r PutRequest) (PutAnswer, error) {
	if a.Agent {
		return w.putOwn(ctx, a, r)
	}
	if r.Task == "" || r.Agent == "" {
		return PutAnswer{}, thread.Kindf(thread.ErrInvalid, "name the task and the agent that it is handed over for")
	}
	t, err := w.cfg.Store.Task(ctx, r.Task)
	if err != nil {
		return PutAnswer{}, err
	}
	if t.Plan == nil {
		return PutAnswer{}, thread.Kindf(thread.ErrRefused, "%s has not begun: it has no agents yet", t.Name)
	}
	n, err := w.cfg.Store.Node(ctx, t.Name, r.Agent)
	if err != nil {
		return PutAnswer{}, err
	}
	if n.AtWork() {
		return PutAnswer{}, thread.Hint(thread.Kindf(thread.ErrRefused, "%s of %s is at work", n.Agent, t.Name),
			fmt.Sprintf("wait for it, or end it: `orchestrator wave cancel %s --agent %s`", t.Name, n.Agent))
	}
	agent, _ := t.Plan.Agent(n.Agent)
	agent.Output = cmp.Or(r.Type, agent.Output)
	h, err := w.put(ctx, r, plan.HandOver{Task: t.Name, Agent: n.Agent}, agent, "", func(thread.Staged) error { return nil })
	if err != nil {
		return PutAnswer{}, err
	}
	return w.deliver(ctx, h, plan.Anyway, w.corrects)
}

// corrects is the change of a node for which a person has handed over.
func (w *Waves) corrects(n *plan.Node) error {
	if n.AtWork() {
		return thread.Kindf(thread.ErrRefused, "%s of %s has begun to work meanwhile", n.Agent, n.Task)
	}
	n.State, n.Reason, n.Ended, n.Stale = plan.NodeDelivered, "", w.cfg.Now(), false
	n.Question, n.Asks = "", ""
	return nil
}

// putOwn hands over for the agent of a plan that a thread's agent works as.
func (w *Waves) putOwn(ctx context.Context, a Author, r PutRequest) (PutAnswer, error) {
	part, in, err := w.reading.part(ctx, a.Thread)
	switch {
	case err != nil:
		return PutAnswer{}, err
	case !in || part.Agent == "":
		return PutAnswer{}, thread.Kindf(thread.ErrNotGranted, "only an agent of a plan hands over, and only while it works on its part")
	case r.Task != "" && r.Task != part.Task || r.Agent != "" && r.Agent != part.Agent:
		return PutAnswer{}, thread.Kindf(thread.ErrNotGranted, "an agent hands over its own only: you are %s of %s", part.Agent, part.Task)
	}
	t, err := w.cfg.Store.Task(ctx, part.Task)
	if err != nil {
		return PutAnswer{}, err
	}
	n, err := w.cfg.Store.Node(ctx, part.Task, part.Agent)
	if err != nil {
		return PutAnswer{}, err
	}
	if err := w.ofRound(ctx, n, part); err != nil {
		return PutAnswer{}, err
	}
	agent, _ := t.Plan.Agent(n.Agent)
	if r.Type != "" && r.Type != cmp.Or(agent.Output, plan.OutputJSON) {
		return PutAnswer{}, thread.Kindf(thread.ErrInvalid, "your plan has %s hand over %s, not %s", n.Agent, cmp.Or(agent.Output, plan.OutputJSON), r.Type)
	}
	list, err := w.cfg.Record.Recorded(ctx, work.RecordQuery{Thread: a.Thread, Limit: 1})
	if err != nil {
		return PutAnswer{}, err
	}
	if len(list) == 0 || list[0].State.Final() {
		return PutAnswer{}, thread.Kindf(thread.ErrRefused, "the run is over: nothing is handed over any more")
	}
	of, err := w.cfg.Thread(ctx, a.Thread)
	if err != nil {
		return PutAnswer{}, err
	}
	h := plan.HandOver{Task: t.Name, Agent: n.Agent, Execution: list[0].ID, Exec: list[0].Name, Round: n.Round, By: a.Thread}
	h, err = w.put(ctx, r, h, agent, cmp.Or(list[0].Dir, of.Dir), func(d thread.Staged) error {
		if d.Thread != a.Thread { // else one could pass on what it may not read
			return thread.Kindf(thread.ErrNotGranted, "%s is not yours: stage the data yourself", d.Token)
		}
		return nil
	})
	if err != nil {
		return PutAnswer{}, err
	}
	return w.deliver(ctx, h, n.Fence, func(now *plan.Node) error {
		now.PutIn = now.Round
		return w.ofRound(ctx, *now, part)
	})
}

// ofRound refuses what is handed over for a round that is over: who does is left of a process that was to end.
func (w *Waves) ofRound(ctx context.Context, n plan.Node, part thread.Part) error {
	if n.Round == part.Round && n.AtWork() {
		return nil
	}
	text := fmt.Sprintf("round %d is over (%s): what it handed over now was not stored", part.Round, n.State)
	if err := w.cfg.Store.Note(ctx, n.Task, plan.Event{At: w.cfg.Now(), Node: n.Agent, Kind: plan.EventFenced, Text: text}); err != nil {
		w.cfg.Log.Warn("write down a late hand-over", "task", n.Task, "err", err)
	}
	return thread.Kindf(thread.ErrRefused, "fenced: round %d of %s is over, nothing is handed over for it any more", part.Round, n.Agent)
}

// put makes a hand-over of what was asked for. Mine refuses staged data that is not of who asks.
func (w *Waves) put(ctx context.Context, r PutRequest, h plan.HandOver, a plan.Agent, dir string, mine func(thread.Staged) error) (plan.HandOver, error) {
	h.Type, h.Summary, h.Schema, h.Created = cmp.Or(a.Output, plan.OutputJSON), secret.Redact(r.Summary), schemaHash(a), w.cfg.Now()
	switch {
	case r.Data != "":
		data, err := plan.ReadData(secret.Redact(r.Data), a, w.cfg.meets(a))
		if err != nil {
			return h, err
		}
		h.Data = string(data)
	case len(r.Files) == 0 || h.Type == plan.OutputJSON:
		return h, thread.Kindf(thread.ErrInvalid, "there is no output_data to hand over")
	default:
		h.Data = "null"
	}
	var paths []string
	for _, f := range r.Files {
		if f.Token == "" {
			paths = append(paths, f.Path)
			continue
		}
		staged, err := w.cfg.restage(ctx, h, f, mine)
		if err != nil {
			return h, err
		}
		h.Files = append(h.Files, staged)
	}
	files, err := w.cfg.stageFiles(ctx, h, dir, paths, nil)
	h.Files = append(h.Files, files...)
	return h, err
}

// restage stages staged data as a part of a hand-over: it is kept as long as that, and its token is guarded.
func (c Config) restage(ctx context.Context, h plan.HandOver, f plan.File, mine func(thread.Staged) error) (plan.File, error) {
	if c.Staged == nil {
		return f, thread.Kindf(thread.ErrUnsupported, "files cannot be handed over here")
	}
	d, err := c.Staged.Find(string(f.Token), func(thread.Staged) bool { return false })
	if err == nil {
		err = mine(d)
	}
	if err != nil {
		return f, err
	}
	name, err := folder.Named(cmp.Or(f.Path, d.Token.Digits()))
	if err != nil {
		return f, err
	}
	if d.Bytes > plan.MaxFile {
		return f, thread.Kindf(thread.ErrInvalid, "%s has %s: a file that is handed over has at most %s", name, thread.Bytes(d.Bytes), thread.Bytes(plan.MaxFile))
	}
	data, err := c.Staged.Retrieve(d.Token, thread.Selection{})
	if err != nil {
		return f, err
	}
	defer data.Close()
	in, out := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, err := data.WriteTo(out)
		out.CloseWithError(err)
	}()
	s, err := c.stage(ctx, h, name, d.Bytes, in)
	_ = in.Close() // the writer ends
	<-written
	return plan.File{Path: name, Token: s.Token, Hash: s.SHA256, Bytes: s.Bytes}, err
}

// deliver stores a hand-over between the steps of its task, and has the task go on.
func (w *Waves) deliver(ctx context.Context, h plan.HandOver, fence int64, change func(*plan.Node) error) (PutAnswer, error) {
	if len(h.Files) > plan.MaxFiles || !json.Valid([]byte(h.Data)) {
		return PutAnswer{}, thread.Kindf(thread.ErrInvalid, "what is handed over is not valid")
	}
	var answer PutAnswer
	err := w.engine.wait(ctx, h.Task, func(t *running) error {
		stored, nodes, err := w.cfg.Store.Deliver(ctx, h, fence, change)
		answer.HandOver, answer.Same = stored, errors.Is(err, plan.ErrSame)
		if err != nil && !answer.Same {
			return err
		}
		for _, n := range nodes {
			if n.Agent != h.Agent {
				answer.Stale = append(answer.Stale, n.Agent)
			}
		}
		if t.board == nil {
			w.engine.look(t)
			return nil
		}
		w.engine.put(t, nodes)
		w.engine.next(t)
		return nil
	})
	return answer, err
}
