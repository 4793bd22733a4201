package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// readGemini reads settings.json.
func readGemini(r *reader, content []byte) {
	v, ok := r.parse(content)
	if !ok {
		return
	}
	if mcp, ok := r.object(v, "mcp"); ok {
		r.disabled = r.names(mcp, "excluded")
		r.allowed = r.names(mcp, "allowed")
	}
	if servers, ok := r.object(v, "mcpServers"); ok {
		r.servers(servers, r.scope, setGemini)
	}
}

// maxExtensions is how many of Gemini's extensions are read.
const maxExtensions = 200

// extensions returns the files of the extensions that the person has installed.
func extensions(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var files []string
	for _, entry := range entries[:min(len(entries), maxExtensions)] {
		files = append(files, filepath.Join(folder, entry.Name(), "gemini-extension.json"))
	}
	return files
}

// readExtension reads the servers of an extension, which know where it is.
func readExtension(r *reader, content []byte) {
	v, ok := r.parse(content)
	if !ok {
		return
	}
	servers, ok := r.object(v, "mcpServers")
	if !ok {
		return
	}
	r.servers(servers, r.scope, setGemini)
	fill := strings.NewReplacer("${extensionPath}", filepath.Dir(r.path), "${workspacePath}", r.project,
		"${/}", string(filepath.Separator), "${pathSeparator}", string(filepath.Separator)).Replace
	for _, d := range r.drafts {
		d.Command, d.Dir = fill(d.Command), fill(d.Dir)
		for i := range d.Args {
			d.Args[i] = fill(d.Args[i])
		}
		for name := range d.Env {
			d.Env[name] = fill(d.Env[name])
		}
	}
}

// setGemini knows Gemini CLI's settings.
func setGemini(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "cwd":
		return text(&d.Dir, v), true
	case "url":
		if d.URL != "" {
			return "", true // httpUrl comes first
		}
		d.plainURL = definition.SSE
		return text(&d.URL, v), true
	case "httpUrl":
		d.plainURL = definition.HTTP
		return text(&d.URL, v), true
	case "timeout":
		return number(&d.Options.CallTimeout, time.Millisecond, v), true
	case "includeTools":
		return list(&d.Options.Allow, v), true
	case "excludeTools":
		return list(&d.Options.Deny, v), true
	case "oauth":
		return geminiOAuth(d, v), true
	case "trust", "authProviderType", "targetAudience", "targetServiceAccount", "extension":
		return "", true
	}
	return setCommon(d, key, v)
}

func geminiOAuth(d *draft, v jsonc.Value) string {
	if v.Kind != jsonc.Object {
		return "an object"
	}
	if id, ok := v.Member("clientId"); ok {
		d.OAuth.ClientID, _ = id.Text()
	}
	if scopes, ok := v.Member("scopes"); ok {
		d.OAuth.Scopes, _ = texts(scopes)
	}
	return ""
}
