package masks

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

const logName = "log"

// Set is what is masked of one thread's conversation.
type Set struct {
	id  thread.ID
	in  *private.Folder // of the store; a set keeps no file open
	dir string          // of the outputs
	// Lost is how many records of the log are damaged: what they masked is not masked any more.
	Lost int

	mu        sync.Mutex // guards all below and the files
	end       int64      // of the log's last record
	fresh     bool       // nothing has been stored yet
	masks     map[policy.ID]Mask
	order     []policy.ID
	tokens    map[thread.Token]policy.ID
	where     map[policy.ID]position // of the record with the content
	pinned    map[policy.ID]bool
	mode      string
	summaries []Summary
}

// openSet reads a thread's log, and mends what a crash left of it.
func openSet(in *private.Folder, id thread.ID, to *slog.Logger) (set *Set, err error) {
	set = &Set{
		id: id, in: in, dir: in.Path(string(id), outputsName), masks: map[policy.ID]Mask{}, tokens: map[thread.Token]policy.ID{}, where: map[policy.ID]position{},
		pinned: map[policy.ID]bool{},
	}
	folder, err := in.Make(string(id))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	outputs, err := folder.Make(outputsName)
	if err != nil {
		return nil, err
	}
	defer outputs.Close()
	file, err := folder.File(logName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if set.end, set.Lost, err = scan(file, set.apply); err != nil {
		return nil, err
	}
	set.fresh = set.end == 0
	if set.end < info.Size() { // cut off by a crash
		if err = file.Truncate(set.end); err == nil {
			err = file.Sync()
		}
		if err != nil {
			return nil, err
		}
	}
	if set.Lost > 0 {
		to.Error("masks are damaged", "thread", string(id), "records", set.Lost, "file", folder.Path(logName))
	}
	if err := set.mend(file, outputs); err != nil {
		to.Warn("write masked contents again", "thread", string(id), "err", err) // they are when they are read
	}
	return set, nil
}

// use opens the log and the outputs for a function.
func (s *Set) use(do func(folder *private.Folder, log *os.File, outputs *private.Folder) error) error {
	folder, err := s.in.Open(string(s.id))
	if err != nil {
		return err
	}
	defer folder.Close()
	outputs, err := folder.Make(outputsName)
	if err != nil {
		return err
	}
	defer outputs.Close()
	log, err := folder.File(logName, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(do(folder, log, outputs), log.Close())
}

// apply takes over a record.
func (s *Set) apply(r record, at position) {
	switch r.Kind {
	case kindMasks:
		for _, m := range r.Masks {
			if _, ok := s.masks[m.ID]; ok {
				continue // the first one is frozen
			}
			s.masks[m.ID], s.tokens[m.Token], s.where[m.ID] = m.Mask, m.ID, at
			s.order = append(s.order, m.ID)
		}
	case kindPin:
		for _, id := range r.IDs {
			s.pinned[id] = true
		}
	case kindUnpin:
		for _, id := range r.IDs {
			delete(s.pinned, id)
		}
	case kindMode:
		s.mode = r.Mode
	case kindSummary:
		if r.Summary == nil {
			return
		}
		i := slices.IndexFunc(s.summaries, func(o Summary) bool { return o.ID == r.Summary.ID })
		if i < 0 {
			s.summaries = append(s.summaries, *r.Summary)
		} else {
			s.summaries[i] = *r.Summary
		}
	}
}

// append stores a record. Nothing of it is left if that fails. The caller holds mu.
func (s *Set) append(r record) error {
	return s.use(func(folder *private.Folder, log *os.File, _ *private.Folder) error { return s.write(folder, log, r) })
}

// write is append to the open log.
func (s *Set) write(folder *private.Folder, log *os.File, r record) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	_, err = log.WriteAt(line, s.end)
	failpoint.Hit("masks.written")
	if err == nil {
		err = log.Sync()
	}
	if err == nil && s.fresh {
		err = folder.Sync()
	}
	if err != nil {
		_ = log.Truncate(s.end) // what cannot be removed is overwritten, or cut off at the next start
		return fmt.Errorf("store what is masked: %w", err)
	}
	failpoint.Hit("masks.synced")
	s.apply(r, position{s.end, int64(len(line))})
	s.end, s.fresh = s.end+int64(len(line)), false
	return nil
}

// New is a content that is to be masked. The store fills in Token, File, Stub, Sum and Bytes.
type New struct {
	Mask
	Content []byte
	// Text returns the text in its place.
	Text func(file string, token thread.Token) string
}

// Add masks contents: all of them or, with an error, none. One that is masked already stays as it is. It is durable
// when Add returns.
func (s *Set) Add(batch []New) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := record{Kind: kindMasks}
	taken := map[policy.ID]bool{}
	for _, n := range batch {
		if _, ok := s.masks[n.ID]; ok || taken[n.ID] {
			continue
		}
		taken[n.ID] = true
		m := n.Mask
		var err error
		if m.Token, err = s.draw(r.Masks); err != nil {
			return err
		}
		m.File = filepath.Join(s.dir, fileName(m.Token))
		m.Stub, m.Sum, m.Bytes = n.Text(m.File, m.Token), sumOf(n.Content), int64(len(n.Content))
		r.Masks = append(r.Masks, stored{m, n.Content})
	}
	if len(r.Masks) == 0 {
		return nil
	}
	return s.use(func(folder *private.Folder, log *os.File, outputs *private.Folder) error {
		if err := s.write(folder, log, r); err != nil {
			return err
		}
		for _, m := range r.Masks {
			if err := output(outputs, fileName(m.Token), m.Content); err != nil {
				return nil //nolint:nilerr // it is masked; the file is written again when it is read
			}
			failpoint.Hit("masks.copied")
		}
		return nil
	})
}

