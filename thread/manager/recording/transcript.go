package recording

import (
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
	k.sum.Write(c.Data)
	k.size += int64(len(c.Data))
	return true
}

// marks returns what is known as marks.
func (f *transcript) marks() []thread.Mark {
	marks := make([]thread.Mark, 0, len(f.files))
	for _, k := range f.files {
		marks = append(marks, thread.Mark{File: k.name, Size: k.size, SHA256: hex.EncodeToString(k.sum.Sum(nil))})
	}
	return marks
}

// drop forgets a file, so that it is read whole again.
func (f *transcript) drop(file string) {
	f.files = slices.DeleteFunc(f.files, func(k knownFile) bool { return k.name == file })
}
