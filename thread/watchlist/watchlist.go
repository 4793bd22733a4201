// Package watchlist detects changes to files in a folder that configure agents: an agent may write what the next one
// takes for the person's instructions, permissions or programs to start.
//
// It compares and does not judge: a scan is a hash for each file of a list, and two scans are compared. The files are
// an agent's work, so links are not followed out of the folder, and the work is bounded.
package watchlist

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of one scan: a folder of commands or skills may contain anything.
const (
	maxFiles = 1000
	maxBytes = 1 << 20  // of a file; a larger one is identified by its size, time and beginning
	maxTotal = 16 << 20 // of all; further files are identified by their sizes and times
)

// Editors are configuration files of other programs that an agent may trigger, whichever agent it is.
var Editors = []string{".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json", ".vscode/mcp.json",
	".envrc"}

// State is the state of the files at one time: a hash by slash-separated path below the folder.
type State map[string]string

// Kind is how a file changed.
type Kind string

// The kinds.
const (
	New     Kind = "new"
	Changed Kind = "changed"
	Gone    Kind = "gone"
)

// Change is one changed file.
type Change struct {
	Path string
	Kind Kind
}

// String formats the change for people.
func (c Change) String() string {
	if c.Kind == Changed {
		return c.Path
	}
	return fmt.Sprintf("%s (%s)", c.Path, c.Kind)
}

// Scan reads the listed files in root and in the folders from there down to dir, where agents read them too. A name
// that ends with a slash stands for all files below a folder. Names are slash-separated and relative; invalid names and
// missing files are left out.
func Scan(root, dir string, names []string) (State, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("scan agent configuration files: %w", err)
	}
	defer r.Close()
	s := scan{root: r, found: State{}, left: maxTotal}
	folders := between(root, dir)
	// Single files come first: no folder full of files crowds them out of the limits.
	each(folders, names, false, s.file)
	each(folders, names, true, s.below)
	return s.found, nil
}

// scan is a scan in progress.
type scan struct {
	root  *os.Root
	found State
	left  int64 // bytes that may still be read
}

// each calls do with each name below each folder, either those of folders or those of files.
func each(folders, names []string, trees bool, do func(name string)) {
	for _, folder := range folders {
		for _, name := range names {
			full := path.Join(folder, name)
			if strings.HasSuffix(name, "/") == trees && filepath.IsLocal(filepath.FromSlash(full)) {
				do(full)
			}
		}
	}
}

// between returns the folders from root to dir, slash-separated below root: only root if dir is elsewhere.
func between(root, dir string) []string {
	all := []string{"."}
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return all
	}
	at := "."
	for word := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		at = path.Join(at, word)
		all = append(all, at)
	}
	return all
}

// below adds the files of a folder, except those of package managers and git.
func (s *scan) below(folder string) {
	if info, err := s.root.Lstat(folder); err == nil && !info.IsDir() {
		s.file(folder)
		return
	}
	_ = fs.WalkDir(s.root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // missing, or not readable for agents either
		case len(s.found) >= maxFiles:
			return fs.SkipAll
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case !d.IsDir():
			s.file(name)
		}
		return nil
	})
}

// file adds one file: a link counts by its target and by the target's content, if that is in the folder.
func (s *scan) file(name string) {
	info, err := s.root.Lstat(name)
	if err != nil || info.IsDir() || len(s.found) >= maxFiles {
		return
	}
	h := sha256.New()
	switch {
	case info.Mode().IsRegular():
		err = s.content(h, name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = s.root.Readlink(name)
		fmt.Fprintf(h, "link %q\n", target)
		if i, serr := s.root.Stat(name); serr == nil && i.Mode().IsRegular() {
			err = errors.Join(err, s.content(h, name, i))
		}
	default:
		fmt.Fprintf(h, "%v", info.Mode().Type())
	}
	if err != nil {
		fmt.Fprintf(h, "unreadable")
	}
	s.found[name] = hex.EncodeToString(h.Sum(nil))
}

// content hashes a file within the limits: of what is not read, size and time count.
func (s *scan) content(to io.Writer, name string, info fs.FileInfo) error {
	most := min(maxBytes, s.left)
	if fmt.Fprintf(to, "%d\n", info.Size()); info.Size() > most {
		fmt.Fprintf(to, "%d\n", info.ModTime().UnixNano())
	}
	f, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(to, io.LimitReader(f, most))
	s.left -= n
	return err
}

// Changes compares two scans, sorted by path.
func Changes(before, now State) []Change {
	var all []Change
	for name, hash := range now {
		switch old, ok := before[name]; {
		case !ok:
			all = append(all, Change{name, New})
		case old != hash:
			all = append(all, Change{name, Changed})
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			all = append(all, Change{name, Gone})
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// Record is what is stored about a folder between scans.
type Record struct {
	At    time.Time `json:"at"`
	State State     `json:"state"`
}

// WithoutGone leaves out removed files: a copy of a folder may lack what git ignores.
func WithoutGone(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind == Gone })
}

// Message describes the changes for people, most of them, with the threads whose agents ran in between.
func Message(changes []Change, ran []string) string {
	const most = 8
	names := make([]string, 0, most)
	for _, c := range changes[:min(len(changes), most)] {
		names = append(names, c.String())
	}
	text := strings.Join(names, ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(ran) > 0 {
		text += "; agents that ran since: " + strings.Join(ran, ", ")
	}
	return text
}
