package discovery

import (
	"strings"
	"time"

	"orchestrator/mcpctl/jsonc"
)

// setCommon knows what nearly all formats have.
func setCommon(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "type", "transport":
		return text(&d.kind, v), true
	case "command":
		return text(&d.Command, v), true
	case "args":
		return list(&d.Args, v), true
	case "env":
		return pairs(&d.Env, v), true
	case "url":
		return text(&d.URL, v), true
	case "headers":
		return pairs(&d.Headers, v), true
	case "enabled":
		return boolean(&d.enabled, v), true
	case "disabled":
		must := boolean(&d.enabled, v)
		if must == "" {
			*d.enabled = !*d.enabled
		}
		return must, true
	case "description":
		return text(&d.Options.Description, v), true
	}
	return "", false
}

// oauth reads Claude's and OpenCode's settings for signing in.
func oauth(d *draft, v jsonc.Value) string {
	const must = "an object with clientId, callbackPort, authServerMetadataUrl and scopes"
	if v.Kind == jsonc.Bool {
		return ""
	}
	if v.Kind != jsonc.Object {
		return must
	}
	wrong := ""
	for _, m := range v.Members() {
		switch m.Key {
		case "clientId":
			wrong += text(&d.OAuth.ClientID, m.Value)
		case "authServerMetadataUrl":
			wrong += text(&d.OAuth.MetadataURL, m.Value)
		case "callbackPort":
			var port time.Duration
			if wrong += number(&port, 1, m.Value); port > 65535 {
				wrong = must
			}
			d.OAuth.CallbackPort = int(port)
		case "scopes", "scope":
			if m.Value.Kind == jsonc.String {
				s, _ := m.Value.Text()
				d.OAuth.Scopes = strings.Fields(s)
			} else {
				wrong += list(&d.OAuth.Scopes, m.Value)
			}
		default:
			d.warn("oauth: %.60q is not known here", m.Key)
		}
	}
	if wrong != "" {
		return must
	}
	return ""
}
