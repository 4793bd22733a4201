package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"

	"orchestrator/thread/ground/rpc"
)

const (
	// parkedFor is how long a call waits for the answer to what its server asked.
	parkedFor = 10 * time.Minute
	// maxParked is how many calls may wait at once.
	maxParked = 200
)

// statePrefix begins the states of parked calls; other states are the servers' own.
const statePrefix = "orch:"

// inputKey is the key of the one question that is open in a parked call.
const inputKey = "1"

// parkable sends a request of the stateless era to a server, or goes on with one that was parked.
func (c *call) parkable(ctx context.Context, server string, replaced object) (json.RawMessage, error) {
	if state := c.params.text("requestState"); strings.HasPrefix(state, statePrefix) {
		p := c.session.gateway.unpark(state, c, server)
		if p == nil {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "the question was answered already, or nobody answered it in time")
		}
		answers, err := asObject(c.params["inputResponses"])
		if err != nil {
			p.cancel()
			return nil, err
		}
		answer, ok := answers[inputKey]
		if !ok {
			p.cancel()
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "inputResponses has no answer %q", inputKey)
		}
		p.out.set(c.out)
		p.answer <- outcome{result: answer}
		return c.wait(ctx, p)
	}
	run, cancel := context.WithCancel(c.session.gateway.ctx)
	p := &parked{
		thread: c.session.id, method: c.method, server: server, cancel: cancel,
		questions: make(chan question), done: make(chan outcome, 1), out: &current{out: c.out},
	}
	params := c.forwarded(replaced)
	started := c.session.gateway.start(func() {
		defer cancel()
		defer func() {
			if v := recover(); v != nil {
				c.session.gateway.log.Error("a call of an agent panicked", "thread", string(p.thread), "panic", v, "stack", string(debug.Stack()))
				p.done <- outcome{err: rpc.Errorf(rpc.CodeInternal, "internal error in orchestrator: its log has the details")}
			}
		}()
		result, err := c.session.gateway.servers.Call(run, server, asking{caller: caller{call: c, server: server}, parked: p}, c.method,
			params.raw())
		p.done <- outcome{result, err}
	})
	if !started {
		cancel()
		return nil, errEnded
	}
	return c.wait(ctx, p)
}

// wait waits until a call is done, asks, or is not wanted any more.
func (c *call) wait(ctx context.Context, p *parked) (json.RawMessage, error) {
	select {
	case o := <-p.done:
		return questionsNamed(p.server, o.result), o.err
	case q := <-p.questions:
		p.answer = q.answer
		state, ok := c.session.gateway.park(p)
		if !ok {
			p.cancel()
			return nil, rpc.Errorf(rpc.CodeInternal, "too many calls wait for an answer")
		}
		return encoded(map[string]any{
			"resultType":    "input_required",
			"inputRequests": map[string]any{inputKey: map[string]any{"method": q.method, "params": q.params}},
			"requestState":  state,
		}), nil
	case <-ctx.Done():
		p.cancel()
		return nil, context.Cause(ctx)
	}
}

// park keeps a call and returns what it is found by.
func (g *Gateway) park(p *parked) (state string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.parked) >= maxParked {
		return "", false
	}
	state = statePrefix + rand.Text()
	g.parked[state] = p
	time.AfterFunc(parkedFor, func() {
		g.mu.Lock()
		_, open := g.parked[state]
		delete(g.parked, state)
		g.mu.Unlock()
		if open {
			p.cancel()
		}
	})
	return state, true
}

// unpark returns the parked call that a request goes on with: only one of the same thread to the same server, and only
// once.
func (g *Gateway) unpark(state string, c *call, server string) *parked {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.parked[state]
	if p == nil || p.thread != c.session.id || p.method != c.method || p.server != server {
		return nil
	}
	delete(g.parked, state)
	return p
}

// asking is the caller of a call that can be parked.
type asking struct {
	caller
	*parked
}

// Progress implements Caller: it goes where the agent waits now.
func (a asking) Progress(params json.RawMessage) {
	_ = a.parked.out.get().Notify(context.Background(), "notifications/progress", params)
}

// Ask implements Caller.
func (a asking) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := a.call.takes(method); err != nil {
		return nil, err
	}
	answer := make(chan outcome, 1)
	select {
	case a.questions <- question{method: method, params: attributed(a.caller.server, params), answer: answer}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case o := <-answer:
		return o.result, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// questionsNamed puts the server's name in front of what it asks itself in the stateless era.
func questionsNamed(server string, result json.RawMessage) json.RawMessage {
	if !strings.Contains(string(result[:min(len(result), 4096)]), "input_required") {
		return result
	}
	o, err := asObject(result)
	if err != nil || o.text("resultType") != "input_required" {
		return result
	}
	requests, err := asObject(o["inputRequests"])
	if err != nil {
		return result
	}
	for key, raw := range requests {
		if q, err := asObject(raw); err == nil {
			q["params"] = attributed(server, q["params"])
			requests[key] = q.raw()
		}
	}
	o["inputRequests"] = requests.raw()
	return o.raw()
}
