package masks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// batchOf returns records that pin ids, or mask them, stored at once.
func batchOf(ids ...string) []byte {
	var b []byte
	for i, id := range ids {
		r := record{Kind: kindPin, ID: policy.ID(id)}
		if id == "m" {
			r = record{
				Kind: kindMask, Mask: &Mask{ID: "m", Stub: "stub\n\tof m", Token: "max:01234567"}, packed: encode([]byte("x")),
			}
		}
		if len(ids) > 1 {
			r.Part, r.Parts = i, len(ids)
		}
		var err error
		if b, err = appendLine(b, r); err != nil {
			panic(err) // of a test
		}
	}
	return b
}

// scanAll returns the ids of the records of a log.
func scanAll(t testing.TB, b []byte) (string, scanned) {
	t.Helper()
	var got []string
	found, err := scan(bytes.NewReader(b), func(r record) {
		id := string(r.ID)
		if r.Mask != nil {
			id = string(r.Mask.ID)
		}
		got = append(got, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, " "), found
}

// TestScan: which records of a log count after which damage.
func TestScan(t *testing.T) {
	one, three, four := batchOf("a"), batchOf("b", "m", "c"), batchOf("d", "e", "f", "g")
	line := func(b []byte, n int) []byte { return bytes.SplitAfter(b, []byte{'\n'})[n] }
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	rot := func(b []byte) []byte { b = bytes.Clone(b); b[12] ^= 1; return b }
	zero := func(b []byte) []byte { b = bytes.Clone(b); clear(b[4 : len(b)-1]); return b }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	hole := bytes.Replace(three, encode([]byte("x")), make([]byte, 4), 1)
	unknown, err := appendLine(nil, record{Kind: "future", Needs: []thread.ID{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		what    string
		log     []byte
		want    string
		dropped int // bytes at the end
		damaged int
	}{
		{"nothing", nil, "", 0, 0},
		{"all", join(one, three, four), "a b m c d e f g", 0, 0},
		{"no line", []byte("garbage"), "", 7, 0},
		{"an empty line", join(one, []byte("\n"), three), "a b m c", 0, 1},
		{"cut in the first line", join(one, cut(line(four, 0), 3)), "a", len(cut(line(four, 0), 3)), 0},
		{"cut in the last line", join(one, cut(four, 1)), "a", len(four) - 1, 0},
		{"cut between lines", join(one, line(four, 0), line(four, 1)), "a", len(line(four, 0)) + len(line(four, 1)), 0},
		{"rot of the first", join(rot(one), three), "b m c", 0, 1},
		{"rot of a begin", join(one, rot(line(four, 0)), line(four, 1), line(four, 2), line(four, 3)), "a e f g", 0, 1},
		{"rot inside", join(line(three, 0), rot(line(three, 1)), line(three, 2), one), "b c a", 0, 1},
		{"rot of an end", join(line(three, 0), line(three, 1), rot(line(three, 2)), one), "b m a", 0, 1},
		{"rot of the very end", join(one, line(three, 0), line(three, 1), rot(line(three, 2))), "a b m", 0, 1},
		{"zeros inside", join(line(three, 0), zero(line(three, 1)), line(three, 2), one), "b c a", 0, 1},
		{"zeros in the last", join(one, line(three, 0), zero(line(three, 1)), line(three, 2)), "a", len(three), 1},
		{"zeros at its begin", join(one, zero(line(three, 0)), line(three, 1), line(three, 2)), "a", len(three), 1},
		{"zeros in a content", join(one, hole), "a", len(three), 0},
		{"zeros and no end", join(one, make([]byte, 5000)), "a", 5000, 0},
		{"a newer build", join(one, unknown, three), "a  b m c", 0, 0},
	} {
		got, found := scanAll(t, tc.log)
		if got != tc.want || found.end != int64(len(tc.log)-tc.dropped) || found.damaged != tc.damaged {
			t.Errorf("%s: %q, %d of %d bytes, %d damaged; want %q, %d, %d", tc.what, got, found.end, len(tc.log), found.damaged,
				tc.want, len(tc.log)-tc.dropped, tc.damaged)
		}
	}
}

// TestCut: of a log that is cut off at any byte, the batches before are left.
func TestCut(t *testing.T) {
	one, three := batchOf("a"), batchOf("b", "m", "c")
	log := append(bytes.Clone(one), three...)
	for at := range len(log) + 1 {
		want, end := "", 0
		if at >= len(one) {
			want, end = "a", len(one)
		}
		if at == len(log) {
			want, end = "a b m c", at
		}
		if got, found := scanAll(t, log[:at]); got != want || found.end != int64(end) || found.damaged > 0 {
			t.Fatalf("cut at %d: %q, end %d, %d damaged; want %q, %d", at, got, found.end, found.damaged, want, end)
		}
	}
}

// TestLongLine: a line that is too long is skipped, and costs no memory; the next one is read.
func TestLongLine(t *testing.T) {
	const limit = 100_000
	in := bufio.NewReader(strings.NewReader(strings.Repeat("x", 50*limit) + "\nnext\n"))
	var line []byte
	if size, err := readLine(in, &line, limit); size != 50*limit+1 || err != nil || len(line) > 0 || cap(line) > 2*limit {
		t.Errorf("%d bytes, %d of them in memory (%v)", size, cap(line), err)
	}
	if size, err := readLine(in, &line, limit); size != 5 || err != nil || string(line) != "next" {
		t.Errorf("then %q (%v)", line, err)
	}
	if _, err := readLine(in, &line, limit); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// FuzzScan: whatever is in a log, what is read is the same the next time, when more was stored.
func FuzzScan(f *testing.F) {
	three := batchOf("b", "m", "c")
	f.Add([]byte(nil))
	f.Add(append(batchOf("a"), three...))
	f.Add(three[:len(three)-9])
	f.Add(bytes.ReplaceAll(three, []byte("stub"), []byte("\x00\x00\n\x00")))
	f.Add(append([]byte("\x00\n"), three[len(batchOf("b"))+12:]...))
	f.Add([]byte("00000000 {}\n\n\t\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		before, found := scanAll(t, b)
		if found.end < 0 || found.end > int64(len(b)) {
			t.Fatalf("the log of %d bytes ends at %d", len(b), found.end)
		}
		after, again := scanAll(t, append(bytes.Clone(b[:found.end]), batchOf("new", "newer")...))
		want := strings.TrimPrefix(before+" new newer", " ")
		if after != want && " "+after != before+" new newer" || again.end != found.end+int64(len(batchOf("new", "newer"))) {
			t.Fatalf("%q became %q, end %d after %d", before, after, again.end, found.end)
		}
		x := newIndex()
		_, err := scan(bytes.NewReader(b), func(r record) {
			x.apply("t", r, func(home thread.ID, token thread.Token) string { return fmt.Sprint(home, token) })
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range x.masks {
			if err := m.check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
