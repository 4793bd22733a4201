package workfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// file makes a file of n work sessions.
func file(tb testing.TB, n int) []byte {
	tb.Helper()
	out := []byte(head + "\n")
	for i := range n {
		line, err := encode(lineSession, work.Whole{Session: &work.Session{Name: fmt.Sprintf("work-%03d", i)}})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, line...)
	}
	return out
}

// TestScanDamage flips each byte of a file, one at a time: at most the line with it is lost, and the places of the others
// are right.
func TestScanDamage(t *testing.T) {
	t.Parallel()
	const n = 5
	good := file(t, n)
	for at := len(head) + 1; at < len(good); at++ {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		found, err := scan(bytes.NewReader(bad))
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		kept := found.of[lineSession]
		if found.lost == 0 || len(kept) < n-2 || len(kept) > n-1 {
			t.Fatalf("byte %d: %d lines, %d lost", at, len(kept), found.lost)
		}
		for _, p := range kept {
			if doc := bad[p.at : p.at+p.size]; !bytes.HasPrefix(doc, []byte(`{"session":`)) || !bytes.HasSuffix(doc, []byte("}")) {
				t.Fatalf("byte %d: %q", at, doc)
			}
		}
	}
	for size := range len(good) {
		found, err := scan(bytes.NewReader(good[:size]))
		if size < len(head) && err == nil {
			t.Fatalf("%d bytes are taken for a file", size)
		}
		if err == nil && len(found.of[lineSession])+found.lost > n {
			t.Fatalf("%d bytes: %d lines and %d lost", size, len(found.of[lineSession]), found.lost)
		}
	}
}

// TestScanRefuses what is none of ours, and a newer one with another word.
func TestScanRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": thread.ErrInvalid, "SQLite format 3\x00": thread.ErrInvalid, "orchestrator-record 2\n": thread.ErrUnsupported,
		strings.Repeat("x", 2<<20): thread.ErrInvalid, "orchestrator-record\n": thread.ErrInvalid,
	} {
		if err := Check(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

// FuzzScan reads anything, and what it takes has its hash.
func FuzzScan(f *testing.F) {
	f.Add(file(f, 2))
	f.Add([]byte(head))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := scan(bytes.NewReader(b))
		if err != nil {
			return
		}
		for kind, places := range found.of {
			for _, p := range places {
				if p.at < 0 || p.at+p.size > int64(len(b)) || sum(append([]byte{kind, ' '}, b[p.at:p.at+p.size]...)) != string(b[p.at-sumSize-3:p.at-3]) {
					t.Fatalf("%c %+v", kind, p)
				}
			}
		}
	})
}
