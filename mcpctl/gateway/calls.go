package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread/ground/rpc"
	"orchestrator/thread/plaintext"
)

// callTool calls a tool. What goes wrong with it is told to the model as the tool's result, since it can act on that.
func (c *call) callTool(ctx context.Context) (json.RawMessage, error) {
	name := c.params.text("name")
	if slices.ContainsFunc(c.session.own, func(e entry) bool { return e.name == name }) {
		return c.callOwn(ctx, name)
	}
	on := c.session.gateway.servers.On(c.session.id)
	e, ok := find(toolNames(named(on, name)), name)
	if !ok {
		return c.notListed(name)
	}
	if why := c.session.gateway.servers.Off(c.session.id, e.server, e.own); why != "" {
		return failure(why), nil
	}
	result, err := c.forward(ctx, e.server, object{"name": encoded(e.own)})
	var refused *rpc.Error
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case err != nil:
		return failure(fmt.Sprintf("%s: %v", e.server, err)), nil
	}
	return c.session.gateway.bounded(ctx, c.session.id, on, e, result), nil
}

// callOwn calls a tool that is our own.
func (c *call) callOwn(ctx context.Context, name string) (json.RawMessage, error) {
	arguments, err := asObject(c.params["arguments"])
	if err != nil {
		return nil, err
	}
	switch name {
	case findTool:
		return c.findTool(ctx, arguments)
	case retrieveTool:
		return c.retrieve(ctx, arguments)
	case stageTool:
		return c.stage(ctx, arguments)
	case getTool:
		return c.getDeliverable(ctx, arguments)
	case putTool:
		return c.putDeliverable(ctx, arguments)
	case spawnTool:
		return c.spawn(ctx, arguments)
	default:
		return c.taskStatus(ctx, arguments)
	}
}

// named returns the servers whose tools' names can begin like a name.
func named(on []Server, name string) []Server {
	var all []Server
	for _, s := range on {
		if strings.HasPrefix(name, plaintext.Cut(plain(s.ID), maxName-hashSize)) {
			all = append(all, s)
		}
	}
	return all
}

// notListed answers a call of a tool that the agent should not have, because its list is old.
func (c *call) notListed(name string) (json.RawMessage, error) {
	server, tool, ok := strings.Cut(name, separator)
	if ok {
		if why := c.session.gateway.servers.Off(c.session.id, server, tool); why != "" {
			return failure(why), nil
		}
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "unknown tool %q: orch__find_tool searches the tools there are", name)
}

// maxRounds is how often a server of the stateless era may ask during one call of an agent of the other era.
const maxRounds = 10

// forward sends the call's request to a server, with some of the params replaced.
func (c *call) forward(ctx context.Context, server string, replaced object) (json.RawMessage, error) {
	if c.modern {
		return c.parkable(ctx, server, replaced)
	}
	params := c.forwarded(replaced)
	caller := caller{call: c, server: server}
	for range maxRounds {
		result, err := c.session.gateway.servers.Call(ctx, server, caller, c.method, params.raw())
		if err != nil {
			return nil, err
		}
		var wants struct {
			ResultType    string `json:"resultType"`
			InputRequests map[string]struct {
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			} `json:"inputRequests"`
			RequestState json.RawMessage `json:"requestState"`
		}
		if !strings.Contains(string(result[:min(len(result), 4096)]), "input_required") ||
			json.Unmarshal(result, &wants) != nil || wants.ResultType != "input_required" {
			return result, nil
		}
		answers := object{}
		for key, q := range wants.InputRequests {
			if answers[key], err = caller.Ask(ctx, q.Method, q.Params); err != nil {
				return nil, err
			}
		}
		params["inputResponses"], params["requestState"] = answers.raw(), wants.RequestState
		if wants.RequestState == nil {
			delete(params, "requestState")
		}
	}
	return nil, fmt.Errorf("%s asked more than %d times", server, maxRounds)
}

// getPrompt gets a prompt of the server whose it is.
func (c *call) getPrompt(ctx context.Context) (json.RawMessage, error) {
	name := c.params.text("name")
	e, ok := find(prompts(c.session.gateway.servers.On(c.session.id)), name)
	if !ok {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "unknown prompt %q", name)
	}
	return c.forward(ctx, e.server, object{"name": encoded(e.own)})
}

// readResource reads a resource. One that is in no list, such as a link in a tool's result, is asked of the servers
// whose template it begins like, and then of all that have resources.
func (c *call) readResource(ctx context.Context) (json.RawMessage, error) {
	uri := c.params.text("uri")
	on := c.session.gateway.servers.On(c.session.id)
	if e, ok := find(resources(on), uri); ok {
		return c.forward(ctx, e.server, object{"uri": encoded(e.own)})
	}
	err := error(rpc.Errorf(rpc.CodeInvalidParams, "no server has the resource %q", uri))
	for _, server := range candidates(on, uri) {
		result, refused := c.forward(ctx, server, nil)
		if refused == nil {
			return result, nil
		}
		if ctx.Err() != nil {
			return nil, refused
		}
		err = refused
	}
	return nil, err
}

// candidates returns the servers that may have a resource, the likely ones first.
func candidates(on []Server, uri string) []string {
	var likely, others []string
	for _, s := range on {
		if len(s.Resources)+len(s.Templates) == 0 {
			continue
		}
		match := false
		for _, e := range templates([]Server{s}) {
			fixed, _, _ := strings.Cut(e.own, "{")
			match = match || fixed != "" && strings.HasPrefix(uri, fixed)
		}
		if match {
			likely = append(likely, s.ID)
		} else {
			others = append(others, s.ID)
		}
	}
	return append(likely, others...)
}

// complete completes an argument of a prompt or of a resource template.
func (c *call) complete(ctx context.Context) (json.RawMessage, error) {
	ref, err := asObject(c.params["ref"])
	if err != nil {
		return nil, err
	}
	on := c.session.gateway.servers.On(c.session.id)
	all, key := prompts(on), "name"
	if ref.text("type") == "ref/resource" {
		all, key = templates(on), "uri"
	}
	e, ok := find(all, ref.text(key))
	if !ok {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "unknown %s %q", key, ref.text(key))
	}
	ref.set(key, e.own)
	return c.forward(ctx, e.server, object{"ref": ref.raw()})
}
