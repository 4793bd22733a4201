package wave

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
	"orchestrator/thread/wave/folder"
	"orchestrator/thread/work"
)

// handOver stores what an agent hands over with an execution that has completed: what it has put already in this round, or
// else its final message. It returns the nodes that changed by that. An error that is thread.ErrInvalid says what is wrong
// with what it handed over, for the agent; nothing is stored then.
func (e *Engine) handOver(t plan.Task, n plan.Node, a plan.Agent, x work.Execution) ([]plan.Node, error) {
	delivered := func(n *plan.Node) error {
		n.State, n.Reason, n.Ended = plan.NodeDelivered, "", e.cfg.Now()
		n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
		n.Question, n.Asks, n.Stalled = "", "", ""
		return nil
	}
	now, err := e.cfg.Store.Node(e.ctx, t.Name, n.Agent)
	if err != nil {
		return nil, err
	}
	if now.PutIn == n.Round {
		return e.cfg.Store.ChangeNodes(e.ctx, t.Name, map[string]int64{n.Agent: n.Fence}, delivered)
	}
	said, err := Said(e.ctx, e.cfg.Record, x)
	if err != nil {
		return nil, err
	}
	h, err := e.cfg.handedOver(e.ctx, said, t, a, x)
	if err != nil {
		return nil, err
	}
	h.Round = n.Round
	_, nodes, err := e.cfg.Store.Deliver(e.ctx, h, n.Fence, delivered)
	if errors.Is(err, plan.ErrSame) {
		err = nil
	}
	return nodes, err
}

// handedOver makes a hand-over of an execution's final message, with the files that it names or that the plan does.
func (c Config) handedOver(ctx context.Context, said string, t plan.Task, a plan.Agent, x work.Execution) (plan.HandOver, error) {
	got, err := plan.Extract(said, a, c.meets(a))
	if err != nil {
		return plan.HandOver{}, err
	}
	h := plan.HandOver{
		Task: t.Name, Agent: a.Name, Type: cmp.Or(a.Output, plan.OutputJSON), Summary: secret.Redact(got.Summary), Data: string(got.Data),
		Schema: schemaHash(a), Execution: x.ID, Exec: x.Name, By: x.Thread, Created: c.Now(),
	}
	h.Files, err = c.stageFiles(ctx, h, x.Dir, got.Files, a.Deliver)
	return h, err
}

// meets says what of a value does not meet an agent's schema; it is nil if it has none.
func (c Config) meets(a plan.Agent) func(json.RawMessage) error {
	if len(a.Schema) == 0 || c.Schemas == nil {
		return nil
	}
	return func(v json.RawMessage) error { return c.Schemas.Check(a.Schema, v) }
}

// schemaHash names what an agent's output_data was checked against.
func schemaHash(a plan.Agent) string {
	if len(a.Schema) == 0 {
		return ""
	}
	sum := sha256.Sum256(a.Schema)
	return hex.EncodeToString(sum[:])
}

// handedTTL is how long staged data of a hand-over is kept if nothing names it: until the version that does is stored.
const handedTTL = 24 * time.Hour

// stageFiles stages files of an agent's folder: those named, and those that patterns match.
func (c Config) stageFiles(ctx context.Context, h plan.HandOver, dir string, named, patterns []string) ([]plan.File, error) {
	if len(named) == 0 && len(patterns) == 0 {
		return nil, nil
	}
	if c.Staged == nil {
		return nil, thread.Kindf(thread.ErrUnsupported, "files cannot be handed over here")
	}
	from, err := folder.Open(dir)
	if err != nil {
		return nil, err
	}
	defer from.Close() //nolint:errcheck // it was only read
	var names []string
	if len(patterns) > 0 {
		if names, err = from.Find(patterns); err != nil {
			return nil, err
		}
	}
	for _, given := range named {
		name, err := from.Name(given)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > plan.MaxFiles {
		return nil, thread.Kindf(thread.ErrInvalid, "%d files are handed over, and %d at most can be", len(names), plan.MaxFiles)
	}
	var files []plan.File
	for _, name := range names {
		var staged thread.Staged
		err := from.Read(name, func(data io.Reader, size int64) (err error) {
			staged, err = c.stage(ctx, h, name, size, data)
			return err
		})
		if err != nil {
			return nil, err
		}
		files = append(files, plan.File{Path: name, Token: staged.Token, Hash: staged.SHA256, Bytes: staged.Bytes})
	}
	return files, nil
}

// stage stages what is handed over.
func (c Config) stage(ctx context.Context, h plan.HandOver, what string, size int64, data io.Reader) (thread.Staged, error) {
	r := thread.StageRequest{
		Source: plaintext.OneLine(fmt.Sprintf("%s/%s: %s", h.Task, h.Agent, what), 200), Labels: []string{plan.HandedOver},
		TTL: handedTTL, Thread: h.By, Size: size,
	}
	return c.Staged.Stage(ctx, r, data)
}

// first reports whether no execution of the same round is older in a thread.
func (c Config) first(ctx context.Context, x work.Execution) (bool, error) {
	list, err := c.Record.Recorded(ctx, work.RecordQuery{Part: x.Part, Limit: 1000})
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.ID != x.ID && other.Thread == x.Thread && other.Created.Before(x.Created) {
			return false, nil
		}
	}
	return true, nil
}
