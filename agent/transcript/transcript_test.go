package transcript_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/agent/transcript"
	"orchestrator/thread"

	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func mark(name string, data []byte) thread.Mark {
	sum := sha256.Sum256(data)
	return thread.Mark{File: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

// TestReadIsTheFile appends, rewrites and truncates at random: what was read, put together, is
// always the file's whole lines, with a reader that remembers and with one that does not.
func TestReadIsTheFile(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	files := []transcript.File{{Name: "main", Path: "f"}}
	rapid.Check(t, func(rt *rapid.T) {
		r := transcript.NewReader()
		var file, got []byte
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			piece := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 40).Draw(rt, "piece")
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				file = bytes.Clone(piece)
			case 1:
				file = file[:rapid.IntRange(0, len(file)).Draw(rt, "cut")]
			default:
				file = append(file, piece...)
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "forget") {
				r = transcript.NewReader()
			}
			chunks, err := r.Read(root, files, []thread.Mark{mark("main", got)})
			if err != nil {
				rt.Fatal(err)
			}
			for _, c := range chunks {
				got = append(got[:c.Offset:c.Offset], c.Data...)
			}
			want := file[:bytes.LastIndexByte(file, '\n')+1]
			if len(chunks) > 0 && !bytes.Equal(got, want) {
				rt.Fatalf("read %q of %q", got, file)
			}
			if len(chunks) == 0 && !bytes.HasPrefix(file, got) && len(want) > 0 {
				rt.Fatalf("nothing new over %q in %q", got, file)
			}
		}
	})
}

// TestOtherContentIsNotTaken changes one byte of what was read, and nothing of its size.
func TestOtherContentIsNotTaken(t *testing.T) {
	root := t.TempDir()
	was := []byte("one\ntwo\n")
	marks := []thread.Mark{mark("main", was)}
	files := []transcript.File{{Name: "main", Path: "f"}}
	for content, same := range map[string]bool{"one\ntwo\n": true, "one\ntwo\nthree\n": true, "One\ntwo\n": false,
		"one\ntwO\nthree\n": false, "one\n": false} {
		if err := os.WriteFile(filepath.Join(root, "f"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		matched, whole, err := transcript.Verify(root, files, marks)
		if err != nil || whole != same || (matched == int64(len(was))) != same {
			t.Errorf("%q: %d bytes match, whole %v, %v", content, matched, whole, err)
		}
		if got := transcript.Matches([]byte(content), marks[0]); got != same {
			t.Errorf("%q matches: %v", content, got)
		}
		c, gained := transcript.Appended("main", []byte(content), marks)
		if want := int64(len(was)); gained && same != (c.Offset == want) {
			t.Errorf("%q gains %+v", content, c)
		}
	}
}

func TestAwaitSeesTheAnswerComeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		read := func() ([]thread.Chunk, error) {
			calls++
			if calls < 3 {
				return nil, nil
			}
			return []thread.Chunk{{File: "main", Data: []byte("the  answer\n")}}, nil
		}
		answer := transcript.Answer{File: "main", Text: "the answer", Read: func(line []byte) string { return string(line) }}
		chunks, err := answer.Await(t.Context(), read)
		if err != nil || len(chunks) != 1 || calls != 3 {
			t.Errorf("%d chunks after %d calls: %v", len(chunks), calls, err)
		}
	})
}

// TestAwaitSeesTheSameAnswerAgain: the file of a fork has the same answer in an earlier turn; the one that is meant comes
// late, and maybe its prompt, too. What is known of another, longer file says nothing.
func TestAwaitSeesTheSameAnswerAgain(t *testing.T) {
	const turn, asked, late = "prompt 1\nanswer one\n", "prompt 2\n", "answer one\n"
	for name, c := range map[string]struct {
		early, late string
		offset      int64
		known       int
		calls       int
		want        string
	}{
		"asked":                         {turn + asked, late, 0, 0, 3, turn + asked + late},
		"appended":                      {turn + asked, late, 700, 0, 1, turn},
		"appended to what is known":     {turn + asked, late, 700, 9, 1, turn},
		"not asked yet":                 {turn, asked + late, 0, 2, 3, turn + asked + late},
		"asked behind what is known":    {turn + asked, late, 0, 2, 3, turn + asked + late},
		"another turn follows at once":  {turn, asked + late + "prompt 3\n", 0, 2, 3, turn + asked + late},
		"the same again in what is new": {turn, asked + late + asked + late, 0, 2, 3, turn + asked + late + asked + late},
		"another, shorter file":         {turn, asked + late, 0, 9, 1, turn},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			read := func() ([]thread.Chunk, error) {
				data := c.early
				if calls++; calls > 2 {
					data += c.late
				}
				return []thread.Chunk{{File: "main", Offset: c.offset, Data: []byte(data)}}, nil
			}
			answer := transcript.Answer{File: "main", Text: "answer one", Known: c.known, Read: func(line []byte) string { return string(line) },
				Begins: func(line []byte) bool { return strings.HasPrefix(string(line), "prompt ") }}
			chunks, err := answer.Await(t.Context(), read)
			if err != nil || len(chunks) != 1 || string(chunks[0].Data) != c.want || calls != c.calls {
				t.Errorf("%s: %+v after %d calls: %v", name, chunks, calls, err)
			}
		})
	}
}

