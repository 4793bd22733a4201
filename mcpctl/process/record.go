package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/private"
)

const (
	recordName = "processes.json"
	lockName   = "lock"
	maxRecord  = 1 << 20
)

// record says in the state folder what has been started, for the next start of this program.
type record struct {
	Mark string `json:"mark"` // of every process that is started for this folder
	// Unused is set while nothing that has the mark has been started since what an earlier Host left was ended.
	Unused  bool    `json:"unused,omitempty"`
	Boot    string  `json:"boot"`
	Leaders []start `json:"leaders"`
}

// start is one process: the pid alone may be used again.
type start struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// readRecord returns the record of a folder, or a new one.
func readRecord(f *private.Folder) (record, error) {
	b, err := f.Read(recordName, maxRecord)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return record{}, fmt.Errorf("read the record of server processes: %w", err)
	}
	var r record
	if err != nil || json.Unmarshal(b, &r) != nil || r.Mark == "" {
		// What cannot be understood names no process.
		return record{Mark: thread.NewID[string]() + thread.NewID[string](), Unused: true}, nil
	}
	return r, nil
}

// write replaces the record. It is not synced: after a power cut there are no processes to find.
func (r record) write(f *private.Folder) error {
	b, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.Write(f.Path(recordName), b, false)
	}
	if err != nil {
		return fmt.Errorf("write the record of server processes: %w", err)
	}
	return nil
}

// lock takes the folder for this process until the file is closed.
func lock(f *private.Folder) (*os.File, error) {
	file, err := f.File(lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of server processes: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock the folder of server processes, which another program uses: %w", err)
	}
	return file, nil
}
