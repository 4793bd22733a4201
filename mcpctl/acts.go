package mcpctl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread"
)

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
	b, err := c.boardOf(r.Thread)
	if err != nil {
		return thread.MCPDetail{}, err
	}
	at := c.spotFor(b, r.Dir)
	e, err := c.get(at, r.Server)
	if err != nil {
		return thread.MCPDetail{}, err
	}
	page := ""
	switch r.Act {
	case ActRestart:
		e = c.again(at, e)
		if err = usable(e); err == nil {
			err = c.hub.Restart(ctx, e.hash)
		}
	case ActApprove, ActReject:
		err = c.approve(at, e, r)
	case ActRevoke:
		if err = c.cfg.Trust.Revoke(c.cfg.Project, e.Definition, e.hash); err == nil {
			c.hub.Stop(e.hash)
		}
	case ActApproveTools:
		err = c.approveTools(e, r.Hash)
	case ActSignIn:
		page, err = c.signIn(ctx, at, e)
	default:
		err = thread.Hint(fmt.Errorf("act %q: %w", r.Act, thread.ErrInvalid),
			"use restart, approve, approve-tools, reject, revoke or login")
	}
	if err != nil {
		return thread.MCPDetail{}, fmt.Errorf("%s %s: %w", r.Act, e.ID, err)
	}
	c.refresh(c.spots.folder(at))
	d, err := c.Detail(ctx, r)
	d.Page = page
	return d, err
}

// again returns a server that is not accepted as it is now: its files may be again as they were accepted.
func (c *Controller) again(at spot, e *entry) *entry {
	if e.accepted() {
		return e
	}
	c.refresh(c.spots.folder(at))
	if now, ok := c.judge(at).find(e.ID); ok {
		return now
	}
	return e
}

// approve accepts or rejects a server, if it still is what the person saw.
func (c *Controller) approve(at spot, e *entry, r thread.MCPAct) error {
	c.refresh(c.spots.folder(at)) // it may have changed since it was read
	fresh, ok := c.judge(at).find(e.ID)
	switch {
	case e.Problem != "":
		return fmt.Errorf("%s: %w", e.Problem, thread.ErrInvalid)
	case r.Hash == "":
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "the hash of what you have seen is missing"),
			"`orchestrator mcp show "+e.ID+"` prints it")
	case !ok || fresh.hash != r.Hash:
		return thread.Hint(notSeen{"it"}, "see it: `orchestrator mcp show "+e.ID+"`")
	}
	shown := c.spots.shown(fresh)
	if r.Act == ActReject {
		c.hub.Stop(fresh.hash)
		return c.cfg.Trust.Reject(c.cfg.Project, fresh.Definition, fresh.hash, shown)
	}
	return c.cfg.Trust.Accept(c.cfg.Project, fresh.Definition, fresh.hash, shown)
}

// notSeen is why something is not accepted: it is not what the person has seen.
type notSeen struct{ what string }

func (e notSeen) Error() string {
	return e.what + " has changed since you looked"
}

// Is makes it an ErrConflict.
func (notSeen) Is(target error) bool { return target == thread.ErrConflict }

// approveTools pins the definitions of a server's tools that are withheld, if they still are what the person saw.
func (c *Controller) approveTools(e *entry, hash string) error {
	now, lists := c.lists.withheldTools(e)
	switch {
	case now == "":
		return fmt.Errorf("no tool of it waits for you: %w", thread.ErrNotFound)
	case hash != now:
		return thread.Hint(notSeen{"its list of tools"}, "see it: `orchestrator mcp show "+e.ID+"`")
	}
	if err := c.cfg.Trust.AcceptTools(e.Definition, e.hash, lists); err != nil {
		return err
	}
	c.manifestChanged(e.hash)
	return nil
}

// signIn begins to sign in to a remote server, in the environment of the person who asks, and returns the page.
func (c *Controller) signIn(ctx context.Context, at spot, e *entry) (page string, err error) {
	if err := usable(e); err != nil {
		return "", err
	}
	if e.Transport == definition.Stdio || c.cfg.SignIn == nil {
		return "", fmt.Errorf("%w: %w", errNoLogin, thread.ErrInvalid)
	}
	l, err := e.Expand(c.spots.lookup(at))
	if err != nil {
		return "", err
	}
	env := thread.Environ(ctx)
	if env == nil {
		env = c.spots.environ(at)
	}
	return c.cfg.SignIn(c.ctx, l, definition.BaseEnv(env), func(err error) {
		if err == nil {
			err = c.hub.Restart(c.ctx, e.hash)
		}
		switch {
		case c.ctx.Err() != nil:
		case err != nil:
			c.cfg.Threads.Notice("", thread.LevelWarn, "sign in to "+e.ID+": "+err.Error())
		default:
			c.cfg.Threads.Notice("", thread.LevelInfo, "you are signed in to "+e.ID)
		}
		c.cfg.Threads.Changed("")
	})
}

// nobodyOf is nobody for a thread.
func (c *Controller) nobodyOf(b *switchboard) nobody {
	c.mu.Lock()
	defer c.mu.Unlock()
	return nobody{b.t.ID, b.t.Dir}
}

// callLimit is how long a person's call of a tool may take.
const callLimit = 5 * time.Minute

// CallTool calls a tool for a person. A question of the server is not answered.
func (c *Controller) CallTool(ctx context.Context, r thread.MCPCall) (thread.MCPResult, error) {
	b, err := c.boardOf(r.Thread)
	if err != nil {
		return thread.MCPResult{}, err
	}
	at := c.spotFor(b, r.Dir)
	e, err := c.get(at, r.Server)
	if err == nil {
		e = c.again(at, e)
		err = usable(e)
	}
	if err != nil {
		return thread.MCPResult{}, fmt.Errorf("call %s of %s: %w", r.Tool, r.Server, err)
	}
	if now, known := c.lists.reading(e); known {
		for _, t := range now.tools {
			if t.Name == r.Tool && t.review.Withheld {
				return thread.MCPResult{}, thread.Hint(
					thread.Kindf(thread.ErrRefused, "call %s of %s: it is withheld: %s", r.Tool, e.ID, t.withheld),
					"read it and accept it: `orchestrator mcp approve "+e.ID+" --tools`")
			}
		}
	}
	who := nobody{dir: cmp.Or(at.dir, c.cfg.Project)}
	if b != nil {
		who = c.nobodyOf(b)
	}
	arguments := json.RawMessage(r.Arguments)
	if r.Arguments == "" {
		arguments = json.RawMessage("{}")
	}
	if !json.Valid(arguments) || arguments[0] != '{' {
		return thread.MCPResult{}, thread.Kindf(thread.ErrInvalid, "the arguments must be a JSON object")
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
