package agenttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/rebuild"
)

// turns is the length of the sessions of the suite.
const turns = 5

// stored is what a store would keep of a session's files.
type stored map[string][]byte

// add appends chunks as a store does.
func (s stored) add(t *testing.T, chunks []thread.Chunk) {
	t.Helper()
	for _, c := range chunks {
		if c.Offset == 0 {
			s[c.File] = nil
		}
		if int64(len(s[c.File])) != c.Offset {
			t.Fatalf("%s: a chunk at %d with %d bytes stored", c.File, c.Offset, len(s[c.File]))
		}
		s[c.File] = append(s[c.File], c.Data...)
	}
}

func (s stored) marks() []thread.Mark {
	var marks []thread.Mark
	for name, data := range s {
		sum := sha256.Sum256(data)
		marks = append(marks, thread.Mark{File: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	}
	slices.SortFunc(marks, func(a, b thread.Mark) int { return strings.Compare(a.File, b.File) })
	return marks
}

func (s stored) files() []thread.TranscriptFile {
	var files []thread.TranscriptFile
	for name, data := range s {
		files = append(files, thread.TranscriptFile{File: name, Data: data})
	}
	slices.SortFunc(files, func(a, b thread.TranscriptFile) int { return strings.Compare(a.File, b.File) })
	return files
}

func (s stored) text() string {
	var all bytes.Buffer
	for _, f := range s.files() {
		all.Write(f.Data)
	}
	return all.String()
}

// native makes a session on a new bench.
func native(t *testing.T, s Subject) (*bench, string, Native) {
	t.Helper()
	b := newBench(t, s, s.NewVersion)
	session := s.NewSession()
	return b, session, s.Write(t, b.env, b.dir, session, turns)
}

func (b *bench) read(session string, marks []thread.Mark, answer string) []thread.Chunk {
	b.t.Helper()
	tr, ok := b.agent.(thread.Transcriber)
	if !ok {
		b.t.Fatal("is no Transcriber")
	}
	chunks, err := tr.ReadTranscript(b.t.Context(), thread.TranscriptSpec{
		Session: session, Dir: b.dir, Env: b.env, Marks: marks, Answer: answer,
	})
	if err != nil {
		b.t.Fatalf("read transcript: %v", err)
	}
	return chunks
}

func (b *bench) verify(session string, marks []thread.Mark) (int64, bool) {
	b.t.Helper()
	v, ok := b.agent.(thread.Verifier)
	if !ok {
		b.t.Fatal("is no Verifier")
	}
	n, whole, err := v.Verify(b.t.Context(), thread.TranscriptSpec{Session: session, Dir: b.dir, Env: b.env, Marks: marks})
	if err != nil {
		b.t.Fatalf("verify: %v", err)
	}
	return n, whole
}

func transcripts(t *testing.T, s Subject) {
	t.Run("read", func(t *testing.T) { readWhole(t, s) })
	t.Run("grow", func(t *testing.T) { grow(t, s) })
	t.Run("rewritten", func(t *testing.T) { rewritten(t, s) })
	t.Run("same answer", func(t *testing.T) { sameAnswer(t, s) })
	t.Run("refused", func(t *testing.T) { refused(t, s) })
	t.Run("usage", func(t *testing.T) { usage(t, s) })
	t.Run("divide", func(t *testing.T) { divide(t, s) })
	if !s.CannotFork {
		t.Run("repair", func(t *testing.T) { repair(t, s) })
		t.Run("fork", func(t *testing.T) { forkAt(t, s) })
	}
}

func readWhole(t *testing.T, s Subject) {
	b, session, _ := native(t, s)
	before := Hash(t, b.home)
	got := stored{}
	got.add(t, b.read(session, nil, fmt.Sprintf("answer-%d.", turns)))
	for i := 1; i <= turns; i++ {
		if !strings.Contains(got.text(), fmt.Sprintf("prompt-%d.", i)) ||
			!strings.Contains(got.text(), fmt.Sprintf("answer-%d.", i)) {
			t.Errorf("turn %d is missing", i)
		}
	}
	if c := b.read(session, got.marks(), ""); len(c) != 0 {
		t.Errorf("%d chunks without any change", len(c))
	}
	n, whole := b.verify(session, got.marks())
	if !whole || n != int64(len(got.text())) {
		t.Errorf("verify: %d of %d bytes, whole %v", n, len(got.text()), whole)
	}
	bad := got.marks()
	for i := range bad {
		bad[i].SHA256 = strings.Repeat("0", 64)
	}
	if n, whole := b.verify(session, bad); whole || n != 0 {
		t.Errorf("verify of other content: %d bytes, whole %v", n, whole)
	}
	other := s.NewSession()
	if c := b.read(other, nil, ""); len(c) != 0 {
		t.Errorf("%d chunks of a session that is not there", len(c))
	}
	if _, whole := b.verify(other, got.marks()); whole {
		t.Error("a session that is not there matches")
	}
	if after := Hash(t, b.home); after != before {
		t.Error("reading changed the agent's files")
	}
}

// grow reads a file that is cut at many places, as if it were being written.
func grow(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	if n.Main == "" {
		return
	}
	whole, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	got := stored{}
	step := max(1, len(whole)/97)
	for cut := 0; ; cut = min(cut+step, len(whole)) {
		if err := os.WriteFile(n.Main, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got.add(t, b.read(session, got.marks(), ""))
		end := bytes.LastIndexByte(whole[:cut], '\n') + 1
		if !bytes.Equal(got["main"], whole[:end]) {
			t.Fatalf("cut at %d: %d bytes, want %d", cut, len(got["main"]), end)
		}
		if cut == len(whole) {
			break
		}
	}
}

// rewritten reads a file that no longer begins as it did.
func rewritten(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	if n.Main == "" {
		return
	}
	got := stored{}
	got.add(t, b.read(session, nil, ""))
	whole, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"shorter":  whole[:n.Ends[1]],
		"replaced": append(bytes.Replace(whole, []byte("answer-1."), []byte("ANSWER-1."), -1), whole[n.Ends[0]:n.Ends[1]]...),
	} {
		if err := os.WriteFile(n.Main, data, 0o600); err != nil {
			t.Fatal(err)
		}
		again := stored{"main": bytes.Clone(got["main"])}
		again.add(t, b.read(session, got.marks(), ""))
		if !bytes.Equal(again["main"], data) {
			t.Errorf("%s: %d bytes, want %d", name, len(again["main"]), len(data))
		}
	}
}

// sameAnswer reads a session from its beginning while the next answer is awaited, which may be the same as an earlier
// turn's: after a session was written for a fork, and after the agent has changed what is stored. An answer in the known
// lines is not the awaited one.
func sameAnswer(t *testing.T, s Subject) {
	b, session, _ := native(t, s)
	got := stored{}
	got.add(t, b.read(session, nil, ""))
	main := got["main"]
	const none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no bytes
	third := main[:bytes.LastIndexByte(main[:bytes.Index(main, []byte("prompt-4."))], '\n')+1]
	for name, mark := range map[string]thread.Mark{
		"written for a fork": {File: "main", SHA256: none},
		"changed":            {File: "main", SHA256: strings.Repeat("0", 64), Size: int64(len(main))},
	} {
		read := func(known []byte, answer string, by time.Time) []byte {
			mark.Lines = bytes.Count(known, []byte("\n"))
			return b.chunks(thread.TranscriptSpec{
				Session: session, Dir: b.dir, Env: b.env, Marks: []thread.Mark{mark}, Answer: answer, By: by,
			})["main"]
		}
		by := time.Now().Add(200 * time.Millisecond)
		for _, answer := range []string{"answer-5.", "answer-2."} { // the last one, and one of several turns ago
			if whole := read(main, answer, by); time.Now().Before(by) || !bytes.Equal(whole, main) {
				t.Errorf("%s: the earlier %s is taken for the next one, %d of %d bytes", name, answer, len(whole), len(main))
			}
		}
		cut := read(third, "answer-4.", by)
		if !bytes.Contains(cut, []byte("answer-4.")) || bytes.Contains(cut, []byte("answer-5.")) || !bytes.HasPrefix(main, cut) {
			t.Errorf("%s: %d of %d bytes are read for the fourth turn", name, len(cut), len(main))
		}
	}
}

// chunks returns what is read, by file.
func (b *bench) chunks(spec thread.TranscriptSpec) stored {
	b.t.Helper()
	tr, ok := b.agent.(thread.Transcriber)
	if !ok {
		b.t.Fatal("is no Transcriber")
	}
	chunks, err := tr.ReadTranscript(b.t.Context(), spec)
	if err != nil {
		b.t.Fatalf("read transcript: %v", err)
	}
	got := stored{}
	got.add(b.t, chunks)
	return got
}

// refused reads a file that is not the agent's own.
func refused(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	if n.Main == "" {
		return
	}
	outside := filepath.Join(b.home, "elsewhere.jsonl")
	if err := os.Rename(n.Main, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, n.Main); err != nil {
		t.Fatal(err)
	}
	tr, ok := b.agent.(thread.Transcriber)
	if !ok {
		t.Fatal("is no Transcriber")
	}
	chunks, err := tr.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: session, Dir: b.dir, Env: b.env})
	if err == nil && len(chunks) > 0 {
		t.Error("a symbolic link was followed")
	}
}

