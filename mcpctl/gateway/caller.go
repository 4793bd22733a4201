package gateway

import (
	"context"
	"encoding/json"

	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// caller is whom a server works for during a call.
type caller struct {
	call   *call
	server string
}

// Thread implements Caller.
func (c caller) Thread() thread.ID { return c.call.session.id }

// Dir implements Caller.
func (c caller) Dir() string { return c.call.session.dir }

// Progress implements Caller.
func (c caller) Progress(params json.RawMessage) {
	_ = c.call.out.Notify(context.Background(), "notifications/progress", params) // an agent that is gone needs none
}

// Ask implements Caller.
func (c caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := c.call.takes(method); err != nil {
		return nil, err
	}
	return c.call.out.Call(ctx, method, attributed(c.server, params))
}

// takes refuses a question that the agent does not take. Roots are answered by whoever runs the server.
func (c *call) takes(method string) error {
	if method == "elicitation/create" && c.capabilities["elicitation"] != nil {
		return nil
	}
	return rpc.Errorf(rpc.CodeNoMethod, "the agent does not take %s", method)
}

// attributed puts the name of the server in front of what it asks, so that nobody answers it for another.
func attributed(server string, params json.RawMessage) json.RawMessage {
	o, err := asObject(params)
	if err != nil {
		o = object{} // the agent refuses what is left
	}
	o.set("message", "The MCP server "+server+" asks: "+o.text("message"))
	return o.raw()
}

// forwarded returns the params of the call with some replaced.
func (c *call) forwarded(replaced object) object {
	params := object{}
	for key, v := range c.params {
		params[key] = v
	}
	for key, v := range replaced {
		params[key] = v
	}
	return params
}
