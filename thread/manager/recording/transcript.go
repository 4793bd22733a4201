package recording

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"

	"orchestrator/thread"
)

// transcript knows how much of an agent's native files is stored, without reading them back.
type transcript struct {
	loaded bool
	files  []knownFile
}

// knownFile is the stored part of one native file.
type knownFile struct {
	name string
	size int64
	sum  hash.Hash // of the first size bytes
	// lines is how many lines the file is known to have had, stored or not: no answer to come is in them.
	lines int
}

// add records a chunk to be stored; false if it does not fit what is known.
func (f *transcript) add(c thread.Chunk) bool {
	i := slices.IndexFunc(f.files, func(k knownFile) bool { return k.name == c.File })
	if i < 0 {
		f.files = append(f.files, knownFile{name: c.File, sum: sha256.New()})
		i = len(f.files) - 1
	}
	k := &f.files[i]
	if c.Offset == 0 && k.size > 0 {
		k.size = 0
		k.sum.Reset()
	}
	if c.Offset != k.size {
		return false
	}
	if c.Offset == 0 {
		k.lines = 0
	}
	k.lines += bytes.Count(c.Data, []byte("\n"))
	k.sum.Write(c.Data)
	k.size += int64(len(c.Data))
	return true
}

// marks returns what is known as marks.
func (f *transcript) marks() []thread.Mark {
	marks := make([]thread.Mark, 0, len(f.files))
	for _, k := range f.files {
		marks = append(marks, thread.Mark{
			File: k.name, Size: k.size, SHA256: hex.EncodeToString(k.sum.Sum(nil)), Lines: k.lines,
		})
	}
	return marks
}

// drop forgets the stored part of a file, so that it is read whole again.
func (f *transcript) drop(file string) {
	for i := range f.files {
		if k := &f.files[i]; k.name == file {
			k.size = 0
			k.sum.Reset()
		}
	}
}

// forgotten returns what is still known when it is not known what is stored: how many lines the files have.
func (f *transcript) forgotten() transcript {
	out := transcript{files: slices.Clone(f.files)}
	for i := range out.files {
		out.files[i].size, out.files[i].sum = 0, sha256.New()
	}
	return out
}

// stored records a file that is stored. How many lines the agent's has is better known: it may have written another one.
func (f *transcript) stored(c thread.Chunk) {
	i := slices.IndexFunc(f.files, func(k knownFile) bool { return k.name == c.File && k.lines > 0 })
	if i < 0 {
		f.add(c)
		return
	}
	known := f.files[i].lines
	f.add(c)
	f.files[i].lines = known
}

// unstored returns what is known of whole files of which nothing is stored.
func unstored(chunks []thread.Chunk) (f transcript) {
	f.loaded = true
	for _, c := range chunks {
		f.add(c)
		f.drop(c.File)
	}
	return f
}
