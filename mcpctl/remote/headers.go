package remote

import (
	"encoding/json"
	"net/http"
	"strings"

	"orchestrator/thread/ground/rpc"
)

// sessionless is the first revision of the protocol that has no sessions.
const sessionless = "2026-07-28"

// headersOf are the protocol's headers for a message of a session, which may not have begun.
func headersOf(m rpc.Message, session, version string, schemaOf func(string) json.RawMessage) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if named := versionIn(m.Params); named >= sessionless {
		h.Set("Mcp-Protocol-Version", named)
		h.Set("Mcp-Method", m.Method)
		if name := nameIn(m); name != "" {
			h.Set("Mcp-Name", headerValue(name))
		}
		for name, value := range paramHeaders(m, schemaOf) {
			h.Set(name, value)
		}
		return h
	}
	if m.Method == "initialize" {
		return h
	}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
	}
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
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
