package project

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// errNewer means that this program may not write a record.
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

// records reads what all states of a home say. A folder that is not ours is left out; a state whose record cannot
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
		err := fmt.Errorf("%w: it is not this folder's", thread.ErrDamaged)
		return record{}, &private.Error{Path: folder.Path(recordName), Err: err}
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
