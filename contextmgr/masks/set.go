package masks

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
)

// shelf is what the sets of a store share.
type shelf struct {
	*contents
	disk   disk
	tokens *tokens
	writer *writer
	log    *slog.Logger
	notice func(id thread.ID, text string)
	seals  Seals // nil for none
}

// Set is what is masked of one thread's conversation. It is safe for concurrent use.
type Set struct {
	shelf *shelf
	id    thread.ID
	lost  int
	fresh bool // it has lost something since it was opened the last time

	mu    sync.Mutex // guards all below, and the log
	index *index
	end   int64  // of the log
	gone  bool   // the thread was removed
	tally tally  // of the log
	why   string // says what was lost of it, "" for nothing

	sealing sync.Mutex // held while the seal is stored; taken before mu
}

// openSet reads a thread's log, and mends what a crash or the agent did.
func openSet(shelf *shelf, id thread.ID) (*Set, error) {
	s := &Set{shelf: shelf, id: id, index: newIndex()}
	var with sealing
	if shelf.seals != nil {
		with.seal = shelf.seals.Seal(id)
	}
	found, err := shelf.copies.scanLog(id, func(r record) { s.index.apply(id, r, shelf.copies.path) }, &with)
	if err != nil {
		return nil, err
	}
	s.end, s.lost = found.end, found.damaged
	s.tally = with.upTo(s.end)
	s.compare(with)
	if cut, err := s.cut(); err != nil { // it is cut before the next write
		shelf.log.Warn("cut off a batch of masks that is not complete", "thread", string(id), "err", err)
	} else if cut > 0 {
		shelf.log.Info("cut off a batch of masks that was not complete", "thread", string(id), "bytes", cut)
	}
	for _, m := range s.index.masks {
		shelf.tokens.add(m.Token)
	}
	lost, err := shelf.mendAll(s.index.masks)
	if lost > 0 {
		shelf.notice(id, fmt.Sprintf("%d masked contents cannot be read any more (%s)", lost,
			shelf.copies.folder.Path(string(id))))
	}
	if err != nil { // they can be read from the log, and are written again the next time
		shelf.log.Warn("write masked contents again", "thread", string(id), "err", err)
	}
	return s, nil
}

// compare takes the mode from the seal, and says what was lost since that was stored. Without a seal, the mode of a
// damaged log is not known: then nothing is masked until a person says so.
func (s *Set) compare(with sealing) {
	lost := with.judge(s.tally, s.lost)
	switch {
	case with.seal != nil:
		s.index.mode, s.why = with.seal.Mode, with.seal.Lost
	case lost != "" && s.index.mode == "":
		s.index.mode = string(policy.ModeObserve)
		lost += ", and maybe the mode that was set: nothing more is masked until you set it (`orchestrator context mask --mode`)"
	}
	if lost != "" {
		s.fresh, s.why = true, lost
		s.shelf.notice(s.id, fmt.Sprintf("%s: what they masked is sent again (%s)", lost,
			s.shelf.copies.folder.Path(string(s.id), logName)))
	}
	if lost != "" || with.seal == nil && s.index.begun {
		s.sealSoon()
	}
}

// sealed returns the seal of the set as it is. The caller holds mu.
func (s *Set) sealed() thread.MaskSeal {
	return thread.MaskSeal{
		Records: s.tally.records, Sum: hex.EncodeToString(s.tally.sum[:]), Mode: s.index.mode, Lost: s.why,
	}
}

// putSeal stores the seal as it is now. It may lag behind the log, and never leads.
func (s *Set) putSeal() error {
	if s.shelf.seals == nil {
		return nil
	}
	s.sealing.Lock()
	defer s.sealing.Unlock()
	s.mu.Lock()
	seal, gone := s.sealed(), s.gone
	s.mu.Unlock()
	if gone {
		return nil
	}
	return s.shelf.seals.PutSeal(s.id, seal)
}

// sealSoon stores the seal without anybody waiting for it. The caller holds mu.
func (s *Set) sealSoon() {
	if s.shelf.seals != nil {
		s.shelf.writer.seal(s.id, s)
	}
}

// Shorter reports whether the log was found to have lost something when the set was opened.
func (s *Set) Shorter() bool { return s.fresh }

