package resume

import (
	"bytes"
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
	taken, err := f.Threads.SessionTaken(t.ID, t.Session)
	if err != nil {
		return "", fmt.Errorf("find out whose the session is: %w", err)
	}
	if t.Session == "" || t.Session != origin.Session || taken {
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
	if taken, err = f.Threads.SessionTaken(t.ID, session); err != nil {
		return "", fmt.Errorf("find out whose the session is: %w", err)
	}
	if taken {
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
	if endsWith(usage, chunksOf(spec.Files), answer) && f.gained(ctx, t.Head, usage, spec.Files) {
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
		marks = append(marks, thread.Mark{
			File: f.File, Size: int64(len(f.Data)), SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(f.Data, []byte("\n")),
		})
	}
	return marks
}

// chunksOf returns whole files as chunks.
func chunksOf(files []thread.TranscriptFile) (all []thread.Chunk) {
	for _, f := range files {
		all = append(all, thread.Chunk{File: f.File, Data: f.Data})
	}
	return all
}

// gained reports whether a turn's files have a response that those of the turn before do not have: it may have had the
// same answer. Of files that go on from those only the rest is read.
func (f Finder) gained(ctx context.Context, head thread.CheckpointID, usage thread.UsageReader, files []thread.TranscriptFile) bool {
	c, err := f.Store.Checkpoint(ctx, head)
	if err != nil {
		return true
	}
	before, err := f.Store.Lineage(ctx, head, thread.Page{Before: int64(c.Turn), Limit: 1})
	if err != nil || len(before) == 0 {
		return true
	}
	marks, err := f.Store.Marks(ctx, before[0].ID)
	if err != nil {
		return true
	}
	rest := chunksOf(files)
	for i := range rest {
		for _, m := range marks {
			if m.File != rest[i].File {
				continue
			}
			if !begins(rest[i].Data, m) {
				was, err := f.Store.Transcript(ctx, before[0].ID)
				return err != nil || len(mains(usage, chunksOf(files))) > len(mains(usage, chunksOf(was)))
			}
			rest[i].Offset, rest[i].Data = m.Size, rest[i].Data[m.Size:]
		}
	}
	return len(mains(usage, rest)) > 0
}

// begins reports whether a file begins with what a mark describes.
func begins(data []byte, m thread.Mark) bool {
	if int64(len(data)) < m.Size {
		return false
	}
	sum := sha256.Sum256(data[:m.Size])
	return hex.EncodeToString(sum[:]) == m.SHA256
}

// mains returns the main responses in files.
func mains(usage thread.UsageReader, chunks []thread.Chunk) []thread.Exchange {
	all, err := usage.ReadUsage(chunks)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(e thread.Exchange) bool { return !e.Main })
}

// endsWith reports whether an answer is the last main response in files.
func endsWith(usage thread.UsageReader, chunks []thread.Chunk, answer string) bool {
	all := mains(usage, chunks)
	return len(all) > 0 && strings.Contains(all[len(all)-1].Text, answer)
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
