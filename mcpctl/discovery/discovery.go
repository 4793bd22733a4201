// Package discovery finds the MCP servers in the configuration files of the agents and in our own.
//
// It only reads files: it starts nothing, writes nothing and expands no variable of what it finds. What a repository
// configures never takes the name of a server that the person configured. Errors and warnings quote names and lines, and
// no values.
package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/frozen"
)

// Places are the folders to search.
type Places struct {
	Project string
	// Folder is the folder below Project in which an agent works, relative to it, empty for Project itself: what is
	// configured there, and on the way there, is found as each CLI finds it.
	Folder string
	Home   string
	// Claude, Codex, Gemini and OpenCode are the agents' own folders if they are not in their usual place in Home; empty
	// means the usual place. OpenCodeConfig is one more file of OpenCode.
	Claude, Codex, Gemini, OpenCode, OpenCodeConfig string
	// Config is our own folder of configuration; empty means the usual place in Home.
	Config string
	// Roots are further folders of the repository, such as its main worktree.
	Roots []string
	// Agents are folders elsewhere in which agents may write, such as that of the threads' worktrees: what lies there is as
	// foreign as what lies in the project.
	Agents []string
	// Sums remembers the hashes of files that have not changed; it may be nil.
	Sums *frozen.Sums
	// Lookup knows the person's environment, for the hashes of files that variables lead to; it may be nil.
	Lookup func(name string) (string, bool)
	// Key makes the fingerprints of values in hashes.
	Key []byte
}

// Found is what the files configure.
type Found struct {
	Definitions []definition.Definition // sorted by ID
	Hashes      map[string]string       // launch hash by ID; none for a server with a Problem
	Problems    []Problem               // by file and line
	// Own are the person's own files, also those that do not exist.
	Own []string
}

// Hasher returns what hashes definitions as they are started in a folder, the project or the folder of a thread.
func (p Places) Hasher(dir string) definition.FileHasher {
	lookup := func(name string) (string, bool) {
		switch {
		case name == "workspaceFolder":
			return p.Project, p.Project != ""
		case p.Lookup == nil:
			return "", false
		}
		return p.Lookup(name)
	}
	roots := append([]string{p.Project}, p.Roots...)
	if p.Project == "" {
		roots = p.Roots
	}
	if dir != "" && !p.holds(dir) {
		roots = append([]string{worktreeOf(dir)}, roots...)
	}
	return definition.FileHasher{Dir: dir, Roots: roots, Writable: p.Agents, Lookup: lookup, Key: p.Key, Sums: p.Sums}
}

// worktreeOf returns the worktree of git that holds a folder, or the folder. A folder .git without a HEAD is none of git's:
// sandboxes leave empty ones behind.
func worktreeOf(dir string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil && info.IsDir() {
			_, err = os.Lstat(filepath.Join(at, ".git", "HEAD"))
		}
		if err == nil {
			return at
		}
	}
	return dir
}

