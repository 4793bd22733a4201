package trust

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	recordName = "mcp-trust.json"
	maxRecord  = 16 << 20
	version    = 1
)

// State is what is known of a server.
type State string

// The states.
const (
	Accepted State = "accepted"
	Rejected State = "rejected" // the person has said no to exactly this
	New      State = "new"
	Changed  State = "changed" // the person has accepted another one of this name, here
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
