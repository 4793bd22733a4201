// Package staging stores data of any size for a limited time and identifies it by short tokens.
//
// An entry has two plain files in a folder that only this user can access: the data, such as a1b2c3d4.ndjson, and a
// document that describes it, a1b2c3d4.meta.json. The document is written last and atomically, once the data is
// complete and synced. After a crash at any point, data is therefore a complete entry, or a leftover without a
// document. A token is not reused while any of its files exist.
//
// Expired entries cannot be read any more; Sweep removes them, together with leftovers. A reader that has already
// opened an entry can read it to the end. The document of a removed entry stays for a day, so that errors can tell an
// expired token from an unknown one. Files with other names and anything but regular files are left alone.
//
// Only one process may change a folder at a time: the project's server.
package staging

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Config configures a store; every field is optional.
type Config struct {
	// TTL is how long data is kept if its request does not say it; by default an hour.
	TTL time.Duration
	// MaxBytes is the maximum size of an entry, OfThread what all entries of a thread may take, and OfAll what all entries
	// may take, of which a quarter is the person's; 0 means no limit.
	MaxBytes, OfThread, OfAll int64
	// Since returns the time since a moment, even if the clock was set in between; by default time.Since.
	Since func(time.Time) time.Duration
	// Pins returns what needs staged data, by its token, such as prompts that name it. Data that something needs does not
	// expire; once nothing does, its time to live starts.
	Pins func() (map[thread.Token][]string, error)
	// Digits is how many digits a new token has; by default thread.TokenDigits.
	Digits int
	// Taken reports whether something else uses a token, such as what is masked. It must not use the store.
	Taken func(thread.Token) (bool, error)
}

const (
	documentEnd = ".meta.json"
	partEnd     = ".part" // of data that is being written and has no token yet
	maxDocument = 64 << 10
)

// Store stores staged data. It is safe for concurrent use.
type Store struct {
	cfg    Config
	folder *private.Folder
	now    func() time.Time
	draw   func(digits int) thread.Token
	sums   sums

	// documents is held while documents change: shared to add one, exclusively to change one.
	documents sync.RWMutex

	mu   sync.Mutex // guards busy; locked last
	busy map[string]bool
}

// New returns the store in a folder, which Close closes.
func New(folder *private.Folder, cfg Config) *Store {
	if cfg.TTL == 0 {
		cfg.TTL = time.Hour
	}
	if cfg.Since == nil {
		cfg.Since = time.Since
	}
	if cfg.Pins == nil {
		cfg.Pins = func() (map[thread.Token][]string, error) { return nil, nil }
	}
	if cfg.Digits == 0 {
		cfg.Digits = thread.TokenDigits
	}
	if cfg.Taken == nil {
		cfg.Taken = func(thread.Token) (bool, error) { return false, nil }
	}
	return &Store{cfg: cfg, folder: folder, now: time.Now, draw: thread.NewLongToken, busy: map[string]bool{},
		sums: sums{ofThread: cfg.OfThread, ofAll: cfg.OfAll}}
}

// Has reports whether a token is in use here, also by what is being staged and by what has expired but is still known.
func (s *Store) Has(t thread.Token) bool {
	if s.reserved(t.Digits()) {
		return true
	}
	_, err := s.read(t.Digits())
	return !errors.Is(err, fs.ErrNotExist) // even if it cannot be read
}

// Close closes the folder.
func (s *Store) Close() error { return s.folder.Close() }

// document is the content of the file that describes an entry.
type document struct {
	thread.Staged
	// TTL starts at Extended.
	TTL      time.Duration `json:"ttl"`
	Extended time.Time     `json:"extended"`
	// Gone is when the data was removed; Unstaged is set if somebody asked for that.
	Gone     time.Time `json:"gone,omitzero"`
	Unstaged bool      `json:"unstaged,omitempty"`
}

// suffixes returns the suffixes of the names of data files.
func suffixes() map[thread.DataKind]string {
	return map[thread.DataKind]string{
		thread.DataNDJSON: ".ndjson", thread.DataJSON: ".json", thread.DataText: ".txt", thread.DataBinary: ".bin",
	}
}

// dataName returns the name of the file with the entry's data.
func (d document) dataName() string { return d.Token.Digits() + suffixes()[d.Kind] }

// over reports whether an entry's time to live is over: it has expired unless something needs it.
func (s *Store) over(d document) bool { return s.cfg.Since(d.Extended) >= d.TTL }

// pinned applies to an entry what needs it, if anything does.
func (s *Store) pinned(d *document, pins map[thread.Token][]string) bool {
	if d.Pins = pins[d.Token]; len(d.Pins) == 0 {
		return false
	}
	if s.over(*d) {
		s.extend(d, d.TTL)
	}
	return true
}

// extend restarts an entry's time to live; it never shortens it.
func (s *Store) extend(d *document, ttl time.Duration) {
	if left := d.TTL - s.cfg.Since(d.Extended); ttl >= left {
		d.TTL, d.Extended = ttl, s.now().UTC()
	}
	d.Expires = s.expires(*d)
}

