package recording

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
)

// peek returns what was added to the agent's native files. With an answer it waits until they contain it, at most until
// the given time.
func (r *Recorder) peek(ctx context.Context, answer string, by time.Time) []thread.Chunk {
	return r.read(ctx, r.session, answer, by)
}

// read is peek for a session.
func (r *Recorder) read(ctx context.Context, session, answer string, by time.Time) []thread.Chunk {
	t := r.live.Thread()
	agent, err := r.cfg.Agents.Agent(t.Agent)
	if err != nil || session == "" {
		return nil
	}
	reader, ok := agent.(thread.Transcriber)
	if !ok {
		return nil
	}
	if err := r.loadFiles(ctx); err != nil {
		r.notice(thread.LevelError, "%s: %v", t.DisplayName(), err)
	}
	chunks, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: session, Dir: t.Dir, Env: r.cfg.Env(t), Marks: r.files.marks(), Answer: answer, By: by,
	})
	if err != nil && !errors.Is(err, thread.ErrNotFound) { // before the first prompt there is no file
		r.cfg.Log.Warn("read the transcript", "thread", string(r.id), "err", err)
	}
	return chunks
}

// loadFiles loads the files of the newest stored checkpoint, once.
func (r *Recorder) loadFiles(ctx context.Context) error {
	if r.files.loaded {
		return nil
	}
	if at := r.live.Thread().Head; at != "" {
		files, err := r.cfg.Store.Transcript(ctx, at)
		if err != nil {
			r.files.loaded = true // the next read stores them whole
			return fmt.Errorf("read the stored transcript: %w", err)
		}
		for _, file := range files {
			r.files.stored(thread.Chunk{File: file.File, Data: file.Data})
		}
	}
	r.files.loaded = true
	return nil
}

// note records chunks to be stored and returns those that fit. The others are not lost: the next read returns their
// files whole.
func (r *Recorder) note(chunks []thread.Chunk) []thread.Chunk {
	var kept []thread.Chunk
	for _, c := range chunks {
		if !r.files.add(c) {
			r.cfg.Log.Warn("a transcript chunk does not fit", "thread", string(r.id), "file", c.File, "offset", c.Offset)
			r.files.drop(c.File)
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// Written returns what was added to the agent's own files since the last checkpoint.
func (r *Recorder) Written(ctx context.Context) []byte {
	r.Load(ctx)
	var all []byte
	for _, c := range r.peek(ctx, "", time.Time{}) {
		all = append(all, c.Data...)
	}
	return all
}

// Rewritten forgets the files: the agent goes on in a session that was written again, and so is its stored copy. What
// is there already are earlier turns: an answer that one of them ends with is not taken for the next.
func (r *Recorder) Rewritten(ctx context.Context, session string) {
	r.files = transcript{loaded: true}
	r.files = unstored(r.read(ctx, session, "", time.Time{}))
}

// Adopt follows the agent into another session, unless that belongs to another thread.
func (r *Recorder) Adopt(ctx context.Context, session string) {
	r.Load(ctx)
	if session == "" || session == r.session {
		return
	}
	taken, err := r.live.SessionTaken(session)
	if err != nil { // the agent tells of it again
		r.cfg.Log.Warn("find out whose the session of an agent is", "thread", string(r.id), "err", err)
		return
	}
	if taken {
		r.notice(thread.LevelWarn,
			"%s: its agent opened a session that belongs to another thread; not following it", r.name())
		return
	}
	if r.session != "" {
		r.Rewritten(ctx, session) // other files from here on
	}
	r.session = session
	r.reports.Adopted(ctx, session)
}
