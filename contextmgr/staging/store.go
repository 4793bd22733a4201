// Package staging keeps staged data: bytes of any size behind short tokens, for a while.
//
// Each token has two plain files in a folder of this user alone: the data, such as a1b2c3d4.ndjson, and a document
// about it, a1b2c3d4.meta.json. The document makes the data exist: it is written last, and all of it at once, when the
// data is whole and synced. So after a crash at any point there is a whole entry or a leftover that no token leads to.
// A token is never given twice while anything of it is there.
//
// What expired is not handed out any more; Sweep removes it, with the leftovers. What somebody reads already is read
// to its end. For a day the document of what is gone stays, so that its token is told from one that never was. Files
// with other names, and what is no regular file, are not ours: they are left alone.
//
// One process at a time may use a folder: a project's server.
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

// TTL is how long data is kept that nobody said anything else of.
const TTL = time.Hour

const (
	documentEnd = ".meta.json"
	partEnd     = ".part" // of data that is being written, under a name of its own
	maxDocument = 64 << 10
)

// Store keeps staged data. It is safe for use by many goroutines.
type Store struct {
	folder *private.Folder
	since  func(time.Time) time.Duration
	now    func() time.Time
	draw   func() thread.Token

	// documents is held while documents change: shared for a new one, alone for one that is there.
	documents sync.RWMutex

	mu   sync.Mutex // guards busy; taken last
	busy map[string]bool
}

// New returns the store in a folder, which it closes with Close. since says how long ago something was, by a clock
// that may have been set meanwhile.
func New(folder *private.Folder, since func(time.Time) time.Duration) *Store {
	return &Store{folder: folder, since: since, now: time.Now, draw: thread.NewToken, busy: map[string]bool{}}
}

// Close closes the folder.
func (s *Store) Close() error { return s.folder.Close() }

// document is what the file about an entry holds.
type document struct {
	thread.Staged
	// TTL counts from Extended.
	TTL      time.Duration `json:"ttl"`
	Extended time.Time     `json:"extended"`
	// Gone is when the data was removed; Unstaged is set where that was asked for.
	Gone     time.Time `json:"gone,omitzero"`
	Unstaged bool      `json:"unstaged,omitempty"`
}

// suffixes are the ends of the names of data files.
func suffixes() map[thread.DataKind]string {
	return map[thread.DataKind]string{
		thread.DataNDJSON: ".ndjson", thread.DataJSON: ".json", thread.DataText: ".txt", thread.DataBinary: ".bin",
	}
}

// dataName is the name of the file with an entry's data.
func (d document) dataName() string { return d.Token.Digits() + suffixes()[d.Kind] }

// expired reports whether a document's data is to be handed out no more.
func (s *Store) expired(d document) bool { return len(d.Pins) == 0 && s.since(d.Extended) >= d.TTL }

// extend has an entry's time begin again, and never makes it shorter.
func (s *Store) extend(d *document, ttl time.Duration) {
	if left := d.TTL - s.since(d.Extended); ttl >= left {
		d.TTL, d.Extended = ttl, s.now().UTC()
	}
	d.Expires = s.expires(*d)
}

// expires is when a document's data expires by the clock as it is now.
func (s *Store) expires(d document) time.Time {
	return s.now().Add(d.TTL - s.since(d.Extended)).UTC().Truncate(time.Second)
}

// read returns the document of a token; the error is fs.ErrNotExist where there is none.
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
		return d, fmt.Errorf("%w: %s is not about staged data of its name", thread.ErrDamaged,
			s.folder.Path(digits+documentEnd))
	}
	d.Expires = s.expires(d)
	return d, nil
}

// write stores a document in place of the one before. The caller holds documents.
func (s *Store) write(d document) error {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what is staged: %w", err)
	}
	return s.folder.Write(d.Token.Digits()+documentEnd, append(b, '\n'))
}

// lookUp returns the document of a token's data that is there and has not expired; the error says why there is none.
func (s *Store) lookUp(t thread.Token) (document, error) {
	d, err := s.read(t.Digits())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, thread.Hint(fmt.Errorf("nothing is staged as %s: %w", t, thread.ErrNotFound),
			"`orchestrator stage list` lists what is")
	case err != nil:
		return d, fmt.Errorf("look up %s: %w", t, err)
	case d.Unstaged:
		return d, fmt.Errorf("%s was unstaged on %s: %w", d.about(), d.Gone.Local().Format(time.DateTime),
			thread.ErrNotFound)
	case !d.Gone.IsZero() || s.expired(d):
		return d, thread.Hint(fmt.Errorf("%s has %w: it was kept until %s", d.about(), thread.ErrExpired,
			d.Extended.Add(d.TTL).Local().Format(time.DateTime)),
			"stage it again; --ttl keeps it longer than an hour")
	}
	return d, nil
}

// about names an entry that is gone, with what it was.
func (d document) about() string {
	about := string(d.Token)
	if d.Source != "" {
		about += " of " + d.Source
	}
	return about + ", staged on " + d.Created.Local().Format(time.DateTime) + ","
}

// change changes the document of a token's data.
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

// remove removes the data of an entry and leaves its document for a while, which says when it went; on a full disk it
// does not. The caller holds documents alone.
func (s *Store) remove(d document) error {
	d.Gone, d.Pins = s.now().UTC(), nil
	if err := s.write(d); err != nil {
		if err := s.drop(d.Token.Digits() + documentEnd); err != nil {
			return err
		}
	}
	return s.drop(d.dataName())
}

// drop removes a file that may be gone already, and only a file.
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

// reserve keeps others off a name until release; false where another has it.
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

// files lists what lies in the folder.
func (s *Store) files() ([]fs.DirEntry, error) {
	list, err := s.folder.List()
	if err != nil {
		return nil, fmt.Errorf("list what is staged: %w", err)
	}
	return list, nil
}

// digitsOf returns the token of a document's file name; empty for other files.
func digitsOf(name string) string {
	digits, ok := strings.CutSuffix(name, documentEnd)
	if t, whole, err := thread.ParseToken(digits); !ok || err != nil || !whole || t.Digits() != digits {
		return ""
	}
	return digits
}

// explain translates an error of the disk.
func explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return thread.Hint(fmt.Errorf("%w: %w", thread.ErrDiskFull, err),
			"free some space; `orchestrator unstage` and `orchestrator gc` remove what was staged")
	}
	return err
}