// cut removes from the log what is not a complete batch. It returns how much that was.
func (s *Set) cut() (int64, error) {
	folder, err := s.shelf.copies.folder.Open(string(s.id))
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	log, err := folder.File(logName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	size, err := log.Seek(0, io.SeekEnd)
	log.Close()
	if err != nil || size <= s.end {
		return 0, err
	}
	if log, err = folder.File(logName, os.O_RDWR); err != nil {
		return 0, err
	}
	defer log.Close()
	if err = log.Truncate(s.end); err == nil {
		err = log.Sync()
	}
	return size - s.end, err
}

// Lost returns how many records of the log are damaged: what they masked is not masked any more.
func (s *Set) Lost() int { return s.lost }

// LostWhy returns what was lost of the set, "" if nothing was.
func (s *Set) LostWhy() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Add masks contents: all of them or, with an error, none. What is masked already stays as it is, and of two contents
// with one id the first is masked. It is durable when Add returns. The copies are written after that: see Store.Settle.
func (s *Set) Add(batch []New) error {
	for _, n := range batch {
		if err := n.check(); err != nil {
			return fmt.Errorf("mask: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var records []record
	want := map[thread.Token]Mask{}
	taken := map[policy.ID]bool{}
	for _, n := range batch {
		if _, masked := s.index.mask(n.ID); masked || taken[n.ID] {
			continue
		}
		taken[n.ID] = true
		m, err := s.new(n)
		if err != nil {
			return fmt.Errorf("mask: %w", err)
		}
		want[m.Token] = m
		records = append(records, record{Kind: kindMask, Mask: &m, packed: s.shelf.packed(n.Content)})
	}
	if len(records) == 0 {
		return nil
	}
	from := s.end
	if err := s.append(records); err != nil {
		return fmt.Errorf("mask: %w", explain(err, s.shelf.copies.folder.Path(string(s.id))))
	}
	for token := range want {
		want[token], _ = s.index.named(token)
	}
	s.shelf.writer.add(job{s.id, from, want})
	return nil
}

// new returns the mask of a content.
func (s *Set) new(n New) (Mask, error) {
	token, err := s.shelf.tokens.take(n.Token)
	if err != nil {
		return Mask{}, err
	}
	return n.mask(token, s.shelf.copies.path(s.id, token))
}

// usable refuses to change a set whose thread was removed.
func (s *Set) usable() error {
	if s.gone {
		return fmt.Errorf("thread %s was removed: %w", s.id, thread.ErrNotFound)
	}
	return nil
}

// append stores records, all or none. The caller holds mu.
func (s *Set) append(records []record) error {
	if len(records) == 0 {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	var b []byte
	for i := range records {
		var err error
		if len(records) > 1 {
			records[i].Part, records[i].Parts = i, len(records)
		}
		if b, err = appendLine(b, records[i]); err != nil {
			return err
		}
	}
	folder, err := s.shelf.copies.folder.Open(string(s.id))
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := s.write(folder, b); err != nil {
		return fmt.Errorf("write %s: %w", folder.Path(logName), err)
	}
	s.end += int64(len(b))
	s.tally.addAll(b)
	s.sealSoon()
	for _, r := range records {
		r.packed = nil
		s.index.apply(s.id, r, s.shelf.copies.path)
	}
	return nil
}

// write writes to the end of the log and syncs it. If that fails, the log is as before, or is cut before the next
// write.
func (s *Set) write(folder *private.Folder, b []byte) error {
	log, err := s.shelf.disk.open(folder)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Truncate(s.end); err != nil { // what a failed write left
		return err
	}
	half := len(b) / 2
	_, err = log.WriteAt(b[:half], s.end)
	failpoint.Hit("masks.add.half")
	if err == nil {
		_, err = log.WriteAt(b[half:], s.end+int64(half))
	}
	failpoint.Hit("masks.add.written")
	if err == nil {
		err = log.Sync()
	}
	if err == nil && !s.index.begun {
		err = s.shelf.disk.sync(folder)
	}
	if err != nil {
		if cut := log.Truncate(s.end); cut == nil {
			_ = log.Sync() // the records are lost anyway
		}
		return err
	}
	failpoint.Hit("masks.add.synced")
	return nil
}

// begin makes a thread without records begin with what another one has.
func (s *Set) begin(parent thread.ID, from *Set) error {
	records := newIndex().records(parent)
	if from != nil {
		records = from.forFork()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index.begun {
		return nil
	}
	return explain(s.append(records), s.shelf.copies.folder.Path(string(s.id)))
}

// hasAlready reports whether a summary or a mode is there, whatever it says.
func (s *Set) hasAlready(e exported) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.Summary != nil && s.index.summary(e.Summary.ID) >= 0 || e.Mode != "" && s.index.mode != ""
}

// inherit masks what other threads have copies of.
func (s *Set) inherit(all []Mask) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var records []record
	for _, m := range all {
		if _, masked := s.index.mask(m.ID); !masked {
			records = append(records, record{Kind: kindMask, Mask: &m})
		}
	}
	return explain(s.append(records), s.shelf.copies.folder.Path(string(s.id)))
}

// forFork returns the records with which a fork begins.
func (s *Set) forFork() []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.records(s.id)
}

// hasBegun reports whether there are records.
func (s *Set) hasBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.begun
}

// note stores a record unless the set has it already.
func (s *Set) note(r record, has func(*index) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has(s.index) {
		return nil
	}
	if err := s.append([]record{r}); err != nil {
		return fmt.Errorf("store a setting of thread %s: %w", s.id, explain(err, s.shelf.copies.folder.Path(string(s.id))))
	}
	return nil
}

// remove has the set store nothing any more.
func (s *Set) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
}

// Mask returns the mask of a content.
func (s *Set) Mask(id policy.ID) (Mask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.mask(id)
}

// All returns the masks, oldest first.
func (s *Set) All() []Mask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.index.masks)
}

// Named returns the mask with a token.
func (s *Set) Named(token thread.Token) (Mask, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.named(token)
}

// Dir is the folder with the thread's own outputs.
func (s *Set) Dir() string { return s.shelf.copies.folder.Path(string(s.id), outputsName) }

// Dirs are the folders that the thread's agent must be able to read: its own outputs, and those that its masks name.
func (s *Set) Dirs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs := []string{s.Dir()}
	for _, home := range s.index.homes() {
		if home != s.id {
			dirs = append(dirs, s.shelf.copies.folder.Path(string(home), outputsName))
		}
	}
	return dirs
}

// Empty reports whether there is nothing to export.
func (s *Set) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.index
	return len(x.masks)+len(x.pinned)+len(x.summaries) == 0 && x.mode == ""
}
