// Package folder reads the files that an agent hands over from the folder that it works in.
//
// What is in the folder was written by an agent. So only regular files are read that lie in it, that are reached through no
// link, that are no part of a repository's own folder, and that are no larger than their bound; each is what it was when it
// was opened, or it is refused.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
)

// mostLooked is how many files and folders are looked at for patterns.
const mostLooked = 200_000

// Folder is an open folder.
type Folder struct {
	root *os.Root
	dir  string
}

// Open opens a folder by its absolute path.
func Open(dir string) (*Folder, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the agent's folder %q: %w", dir, thread.ErrNotFound)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the agent's folder: %w", err)
	}
	return &Folder{root: root, dir: dir}, nil
}

// Close closes it.
func (f *Folder) Close() error { return f.root.Close() }

// Name returns a path as it is handed over: relative to the folder, with slashes. The agent may give it as an absolute one.
func (f *Folder) Name(given string) (string, error) {
	if filepath.IsAbs(given) {
		if rel, err := filepath.Rel(f.dir, given); err == nil {
			return Named(rel)
		}
	}
	return Named(given)
}

// Named returns a relative path as it is handed over.
func Named(given string) (string, error) {
	name := filepath.ToSlash(filepath.Clean(given))
	switch {
	case given == "" || name == "." || !filepath.IsLocal(name):
		return "", wrong("%q is no file in your folder. Name files by their paths in it", shown(given))
	case !utf8.ValidString(name) || plaintext.Line(name) != name || len(name) > 1000:
		return "", wrong("the file name %q cannot be handed over: rename the file", shown(given))
	case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }):
		return "", wrong("%s is part of a repository's own folder, and is not handed over", shown(given))
	}
	return name, nil
}

// Find returns the names of the files that patterns match, in their order. A pattern that matches none is an error.
func (f *Folder) Find(patterns []string) ([]string, error) {
	var names []string
	found := make([]bool, len(patterns))
	looked := 0
	err := fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if looked++; looked > mostLooked {
			return wrong("the folder has more than %d files", mostLooked)
		}
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return nil // what cannot be read, and links, are none
		}
		if e.IsDir() {
			if strings.EqualFold(e.Name(), ".git") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.EqualFold(e.Name(), ".git") || strings.ContainsAny(name, `*?[\`) {
			return nil
		}
		matched := false
		for i, p := range patterns {
			if plan.Overlap(p, name) {
				found[i], matched = true, true
			}
		}
		if matched {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, ok := range found {
		if !ok {
			return nil, wrong("no file in your folder is named like %s, which has to be handed over", shown(patterns[i]))
		}
	}
	return names, nil
}

// Read gives what is in a file to a reader of it, with its size. If it changes meanwhile, that is an error.
func (f *Folder) Read(name string, read func(data io.Reader, size int64) error) error {
	before, err := f.look(name)
	if err != nil {
		return err
	}
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f.explain(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f.explain(name, err)
	}
	if !os.SameFile(before, info) || !info.Mode().IsRegular() {
		return changed(name)
	}
	if info.Size() > plan.MaxFile {
		return wrong("%s has %s: a file that is handed over has at most %s", shown(name), thread.Bytes(info.Size()), thread.Bytes(plan.MaxFile))
	}
	counted := &counter{r: io.LimitReader(file, info.Size()+1)}
	if err := read(counted, info.Size()); err != nil {
		return err
	}
	if counted.n != info.Size() {
		return changed(name)
	}
	return nil
}

// look follows a path without links.
func (f *Folder) look(name string) (fs.FileInfo, error) {
	var info fs.FileInfo
	at := ""
	parts := strings.Split(name, "/")
	for i, part := range parts {
		at = path.Join(at, part)
		var err error
		if info, err = f.root.Lstat(filepath.FromSlash(at)); err != nil {
			return nil, f.explain(name, err)
		}
		switch last := i == len(parts)-1; {
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, wrong("%s is a link, or in a linked folder: hand over the file itself", shown(name))
		case last && !info.Mode().IsRegular():
			return nil, wrong("%s is not a file", shown(name))
		}
	}
	return info, nil
}

func (f *Folder) explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return wrong("there is no file %s in your folder", shown(name))
	}
	if errors.Is(err, fs.ErrPermission) {
		return wrong("%s cannot be read", shown(name))
	}
	return fmt.Errorf("read %s: %w", shown(name), err)
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func changed(name string) error {
	return wrong("%s changed while it was read: hand it over once it is complete", shown(name))
}

// wrong is an error that the agent can mend.
func wrong(format string, args ...any) error { return thread.Kindf(thread.ErrInvalid, format, args...) }

func shown(name string) string { return plaintext.OneLine(name, 200) }