func usage(t *testing.T, s Subject) {
	b, session, _ := native(t, s)
	u, ok := b.agent.(thread.UsageReader)
	if !ok {
		t.Fatal("is no UsageReader")
	}
	all, err := u.ReadUsage(b.read(session, nil, ""))
	if err != nil {
		t.Fatal(err)
	}
	ends, answers := 0, ""
	for _, e := range all {
		if !e.Main || e.Usage.Context() == 0 {
			t.Errorf("response %+v", e)
		}
		if e.EndsTurn {
			ends++
			answers += e.Text
		}
	}
	if ends != turns || !strings.Contains(answers, fmt.Sprintf("answer-%d.", turns)) {
		t.Errorf("%d turns end in %d responses, answers %q", ends, len(all), answers)
	}
}

// divide splits a session into its turns, from its beginning and from the end of each turn.
func divide(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	a, ok := b.agent.(rebuild.Agent)
	if !ok {
		t.Fatal("its turns cannot be told apart")
	}
	got := stored{}
	got.add(t, b.read(session, nil, ""))
	main := got["main"]
	ends := []int64{0}
	for from := 0; from <= turns; from++ {
		told, err := rebuild.Divide(a, main[ends[from]:], ends[from])
		if err != nil || len(told) != turns-from {
			t.Fatalf("%d turns from turn %d on: %v", len(told), from, err)
		}
		for i, turn := range told {
			k := from + i + 1
			last := turn.Said[len(turn.Said)-1]
			if !strings.HasPrefix(turn.Prompt, fmt.Sprintf("prompt-%d.", k)) ||
				!strings.Contains(last.Text, fmt.Sprintf("answer-%d.", k)) || !last.EndsTurn {
				t.Errorf("from turn %d: turn %d is %q, %+v", from, k, turn.Prompt, last)
			}
			// Bookkeeping that comes before the next prompt may belong to either.
			if n.Main != "" && (turn.End < n.Ends[k-1] ||
				k < turns && bytes.Contains(main[n.Ends[k-1]:turn.End], []byte(`"user"`))) {
				t.Errorf("from turn %d: turn %d ends at %d, want %d", from, k, turn.End, n.Ends[k-1])
			}
			if from == 0 {
				ends = append(ends, turn.End)
			}
		}
	}
}

