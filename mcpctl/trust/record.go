package trust

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	folderName = "orchestrator"
	recordName = "mcp-trust.json"
	lockName   = "mcp-trust.lock"
	maxRecord  = 16 << 20
	version    = 1
)

// record is the content of the file.
type record struct {
	Version int                            `json:"version"`
	Servers map[string]map[string]decision `json:"servers"` // by place and launch hash
	Files   map[string]time.Time           `json:"files"`   // the person's own files, and when they were first read
}

// decision is what the person said about a server.
type decision struct {
	Name  string    `json:"name"`
	State State     `json:"state"`
	Shown []string  `json:"shown"`
	At    time.Time `json:"at"`
}

func (r *record) seen(file string) bool {
	_, ok := r.Files[file]
	return ok
}

func (r *record) set(place, hash string, d decision) error {
	if !isHash(hash) {
		return errors.New("it has no launch hash")
	}
	if r.Servers[place] == nil {
		r.Servers[place] = make(map[string]decision)
	}
	r.Servers[place][hash] = d
	return nil
}

// isHash reports whether a text is a SHA-256 in hex.
func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}

// read returns the record, empty if there is none.
func (s *Store) read() (*record, error) {
	folder, err := private.Open(s.home, folderName)
	if errors.Is(err, fs.ErrNotExist) {
		return newRecord(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is accepted: %w", err)
	}
	defer folder.Close()
	return readRecord(folder)
}

func newRecord() *record {
	return &record{Version: version, Servers: map[string]map[string]decision{}, Files: map[string]time.Time{}}
}

func readRecord(folder *private.Folder) (*record, error) {
	r := &record{}
	ok, err := readJSON(folder, recordName, maxRecord, r)
	if err != nil {
		return nil, err
	}
	if !ok {
		return newRecord(), nil
	}
	if r.Version != version || r.Servers == nil || r.Files == nil {
		return nil, damaged(folder, recordName, errors.New("not a record of this version"))
	}
	for _, decisions := range r.Servers {
		for hash, d := range decisions {
			if !isHash(hash) || d.State != Accepted && d.State != Rejected {
				return nil, damaged(folder, recordName, errors.New("an entry is not valid"))
			}
		}
	}
	return r, nil
}

// update changes the record while no other process does. Nothing is written if change returns false or an error.
func (s *Store) update(change func(*record) (bool, error)) error {
	return s.locked(func(folder *private.Folder) error {
		r, err := readRecord(folder)
		if err != nil {
			return err
		}
		if write, err := change(r); err != nil || !write {
			return err
		}
		return writeJSON(folder, recordName, maxRecord, r)
	})
}

// locked calls use while no other process does so.
func (s *Store) locked(use func(*private.Folder) error) error {
	folder, err := private.Make(s.home, folderName)
	if err != nil {
		return err
	}
	defer folder.Close()
	lock, err := folder.File(lockName, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return err
	}
	defer lock.Close() // it unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", folder.Path(lockName), err)
	}
	return use(folder)
}

// readJSON reads a file; ok is false if it is missing.
func readJSON(folder *private.Folder, name string, limit int64, to any) (ok bool, err error) {
	b, err := folder.Read(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read what is accepted: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return false, damaged(folder, name, err)
	}
	return true, nil
}

func damaged(folder *private.Folder, name string, err error) error {
	return thread.Hint(fmt.Errorf("read what is accepted: %s: %w", folder.Path(name), err),
		"nothing is accepted until you move the file away; then accept again what you trust")
}

func writeJSON(folder *private.Folder, name string, limit int, from any) error {
	b, err := json.MarshalIndent(from, "", "  ")
	if err != nil {
		return err
	}
	if len(b) >= limit {
		return thread.Hint(fmt.Errorf("write %s: %w", folder.Path(name), private.ErrTooLarge),
			"revoke what you do not use")
	}
	return folder.Write(name, append(b, '\n'))
}
