package frozen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Collector gathers what a copy holds. Nothing of it may be used after an error.
type Collector struct {
	sums *Sums
	// writable are folders in which others may write: what a link leads to there is copied too.
	writable []string
	mounts   []mount // the newest first
	entries  map[string]Entry
	folders  map[string]bool // that were walked
	bytes    int64
	// Out are links that lead out to where nobody else writes, by their paths: they stay links.
	Out map[string]string
}

// mount describes where the files of a folder are read.
type mount struct {
	abs string
	rel string
}

// NewCollector returns a collector of what is in a folder. sums may be nil.
func NewCollector(base string, writable []string, sums *Sums) *Collector {
	c := &Collector{sums: sums, entries: map[string]Entry{}, folders: map[string]bool{}, Out: map[string]string{}}
	c.Mount(base, "")
	for _, w := range writable {
		c.writable = append(c.writable, w)
		if real, err := filepath.EvalSymlinks(w); err == nil && real != w {
			c.writable = append(c.writable, real)
		}
	}
	return c
}

// Mount has another folder appear as a path of the copy.
func (c *Collector) Mount(abs, rel string) {
	c.mounts = append([]mount{{abs, rel}}, c.mounts...)
	if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
		c.mounts = append([]mount{{real, rel}}, c.mounts...)
	}
}

// Rel returns the path in the copy of a file.
func (c *Collector) Rel(abs string) (string, bool) {
	for _, m := range c.mounts {
		if rel, ok := below(m.abs, abs); ok {
			return path.Join(m.rel, rel), true
		}
	}
	return "", false
}

// below returns the path relative to a folder that holds it.
func below(folder, abs string) (string, bool) {
	rel, err := filepath.Rel(folder, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), true
}

// Has reports whether a path of the copy is there, as a file, a link or a folder.
func (c *Collector) Has(rel string) bool {
	_, ok := c.entries[rel]
	return ok || c.folders[rel]
}

// IsFolder reports whether a path of the copy is a folder that was walked.
func (c *Collector) IsFolder(rel string) bool { return c.folders[rel] }

// Entries returns all, sorted.
func (c *Collector) Entries() []Entry {
	list := make([]Entry, 0, len(c.entries))
	for _, e := range c.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// skipped reports whether a name is left out of folders: git's own files, and what interpreters compile for themselves.
func skipped(name string) bool { return name == ".git" || name == "__pycache__" }

// Add adds a file, a link with what it leads to, or a folder with all that is in it, by its absolute path without links
// in its folders. What is neither is left out.
func (c *Collector) Add(abs string) error {
	rel, ok := c.Rel(abs)
	if !ok {
		return fmt.Errorf("%s: not in a folder that is copied", abs)
	}
	return c.add(abs, rel)
}

// AddAs adds a regular file by another path of the copy.
func (c *Collector) AddAs(abs, rel string) error {
	if c.Has(rel) {
		return nil
	}
	return c.file(abs, rel)
}

// Link adds a link to any place.
func (c *Collector) Link(rel, target string) error { return c.put(Entry{Path: rel, Link: target}) }

// Holds reports whether something is at a path of the copy or below it.
func (c *Collector) Holds(rel string) bool {
	if c.Has(rel) {
		return true
	}
	for name := range c.entries {
		if strings.HasPrefix(name, rel+"/") {
			return true
		}
	}
	return false
}

func (c *Collector) add(abs, rel string) error {
	if rel != "" && c.Has(rel) {
		return nil
	}
	info, err := os.Lstat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it is gone: then it is not there
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return c.link(abs, rel)
	case info.IsDir():
		return c.folder(abs, rel)
	case info.Mode().IsRegular():
		return c.file(abs, rel)
	}
	return nil
}

func (c *Collector) folder(abs, rel string) error {
	c.folders[rel] = true
	list, err := os.ReadDir(abs)
	if err != nil {
		return err
	}
	for _, e := range list {
		if skipped(e.Name()) {
			continue
		}
		if err := c.add(filepath.Join(abs, e.Name()), path.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collector) file(abs, rel string) error {
	sum, info, err := c.sums.of(abs, MaxBytes-c.bytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	c.bytes += info.Size()
	return c.put(Entry{Path: rel, Sum: sum, Size: info.Size(), Exec: info.Mode().Perm()&0o111 != 0, from: abs})
}

func (c *Collector) put(e Entry) error {
	if len(c.entries) >= MaxEntries {
		return fmt.Errorf("%s: %w: more than %d files", e.Path, ErrTooLarge, MaxEntries)
	}
	c.entries[e.Path] = e
	return nil
}

// link adds a link. One that leads to something that is copied becomes relative.
func (c *Collector) link(abs, rel string) error {
	text, err := os.Readlink(abs)
	if err != nil {
		return err
	}
	target := text
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(abs), target)
	}
	target = filepath.Clean(target)
	if to, ok := c.Rel(target); ok {
		return c.inner(rel, target, to)
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		if c.writes(target) {
			return nil // what somebody may put there later is not for this copy
		}
		return c.outer(rel, target)
	}
	if to, ok := c.Rel(real); ok {
		return c.inner(rel, real, to)
	}
	if !c.writes(target) && !c.writes(real) {
		return c.outer(rel, target)
	}
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		c.Mount(real, rel)
		return c.folder(real, rel)
	case info.Mode().IsRegular():
		return c.file(real, rel)
	}
	return nil
}

// inner adds a link within the copy, and what it leads to.
func (c *Collector) inner(rel, target, to string) error {
	if to == "" || to == rel || strings.HasPrefix(rel+"/", to+"/") {
		return nil // it leads to a folder that holds it: its content is there
	}
	text, err := filepath.Rel(path.Dir("/"+rel), "/"+to)
	if err != nil {
		return err
	}
	if err := c.put(Entry{Path: rel, Link: filepath.ToSlash(text)}); err != nil {
		return err
	}
	return c.add(target, to)
}

func (c *Collector) outer(rel, target string) error {
	c.Out[rel] = target
	return c.put(Entry{Path: rel, Link: target})
}

// writes reports whether others may write there.
func (c *Collector) writes(abs string) bool {
	return slices.ContainsFunc(c.writable, func(folder string) bool {
		_, ok := below(folder, abs)
		return ok
	})
}
