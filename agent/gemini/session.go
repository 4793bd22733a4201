package gemini

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// marker is the file in a project folder that names its working folder.
const marker = ".project_root"

// resolve returns a working folder as the process in it sees it.
func resolve(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// slug returns the name of a working folder's project folder, empty if it has none: from the registry, or from the
// marker, which Gemini CLI itself uses if the registry has no entry.
func slug(env launch.Env, dir string) string {
	var registry struct {
		Projects map[string]string `json:"projects"`
	}
	dir = resolve(dir)
	if launch.ReadJSON(filepath.Join(home(env), "projects.json"), &registry) == nil {
		if s := registry.Projects[dir]; s != "" && filepath.IsLocal(s) && filepath.Base(s) == s {
			return s
		}
	}
	entries, err := os.ReadDir(projects(env))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.IsDir() && owner(env, e.Name()) == dir {
			return e.Name()
		}
	}
	return ""
}

// owner returns the working folder that a project folder belongs to.
func owner(env launch.Env, name string) string {
	raw, err := os.ReadFile(filepath.Join(projects(env), name, marker))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// newProject creates a project folder for a working folder. Gemini CLI finds it by its marker.
func newProject(env launch.Env, dir string) (string, error) {
	dir = resolve(dir)
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(dir))), "-")
	if name == "" {
		name = "project"
	}
	if err := os.MkdirAll(projects(env), 0o700); err != nil {
		return "", err
	}
	for i := range 1000 {
		candidate := name
		if i > 0 {
			candidate = fmt.Sprintf("%s-%d", name, i)
		}
		folder := filepath.Join(projects(env), candidate)
		err := os.Mkdir(folder, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return candidate, os.WriteFile(filepath.Join(folder, marker), []byte(dir), 0o600)
	}
	return "", fmt.Errorf("no free name for the project folder %q: %w", name, thread.ErrLimit)
}

// found are the files of one session.
type found struct {
	main  string   // path below the projects' folder, empty if there is none
	stubs []string // files with the session's id and no messages
}

// locate finds a session's files in the project folder of a working folder.
func locate(env launch.Env, dir, session string) found {
	var f found
	name := slug(env, dir)
	if name == "" {
		return f
	}
	chats := filepath.Join(name, "chats")
	entries, err := os.ReadDir(filepath.Join(projects(env), chats))
	if err != nil {
		return f
	}
	for _, e := range entries { // sorted by name: oldest first
		if !strings.HasPrefix(e.Name(), "session-") || !strings.HasSuffix(e.Name(), "-"+session[:8]+".jsonl") ||
			!e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(chats, e.Name())
		id, hasMessages := inspect(filepath.Join(projects(env), path))
		switch {
		case id != session:
		case f.main == "" && hasMessages:
			f.main = path
		case !hasMessages:
			f.stubs = append(f.stubs, path)
		}
	}
	if f.main == "" && len(f.stubs) > 0 {
		f.main, f.stubs = f.stubs[0], f.stubs[1:] // a session that has just begun
	}
	return f
}

// inspect returns the session id in a chat file, and whether the file contains any message.
func inspect(path string) (session string, hasMessages bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	r := bufio.NewReader(file)
	for first := true; ; first = false {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			return session, hasMessages
		}
		var l struct {
			Session string `json:"sessionId"`
			Type    string `json:"type"`
		}
		if json.Unmarshal(raw, &l) != nil {
			continue
		}
		if first {
			if session = l.Session; session == "" {
				return "", false
			}
		}
		if l.Type == "user" || l.Type == "gemini" {
			return session, true
		}
	}
}

