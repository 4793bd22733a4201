package discovery

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// draft is a server while it is read.
type draft struct {
	definition.Definition
	base     string // where relative paths start from
	problems *problems
	line     int

	kind     string // what its configuration calls its transport
	plainURL definition.Transport
	enabled  *bool
}

// setter takes one setting of a server. It returns what the value must be if it is something else, and whether it knows
// the key.
type setter func(d *draft, key string, v jsonc.Value) (must string, known bool)

func newDraft(m jsonc.Member, scope definition.Scope, f file, base string, p *problems) *draft {
	return &draft{
		Definition: definition.Definition{Name: m.Key, ID: m.Key, Enabled: true, Sources: []definition.Source{
			{File: f.path, Line: m.Line, Agent: f.agent, Scope: scope},
		}},
		base: base, problems: p, line: m.Line, plainURL: definition.HTTP,
	}
}

// fail tells why the server cannot be used.
func (d *draft) fail(line int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if d.Problem == "" {
		d.Problem = text
	}
	d.problems.add(line, d.Name, "%s", text)
}

// maxWarnings is how many are kept for a server.
const maxWarnings = 20

func (d *draft) warn(format string, args ...any) {
	if len(d.Warnings) < maxWarnings {
		d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
	}
}

// read takes all settings of an object.
func (d *draft) read(v jsonc.Value, set setter) {
	seen := make(map[string]bool)
	for _, m := range v.Members() {
		if seen[m.Key] {
			d.fail(m.Line, "%s is there twice", m.Key)
			continue
		}
		seen[m.Key] = true
		if m.Value.Kind == jsonc.Null {
			continue
		}
		must, known := set(d, m.Key, m.Value)
		if !known {
			d.warn("%.60q is not known here", m.Key)
		} else if must != "" {
			d.fail(m.Line, "%s must be %s", m.Key, must)
		}
	}
}

// missingBoth is the problem of a server that has only options.
const missingBoth = "has neither a command nor a URL"

// finish decides on the transport and checks what belongs to it.
func (d *draft) finish() {
	if d.enabled != nil {
		d.Enabled = *d.enabled
	}
	switch d.kind {
	case "stdio", "local":
		d.Transport = definition.Stdio
	case "http", "streamable-http", "streamableHttp", "streamable_http":
		d.Transport = definition.HTTP
	case "sse":
		d.Transport = definition.SSE
	case "", "remote":
		d.Transport = d.plainURL
		if d.Command != "" && d.kind == "" {
			d.Transport = definition.Stdio
		}
	default:
		d.fail(d.line, "transport %.40q is not supported", d.kind)
		return
	}
	switch {
	case d.Command == "" && d.URL == "" && d.kind == "":
		d.Transport = ""
		if d.Problem == "" {
			d.Problem = missingBoth
		}
	case d.Transport == definition.Stdio && d.Command == "":
		d.fail(d.line, "has no command")
	case d.Transport != definition.Stdio && d.URL == "":
		d.fail(d.line, "has no URL")
	case d.Transport == definition.Stdio:
		d.local()
	default:
		d.remote()
	}
}

func (d *draft) local() {
	if d.URL != "" {
		d.warn("its URL is not used: it has a command")
		d.URL = ""
	}
	d.Dir, d.EnvFile = d.absolute(d.Dir), d.absolute(d.EnvFile)
	if name := unpinned(d.Command, d.Args); name != "" {
		d.warn("%s has no fixed version: what runs can change at any time", name)
	}
}

func (d *draft) remote() {
	if d.Command != "" {
		d.warn("its command is not used: it is remote")
		d.Command, d.Args = "", nil
	}
	if strings.ContainsAny(d.URL, "${%") {
		return
	}
	u, err := url.Parse(d.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.fail(d.line, "its URL must begin with http:// or https:// and a host")
	}
}

// absolute returns a path in the folder that its file configures; one that begins with a variable stays as it is.
func (d *draft) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) || strings.ContainsAny(path[:1], "${%~") {
		return path
	}
	return filepath.Join(d.base, path)
}

// unpinned returns the package that a command downloads in whatever version is the newest.
func unpinned(command string, args []string) string {
	switch filepath.Base(command) {
	case "npx", "bunx", "uvx", "pnpx":
	default:
		return ""
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if strings.ContainsAny(arg, "./$:") && !strings.HasPrefix(arg, "@") && !strings.Contains(arg, "@") {
			return "" // a path or an address
		}
		name, version, ok := strings.Cut(strings.TrimPrefix(arg, "@"), "@")
		if !ok && strings.Contains(name, "==") {
			return ""
		}
		if !ok || version == "latest" || version == "" {
			return arg
		}
		return ""
	}
	return ""
}
