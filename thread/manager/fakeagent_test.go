package manager_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"orchestrator/thread"
)

// agents finds agents in a map.
type agents map[string]thread.Agent

func (a agents) Agent(name string) (thread.Agent, error) {
	if g := a[name]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("agent %q: %w", name, thread.ErrNotFound)
}

func (a agents) Names() []string { return slices.Sorted(maps.Keys(a)) }

// plainAgent is an agent that can be started and nothing more.
type plainAgent struct{ name string }

func (a *plainAgent) Name() string { return a.name }

// Prompted implements thread.Prompted.
func (a *plainAgent) Prompted() {}

func (a *plainAgent) World(thread.WorldSpec) (thread.World, error) {
	return thread.World{Upstreams: map[string]string{"": "http://up.invalid"}}, nil
}

func (a *plainAgent) Launch(_ context.Context, s thread.LaunchSpec) (thread.Launch, error) {
	session := s.Session
	if session == "" && a.name != "plain" {
		session = a.name + "-" + string(thread.NewID[thread.ID]())
	}
	args := []string{"--session", session}
	if s.Resume {
		args = []string{"--resume", session}
	}
	return thread.Launch{Path: "/bin/" + a.name, Args: append(args, s.Flags.Args...), Env: slices.Concat(s.Env, []string{"READ_DIRS=" + strings.Join(s.ReadDirs, ":"), "ORIGIN=" + s.Origin, "MODEL=" + s.Model}), Dir: s.Dir, Session: session}, nil
}

// ReadHook knows reports by names of its own and the fields of JSON.
func (a *plainAgent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	var p struct {
		Prompt  string `json:"prompt"`
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal(payload, &p)
	r := thread.HookReport{Detail: "hook " + event, Prompt: p.Prompt, Session: p.Session}
	r.State = map[string]thread.State{
		"SessionStart": thread.StateIdle, "Stop": thread.StateIdle,
		"UserPromptSubmit": thread.StateWorking, "PermissionRequest": thread.StateApproval,
	}[event]
	return r, r.State != ""
}

func (a *plainAgent) ConfigFiles() []string { return []string{"RULES.md", ".rules/"} }

// fullAgent keeps native transcripts, which can be read, verified and rebuilt.
type fullAgent struct {
	plainAgent
	n *natives
}

// natives are the native files of all sessions: one JSON item a line.
type natives struct {
	mu      sync.Mutex // guards the fields
	files   map[string][]byte
	rebuilt int
	refuse  error  // answer of Rebuild
	yields  string // session that Rebuild says it wrote, "" for the one it did
}

func (n *natives) conversation(session string) []thread.Item {
	n.mu.Lock()
	defer n.mu.Unlock()
	var items []thread.Item
	for line := range strings.Lines(string(n.files[session])) {
		items = append(items, thread.Item{Wire: "test", Raw: json.RawMessage(strings.TrimSpace(line))})
	}
	return items
}

func (n *natives) append(session string, items []thread.Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, it := range items {
		n.files[session] = append(append(n.files[session], it.Raw...), '\n')
	}
}

func (n *natives) remove(session string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.files, session)
}

func (n *natives) bytes(session string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.files[session])
}

func (n *natives) set(session, content string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.files[session] = []byte(content)
}

func (a *fullAgent) ReadTranscript(_ context.Context, s thread.TranscriptSpec) ([]thread.Chunk, error) {
	data := a.n.bytes(s.Session)
	from := int64(0)
	for _, m := range s.Marks {
		sum := sha256.Sum256([]byte(data[:min(int(m.Size), len(data))]))
		if m.File == "main" && hex.EncodeToString(sum[:]) == m.SHA256 {
			from = m.Size
		}
	}
	if int(from) == len(data) {
		return nil, nil
	}
	return []thread.Chunk{{File: "main", Offset: from, Data: []byte(data[from:])}}, nil
}

func (a *fullAgent) Verify(_ context.Context, s thread.TranscriptSpec) (int64, bool, error) {
	data := a.n.bytes(s.Session)
	for _, m := range s.Marks {
		if int(m.Size) > len(data) {
			return int64(len(data)), false, nil
		}
		if sum := sha256.Sum256([]byte(data[:m.Size])); hex.EncodeToString(sum[:]) != m.SHA256 {
			return 0, false, nil
		}
	}
	return s.Marks[0].Size, true, nil
}

func (a *fullAgent) Rebuild(_ context.Context, s thread.RebuildSpec) (string, error) {
	a.n.mu.Lock()
	defer a.n.mu.Unlock()
	if a.n.refuse != nil {
		return "", a.n.refuse
	}
	session := s.Session
	if s.NewSession != "" {
		session = s.NewSession
	}
	if len(a.n.files[session]) > len(s.Files[0].Data) {
		return "", errors.New("the session has more")
	}
	a.n.rebuilt++
	a.n.files[session] = append([]byte(nil), s.Files[0].Data...)
	return cmp.Or(a.n.yields, session), nil
}
