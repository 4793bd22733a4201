package resume

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Rebuild writes the agent's native session from the stored transcript: the same session if it was lost, a new one if
// the thread has none yet or the agent's files have diverged.
func (f Finder) Rebuild(ctx context.Context, t thread.Thread, agent thread.Agent) (string, error) {
	files, err := f.Store.Transcript(ctx, t.Head)
	if err != nil {
		return "", fmt.Errorf("read the stored transcript: %w", err)
	}
	origin, err := f.origin(ctx, t)
	if err != nil {
		return "", err
	}
	spec := thread.RebuildSpec{
		Session: origin.Session, FromDirs: f.Places(origin.Dir), Dir: t.Dir, StateDir: f.StateDir(t.ID), Env: f.Env(t), Files: files,
		Answer: f.Past.FinalAnswer(ctx, t.Head),
	}
	f.catchUp(ctx, t, agent, origin, &spec)
	r, ok := agent.(thread.Rebuilder)
	if !ok {
		return "", fmt.Errorf("rebuild a session of agent %s: %w", t.Agent, thread.ErrUnsupported)
	}
	if t.Session == "" || t.Session != origin.Session || f.Threads.SessionTaken(t.ID, t.Session) {
		spec.NewSession = newSession()
	}
	session, err := r.Rebuild(ctx, spec)
	if err != nil && spec.NewSession == "" {
		spec.NewSession = newSession() // the old one has other content, which stays
		session, err = r.Rebuild(ctx, spec)
	}
	if err != nil {
		return "", fmt.Errorf("rebuild the session: %w", err)
	}
	if f.Threads.SessionTaken(t.ID, session) {
		return "", thread.Kindf(thread.ErrInvalid, "session %s belongs to another thread", session)
	}
	return session, nil
}

// catchUp adds to a session's stored files what its agent wrote of the last answer after they were read: agents show an
// answer before they write it down, on a busy machine by more than we wait.
func (f Finder) catchUp(
	ctx context.Context, t thread.Thread, agent thread.Agent, origin thread.Thread, spec *thread.RebuildSpec,
) {
	reader, ok := agent.(thread.Transcriber)
	usage, tells := agent.(thread.UsageReader)
	answer := plaintext.LastLine(spec.Answer)
	if answer == "" || !ok || !tells {
		return
	}
	var stored []thread.Chunk
	for _, file := range spec.Files {
		stored = append(stored, thread.Chunk{File: file.File, Data: file.Data})
	}
	if endsWith(usage, stored, answer) {
		return
	}
	late, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: origin.Session, Dir: origin.Dir, Env: f.Env(origin), Marks: marksOf(spec.Files), Answer: answer,
	})
	if err != nil || !endsWith(usage, late, answer) {
		f.Log.Warn("the stored transcript lacks the last answer",
			"thread", string(t.ID), "session", origin.Session, "err", err)
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
			return // it was rewritten: keep the stored version
		}
	}
	spec.Files = files
}

// marksOf returns the marks of whole files.
func marksOf(files []thread.TranscriptFile) []thread.Mark {
	var marks []thread.Mark
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		marks = append(marks, thread.Mark{File: f.File, Size: int64(len(f.Data)), SHA256: hex.EncodeToString(sum[:])})
	}
	return marks
}

// endsWith reports whether an answer is the last main response in files.
func endsWith(usage thread.UsageReader, chunks []thread.Chunk, answer string) bool {
	all, err := usage.ReadUsage(chunks)
	all = slices.DeleteFunc(all, func(e thread.Exchange) bool { return !e.Main })
	return err == nil && len(all) > 0 && strings.Contains(all[len(all)-1].Text, answer)
}

// origin returns the thread whose agent wrote a thread's stored transcript, with the session it wrote it in.
func (f Finder) origin(ctx context.Context, t thread.Thread) (thread.Thread, error) {
	list, err := f.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1000})
	if err != nil {
		return thread.Thread{}, fmt.Errorf("read the origin of the transcript: %w", err)
	}
	for _, c := range list {
		if c.Session == "" {
			continue
		}
		from := t
		if c.Thread != t.ID {
			if o, known := f.Threads.Thread(c.Thread); known {
				from = o
			}
		}
		from.Session = c.Session
		return from, nil
	}
	return thread.Thread{}, fmt.Errorf("session of the stored transcript: %w", thread.ErrNotFound)
}

// newSession returns a random UUID, which agents accept as a session id.
func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
