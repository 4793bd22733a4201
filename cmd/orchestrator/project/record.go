package project

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

const (
	recordName    = "project.json"
	recordVersion = 1
	maxRecord     = 1 << 20
	// maxWas is how many earlier roots a record keeps.
	maxWas = 16
)

// errNewer says that a record is none that this program may write.
var errNewer = errors.New("written by a newer orchestrator")

// record is what a state records about its project.
type record struct {
	Version int `json:"version"`
	// ID is the state's own: 32 random hex digits.
	ID string `json:"id"`
	// Mark is what the project's git directory carries, the ID where we wrote it; "" for a project that is known
	// by its path.
	Mark   string   `json:"mark,omitempty"`
	Root   pathText `json:"root,omitempty"` // "" for a state that was replaced by another one
	RootAt place    `json:"rootAt"`
	GitDir pathText `json:"gitDir,omitempty"`
	GitAt  place    `json:"gitAt"`
	// Was holds earlier roots, the latest first.
	Was []pathText `json:"was,omitempty"`
	// Shared is the project's name in a shared store.
	Shared string `json:"shared,omitempty"`
}

// state is a record with the folder that holds it.
type state struct {
	record
	folder string
	bad    error // why the record cannot be read
	used   bool  // it holds more than a record
}

// place tells one folder from another: a name can lead to several, and a number can be given again.
type place struct {
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
	Born   int64  `json:"born,omitempty"` // in nanoseconds; 0 where the file system does not tell
}

// known is false for what does not exist.
func (p place) known() bool { return p.Inode != 0 }

// same reports whether two places are one folder. A device can have another number after a restart of the machine:
// where the path is the same as well, that says nothing.
func (p place) same(q place, samePath bool) bool {
	if !p.known() || p.Inode != q.Inode || p.Born != 0 && q.Born != 0 && p.Born != q.Born {
		return false
	}
	return p.Device == q.Device || samePath
}

// pathText is a path in JSON, of any bytes.
type pathText string

const hexPath = "hex:"

// MarshalText implements encoding.TextMarshaler.
func (p pathText) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return []byte(p), nil
	}
	return []byte(hexPath + hex.EncodeToString([]byte(p))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pathText) UnmarshalText(b []byte) error {
	if coded, ok := strings.CutPrefix(string(b), hexPath); ok {
		raw, err := hex.DecodeString(coded)
		if err != nil {
			return err
		}
		b = raw
	}
	if len(b) > 0 && (!filepath.IsAbs(string(b)) || filepath.Clean(string(b)) != string(b)) {
		return fmt.Errorf("%q is not an absolute path", b)
	}
	*p = pathText(b)
	return nil
}

// newMark returns 32 random hex digits.
func newMark() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// isMark reports whether a text is 32 hex digits as newMark makes them.
func isMark(s string) bool {
	if len(s) != 32 {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// folderName names a state's folder after its project, for people.
func folderName(root, id string) string {
	name := thread.Slug(filepath.Base(root))
	if name == thread.Slug("") {
		name = "project"
	}
	return name + "-" + id[:8]
}

// isFolderName reports whether a name is one that folderName makes.
func isFolderName(name string) bool {
	at := strings.LastIndexByte(name, '-')
	if at < 1 || len(name)-at != 9 {
		return false
	}
	return isMark(name[at+1:]+"000000000000000000000000") && thread.Slug(name[:at]) == name[:at]
}

// records reads what all states of a home say. A folder that is none of ours is left out; a state whose record cannot
// be read says so.
func records(home *private.Folder) ([]state, error) {
	list, err := home.List()
	if err != nil {
		return nil, fmt.Errorf("look for states: %w", err)
	}
	var all []state
	for _, e := range list {
		if !isFolderName(e.Name()) {
			continue
		}
		folder, err := home.Open(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			all = append(all, state{folder: e.Name(), bad: err})
			continue
		}
		r, err := readRecord(folder)
		s := state{record: r, folder: e.Name(), bad: err}
		if err != nil {
			list, lerr := folder.List()
			s.used = lerr != nil || len(list) > 1 || len(list) == 1 && list[0].Name() != recordName
		}
		folder.Close()
		all = append(all, s)
	}
	return all, nil
}

func readRecord(folder *private.Folder) (record, error) {
	var r record
	content, err := folder.Read(recordName, maxRecord)
	if err != nil {
		return r, err
	}
	var made struct{ Version int }
	if err := json.Unmarshal(content, &made); err == nil && made.Version > recordVersion {
		return r, &private.Error{Path: folder.Path(recordName), Err: fmt.Errorf("%w (version %d)", errNewer, made.Version)}
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return record{}, &private.Error{Path: folder.Path(recordName), Err: fmt.Errorf("%w: %w", thread.ErrDamaged, err)}
	}
	if !isMark(r.ID) || r.Mark != "" && !isMark(r.Mark) || !strings.HasSuffix(folder.Path(), "-"+r.ID[:8]) {
		return record{}, &private.Error{Path: folder.Path(recordName), Err: fmt.Errorf("%w: it is not this folder's", thread.ErrDamaged)}
	}
	return r, nil
}

func (s state) write(folder *private.Folder) error {
	content, err := json.MarshalIndent(s.record, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", recordName, err)
	}
	return folder.Write(recordName, append(content, '\n'))
}

// Shared returns the project's name in a shared store, from its state; "" where none is kept yet.
func (p Project) Shared() (string, error) {
	f, err := p.Folder()
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := readRecord(f)
	return r.Shared, err
}

// KeepShared keeps the project's name in a shared store.
func (p Project) KeepShared(name string) error {
	home, err := Home(p.places)
	if err != nil {
		return err
	}
	defer home.Close()
	lock, err := lockHome(home)
	if err != nil {
		return err
	}
	defer lock.Close()
	f, err := home.Open(p.folder)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := readRecord(f)
	if err != nil {
		return err
	}
	r.Shared = name
	return state{record: r}.write(f)
}

func devOf(path string) place {
	info, err := os.Lstat(path)
	if err != nil {
		return place{}
	}
	return placeOf(path, info)
}
