package wave

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// handOver stores what an agent hands over with an execution that has completed: what it has put already, or else its final
// message. It returns the nodes that changed by that. An error that is not passing says what is wrong with what it handed over.
func (e *Engine) handOver(t plan.Task, n plan.Node, a plan.Agent, x work.Execution) ([]plan.Node, error) {
	delivered := func(n *plan.Node) error {
		n.State, n.Reason, n.Ended = plan.NodeDelivered, "", e.cfg.Now()
		n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
		n.Question, n.Asks, n.Stalled = "", "", ""
		return nil
	}
	was, err := e.cfg.Store.HandOver(e.ctx, t.Name, n.Agent, 0)
	switch {
	case errors.Is(err, thread.ErrNotFound):
	case err != nil:
		return nil, err
	case was.Execution == x.ID:
		return e.cfg.Store.ChangeNodes(e.ctx, t.Name, map[string]int64{n.Agent: n.Fence}, func(n *plan.Node) error {
			n.Version = was.Version
			return delivered(n)
		})
	}
	said, err := e.said(x)
	if err != nil {
		return nil, err
	}
	h := plan.HandOver{
		Task: t.Name, Agent: n.Agent, Type: cmp.Or(a.Output, plan.OutputJSON), Execution: x.ID, Exec: x.Name, Round: n.Round,
		By: x.Thread, Created: e.cfg.Now(),
	}
	if err := e.extract(said, a, &h); err != nil {
		return nil, err
	}
	h.Bytes = int64(len(h.Data))
	_, nodes, err := e.cfg.Store.Deliver(e.ctx, h, n.Fence, delivered)
	if errors.Is(err, plan.ErrSame) {
		err = nil
	}
	return nodes, err
}

// said returns an execution's final message.
func (e *Engine) said(x work.Execution) (string, error) {
	if x.Said == 0 {
		return x.Answer, nil
	}
	events, err := e.cfg.Record.Events(e.ctx, x.ID, x.Said-1, 1)
	if err != nil {
		return "", fmt.Errorf("read what %s said: %w", x.Name, err)
	}
	if len(events) == 0 || events[0].Kind != work.KindSaid {
		return x.Answer, nil
	}
	return events[0].Text, nil
}

// extract finds what is handed over in a final message.
func (e *Engine) extract(said string, a plan.Agent, h *plan.HandOver) error {
	said = strings.TrimSpace(said)
	if h.Type != plan.OutputJSON {
		text, err := json.Marshal(said)
		h.Data = string(text)
		return err
	}
	if !json.Valid([]byte(said)) {
		return thread.Kindf(thread.ErrInvalid, "its final message is no JSON")
	}
	h.Data = said
	var c plan.Contract
	decoder := json.NewDecoder(bytes.NewReader([]byte(said)))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&c) == nil && len(c.Data) > 0 {
		h.Summary, h.Data = c.Summary, string(c.Data)
	}
	if len(a.Schema) > 0 && e.cfg.Schemas != nil {
		if err := e.cfg.Schemas.Check(a.Schema, json.RawMessage(h.Data)); err != nil {
			return thread.Kindf(thread.ErrInvalid, "its output does not meet the schema: %v", err)
		}
	}
	return nil
}
