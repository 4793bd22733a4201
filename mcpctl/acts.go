package mcpctl

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread"
)

// Switch switches a server or a tool for a thread, as a person has asked.
func (c *Controller) Switch(ctx context.Context, r thread.MCPChange) (thread.MCPReport, error) {
	t, err := c.cfg.Threads.Find(r.Thread)
	if err != nil {
		return thread.MCPReport{}, err
	}
	e, err := c.get(r.Server)
	if err != nil {
		return thread.MCPReport{}, err
	}
	if r.On {
		if err := usable(e); err != nil {
			return thread.MCPReport{}, fmt.Errorf("switch on %s: %w", e.ID, err)
		}
	}
	if r.Tool != "" {
		if err := c.knows(e, r.Tool); err != nil {
			return thread.MCPReport{}, err
		}
	}
	working := c.cfg.Threads.Working(t.ID)
	err = c.decide(ctx, t.ID, func(b *switchboard) {
		switch {
		case r.Tool != "":
			b.decided = b.decided.SwitchTool(e.ID, r.Tool, r.On)
		case r.On:
			delete(b.ending, e.ID)
			b.decided = b.decided.SwitchOn(thread.MCPSwitch{Server: e.ID, By: thread.MCPPerson, Why: "switched on by you"})
		default:
			_, on := b.state(e)
			if delete(b.ending, e.ID); on && working && !r.Force {
				b.ending[e.ID] = true
			}
			b.decided = b.decided.SwitchOff(e.ID)
		}
	})
	if err != nil {
		return thread.MCPReport{}, err
	}
	if r.On && r.Tool == "" {
		c.hub.Prewarm(e.server(), nobody{t.ID, t.Dir})
	}
	return c.Report(ctx, thread.MCPQuery{Thread: string(t.ID)})
}

// The acts on a server.
const (
	ActRestart      = "restart"
	ActApprove      = "approve"       // what it starts, by the hash that the person saw
	ActApproveTools = "approve-tools" // the definitions of its tools, as they are now
	ActReject       = "reject"
	ActRevoke       = "revoke"
	ActSignIn       = "login"
)

// Act does something to a server, as a person has asked.
func (c *Controller) Act(ctx context.Context, r thread.MCPAct) (thread.MCPDetail, error) {
	e, err := c.get(r.Server)
	if err != nil {
		return thread.MCPDetail{}, err
	}
	switch r.Act {
	case ActRestart:
		if err = usable(e); err == nil {
			err = c.hub.Restart(ctx, e.hash)
		}
	case ActApprove, ActReject:
		err = c.approve(e, r)
	case ActRevoke:
		if err = c.cfg.Trust.Revoke(c.cfg.Project, e.Definition, e.hash); err == nil {
			c.hub.Stop(e.hash)
		}
	case ActApproveTools:
		err = c.approveTools(e)
	case ActSignIn:
		err = c.signIn(ctx, e)
	default:
		err = thread.Hint(fmt.Errorf("act %q: %w", r.Act, thread.ErrInvalid),
			"use restart, approve, approve-tools, reject, revoke or login")
	}
	if err != nil {
		return thread.MCPDetail{}, fmt.Errorf("%s %s: %w", r.Act, e.ID, err)
	}
	c.refresh()
	return c.Detail(ctx, r)
}

// approve accepts or rejects a server, if it still is what the person saw.
func (c *Controller) approve(e *entry, r thread.MCPAct) error {
	now := c.refresh() // it may have changed since it was read
	fresh, ok := now.find(e.ID)
	switch {
	case e.Problem != "":
		return fmt.Errorf("%s: %w", e.Problem, thread.ErrInvalid)
	case r.Hash == "":
		return thread.Hint(fmt.Errorf("the hash of what you have seen is missing: %w", thread.ErrInvalid),
			"`orchestrator mcp show "+e.ID+"` prints it")
	case !ok || fresh.hash != r.Hash:
		return thread.Hint(fmt.Errorf("it has changed since you looked: %w", thread.ErrConflict), "look again")
	}
	shown := fresh.Shown(c.cfg.Places.Hasher())
	if r.Act == ActReject {
		c.hub.Stop(fresh.hash)
		return c.cfg.Trust.Reject(c.cfg.Project, fresh.Definition, fresh.hash, shown)
	}
	return c.cfg.Trust.Accept(c.cfg.Project, fresh.Definition, fresh.hash, shown)
}

// approveTools pins the definitions of a server's tools as they are now.
func (c *Controller) approveTools(e *entry) error {
	r, known := c.reading(e)
	if !known {
		return fmt.Errorf("its tools are not known yet: %w", thread.ErrNotFound)
	}
	var raws []json.RawMessage
	for _, t := range r.tools {
		if t.Problem == "" && t.review.Withheld && t.review.Problem == "" {
			raws = append(raws, t.Raw)
		}
	}
	if err := c.cfg.Trust.AcceptTools(e.Definition, e.hash, raws); err != nil {
		return err
	}
	c.manifestChanged(e.hash)
	return nil
}

// signIn signs in to a remote server.
func (c *Controller) signIn(ctx context.Context, e *entry) error {
	if err := usable(e); err != nil {
		return err
	}
	if e.Transport == definition.Stdio || c.cfg.SignIn == nil {
		return fmt.Errorf("%w: %w", errNoLogin, thread.ErrInvalid)
	}
	l, err := e.Expand(c.lookup)
	if err != nil {
		return err
	}
	if err := c.cfg.SignIn(ctx, l); err != nil {
		return err
	}
	return c.hub.Restart(ctx, e.hash)
}

// callLimit is how long a person's call of a tool may take.
const callLimit = 5 * time.Minute

// CallTool calls a tool for a person. A question of the server is not answered.
func (c *Controller) CallTool(ctx context.Context, r thread.MCPCall) (thread.MCPResult, error) {
	e, err := c.get(r.Server)
	if err == nil {
		err = usable(e)
	}
	if err != nil {
		return thread.MCPResult{}, fmt.Errorf("call %s of %s: %w", r.Tool, r.Server, err)
	}
	who := nobody{dir: c.cfg.Project}
	if r.Thread != "" {
		t, err := c.cfg.Threads.Find(r.Thread)
		if err != nil {
			return thread.MCPResult{}, err
		}
		who = nobody{t.ID, t.Dir}
	}
	arguments := json.RawMessage(r.Arguments)
	if r.Arguments == "" {
		arguments = json.RawMessage("{}")
	}
	if !json.Valid(arguments) || arguments[0] != '{' {
		return thread.MCPResult{}, fmt.Errorf("the arguments must be a JSON object: %w", thread.ErrInvalid)
	}
	params, err := json.Marshal(map[string]any{"name": r.Tool, "arguments": arguments})
	if err != nil {
		return thread.MCPResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	result, err := c.hub.Call(ctx, e.server(), who, "tools/call", params)
	if err != nil {
		return thread.MCPResult{}, fmt.Errorf("call %s of %s: %w", r.Tool, r.Server, err)
	}
	return thread.MCPResult{Result: string(result)}, nil
}
