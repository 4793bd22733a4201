package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// transcript knows how much of an agent's native files is stored, without reading them back.
type transcript struct {
	loaded bool
	files  []knownFile
}

// knownFile is one native file as far as it is stored.
type knownFile struct {
	name string
	size int64
	sum  hash.Hash // of the first size bytes
}

// rewritten forgets the files: the agent's session is written anew, and so is what is stored.
func (r *record) rewritten() { r.files = transcript{loaded: true} }

// load takes over the files of a checkpoint.
func (f *transcript) load(ctx context.Context, l *line, at thread.CheckpointID) error {
	if f.loaded {
		return nil
	}
	if at != "" {
		files, err := l.m.cfg.Store.Transcript(ctx, at)
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

// add takes note of a chunk that is to be stored; false when it does not fit what is known.
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

// marks returns what is known in the form agents ask for.
func (f *transcript) marks() []thread.Mark {
	marks := make([]thread.Mark, 0, len(f.files))
	for _, k := range f.files {
		marks = append(marks, thread.Mark{File: k.name, Size: k.size, SHA256: hex.EncodeToString(k.sum.Sum(nil))})
	}
	return marks
}

// note takes note of chunks that are to be stored and returns those that fit. Nothing is lost by
// the others: the next look brings their files whole.
func (f *transcript) note(l *line, chunks []thread.Chunk) []thread.Chunk {
	var kept []thread.Chunk
	for _, c := range chunks {
		if !f.add(c) {
			l.m.cfg.Log.Warn("a transcript chunk does not fit", "thread", string(l.id), "file", c.File, "offset", c.Offset)
			f.files = slices.DeleteFunc(f.files, func(k knownFile) bool { return k.name == c.File }) // read it whole
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// peek returns what the agent's native files gained. With an answer it waits a moment until they
// hold it, by the time given.
func (f *transcript) peek(ctx context.Context, l *line, session, answer string, by time.Time) []thread.Chunk {
	t := l.thread()
	agent, err := l.m.cfg.Agents.Agent(t.Agent)
	if err != nil || session == "" {
		return nil
	}
	reader, ok := agent.(thread.Transcriber)
	if !ok {
		return nil
	}
	if err := f.load(ctx, l, l.thread().Head); err != nil {
		l.m.notice(l.id, thread.LevelError, "%s: %v", t.DisplayName(), err)
	}
	chunks, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: session, Dir: t.Dir, Env: l.m.env(t), Marks: f.marks(), Answer: answer, By: by,
	})
	if err != nil && !errors.Is(err, thread.ErrNotFound) { // before the first prompt there is no file
		l.m.cfg.Log.Warn("read the transcript", "thread", string(l.id), "err", err)
	}
	return chunks
}

// catchUp adds to a session's stored files what its agent wrote of the last answer after they were
// read: agents show an answer before they write it down, on a busy machine by more than we wait.
func (l *line) catchUp(ctx context.Context, agent thread.Agent, origin thread.Thread, spec *thread.RebuildSpec) {
	reader, ok := agent.(thread.Transcriber)
	usage, tells := agent.(thread.UsageReader)
	answer := plaintext.LastLine(spec.Answer)
	if answer == "" || !ok || !tells {
		return
	}
	var known transcript
	var stored []thread.Chunk
	for _, f := range spec.Files {
		stored = append(stored, thread.Chunk{File: f.File, Data: f.Data})
		known.add(stored[len(stored)-1])
	}
	if endsWith(usage, stored, answer) {
		return
	}
	late, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: origin.Session, Dir: origin.Dir, Env: l.m.env(origin), Marks: known.marks(), Answer: answer,
	})
	if err != nil || !endsWith(usage, late, answer) {
		l.m.cfg.Log.Warn("the stored transcript lacks the last answer", "thread", string(l.id), "session", origin.Session, "err", err)
		return
	}
	files := slices.Clone(spec.Files)
	for _, c := range late {
		i := slices.IndexFunc(files, func(f thread.TranscriptFile) bool { return f.File == c.File })
		switch {
		case i < 0 && c.Offset == 0:
			files = append(files, thread.TranscriptFile{File: c.File, Data: c.Data})
		case i >= 0 && c.Offset == int64(len(files[i].Data)):
			files[i].Data = slices.Concat(files[i].Data, c.Data)
		default:
			return // it was written anew: what is stored is what we know
		}
	}
	spec.Files = files
}

// endsWith reports whether the last main response that files tell of holds an answer.
func endsWith(usage thread.UsageReader, chunks []thread.Chunk, answer string) bool {
	all, err := usage.ReadUsage(chunks)
	all = slices.DeleteFunc(all, func(e thread.Exchange) bool { return !e.Main })
	return err == nil && len(all) > 0 && strings.Contains(all[len(all)-1].Text, answer)
}

// adopt follows the agent into another session, unless that belongs to another thread.
func (r *record) adopt(ctx context.Context, l *line, session string) {
	r.load(ctx, l)
	if session == "" || session == r.session {
		return
	}
	if l.m.sessionTaken(l, session) {
		l.m.notice(l.id, thread.LevelWarn, "%s: its agent opened a session that belongs to another thread; it is not taken over", l.thread().DisplayName())
		return
	}
	if r.session != "" {
		r.rewritten() // other files from here on
	}
	r.session = session
	if err := l.update(ctx, func(t *thread.Thread) error { t.Session = session; return nil }); err != nil {
		l.m.cfg.Log.Warn("store the session", "thread", string(l.id), "err", err)
	}
}

// poll is the step that reads the transcript of a thread without gateway.
func (l *line) poll() {
	l.m.mu.Lock()
	l.polling = false
	l.m.mu.Unlock()
	l.rec.poll(l.m.ctx, l)
	l.stored(1)
}

// poll records the responses that the transcript gained.
func (r *record) poll(ctx context.Context, l *line) {
	t := l.thread()
	agent, err := l.m.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return
	}
	reader, ok := agent.(thread.UsageReader)
	if !ok {
		return
	}
	r.load(ctx, l)
	chunks := r.files.peek(ctx, l, r.session, "", time.Time{})
	if len(chunks) == 0 {
		return
	}
	exchanges, err := reader.ReadUsage(chunks)
	if err != nil {
		l.m.cfg.Log.Warn("read usage from the transcript", "thread", string(l.id), "err", err)
	}
	if !slices.ContainsFunc(exchanges, func(e thread.Exchange) bool { return e.Main }) {
		return // read again when there is an answer to store it with
	}
	read := time.Now()
	for _, e := range exchanges {
		l.complete(&e)
		l.m.mu.Lock()
		requests := l.requests.Begun()
		if e.Main {
			l.requests.Await()
		} else {
			l.sideCost += e.Usage.CostUSD
		}
		l.m.mu.Unlock()
		if e.Main {
			r.answer(ctx, l, arrival{Exchange: e, requests: requests, direct: true, chunks: chunks, read: read})
			chunks = nil // stored with the first
		}
	}
}

// complete fills in what the agent's transcript does not tell of a response: its model's window and its price.
func (l *line) complete(e *thread.Exchange) {
	known := l.m.cfg.Models
	if known == nil {
		return
	}
	if e.Window == 0 {
		l.m.mu.Lock()
		agents := l.windows
		l.m.mu.Unlock()
		e.Window = known.Window(e.Model, e.Usage.Context(), agents)
	}
	if !e.Usage.Priced {
		e.Usage.CostUSD, e.Usage.Priced = known.Cost(e.Model, e.Usage)
	}
}
