// Package discovery finds the MCP servers in the configuration files of the agents.
//
// It only reads files: it starts nothing, writes nothing, and returns no value that could be a secret (environment,
// headers, user information and query of URLs, arguments after the first). Servers from a repository's own files are
// marked as not trusted.
package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"

	"github.com/knadh/koanf/parsers/toml/v2"

	"orchestrator/thread"
)

// maxFile is the size limit of a configuration file; Claude's own grows with its history.
const maxFile = 64 << 20

// Places are the folders to search.
type Places struct {
	Project string
	Home    string
	// Claude, Codex, Gemini and OpenCode are the agents' own folders if they are not in their usual place in Home; empty
	// means the usual place.
	Claude, Codex, Gemini, OpenCode string
}

// source is one file that may define servers.
type source struct {
	file    string
	agent   string
	trusted bool
	read    func(content []byte, project string) (map[string]entry, error)
}

// entry is a server in any of the formats.
type entry struct {
	Type    string          `json:"type"`
	Command json.RawMessage `json:"command"` // a string, or a list in OpenCode's format
	Args    []string        `json:"args"`
	URL     string          `json:"url"`
	HTTPURL string          `json:"httpUrl"`
	Enabled *bool           `json:"enabled"`
	// Disabled is what some clients use instead of Enabled.
	Disabled bool `json:"disabled"`
}

// Find lists the servers of all files, sorted by name, source and agent. A file that cannot be read is listed as a
// server with a Problem.
func (p Places) Find() []thread.MCPServer {
	var found []thread.MCPServer
	for _, s := range p.sources() {
		content, err := readFile(s.file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var entries map[string]entry
		if err == nil {
			entries, err = s.read(content, p.Project)
		}
		if err != nil {
			found = append(found, thread.MCPServer{
				Name: filepath.Base(s.file), Source: s.file, Agent: s.agent, Problem: err.Error(),
			})
			continue
		}
		for name, e := range entries {
			found = append(found, e.server(name, s))
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		if a.Source != b.Source {
			return a.Source < b.Source
		}
		return a.Agent < b.Agent
	})
	return found
}

func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is not a regular file or is too large", file)
	}
	return os.ReadFile(file)
}

func (p Places) sources() []source {
	or := func(dir string, usual ...string) string {
		if dir != "" {
			return dir
		}
		return filepath.Join(append([]string{p.Home}, usual...)...)
	}
	claude := filepath.Join(p.Home, ".claude.json")
	if p.Claude != "" {
		claude = filepath.Join(p.Claude, ".claude.json")
	}
	return []source{
		{file: filepath.Join(p.Project, ".mcp.json"), agent: "claude", read: readServers},
		{file: claude, agent: "claude", trusted: true, read: readClaude},
		{file: filepath.Join(or(p.Codex, ".codex"), "config.toml"), agent: "codex", trusted: true, read: readCodex},
		{file: filepath.Join(p.Project, ".codex", "config.toml"), agent: "codex", read: readCodex},
		{file: filepath.Join(or(p.Gemini), ".gemini", "settings.json"), agent: "gemini", trusted: true, read: readServers},
		{file: filepath.Join(p.Project, ".gemini", "settings.json"), agent: "gemini", read: readServers},
		{file: filepath.Join(or(p.OpenCode, ".config", "opencode"), "opencode.json"), agent: "opencode", trusted: true,
			read: readOpenCode},
		{file: filepath.Join(p.Project, "opencode.json"), agent: "opencode", read: readOpenCode},
	}
}

// readServers reads {"mcpServers": {…}}: .mcp.json and Gemini's settings.
func readServers(content []byte, _ string) (map[string]entry, error) {
	var f struct {
		Servers map[string]entry `json:"mcpServers"`
	}
	return f.Servers, decode(content, &f)
}

// readClaude reads the person's own servers and those for this project.
func readClaude(content []byte, project string) (map[string]entry, error) {
	var f struct {
		Servers  map[string]entry `json:"mcpServers"`
		Projects map[string]struct {
			Servers map[string]entry `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := decode(content, &f); err != nil {
		return nil, err
	}
	all := map[string]entry{}
	for name, e := range f.Servers {
		all[name] = e
	}
	for name, e := range f.Projects[project].Servers {
		all[name] = e
	}
	return all, nil
}

func readOpenCode(content []byte, _ string) (map[string]entry, error) {
	var f struct {
		Servers map[string]entry `json:"mcp"`
	}
	return f.Servers, decode(content, &f)
}

// readCodex reads the [mcp_servers.name] tables, converted to JSON.
func readCodex(content []byte, _ string) (map[string]entry, error) {
	tree, err := toml.Parser().Unmarshal(content)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	b, err := json.Marshal(tree["mcp_servers"])
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	var servers map[string]entry
	return servers, decode(b, &servers)
}

func decode(content []byte, to any) error {
	if err := json.Unmarshal(content, to); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	return nil
}

func (e entry) server(name string, s source) thread.MCPServer {
	out := thread.MCPServer{
		Name: name, Source: s.file, Agent: s.agent, Trusted: s.trusted,
		Enabled: !e.Disabled && (e.Enabled == nil || *e.Enabled),
	}
	address := e.URL
	if address == "" {
		address = e.HTTPURL
	}
	switch {
	case address != "":
		out.Transport, out.Target = "http", withoutSecrets(address)
		if e.Type == "sse" {
			out.Transport = "sse"
		}
	case len(e.Command) > 0:
		out.Transport, out.Target = "stdio", e.program()
	default:
		out.Problem = "has neither a command nor a URL"
	}
	return out
}

// program is the command without its arguments.
func (e entry) program() string {
	var one string
	if json.Unmarshal(e.Command, &one) == nil {
		return one
	}
	var list []string
	if json.Unmarshal(e.Command, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}

func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