// draw returns a token that no content of the thread has, nor any file. The caller holds mu.
func (s *Set) draw(others []stored) (thread.Token, error) {
	for {
		t := thread.NewToken()
		if _, ok := s.tokens[t]; ok || slices.ContainsFunc(others, func(o stored) bool { return o.Token == t }) {
			continue
		}
		return t, nil
	}
}

// inherit stores the masks of another thread as the thread's own.
func (s *Set) inherit(from *Set) error {
	from.mu.Lock()
	defer from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(from.order) > 0 {
		r := record{Kind: kindMasks}
		for _, id := range from.order {
			content, err := from.stored(from.masks[id])
			if err != nil {
				continue // damaged: its copy may be whole, and is what the mask names
			}
			r.Masks = append(r.Masks, stored{from.masks[id], content})
		}
		if err := s.append(r); err != nil {
			return err
		}
	}
	if ids := slices.Sorted(maps.Keys(from.pinned)); len(ids) > 0 {
		if err := s.append(record{Kind: kindPin, IDs: ids}); err != nil {
			return err
		}
	}
	for _, sum := range from.summaries {
		if err := s.append(record{Kind: kindSummary, Summary: &sum}); err != nil {
			return err
		}
	}
	if from.mode == "" {
		return nil
	}
	return s.append(record{Kind: kindMode, Mode: from.mode})
}

// Mask returns the mask of a content.
func (s *Set) Mask(id policy.ID) (Mask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.masks[id]
	return m, ok
}

// All returns the masks, oldest first.
func (s *Set) All() []Mask {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Mask, 0, len(s.order))
	for _, id := range s.order {
		out = append(out, s.masks[id])
	}
	return out
}

// named returns the mask with a token.
func (s *Set) named(token thread.Token) (Mask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.tokens[token]
	return s.masks[id], ok
}

// Dir is the folder with the thread's own outputs.
func (s *Set) Dir() string { return s.dir }

// Dirs are the folders that the thread's masks name, and its own.
func (s *Set) Dirs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs := []string{s.dir}
	for _, id := range s.order {
		if dir := filepath.Dir(s.masks[id].File); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Pinned reports whether a person wants a content never masked.
func (s *Set) Pinned(id policy.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pinned[id]
}

// Pin has a content never masked, Unpin takes that back.
func (s *Set) Pin(id policy.ID) error   { return s.note(record{Kind: kindPin, IDs: []policy.ID{id}}) }
func (s *Set) Unpin(id policy.ID) error { return s.note(record{Kind: kindUnpin, IDs: []policy.ID{id}}) }

// Mode returns the mode that was set for the thread, "" if none was.
func (s *Set) Mode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// SetMode sets the thread's mode.
func (s *Set) SetMode(mode string) error { return s.note(record{Kind: kindMode, Mode: mode}) }

// Summaries returns the summaries, oldest first.
func (s *Set) Summaries() []Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.summaries)
}

// PutSummary stores a summary, or changes the one with its id.
func (s *Set) PutSummary(sum Summary) error { return s.note(record{Kind: kindSummary, Summary: &sum}) }

func (s *Set) note(r record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(r)
}

// content returns a content, and writes its copy again if that is missing or different.
func (s *Set) content(m Mask) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var content []byte
	err := s.use(func(_ *private.Folder, log *os.File, outputs *private.Folder) (err error) {
		if content, err = s.read(log, m); err == nil && filepath.Dir(m.File) == s.dir && !same(outputs, m) {
			_ = output(outputs, filepath.Base(m.File), content) // the content is there all the same
		}
		return err
	})
	return content, err
}

// stored is content without the copy. The caller holds mu.
func (s *Set) stored(m Mask) (content []byte, err error) {
	err = s.use(func(_ *private.Folder, log *os.File, _ *private.Folder) (err error) {
		content, err = s.read(log, m)
		return err
	})
	return content, err
}

// read reads a content from the log. The caller holds mu.
func (s *Set) read(log *os.File, m Mask) ([]byte, error) {
	at, ok := s.where[m.ID]
	if !ok {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, thread.ErrNotFound)
	}
	line := make([]byte, at.size)
	if _, err := log.ReadAt(line, at.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, err)
	}
	r, err := parse(line[:max(0, len(line)-1)])
	if err != nil {
		return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, err)
	}
	for _, found := range r.Masks {
		if found.ID == m.ID && sumOf(found.Content) == m.Sum {
			return found.Content, nil
		}
	}
	return nil, fmt.Errorf("read what is masked as %s: %w", m.Token, thread.ErrDamaged)
}

// mend writes the thread's own outputs again that are missing or of another size.
func (s *Set) mend(log *os.File, outputs *private.Folder) error {
	for _, id := range s.order {
		m := s.masks[id]
		if filepath.Dir(m.File) != s.dir || sized(outputs, m) {
			continue
		}
		content, err := s.read(log, m)
		if err == nil {
			err = output(outputs, filepath.Base(m.File), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
