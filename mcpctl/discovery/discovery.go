// Package discovery finds the MCP servers in the configuration files of the agents and in our own.
//
// It only reads files: it starts nothing, writes nothing and expands no variable of what it finds. What a repository
// configures never takes the name of a server that the person configured. Errors and warnings quote names and lines, and
// no values.
package discovery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/private"
)

const (
	// maxFile is the size limit of the person's own configuration files; Claude's own grows with its history.
	maxFile = 64 << 20
	// maxProjectFile is that of files of the repository.
	maxProjectFile = 1 << 20
	// maxServers is how many servers a file may have.
	maxServers = 1000
	// maxProblems is how many problems are listed for a file.
	maxProblems = 100
)

// Places are the folders to search.
type Places struct {
	Project string
	Home    string
	// Claude, Codex, Gemini and OpenCode are the agents' own folders if they are not in their usual place in Home; empty
	// means the usual place. OpenCodeConfig is one more file of OpenCode.
	Claude, Codex, Gemini, OpenCode, OpenCodeConfig string
	// Config is our own folder of configuration; empty means the usual place in Home.
	Config string
	// Roots are further folders of the repository, such as its main worktree.
	Roots []string
	// Lookup knows the person's environment, for the hashes of files that variables lead to; it may be nil.
	Lookup func(name string) (string, bool)
}

// Found is what the files configure.
type Found struct {
	Definitions []definition.Definition // sorted by ID
	Hashes      map[string]string       // launch hash by ID; none for a server with a Problem
	Problems    []Problem               // by file and line
	// Own are the person's own files, also those that do not exist.
	Own []string
}

// Problem is something wrong in a file.
type Problem struct {
	File   string
	Line   int    // from 1; 0 if it is not known
	Server string // the name of the server; empty if it is about the file
	Text   string
}

func (p Problem) String() string {
	text := p.Text
	if p.Server != "" {
		text = fmt.Sprintf("server %q: %s", p.Server, text)
	}
	if p.Line == 0 {
		return p.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
}

// Hasher returns what hashes definitions in these places.
func (p Places) Hasher() definition.FileHasher {
	lookup := func(name string) (string, bool) {
		switch {
		case name == "workspaceFolder":
			return p.Project, p.Project != ""
		case p.Lookup == nil:
			return "", false
		}
		return p.Lookup(name)
	}
	return definition.FileHasher{Roots: append([]string{p.Project}, p.Roots...), Lookup: lookup}
}

// Definitions reads all files.
func (p Places) Definitions() Found {
	found := Found{Hashes: make(map[string]string)}
	var all collection
	for _, f := range p.files() {
		if f.scope != definition.Project && !slices.Contains(found.Own, f.path) {
			found.Own = append(found.Own, f.path)
		}
		r := &reader{file: f, places: p}
		content, err := f.content()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			r.problem(0, "", "%s", err)
		default:
			f.read(r, content)
		}
		all.add(r)
	}
	all.toggle()
	for _, s := range all.merge(p.Hasher()) {
		found.Definitions = append(found.Definitions, s.Definition)
		if s.hash != "" {
			found.Hashes[s.ID] = s.hash
		}
	}
	for _, r := range all.readers {
		found.Problems = append(found.Problems, r.problems...)
	}
	slices.SortFunc(found.Definitions, func(a, b definition.Definition) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(found.Problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return found
}

// file is one that may configure servers.
type file struct {
	path  string
	agent string
	scope definition.Scope
	read  func(r *reader, content []byte)
}

// files returns all in order of precedence. What is in the repository is the repository's, also where a setting of the
// person leads to it; a repository that holds the home folder is the person's.
func (p Places) files() []file {
	var own, project []file
	seen := make(map[string]bool)
	for _, f := range p.all() {
		if seen[f.path] {
			continue
		}
		seen[f.path] = true
		if p.holds(f.path) && !p.holds(p.Home) {
			f.scope = definition.Project
		}
		if f.scope == definition.Project {
			project = append(project, f)
		} else {
			own = append(own, f)
		}
	}
	return append(own, project...)
}

// holds reports whether a path is in the project.
func (p Places) holds(path string) bool {
	rel, err := filepath.Rel(p.Project, path)
	return p.Project != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// all returns the files where agents look for them.
func (p Places) all() []file {
	or := func(dir string, usual ...string) string {
		if dir != "" {
			return dir
		}
		return filepath.Join(append([]string{p.Home}, usual...)...)
	}
	own := func(agent string, read func(*reader, []byte), path ...string) file {
		return file{path: filepath.Join(path...), agent: agent, scope: definition.User, read: read}
	}
	project := func(agent string, read func(*reader, []byte), path ...string) file {
		return file{path: filepath.Join(append([]string{p.Project}, path...)...), agent: agent, scope: definition.Project,
			read: read}
	}
	openCode := or(p.OpenCode, ".config", "opencode")
	files := []file{
		own(ours, readMCP, or(p.Config, ".config", "orchestrator"), "mcp.json"),
		own(claude, readClaude, or(p.Claude), ".claude.json"),
		own(codex, readCodex, or(p.Codex, ".codex"), "config.toml"),
		own(gemini, readGemini, or(p.Gemini), ".gemini", "settings.json"),
	}
	files = append(files, extensions(filepath.Join(or(p.Gemini), ".gemini", "extensions"))...)
	if p.OpenCodeConfig != "" {
		files = append(files, own(openCodeAgent, readOpenCode, p.OpenCodeConfig))
	}
	for _, name := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
		files = append(files, own(openCodeAgent, readOpenCode, openCode, name))
	}
	files = append(files, own(cursor, readCursor, p.Home, ".cursor", "mcp.json"))
	if p.Project == "" {
		return files
	}
	return append(files,
		project(claude, readMCP, ".mcp.json"),
		project(codex, readCodex, ".codex", "config.toml"),
		project(gemini, readGemini, ".gemini", "settings.json"),
		project(openCodeAgent, readOpenCode, "opencode.json"),
		project(openCodeAgent, readOpenCode, "opencode.jsonc"),
		project(openCodeAgent, readOpenCode, ".opencode", "opencode.json"),
		project(openCodeAgent, readOpenCode, ".opencode", "opencode.jsonc"),
		project(cursor, readCursor, ".cursor", "mcp.json"),
		project(vsCode, readVSCode, ".vscode", "mcp.json"))
}

// content reads a file: a regular one, and one of the repository only if it is not reached by a link.
func (f file) content() ([]byte, error) {
	if f.scope == definition.Project {
		content, err := private.ReadRegular(f.path, maxProjectFile)
		var about *private.Error
		if errors.As(err, &about) {
			err = about.Err // the path is known
		}
		return content, err
	}
	opened, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, private.ErrNotRegular
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, private.ErrNotRegular
	}
	content, err := io.ReadAll(io.LimitReader(opened, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%w: more than %d bytes", private.ErrTooLarge, maxFile)
	}
	return content, err
}