// layout is where sessions are: one file each, in a folder for each working folder.
func layout(env launch.Env) transcript.Layout {
	return transcript.Layout{
		Agent: Name, Root: projects(env), Valid: launch.IsUUID, Fork: fork,
		Files: func(dir, session string) []transcript.File {
			if f := locate(env, dir, session); f.main != "" {
				return []transcript.File{{Name: transcript.Main, Path: f.main}}
			}
			return nil
		},
		Place: func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) (string, []byte, error) {
			if f.File != transcript.Main {
				return "", nil, fmt.Errorf("file %q: %w", f.File, thread.ErrInvalid)
			}
			if there := locate(env, spec.Dir, session); there.main != "" {
				return there.main, f.Data, nil
			}
			name := slug(env, spec.Dir)
			if name == "" {
				var err error
				if name, err = newProject(env, spec.Dir); err != nil {
					return "", nil, err
				}
			}
			// Named by the current minute: then a start within that minute adds no second file.
			minute := time.Now().UTC().Format("2006-01-02T15-04")
			return filepath.Join(name, "chats", "session-"+minute+"-"+session[:8]+".jsonl"), f.Data, nil
		},
	}
}

// ReadTranscript returns what was appended to the session's file.
func (a *Agent) ReadTranscript(ctx context.Context, spec thread.TranscriptSpec) ([]thread.Chunk, error) {
	return layout(spec.Env).Read(ctx, a.reader, spec, format())
}

// Verify compares the session's file with the mark. It does not report the session as whole if there is a file that
// would make Gemini CLI delete both.
func (a *Agent) Verify(_ context.Context, spec thread.TranscriptSpec) (int64, bool, error) {
	n, whole, err := layout(spec.Env).Verify(spec)
	return n, whole && len(locate(spec.Env, spec.Dir, spec.Session).stubs) == 0, err
}

// Rebuild writes the session's file, in place or under a new id in the project folder of Dir, and moves away the files
// that contain only its id.
func (a *Agent) Rebuild(_ context.Context, spec thread.RebuildSpec) (string, error) {
	session, err := layout(spec.Env).Rebuild(spec)
	if err != nil {
		return "", err
	}
	for _, stub := range locate(spec.Env, spec.Dir, session).stubs {
		if err := moveAway(filepath.Join(projects(spec.Env), stub), spec.StateDir); err != nil {
			return "", fmt.Errorf("rebuild gemini session: %w", err)
		}
	}
	return session, nil
}

// moveAway moves a file below the state folder, also across file systems.
func moveAway(path, stateDir string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := "gemini-stub-" + launch.UUID() + "-" + filepath.Base(path)
	if _, err := launch.WriteFile(stateDir, name, raw); err != nil {
		return err
	}
	return os.Remove(path)
}

// fork rewrites a chat file for a new session in another folder.
func fork(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte {
	dir := resolve(spec.Dir)
	sum := sha256.Sum256([]byte(dir))
	hash := []byte(quote(hex.EncodeToString(sum[:])))
	dirs := slices.Clone(spec.FromDirs)
	for i, dir := range dirs {
		dirs[i] = resolve(dir)
	}
	return transcript.Edited(once(f.Data), func(line []byte) []byte {
		var head map[string]json.RawMessage
		if json.Unmarshal(line, &head) != nil {
			return nil // Gemini CLI skips a damaged line too
		}
		if old, ok := head["projectHash"]; ok {
			line = bytes.ReplaceAll(line, old, hash)
		}
		if _, ok := head["id"]; !ok { // the header and changes to it, not the conversation
			line = bytes.ReplaceAll(line, []byte(quote(spec.Session)), []byte(quote(session)))
		}
		return relocate(line, dirs, dir)
	})
}

// relocate replaces folders with another in the tool calls of a line and their results.
func relocate(line []byte, from []string, to string) []byte {
	var l struct {
		Content json.RawMessage `json:"content"`
		Calls   json.RawMessage `json:"toolCalls"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	var parts []json.RawMessage
	if json.Unmarshal(l.Content, &parts) != nil {
		parts = nil // a plain text
	}
	tools := []json.RawMessage{l.Calls}
	for _, part := range parts {
		var p struct {
			Call   json.RawMessage `json:"functionCall"`
			Result json.RawMessage `json:"functionResponse"`
		}
		if json.Unmarshal(part, &p) == nil {
			tools = append(tools, p.Call, p.Result)
		}
	}
	return transcript.Relocate(line, from, to, tools...)
}
