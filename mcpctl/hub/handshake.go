package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"orchestrator/mcpctl/manifest"
	"orchestrator/thread/ground/rpc"
)

// capabilities are what servers may ask of us, whatever the client of a call can do.
const capabilities = `{"elicitation":{},"roots":{}}`

// introduce agrees with the server on a protocol. The legacy one is tried first, since servers that do not know the
// modern one may not answer at all to it, unless the server is known to be modern.
func (s *session) introduce(ctx context.Context, name, version string, knownModern bool) error {
	info := object{}.with("name", name).with("version", version)
	if knownModern {
		if s.discover(ctx, info) == nil {
			return nil
		}
		return s.initialize(ctx, info)
	}
	err := s.initialize(ctx, info)
	var refused *rpc.Error
	if errors.As(err, &refused) && s.discover(ctx, info) == nil {
		return nil
	}
	return err
}

func (s *session) initialize(ctx context.Context, info object) error {
	s.meta = nil
	params, err := object{"capabilities": json.RawMessage(capabilities)}.
		with("protocolVersion", legacy).with("clientInfo", info).raw()
	if err != nil {
		return err
	}
	result, err := s.peer.Call(ctx, "initialize", params)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	var r struct {
		Protocol     string          `json:"protocolVersion"`
		Server       json.RawMessage `json:"serverInfo"`
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions string          `json:"instructions"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("result of initialize: %w", err)
	}
	s.about = about{r.Protocol, r.Server, r.Instructions, r.Capabilities}
	if err := s.peer.Notify(ctx, "notifications/initialized", nil); err != nil {
		return fmt.Errorf("notify that it is initialized: %w", err)
	}
	return nil
}

func (s *session) discover(ctx context.Context, info object) error {
	meta := object{
		reserved + "clientCapabilities": json.RawMessage(capabilities),
	}.with(reserved+"protocolVersion", modern).with(reserved+"clientInfo", info)
	params, err := object{}.with("_meta", meta).raw()
	if err != nil {
		return err
	}
	result, err := s.peer.Call(ctx, "server/discover", params)
	if err != nil {
		return fmt.Errorf("server/discover: %w", err)
	}
	var r struct {
		Versions     []string        `json:"supportedVersions"`
		Server       json.RawMessage `json:"serverInfo"`
		Capabilities json.RawMessage `json:"capabilities"`
		Instructions string          `json:"instructions"`
		Meta         object          `json:"_meta"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("result of server/discover: %w", err)
	}
	if !slices.Contains(r.Versions, modern) {
		return fmt.Errorf("server/discover: the server speaks %q only", r.Versions)
	}
	if info := r.Meta[reserved+"serverInfo"]; info != nil {
		r.Server = info
	}
	s.about = about{modern, r.Server, r.Instructions, r.Capabilities}
	s.meta = meta
	return nil
}

// listen asks a modern server to tell when its lists change. It returns when that ends.
func (s *session) listen(ctx context.Context) {
	what := map[string]bool{"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}
	params, err := object{}.with("_meta", s.meta).with("notifications", what).raw()
	if err != nil {
		return
	}
	_, _ = s.peer.Call(ctx, "subscriptions/listen", params) // a server may not offer it
}

// manifest lists what the server offers.
func (s *session) manifest(ctx context.Context, hash string) (manifest.Manifest, error) {
	m := manifest.Manifest{
		Hash: hash, Protocol: s.about.protocol, Server: s.about.server, Instructions: s.about.instructions,
		Capabilities: s.about.capabilities, At: s.clock.Now(),
	}
	var has struct {
		Tools, Prompts, Resources *json.RawMessage
	}
	if len(s.about.capabilities) > 0 {
		if err := json.Unmarshal(s.about.capabilities, &has); err != nil {
			return m, fmt.Errorf("capabilities of the server: %w", err)
		}
	}
	list := func(method, key string) ([]json.RawMessage, error) {
		raw, problem, err := manifest.List(ctx, s.ask, method, key)
		if problem != "" {
			m.Problems = append(m.Problems, problem)
		}
		return raw, err
	}
	if has.Tools != nil {
		raw, err := list("tools/list", "tools")
		if err != nil {
			return m, err
		}
		var problems []string
		m.Tools, problems = manifest.Tools(raw)
		m.Problems = append(m.Problems, problems...)
	}
	// What else it offers is of no use to most agents: a server that fails here still has its tools.
	more := func(has *json.RawMessage, method, key, name string) []json.RawMessage {
		if has == nil {
			return nil
		}
		raw, err := list(method, key)
		var refused *rpc.Error
		switch {
		case errors.As(err, &refused) && refused.Code == rpc.CodeNoMethod:
		case err != nil:
			m.Problems = append(m.Problems, err.Error())
		}
		kept, problems := manifest.Entries(raw, key, name)
		m.Problems = append(m.Problems, problems...)
		return kept
	}
	m.Prompts = more(has.Prompts, "prompts/list", "prompts", "name")
	m.Resources = more(has.Resources, "resources/list", "resources", "uri")
	m.Templates = more(has.Resources, "resources/templates/list", "resourceTemplates", "uriTemplate")
	return m.Compact(), ctx.Err()
}

// ask sends a request of our own.
func (s *session) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	sent, _, err := outgoing(params, s.meta, "")
	if err != nil {
		return nil, err
	}
	return s.peer.Call(ctx, method, sent)
}
