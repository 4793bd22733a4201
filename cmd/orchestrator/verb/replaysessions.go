package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orchestrator/agent/recorded"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/replay"
	"orchestrator/thread"
	"orchestrator/thread/lines"
	"orchestrator/thread/plaintext"
)

// nativeFormat is the format in which an agent itself records its sessions.
type nativeFormat struct {
	recorded.Reader
	agent string
}

// Name implements replay.Format.
func (n nativeFormat) Name() string { return n.agent }

// Agent implements replay.Format.
func (n nativeFormat) Agent() string { return n.agent }

// Read implements replay.Format. Times are since the first piece of each session.
func (n nativeFormat) Read(ctx context.Context, f *os.File) iter.Seq2[replay.Event, error] {
	return func(yield func(replay.Event, error) bool) {
		var began time.Time
		for p, err := range n.Pieces(ctx, f) {
			e := replay.Event{}
			if err == nil {
				if p.Kind == recorded.Session {
					began = time.Time{}
				}
				if began.IsZero() {
					began = p.At
				}
				e = event(p, began)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// event returns what a piece means for masking.
func event(p recorded.Piece, began time.Time) replay.Event {
	e := replay.Event{
		Kind: eventKind(p.Kind), Person: !p.Own, Aside: !p.Own && !p.Person, Bytes: p.Bytes, Lines: p.Lines, Images: p.Images,
		Tool: p.Tool, ID: p.ID, Error: p.Error,
	}
	if p.Kind == recorded.Call {
		e.Use = policy.Describe(p.Tool, p.Input)
	}
	if r := p.Response; r != nil {
		u := r.Usage
		e.Model = r.Model
		e.Usage = &replay.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
	}
	if !p.At.IsZero() {
		e.At, e.Timed = p.At.Sub(began), true
	}
	return e
}

// eventKind returns the replay's word for a kind: most are the same.
func eventKind(k recorded.Kind) replay.Kind {
	if k == recorded.Call {
		return replay.KindCall
	}
	if k == recorded.Result {
		return replay.KindResult
	}
	return replay.Kind(k)
}

// formats returns the formats of recorded sessions: the agents' and our own.
func formats(a agents.All) []replay.Format {
	var all []replay.Format
	for _, one := range a {
		if r, ok := one.(recorded.Reader); ok {
			all = append(all, nativeFormat{r, one.Name()})
		}
	}
	return append(all, replay.Own{})
}

// printPlaces prints where the agents keep their sessions, and how many files there are.
func printPlaces(w io.Writer, a agents.All, environ []string) {
	var t page.Columns
	for _, one := range a {
		r, ok := one.(recorded.Reader)
		if !ok {
			continue
		}
		for _, place := range r.Places(environ) {
			found := "none here"
			if files, err := filepath.Glob(place); err == nil && len(files) > 0 {
				found = plaintext.Count(len(files), "file")
			}
			t.Row("  "+one.Name(), inHome(place, environ), found)
		}
	}
	t.Print(w)
}

// sessionReader reads the sessions of files.
type sessionReader struct {
	formats []replay.Format
	// add takes each session.
	add func(replay.Session) error
}

// read reads all sessions of a file, and says what of it could not be read. It returns an error if the file is of no
// known format (replay.ErrFormat), or nothing more is to be read.
func (r sessionReader) read(ctx context.Context, file string) (replayProblem, error) {
	problem := replayProblem{File: file}
	f, err := os.Open(file)
	if err != nil {
		problem.Error = err.Error()
		return problem, nil
	}
	defer f.Close()
	format, err := replay.Recognise(f, r.formats)
	if err != nil {
		problem.Error = err.Error()
		return problem, err
	}
	agent := format.Agent()
	if agent == "" {
		agent = agentNamed(file)
	}
	b, read, full := replay.NewBuilder(file, agent), false, false
	for e, err := range format.Read(ctx, f) {
		broken := (*lines.Broken)(nil)
		switch {
		case ctx.Err() != nil:
			return problem, ctx.Err()
		case errors.As(err, &broken):
			problem.Broken++
		case err == nil && e.Kind == replay.KindSession:
			if read {
				if err := r.add(b.Session()); err != nil {
					return problem, err
				}
			}
			b, full = replay.NewBuilder(file, agent), false
		case err == nil && !full:
			err = b.Add(e)
			full = errors.Is(err, replay.ErrLarge)
		}
		read = read || err == nil
		if err != nil && problem.Error == "" {
			problem.Error = err.Error()
		}
	}
	return problem, r.add(b.Session())
}

// replayProblem is what could not be read of a file: the first error, and how many lines are broken.
type replayProblem struct {
	File   string `json:"file"`
	Error  string `json:"error"`
	Broken int    `json:"brokenLines"`
}

func (p replayProblem) String() string {
	if p.Broken > 1 {
		return fmt.Sprintf("%s: %s (and %s more)", p.File, p.Error, plaintext.Count(p.Broken-1, "broken line"))
	}
	return p.File + ": " + p.Error
}

// agentNamed returns the agent in a name such as project__claude__id.jsonl, "" if there is none.
func agentNamed(file string) string {
	if parts := strings.Split(filepath.Base(file), "__"); len(parts) > 2 {
		return parts[1]
	}
	return ""
}

// inHome shortens a path in the home folder.
func inHome(path string, environ []string) string {
	if home := thread.Lookup(environ, "HOME"); home != "" {
		if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok {
			return "~" + string(filepath.Separator) + rest
		}
	}
	return path
}
