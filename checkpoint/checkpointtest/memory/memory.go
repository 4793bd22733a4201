// Package memory is a store for tests: it lives as long as the process, and fulfils the whole contract of package
// checkpoint except durability. It is fast for thousands of checkpoints, not for millions. The product never uses it.
package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// Store implements thread.Store.
type Store struct {
	mu sync.Mutex // guards everything below

	threads     map[thread.ID]*threadRow
	names       map[string]thread.ID
	checkpoints map[thread.CheckpointID]*checkpointRow
	executions  map[thread.ExecutionID]thread.Execution
	intents     map[string]thread.Intent
	settings    map[string]string
	prompts     map[thread.PromptID]thread.Prompt
	order       int64 // of creation, for what clocks must not order
}

type threadRow struct {
	doc   []byte // JSON, so that no memory is shared with callers
	order int64
	seq   int64 // the last number used
}

type checkpointRow struct {
	doc    []byte
	parent thread.CheckpointID
	thread thread.ID
	seq    int64
	turn   int
	kind   thread.CheckpointKind
	keep   int
	count  int // items of the whole conversation
	items  []thread.Item
	chunks []checkpoint.Splice
	bad    bool // its content cannot be read
}

var _ thread.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		threads:     map[thread.ID]*threadRow{},
		names:       map[string]thread.ID{},
		checkpoints: map[thread.CheckpointID]*checkpointRow{},
		executions:  map[thread.ExecutionID]thread.Execution{},
		intents:     map[string]thread.Intent{},
		settings:    map[string]string{},
		prompts:     map[thread.PromptID]thread.Prompt{},
	}
}

// Close does nothing; it exists so that all stores are closed alike.
func (s *Store) Close() error { return nil }

// CreateThread stores a new thread.
func (s *Store) CreateThread(_ context.Context, t thread.Thread) error {
	if err := checkpoint.CheckThread(t); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner, taken := s.names[t.Name]; taken {
		if owner == t.ID {
			return nil // a retry
		}
		return fmt.Errorf("thread %q: %w", t.Name, thread.ErrNameTaken)
	}
	if s.threads[t.ID] != nil {
		return thread.Kindf(thread.ErrInvalid, "thread %s exists under another name", t.ID)
	}
	if err := s.checkBases(t); err != nil {
		return err
	}
	s.order++
	s.threads[t.ID] = &threadRow{doc: encode(checkpoint.NormalThread(t)), order: s.order}
	s.names[t.Name] = t.ID
	return nil
}

// checkBases checks that the checkpoints a thread is based on are stored. The caller holds mu.
func (s *Store) checkBases(t thread.Thread) error {
	for _, id := range []thread.CheckpointID{t.Head, t.ForkPoint} {
		if id != "" && s.checkpoints[id] == nil {
			return fmt.Errorf("thread %q: base checkpoint %s: %w", t.Name, id, thread.ErrNotFound)
		}
	}
	return nil
}

// UpdateThread changes a thread in one step.
func (s *Store) UpdateThread(
	_ context.Context, id thread.ID, change func(*thread.Thread) error,
) (thread.Thread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.threads[id]
	if row == nil {
		return thread.Thread{}, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	old := decode[thread.Thread](row.doc)
	t, err := checkpoint.ChangeThread(decode[thread.Thread](row.doc), change)
	if err != nil {
		return thread.Thread{}, err
	}
	if owner, taken := s.names[t.Name]; taken && owner != id {
		return thread.Thread{}, fmt.Errorf("thread %q: %w", t.Name, thread.ErrNameTaken)
	}
	if err := s.checkBases(t); err != nil {
		return thread.Thread{}, err
	}
	delete(s.names, old.Name)
	s.names[t.Name] = id
	row.doc = encode(t)
	return decode[thread.Thread](row.doc), nil
}

// Thread returns one thread.
func (s *Store) Thread(_ context.Context, id thread.ID) (thread.Thread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.threads[id]
	if row == nil {
		return thread.Thread{}, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	return decode[thread.Thread](row.doc), nil
}

// Threads returns all threads, oldest first.
func (s *Store) Threads(context.Context) ([]thread.Thread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]*threadRow, 0, len(s.threads))
	for _, r := range s.threads {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *threadRow) int { return cmp.Compare(a.order, b.order) })
	out := make([]thread.Thread, len(rows))
	for i, r := range rows {
		out[i] = decode[thread.Thread](r.doc)
	}
	return out, nil
}

