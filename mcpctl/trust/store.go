package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"orchestrator/thread/private"
)

const (
	folderName = "orchestrator"
	lockName   = "mcp-trust.lock"
)

// Store is the record.
type Store struct {
	home string
	now  func() time.Time
}

// Open returns the record in the user's state folder. Nothing is read or created yet.
func Open(home string) *Store { return &Store{home: home, now: time.Now} }

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
