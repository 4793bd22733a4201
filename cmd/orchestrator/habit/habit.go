// Package habit remembers how the person starts threads, so that the next one begins like that: for each project, and
// for those where they have started none yet. It is kept in their state folder, for them alone, and holds no credentials
// and no arguments of programs. A file that is damaged or not there means that nothing is remembered.
package habit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"orchestrator/checkpoint/flock"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/secret"
)

const (
	folderName, fileName = "orchestrator", "habits.json"

	maxFile     = 1 << 20
	maxProjects = 200 // the others are forgotten, oldest first
	maxRecent   = 8   // of a project
)

// lockTime is how long another screen is waited for.
const lockTime = 2 * time.Second

// kept is the content of the file.
type kept struct {
	Projects []project `json:"projects"` // the newest first
}

// project is how threads of a project were started, newest first, each agent once.
type project struct {
	Root   string           `json:"root"`
	Recent []thread.Profile `json:"recent"`
}

// Habits implements the screen's habits. It is safe for concurrent use.
type Habits struct {
	state, config, root string

	writing sync.Mutex // held while files are changed

	mu    sync.Mutex // guards the rest
	all   kept
	named []thread.Profile
}

// Open reads what is remembered: state and configHome are the person's folders, root is the project, named are the
// profiles that they have configured.
func Open(state, configHome, root string, named []thread.Profile) *Habits {
	return &Habits{state: state, config: configHome, root: root, all: read(state), named: named}
}

// Recent returns how threads were started last, newest first, each agent once: those of the project, then those of
// others, without their servers and permissions.
func (h *Habits) Recent() []thread.Profile {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []thread.Profile
	add := func(p thread.Profile) {
		if !slices.ContainsFunc(out, func(o thread.Profile) bool { return o.Agent == p.Agent }) {
			out = append(out, p)
		}
	}
	for _, own := range []bool{true, false} {
		for _, p := range h.all.Projects {
			for _, r := range p.Recent {
				if own == (p.Root == h.root) {
					if !own {
						r.MCP, r.PermissionMode = nil, "" // what is allowed in one project is not in another
					}
					add(r)
				}
			}
		}
	}
	return out
}

// Named returns the profiles that have a name.
func (h *Habits) Named() []thread.Profile {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.named)
}

// Chose notes how a thread was started. What looks like a credential is left out.
func (h *Habits) Chose(p thread.Profile) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	p.Name, p.Args = "", nil
	for _, s := range []*string{&p.Model, &p.PermissionMode} {
		if secret.Redact(*s) != *s {
			*s = ""
		}
	}
	folder, lock, err := h.lock()
	all := h.with(p)
	if err != nil {
		return fmt.Errorf("remember how threads are started: %w", err)
	}
	defer folder.Close()
	defer lock.Close()
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("remember how threads are started: %w", err)
	}
	return folder.Write(fileName, append(raw, '\n'))
}

// lock opens the folder, and waits until no other screen changes what is in it. Closing the lock ends that.
func (h *Habits) lock() (*private.Folder, io.Closer, error) {
	folder, err := private.Make(h.state, folderName)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	lock, err := flock.LockDir(ctx, folder.Path())
	if err != nil {
		folder.Close()
		return nil, nil, err
	}
	return folder, lock, nil
}

// with remembers that a thread was started like this, and returns all that is remembered, also by other screens.
func (h *Habits) with(p thread.Profile) kept {
	all := read(h.state)
	now := project{Root: h.root}
	if i := slices.IndexFunc(all.Projects, func(q project) bool { return q.Root == h.root }); i >= 0 {
		now = all.Projects[i]
		all.Projects = slices.Delete(all.Projects, i, i+1)
	}
	now.Recent = slices.DeleteFunc(now.Recent, func(q thread.Profile) bool { return q.Agent == p.Agent })
	now.Recent = slices.Insert(now.Recent, 0, p)
	now.Recent = now.Recent[:min(len(now.Recent), maxRecent)]
	all.Projects = slices.Insert(all.Projects, 0, now)
	all.Projects = all.Projects[:min(len(all.Projects), maxProjects)]
	h.mu.Lock()
	h.all = all
	h.mu.Unlock()
	return all
}

// Keep adds a profile to the person's configuration.
func (h *Habits) Keep(p thread.Profile) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if err := config.AddProfile(h.config, p); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.named = append(h.named, p)
	return nil
}

func read(state string) (all kept) {
	folder, err := private.Open(state, folderName)
	if err != nil {
		return kept{}
	}
	defer folder.Close()
	raw, err := folder.Read(fileName, maxFile)
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return kept{}
	}
	return all
}
