package match

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"sync"

	"orchestrator/thread/private"
	"orchestrator/thread/secret"
)

// The limits of a memory.
const (
	maxTasks  = 2000
	maxStems  = 64 // of one task
	maxCalled = 32 // servers of one task
	maxMemory = 16 << 20
)

// Memory is what the tasks of a project were about and which servers they called. Of a task's text only the stems of its
// words are kept, sorted, without what looks like a secret. It is kept in a file that only this user can read. The oldest
// tasks are forgotten. It can be used by several goroutines, but by one process, at once.
type Memory struct {
	folder *private.Folder
	name   string

	mu    sync.RWMutex
	tasks []remembered
	found map[string][]int // tasks by stem
	norms []float64        // of the tasks
}

// remembered is one task.
type remembered struct {
	ID      string   `json:"id"`
	Stems   []string `json:"words"`
	Servers []string `json:"servers,omitempty"`
}

// OpenMemory opens the memory in a file of a folder. A file that cannot be understood is not lost, but an error.
func OpenMemory(folder *private.Folder, name string) (*Memory, error) {
	m := &Memory{folder: folder, name: name}
	content, err := folder.Read(name, maxMemory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what tasks used: %w", err)
	}
	for line := range bytes.Lines(content) {
		var task remembered
		if err := json.Unmarshal(line, &task); err != nil {
			return nil, fmt.Errorf("read what tasks used in %s: %w", folder.Path(name), err)
		}
		m.tasks = append(m.tasks, task)
	}
	m.bound()
	return m, nil
}

// Remember keeps what a task was about and which servers it has called, none included. The id names the task: what was
// remembered of it before is replaced.
func (m *Memory) Remember(id, task string, servers []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := slices.Clone(m.tasks)
	m.put(id, task, servers)
	if err := m.save(); err != nil {
		m.tasks = before
		m.bound()
		return fmt.Errorf("remember what a task used: %w", err)
	}
	return nil
}

func (m *Memory) put(id, task string, servers []string) {
	t := remembered{ID: id, Stems: stemsOf(task), Servers: slices.Compact(slices.Sorted(slices.Values(servers)))}
	t.Servers = t.Servers[:min(len(t.Servers), maxCalled)]
	m.tasks = slices.DeleteFunc(m.tasks, func(old remembered) bool { return old.ID == id })
	m.tasks = append(m.tasks, t)
	m.bound()
}

// Forget deletes everything that is remembered.
func (m *Memory) Forget() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.folder.Remove(m.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what tasks used: %w", err)
	}
	m.tasks = nil
	m.bound()
	return nil
}

// Len is how many tasks are remembered.
func (m *Memory) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.tasks)
}

func (m *Memory) save() error {
	var out bytes.Buffer
	for _, t := range m.tasks {
		line, err := json.Marshal(t)
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return m.folder.Write(m.name, out.Bytes())
}

// bound drops the oldest tasks and finds the others by their stems.
func (m *Memory) bound() {
	m.tasks = m.tasks[max(0, len(m.tasks)-maxTasks):]
	m.found = map[string][]int{}
	for i, t := range m.tasks {
		for _, s := range t.Stems {
			m.found[s] = append(m.found[s], i)
		}
	}
	m.norms = make([]float64, len(m.tasks))
	for i, t := range m.tasks {
		for _, s := range t.Stems {
			w := m.weight(s)
			m.norms[i] += w * w
		}
	}
}

// stemsOf are the stems that are kept of a text.
func stemsOf(text string) []string {
	set := map[string]bool{}
	for _, t := range terms(secret.Redact(clip(text))) {
		if len(set) < maxStems {
			set[t.stem] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// How similar tasks are found.
const (
	neighbours = 5
	similar    = 0.2 // the least similarity, from 0 to 1
)

// neighbour is a remembered task that is similar to another, from 0 to 1.
type neighbour struct {
	servers    []string
	similarity float64
}

// near returns the remembered tasks that are most similar to a text, the most similar first.
func (m *Memory) near(text string) []neighbour {
	m.mu.RLock()
	defer m.mu.RUnlock()
	own := 0.0
	shared := map[int]float64{}
	for _, s := range stemsOf(text) {
		w := m.weight(s)
		own += w * w
		for _, i := range m.found[s] {
			shared[i] += w * w
		}
	}
	var list []neighbour
	for _, i := range slices.Sorted(maps.Keys(shared)) {
		if alike := shared[i] / math.Sqrt(own*m.norms[i]); alike >= similar {
			list = append(list, neighbour{servers: m.tasks[i].Servers, similarity: alike})
		}
	}
	slices.SortStableFunc(list, func(a, b neighbour) int { return cmp.Compare(b.similarity, a.similarity) })
	return list[:min(len(list), neighbours)]
}

// weight is how much a stem says: less if many tasks have it.
func (m *Memory) weight(stem string) float64 {
	w := math.Log(1 + float64(len(m.tasks)+1)/float64(len(m.found[stem])+1))
	if vocabulary().weak[stem] {
		w *= weakTerm
	}
	return w
}

// How memory corrects what servers say of themselves.
const (
	trusted   = 8.0 // a word counts for a server as if that many tasks with it had called the server
	learnt    = 0.5 // the weight of a word that is known from tasks only
	tooSingle = 1.0 // how little one task shows
)

// weigh corrects how much each stem speaks for each server, by the tasks with that stem: those that have called the
// server, and those that have not.
func (m *Memory) weigh(ids, stems []string, weights map[string]float64, found [][]float64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := map[string]int{}
	for i, id := range ids {
		at[id] = i
	}
	called := make([]float64, len(ids))
	for j, stem := range stems {
		tasks := m.found[stem]
		if len(tasks) == 0 {
			continue
		}
		clear(called)
		for _, t := range tasks {
			for _, s := range m.tasks[t].Servers {
				if i, ok := at[s]; ok {
					called[i]++
				}
			}
		}
		all := float64(len(tasks))
		rare := math.Log(1 + float64(len(m.tasks)+1)/(all+1))
		for i, n := range called {
			found[i][j] *= (n + trusted) / (all + trusted)
			found[i][j] += learnt * weights[stem] * rare * n / (n + tooSingle) * n / (all + 1)
		}
	}
}

func (n neighbour) called(server string) bool { return slices.Contains(n.servers, server) }