// TestAwaitEndsWithItsTime holds that what ended long ago is not waited for: a backlog of answers would grow.
func TestAwaitEndsWithItsTime(t *testing.T) {
	for name, tc := range map[string]struct{ by, want time.Duration }{
		"past": {-time.Minute, 0}, "now": {0, 0}, "soon": {300 * time.Millisecond, 300 * time.Millisecond},
		"a clock set back": {time.Hour, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				read := func() ([]thread.Chunk, error) { calls++; return nil, nil }
				a := transcript.Answer{File: "main", Text: "never", Read: func(line []byte) string { return string(line) },
					By: began.Add(tc.by)}
				if _, err := a.Await(t.Context(), read); err != nil || calls == 0 || time.Since(began) != tc.want {
					t.Errorf("waited %v, read %d times, %v", time.Since(began), calls, err)
				}
			})
		})
	}
}

func TestWrite(t *testing.T) {
	root, keep := t.TempDir(), t.TempDir()
	write := func(text string) error { return transcript.Write(root, "a/b.jsonl", []byte(text), keep) }
	is := func(want string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(root, "a/b.jsonl"))
		if err != nil || string(raw) != want {
			t.Errorf("holds %q, want %q (%v)", raw, want, err)
		}
	}
	for _, step := range []struct {
		write, want string
		conflict    bool
	}{
		{"1\n2\n", "1\n2\n", false},
		{"1\n", "1\n2\n", false},          // more is there
		{"1\n2\n3\n", "1\n2\n3\n", false}, // less is there
		{"x\n", "1\n2\n3\n", true},        // more of something else is there
		{"x\n2\n3\n4\n", "x\n2\n3\n4\n", false},
	} {
		if err := write(step.write); errors.Is(err, thread.ErrConflict) != step.conflict || !step.conflict && err != nil {
			t.Errorf("write %q: %v", step.write, err)
		}
		is(step.want)
	}
	kept, err := os.ReadDir(filepath.Join(keep, "replaced"))
	if err != nil || len(kept) != 2 {
		t.Errorf("%d copies kept, want 2 (%v)", len(kept), err)
	}
	left, err := os.ReadDir(filepath.Join(root, "a"))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files left, want 1 (%v)", len(left), err)
	}
	for _, bad := range []string{"../x", "/x", ""} {
		if err := transcript.Write(root, bad, nil, keep); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("write %q: %v", bad, err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := transcript.Write(root, "out/x", []byte("y\n"), keep); err == nil {
		t.Error("wrote through a symbolic link out of the root")
	}
}

func TestAwaitCutsTheNextTurn(t *testing.T) {
	text := func(line []byte) string {
		s, _ := strings.CutPrefix(string(line), "answer ")
		return s
	}
	begins := func(line []byte) bool { return strings.HasPrefix(string(line), "prompt ") }
	once, cancel := context.WithCancel(t.Context())
	cancel() // what is not there is not waited for
	for _, c := range []struct{ name, data, answer, want string }{
		{"a prompt that waited", "prompt 1\nanswer one\nmeta\nprompt 2\nanswer two\n", "one", "prompt 1\nanswer one\nmeta\n"},
		{"the same answer in an earlier turn", "prompt 1\nanswer one\nprompt 2\nanswer two\nprompt 3\nanswer one\nprompt 4\n", "one",
			"prompt 1\nanswer one\nprompt 2\nanswer two\nprompt 3\nanswer one\n"},
		{"a part of it in an earlier turn", "prompt 1\nanswer one and two\nprompt 2\nanswer two\n", "two", "prompt 1\nanswer one and two\nprompt 2\nanswer two\n"},
		{"nothing follows", "prompt 1\nanswer one\nmeta\n", "one", "prompt 1\nanswer one\nmeta\n"},
		{"not answered yet", "prompt 1\nprompt 2\n", "one", "prompt 1\nprompt 2\n"},
		{"no answer asked for", "prompt 1\nanswer one\nprompt 2\n", "", "prompt 1\nanswer one\nprompt 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			side := thread.Chunk{File: "side", Data: []byte("prompt x\n")}
			read := func() ([]thread.Chunk, error) {
				return []thread.Chunk{side, {File: "main", Data: []byte(c.data)}}, nil
			}
			got, err := transcript.Answer{File: "main", Text: c.answer, Read: text, Begins: begins}.Await(once, read)
			if err != nil || len(got) != 2 || string(got[0].Data) != "prompt x\n" || string(got[1].Data) != c.want {
				t.Errorf("got %+v (%v)", got, err)
			}
		})
	}
}