// SelectThreads returns the threads that a query selects.
func (s *Store) SelectThreads(_ context.Context, q thread.Query) (list []thread.Thread, next int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := slices.SortedFunc(maps.Values(s.threads), func(a, b *threadRow) int { return cmp.Compare(a.order, b.order) })
	if q.Newest {
		slices.Reverse(rows)
	}
	for _, r := range rows {
		if q.After != 0 && (r.order == q.After || r.order > q.After == q.Newest) {
			continue
		}
		t := decode[thread.Thread](r.doc)
		if !q.Selects(&t) {
			continue
		}
		if q.Limit > 0 && len(list) == q.Limit {
			return list, next, nil
		}
		list, next = append(list, t), r.order
	}
	return list, 0, nil
}

// PurgeThread removes a thread and the checkpoints that nothing is based on any more.
func (s *Store) PurgeThread(_ context.Context, id thread.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.threads[id]
	if row == nil {
		return fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	delete(s.names, decode[thread.Thread](row.doc).Name)
	delete(s.threads, id)
	for e, x := range s.executions {
		if x.Thread == id {
			delete(s.executions, e)
		}
	}
	for p, x := range s.prompts {
		if x.Thread == id {
			delete(s.prompts, p)
		}
	}
	kept := map[thread.CheckpointID]bool{}
	keep := func(id thread.CheckpointID) {
		for id != "" && !kept[id] && s.checkpoints[id] != nil {
			kept[id] = true
			id = s.checkpoints[id].parent
		}
	}
	for c, r := range s.checkpoints {
		if s.threads[r.thread] != nil {
			keep(c)
		}
	}
	for _, r := range s.threads {
		for _, c := range checkpoint.Bases(decode[thread.Thread](r.doc)) {
			keep(c)
		}
	}
	for c := range s.checkpoints {
		if !kept[c] {
			delete(s.checkpoints, c)
		}
	}
	return nil
}

// BeginExecution stores a run that is about to start.
func (s *Store) BeginExecution(_ context.Context, e thread.Execution) error {
	if e.ID == "" {
		return fmt.Errorf("execution without id: %w", thread.ErrInvalid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.executions[e.ID]; !there {
		e.Started, e.Ended = e.Started.UTC().Round(0), e.Ended.UTC().Round(0)
		s.executions[e.ID] = e
	}
	return nil
}

// UpdateExecution sets the process id and the session.
func (s *Store) UpdateExecution(_ context.Context, id thread.ExecutionID, pid int, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, there := s.executions[id]
	if !there {
		return fmt.Errorf("execution %s: %w", id, thread.ErrNotFound)
	}
	e.PID, e.Session = pid, session
	s.executions[id] = e
	return nil
}

// EndExecution stores how a run ended; the first end counts.
func (s *Store) EndExecution(_ context.Context, id thread.ExecutionID, at time.Time, exit thread.Exit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, there := s.executions[id]
	if !there {
		return fmt.Errorf("execution %s: %w", id, thread.ErrNotFound)
	}
	if e.Ended.IsZero() {
		e.Ended, e.Exit = at.UTC().Round(0), exit
		s.executions[id] = e
	}
	return nil
}

// OpenExecutions returns the runs that never ended, oldest first.
func (s *Store) OpenExecutions(context.Context) ([]thread.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []thread.Execution
	for _, e := range s.executions {
		if e.Ended.IsZero() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b thread.Execution) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// PutIntent stores an operation that has begun.
func (s *Store) PutIntent(_ context.Context, i thread.Intent) error {
	if i.ID == "" {
		return fmt.Errorf("intent without id: %w", thread.ErrInvalid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i.Data = slices.Clone(i.Data)
	i.Created = i.Created.UTC().Round(0)
	s.intents[i.ID] = i
	return nil
}

// DropIntent deletes an intent; one that does not exist is no error.
func (s *Store) DropIntent(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.intents, id)
	return nil
}

// Intents returns the stored intents, oldest first.
func (s *Store) Intents(context.Context) ([]thread.Intent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []thread.Intent
	for _, i := range s.intents {
		i.Data = slices.Clone(i.Data)
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b thread.Intent) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Setting returns a value, "" if it is not set.
func (s *Store) Setting(_ context.Context, key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings[key], nil
}

// SetSetting sets a value; "" removes it.
func (s *Store) SetSetting(_ context.Context, key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value == "" {
		delete(s.settings, key)
	} else {
		s.settings[key] = value
	}
	return nil
}

// encode never fails: the domain's types can be marshalled.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func decode[T any](b []byte) T {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		panic(err)
	}
	return v
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