// expires returns when an entry expires, by the current clock.
func (s *Store) expires(d document) time.Time {
	return s.now().Add(d.TTL - s.cfg.Since(d.Extended)).UTC().Truncate(time.Second)
}

// read returns the document of a token, or fs.ErrNotExist if there is none.
func (s *Store) read(digits string) (document, error) {
	b, err := s.folder.Read(digits+documentEnd, maxDocument)
	if err != nil {
		return document{}, err
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return d, fmt.Errorf("%w: %s: %w", thread.ErrDamaged, s.folder.Path(digits+documentEnd), err)
	}
	if d.Token.Digits() != digits || suffixes()[d.Kind] == "" || d.Bytes < 0 || d.TTL <= 0 {
		return d, fmt.Errorf("%w: %s does not describe the entry that it is named after", thread.ErrDamaged,
			s.folder.Path(digits+documentEnd))
	}
	d.Expires = s.expires(d)
	return d, nil
}

// write stores a document and replaces the previous one. The caller holds documents.
func (s *Store) write(d document) error {
	d.Pins = nil // they can change at any time
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the description of %s: %w", d.Token, err)
	}
	return s.folder.Write(d.Token.Digits()+documentEnd, append(b, '\n'))
}

// lookUp returns the document of an entry that can be read; otherwise the error says why it cannot.
func (s *Store) lookUp(t thread.Token) (document, error) {
	d, err := s.read(t.Digits())
	expired := err == nil && d.Gone.IsZero() && s.over(d)
	if expired {
		var pins map[thread.Token][]string
		pins, err = s.cfg.Pins()
		expired = !s.pinned(&d, pins)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, unknown(t)
	case err != nil:
		return d, fmt.Errorf("look up %s: %w", t, err)
	case d.Unstaged:
		return d, fmt.Errorf("%s was unstaged at %s: %w", d.about(), d.Gone.Local().Format(time.DateTime),
			thread.ErrNotFound)
	case !d.Gone.IsZero() || expired:
		return d, thread.Hint(fmt.Errorf("%s %w at %s", d.about(), thread.ErrExpired,
			d.Extended.Add(d.TTL).Local().Format(time.DateTime)),
			"stage it again; --ttl sets how long it is kept")
	}
	return d, nil
}

func unknown(t thread.Token) error {
	return thread.Hint(fmt.Errorf("nothing is staged as %s: %w", t, thread.ErrNotFound),
		"`orchestrator stage list` lists staged data")
}

// about describes an entry that is gone.
func (d document) about() string {
	staged := "staged at " + d.Created.Local().Format(time.DateTime)
	if d.Source != "" {
		staged = d.Source + ", " + staged
	}
	return fmt.Sprintf("%s (%s)", d.Token, staged)
}

// change changes the document of an entry.
func (s *Store) change(t thread.Token, change func(*document) error) (thread.Staged, error) {
	s.documents.Lock()
	defer s.documents.Unlock()
	d, err := s.lookUp(t)
	if err == nil {
		err = change(&d)
	}
	if err == nil {
		err = s.write(d)
	}
	if err != nil {
		return thread.Staged{}, explain(err)
	}
	return d.Staged, nil
}

// remove removes the data of an entry and marks its document as gone. If the document cannot be written, as on a full
// disk, it removes that too. The caller holds documents exclusively.
func (s *Store) remove(d document) error {
	d.Gone = s.now().UTC()
	if err := s.write(d); err != nil {
		if err := s.drop(d.Token.Digits() + documentEnd); err != nil {
			return err
		}
	}
	err := s.drop(d.dataName())
	if err == nil {
		s.sums.give(d.Thread, roomOf(d.Bytes))
	}
	return err
}

// drop removes a regular file of ours. It is no error if the file does not exist.
func (s *Store) drop(name string) error {
	err := s.folder.Check(name)
	if err == nil {
		err = s.folder.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// reserve reserves a name until it is released, or returns false if it is already reserved.
func (s *Store) reserve(stem string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[stem] {
		return false
	}
	s.busy[stem] = true
	return true
}

func (s *Store) release(stem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, stem)
}

func (s *Store) reserved(stem string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy[stem]
}

// files lists the folder.
func (s *Store) files() ([]fs.DirEntry, error) {
	list, err := s.folder.List()
	if err != nil {
		return nil, fmt.Errorf("list staged data: %w", err)
	}
	return list, nil
}

// digitsOf returns the token's digits from the name of a document, or an empty string for other files.
func digitsOf(name string) string {
	digits, ok := strings.CutSuffix(name, documentEnd)
	if t, whole, err := thread.ParseToken(digits); !ok || err != nil || !whole || t.Digits() != digits {
		return ""
	}
	return digits
}

// explain adds a hint to errors of a full disk.
func explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err),
			"free some space; `orchestrator unstage` removes staged data")
	}
	return err
}