// Definitions reads all files.
func (p Places) Definitions() Found {
	found := Found{Hashes: make(map[string]string)}
	var all collection
	for _, f := range p.files() {
		if f.scope != definition.Project && !slices.Contains(found.Own, f.path) {
			found.Own = append(found.Own, f.path)
		}
		r := newReader(f.file, p.Project, p.Base(f.path))
		content, err := f.content()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			r.problems.add(0, "", "%s", err)
		default:
			f.read(r, content)
		}
		all.add(r)
	}
	all.toggle()
	all.hide()
	for _, s := range all.merge(p.Hasher(p.Where())) {
		found.Definitions = append(found.Definitions, s.Definition)
		if s.hash != "" {
			found.Hashes[s.ID] = s.hash
		}
	}
	for _, r := range all.readers {
		found.Problems = append(found.Problems, r.problems.list...)
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

// format is a file and how it is read.
type format struct {
	file
	read func(r *reader, content []byte)
}

// files returns all in order of precedence. What lies in the project, or where agents work, is the repository's, also
// where a setting of the person or a link leads to it, and where the project holds the home folder. A relative path is
// one in the folder in which an agent works: that is where it finds it.
func (p Places) files() []format {
	var own, project []format
	seen := make(map[string]bool)
	for _, f := range p.all() {
		if !filepath.IsAbs(f.path) {
			if p.Project == "" {
				continue
			}
			f.path = filepath.Join(p.Where(), f.path)
		}
		if f.at = f.path; f.scope != definition.Project {
			f.at = resolved(f.path)
		}
		if seen[f.path] || seen[f.agent+" "+f.at] {
			continue
		}
		seen[f.path], seen[f.agent+" "+f.at] = true, true
		if p.foreign(f.at) {
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

// resolved returns a path without links, as far as it exists.
func resolved(path string) string { return resolvedIn(path, 40) }

// resolvedIn is resolved with a limit, as links can lead in circles.
func resolvedIn(path string, steps int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if text, err := os.Readlink(path); err == nil && steps > 0 { // what it leads to may be made later
		if !filepath.IsAbs(text) {
			text = filepath.Join(filepath.Dir(path), text)
		}
		if filepath.Clean(text) != path {
			return filepath.Join(resolvedIn(filepath.Dir(text), steps-1), filepath.Base(text))
		}
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolvedIn(parent, steps), filepath.Base(path))
	}
	return path
}

// foreign reports whether a path without links lies where a repository or an agent writes.
func (p Places) foreign(at string) bool {
	for _, folder := range slices.Concat([]string{p.Project}, p.Roots, p.Agents) {
		if folder == "" {
			continue
		}
		for _, f := range []string{folder, resolved(folder)} {
			rel, err := filepath.Rel(f, at)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

// holds reports whether a path is in the project.
func (p Places) holds(path string) bool {
	rel, err := filepath.Rel(p.Project, path)
	return p.Project != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// all returns the files where agents look for them.
func (p Places) all() []format {
	or := func(dir string, usual ...string) string {
		if dir != "" {
			return dir
		}
		return filepath.Join(append([]string{p.Home}, usual...)...)
	}
	own := func(agent string, read func(*reader, []byte), path ...string) format {
		return format{file{path: filepath.Join(path...), agent: agent, scope: definition.User, own: true}, read}
	}
	project := func(agent string, read func(*reader, []byte), path ...string) format {
		path = append([]string{p.Project}, path...)
		return format{file{path: filepath.Join(path...), agent: agent, scope: definition.Project}, read}
	}
	openCode := or(p.OpenCode, ".config", "opencode")
	files := []format{
		own(ours, readMCP, or(p.Config, ".config", "orchestrator"), "mcp.json"),
		own(claude, readClaude, or(p.Claude), ".claude.json"),
		own(codex, readCodex, or(p.Codex, ".codex"), "config.toml"),
		own(gemini, readGemini, or(p.Gemini), ".gemini", "settings.json"),
	}
	for _, path := range extensions(filepath.Join(or(p.Gemini), ".gemini", "extensions")) {
		files = append(files, own(gemini, readExtension, path))
	}
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
	way := p.way()
	for _, dir := range way {
		files = append(files, project(claude, readMCP, dir, ".mcp.json"))
	}
	for _, dir := range way {
		files = append(files, project(codex, readCodex, dir, ".codex", "config.toml"))
	}
	files = append(files, project(gemini, readGemini, p.Folder, ".gemini", "settings.json"))
	for _, dir := range slices.Backward(way) { // the highest folder counts most
		files = append(files, project(openCodeAgent, readOpenCode, dir, ".opencode", "opencode.json"),
			project(openCodeAgent, readOpenCode, dir, ".opencode", "opencode.jsonc"))
	}
	for _, dir := range way {
		files = append(files, project(openCodeAgent, readOpenCode, dir, "opencode.json"),
			project(openCodeAgent, readOpenCode, dir, "opencode.jsonc"))
	}
	return append(files,
		project(cursor, readCursor, ".cursor", "mcp.json"),
		project(vsCode, readVSCode, ".vscode", "mcp.json"))
}

// Where is the absolute folder in which an agent works.
func (p Places) Where() string {
	if p.Project == "" {
		return ""
	}
	return filepath.Join(p.Project, p.Folder)
}

// In returns the places for an agent in a folder of the project, or in one of a worktree of it: what counts there is
// what the project has in the same folder.
func (p Places) In(dir string) Places {
	p.Folder = ""
	if dir == "" || p.Project == "" {
		return p
	}
	top := p.Project
	if !p.holds(dir) {
		top = worktreeOf(dir)
	}
	if rel, err := filepath.Rel(top, dir); err == nil && rel != "." {
		p.Folder = rel
	}
	return p
}

// Top is the folder of a worktree that holds a folder, or the project if that holds it.
func (p Places) Top(dir string) string {
	if p.holds(dir) {
		return p.Project
	}
	return worktreeOf(dir)
}

// way returns the folders from the one in which an agent works up to the project, relative to it.
func (p Places) way() []string {
	var all []string
	for at := filepath.Clean(p.Folder); at != "."; at = filepath.Dir(at) {
		all = append(all, at)
	}
	return append(all, "")
}

// Base returns the folder that relative paths of a file start from, and where a server of it is started that threads
// share: the one on the way that the file configures.
func (p Places) Base(path string) string {
	for _, dir := range p.way() {
		if at := filepath.Join(p.Project, dir); strings.HasPrefix(path, at+string(filepath.Separator)) {
			return at
		}
	}
	return p.Project
}

// Stamp tells apart the states of the files, as far as their sizes, times and places on the disk do. It reads none.
func (p Places) Stamp() string {
	var out strings.Builder
	for _, f := range p.files() {
		info, err := os.Stat(f.path)
		if err != nil {
			continue
		}
		fmt.Fprintf(&out, "%s %d %d", f.path, info.Size(), info.ModTime().UnixNano())
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			fmt.Fprintf(&out, " %d", s.Ino)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
