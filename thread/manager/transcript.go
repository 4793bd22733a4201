package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

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

// load loads the files of a checkpoint.
func (f *transcript) load(ctx context.Context, l *liveThread, at thread.CheckpointID) error {
	if f.loaded {
		return nil
	}
	if at != "" {
		files, err := l.cfg.Store.Transcript(ctx, at)
		if err != nil {
			f.loaded = true // the next read stores them whole
			return fmt.Errorf("read the stored transcript: %w", err)
		}
		for _, file := range files {
			f.add(thread.Chunk{File: file.File, Data: file.Data})
		}
	}
	f.loaded = true
	return nil
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

// note records chunks to be stored and returns those that fit. The others are not lost: the next read returns their
// files whole.
func (f *transcript) note(l *liveThread, chunks []thread.Chunk) []thread.Chunk {
	var kept []thread.Chunk
	for _, c := range chunks {
		if !f.add(c) {
			l.cfg.Log.Warn("a transcript chunk does not fit", "thread", string(l.id), "file", c.File, "offset", c.Offset)
			f.files = slices.DeleteFunc(f.files, func(k knownFile) bool { return k.name == c.File }) // read it whole
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// peek returns what was added to the agent's native files. With an answer it waits until they contain it, at most until
// the given time.
func (f *transcript) peek(ctx context.Context, l *liveThread, session, answer string, by time.Time) []thread.Chunk {
	t := l.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil || session == "" {
		return nil
	}
	reader, ok := agent.(thread.Transcriber)
	if !ok {
		return nil
	}
	if err := f.load(ctx, l, l.thread().Head); err != nil {
		l.notice(l.id, thread.LevelError, "%s: %v", t.DisplayName(), err)
	}
	chunks, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: session, Dir: t.Dir, Env: l.env(t), Marks: f.marks(), Answer: answer, By: by,
	})
	if err != nil && !errors.Is(err, thread.ErrNotFound) { // before the first prompt there is no file
		l.cfg.Log.Warn("read the transcript", "thread", string(l.id), "err", err)
	}
	return chunks
}