func (b *bench) rebuild(spec thread.RebuildSpec) (string, error) {
	b.t.Helper()
	r, ok := b.agent.(thread.Rebuilder)
	if !ok {
		b.t.Fatal("is no Rebuilder")
	}
	spec.Env, spec.StateDir = b.env, b.state
	if len(spec.FromDirs) == 0 {
		spec.FromDirs = []string{b.dir}
	}
	if spec.Dir == "" {
		spec.Dir = b.dir
	}
	return r.Rebuild(b.t.Context(), spec)
}

// repair rebuilds a lost or damaged session, and leaves one alone that has grown since.
func repair(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	got := stored{}
	got.add(t, b.read(session, nil, ""))
	whole, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string]func() error{
		"lost": func() error { return os.Remove(n.Main) },
		"cut":  func() error { return os.WriteFile(n.Main, whole[:n.Ends[2]+10], 0o600) },
		"garbage": func() error {
			return os.WriteFile(n.Main, append(bytes.Clone(whole[:n.Ends[2]]), "\x00\x00\x00"...), 0o600)
		},
	}
	for name, do := range damage {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if _, ok := b.verify(session, got.marks()); ok {
			t.Errorf("%s: verifies", name)
		}
		id, err := b.rebuild(thread.RebuildSpec{Session: session, Files: got.files()})
		if err != nil || id != session {
			t.Fatalf("%s: rebuilt %q: %v", name, id, err)
		}
		if _, ok := b.verify(session, got.marks()); !ok {
			t.Errorf("%s: does not verify after the rebuild", name)
		}
	}
	longer := append(bytes.Clone(whole), whole[n.Ends[0]:n.Ends[1]]...)
	if err := os.WriteFile(n.Main, longer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.rebuild(thread.RebuildSpec{Session: session, Files: got.files()}); err != nil {
		t.Errorf("a session that has grown: %v", err)
	}
	if now, err := os.ReadFile(n.Main); err != nil || !bytes.Equal(now, longer) {
		t.Errorf("a longer session was overwritten (%v)", err)
	}
	other := bytes.ReplaceAll(longer, []byte("answer-1."), []byte("ANSWER-1."))
	if err := os.WriteFile(n.Main, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.rebuild(thread.RebuildSpec{Session: session, Files: got.files()}); err == nil {
		t.Error("a longer session of other content was accepted")
	}
	if now, err := os.ReadFile(n.Main); err != nil || !bytes.Equal(now, other) {
		t.Errorf("a longer session of other content was overwritten (%v)", err)
	}
}

// forkAt makes a new session of the first three turns in another folder.
func forkAt(t *testing.T, s Subject) {
	b, session, n := native(t, s)
	got := stored{}
	got.add(t, b.read(session, nil, ""))
	got["main"] = got["main"][:n.Ends[2]]
	fresh := s.NewSession()
	there := filepath.Join(filepath.Dir(b.dir), "fork work")
	if err := os.MkdirAll(there, 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.rebuild(thread.RebuildSpec{Session: session, NewSession: fresh, Dir: there, Files: got.files()})
	if err != nil {
		t.Fatal(err)
	}
	if id == session {
		t.Fatal("the fork has the session of its parent")
	}
	if after, err := os.ReadFile(n.Main); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the parent's file changed (%v)", err)
	}
	child := &bench{t: t, s: s, home: b.home, dir: there, state: b.state, env: b.env, agent: b.agent}
	forked := stored{}
	forked.add(t, child.read(id, nil, ""))
	text := forked.text()
	for i := 1; i <= turns; i++ {
		has := strings.Contains(text, fmt.Sprintf("prompt-%d.", i)) && strings.Contains(text, fmt.Sprintf("answer-%d.", i))
		any := strings.Contains(text, fmt.Sprintf("prompt-%d.", i)) || strings.Contains(text, fmt.Sprintf("answer-%d.", i))
		if (i <= 3) != has || (i > 3) == any {
			t.Errorf("turn %d: there is %v", i, any)
		}
	}
	if strings.Contains(text, session) {
		t.Error("the parent's session id is left in the fork")
	}
	_, err = b.rebuild(thread.RebuildSpec{Session: session, NewSession: fresh, Dir: there, Files: got.files()})
	if err == nil && id == fresh {
		t.Error("a second fork took the same session")
	}
	child.launch(thread.LaunchSpec{Dir: there, StateDir: b.state, Env: b.env, Session: id, Resume: true})
}
