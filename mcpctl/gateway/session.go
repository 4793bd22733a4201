package gateway

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"slices"

	"orchestrator/thread/ground/rpc"
)

// request answers a request. A panic in it is an error of this request alone.
func (s *session) request(ctx context.Context, m rpc.Message, out outlet) (_ json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.gateway.log.Error("a request of an agent panicked", "thread", string(s.id), "method", m.Method, "panic", v,
				"stack", string(debug.Stack()))
			err = rpc.Errorf(rpc.CodeInternal, "internal error in orchestrator: its log has the details")
		}
	}()
	params, err := asObject(m.Params)
	if err != nil {
		return nil, err
	}
	c := &call{session: s, out: out, method: m.Method, params: params, id: m.ID}
	meta, err := asObject(params["_meta"])
	if err != nil {
		return nil, err
	}
	if v := meta.text(metaVersion); v != "" {
		if v != modern {
			return nil, unsupported(v)
		}
		c.modern = true
		if c.capabilities, err = asObject(meta[metaCapabilities]); err != nil {
			return nil, err
		}
	} else {
		s.mu.Lock()
		c.capabilities = s.capabilities
		s.mu.Unlock()
	}
	result, err := c.answer(ctx)
	if err != nil || !c.modern {
		return result, err
	}
	return c.annotated(result), nil
}

// answer answers by method.
func (c *call) answer(ctx context.Context) (json.RawMessage, error) {
	switch c.method {
	case "initialize":
		return c.initialize()
	case "server/discover":
		return c.discover()
	case "ping", "logging/setLevel":
		return nil, nil
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return c.list()
	case "tools/call":
		return c.callTool(ctx)
	case "prompts/get":
		return c.getPrompt(ctx)
	case "resources/read":
		return c.readResource(ctx)
	case "completion/complete":
		return c.complete(ctx)
	case "subscriptions/listen":
		return c.listen(ctx)
	}
	return nil, rpc.Errorf(rpc.CodeNoMethod, "method %q is not supported", c.method)
}

func (c *call) initialize() (json.RawMessage, error) {
	version := c.params.text("protocolVersion")
	if !slices.Contains(legacy(), version) {
		version = legacy()[0]
	}
	capabilities, err := asObject(c.params["capabilities"])
	if err != nil {
		return nil, err
	}
	c.session.mu.Lock()
	c.session.version, c.session.capabilities = version, capabilities
	c.session.mu.Unlock()
	return encoded(map[string]any{
		"protocolVersion": version, "capabilities": capable(), "serverInfo": c.session.gateway.info(),
		"instructions": instructions,
	}), nil
}

func (c *call) discover() (json.RawMessage, error) {
	return encoded(map[string]any{
		"supportedVersions": append([]string{modern}, legacy()...), "capabilities": capable(),
		"instructions": instructions, "ttlMs": 0, "cacheScope": "private",
	}), nil
}

// annotated adds what every result of the stateless era has.
func (c *call) annotated(result json.RawMessage) json.RawMessage {
	if result == nil || string(result) == "null" {
		result = json.RawMessage("{}")
	}
	o, err := asObject(result)
	if err != nil {
		return result
	}
	if o["_meta"] == nil {
		result = with(result, "_meta", encoded(map[string]any{metaServer: c.session.gateway.info()}))
	}
	return with(result, "resultType", json.RawMessage(`"complete"`))
}

// notification takes a notification of the agent. Cancelled requests are the connection's own matter.
func (s *session) notification(m rpc.Message) {
	if m.Method == "notifications/initialized" {
		s.mu.Lock()
		s.ready = s.version != ""
		s.mu.Unlock()
	}
}
