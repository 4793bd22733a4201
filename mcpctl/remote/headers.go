package remote

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"orchestrator/mcpctl/rpc"
)

// sessionless is the first revision of the protocol that has no sessions.
const sessionless = "2026-07-28"

// header returns the protocol's headers for a message.
func (s *streamable) header(m rpc.Message) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if version := versionIn(m.Params); version >= sessionless {
		h.Set("Mcp-Protocol-Version", version)
		h.Set("Mcp-Method", m.Method)
		if name := nameIn(m); name != "" {
			h.Set("Mcp-Name", headerValue(name))
		}
		return h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method == "initialize" {
		return h
	}
	if s.session != "" {
		h.Set("Mcp-Session-Id", s.session)
	}
	if s.version != "" {
		h.Set("Mcp-Protocol-Version", s.version)
	}
	return h
}

func modern(m rpc.Message) bool { return versionIn(m.Params) >= sessionless }

// versionIn is the protocol's revision that a request names, as all do since there are no sessions.
func versionIn(params json.RawMessage) string {
	var p struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return date(p.Meta.Version)
}

// versionOf is the revision that a server has chosen.
func versionOf(result json.RawMessage) string {
	var r struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) != nil {
		return ""
	}
	return date(r.Version)
}

// date returns a revision, or nothing if it cannot be one.
func date(version string) string {
	if len(version) > 32 || strings.ContainsFunc(version, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return version
}

// nameIn is what a request is about.
func nameIn(m rpc.Message) string {
	var p struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	switch m.Method {
	case "tools/call", "prompts/get", "resources/read":
		if json.Unmarshal(m.Params, &p) != nil {
			return ""
		}
	}
	if m.Method == "resources/read" {
		return p.URI
	}
	return p.Name
}

// headerValue encodes what cannot stand in a header.
func headerValue(s string) string {
	plain := strings.TrimSpace(s) == s && !strings.HasPrefix(s, "=?base64?") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
