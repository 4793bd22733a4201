package backup

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/archive"
	"orchestrator/thread"
)

// The folders of the parts, in their order.
const (
	dirStaged = "staged/"
	dirMasks  = "masks/"
	// ofNone is the name of a part that belongs to no thread. Ids of threads are longer.
	ofNone = "project"
)

// part is a stream of the caller's about one thread, or about none.
type part struct {
	dir string
	id  thread.ID
	// file is where it lies while the backup is assembled or unpacked.
	file string
}

func (p part) name() string {
	if p.id == "" {
		return p.dir + ofNone
	}
	return p.dir + string(p.id)
}

// parsePart parses a part's name.
func parsePart(name string) (p part, ok bool) {
	for _, p.dir = range []string{dirStaged, dirMasks} {
		if id, of := strings.CutPrefix(name, p.dir); of {
			if p.id = thread.ID(id); id == ofNone {
				p.id = ""
			}
			return p, id == ofNone && p.dir == dirStaged || id != ofNone && p.id.Check() == nil
		}
	}
	return p, false
}

// in gives a part its file in a folder.
func (p part) in(dir string) part {
	p.file = filepath.Join(dir, strings.ReplaceAll(p.name(), "/", "-"))
	return p
}

// writers write the parts; nil for none.
type writers struct {
	staged, masks func(thread.ID, io.Writer) error
}

// write writes the parts of threads, each into a file in a folder. What has nothing to say gets none.
func (w writers) write(dir string, threads []thread.Thread) (all []part, err error) {
	ids := parentsFirst(threads)
	for _, of := range []struct {
		dir   string
		ids   []thread.ID
		write func(thread.ID, io.Writer) error
	}{{dirStaged, append([]thread.ID{""}, ids...), w.staged}, {dirMasks, ids, w.masks}} {
		if of.write == nil {
			continue
		}
		for _, id := range of.ids {
			p := part{dir: of.dir, id: id}.in(dir)
			size, err := p.write(of.write)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name(), err)
			}
			if size > 0 {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// write writes a part into its file, and removes that if it is empty.
func (p part) write(write func(thread.ID, io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(p.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = write(p.id, f)
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err != nil {
		return 0, err
	}
	if info.Size() == 0 {
		return 0, os.Remove(p.file)
	}
	return info.Size(), nil
}

// parentsFirst returns the ids of threads, each after that of its parent.
func parentsFirst(threads []thread.Thread) (ids []thread.ID) {
	parents := make(map[thread.ID]thread.ID, len(threads))
	for _, t := range threads {
		parents[t.ID] = t.Parent
	}
	done := make(map[thread.ID]bool, len(threads))
	for _, t := range threads {
		var up []thread.ID
		for id := t.ID; !done[id]; id = parents[id] {
			if _, there := parents[id]; !there {
				break
			}
			done[id] = true
			up = append(up, id)
		}
		slices.Reverse(up)
		ids = append(ids, up...)
	}
	return ids
}

// readers import the parts.
type readers struct{ staged, masks archive.Part }

// check has the parts read, before anything is written.
func (r readers) check(parts []part) error {
	for _, p := range parts {
		if err := p.read(r.of(p).Check); err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
	}
	return nil
}

// replaced has the tokens that are in use where a backup is restored: those of staged data, which any conversation may
// name, and those of a thread's masks.
type replaced struct {
	staged archive.Tokens
	masks  map[thread.ID]archive.Tokens
}

// in returns those that stand in the conversation of a thread.
func (r replaced) in(id thread.ID) archive.Tokens {
	if len(r.masks[id]) == 0 {
		return r.staged
	}
	all := maps.Clone(r.masks[id])
	maps.Copy(all, r.staged)
	return all
}

// carry imports the parts of threads that are being restored, and of no thread.
func (r readers) carry(parts []part, threads []thread.Thread) (replaced, error) {
	all := replaced{archive.Tokens{}, map[thread.ID]archive.Tokens{}}
	restored := make(map[thread.ID]bool, len(threads))
	for _, t := range threads {
		restored[t.ID] = true
	}
	for _, p := range parts {
		if p.id != "" && !restored[p.id] {
			continue
		}
		tokens := all.staged
		if p.dir == dirMasks {
			tokens = archive.Tokens{}
			all.masks[p.id] = tokens
		}
		if r.of(p).Read == nil {
			continue
		}
		err := p.read(func(in io.Reader) error {
			others, err := r.of(p).Read(p.id, in)
			return errors.Join(err, tokens.Add(others))
		})
		if err != nil {
			return all, fmt.Errorf("%s: %w", p.name(), err)
		}
	}
	for _, t := range threads { // what its parent has masked since is not masked of it
		if t.Parent != "" && all.masks[t.ID] == nil && r.masks.Read != nil {
			if _, err := r.masks.Read(t.ID, strings.NewReader("")); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// of returns what imports a part.
func (r readers) of(p part) archive.Part {
	if p.dir == dirStaged {
		return r.staged
	}
	return r.masks
}

// read opens a part for a function, nil for none.
func (p part) read(read func(io.Reader) error) error {
	if read == nil {
		return nil
	}
	f, err := os.Open(p.file)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}
