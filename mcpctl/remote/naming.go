package remote

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"orchestrator/thread/ground/rpc"
)

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
