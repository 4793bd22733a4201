package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/checkpoint/quarantine"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// files are a store's files by what follows its name.
type files map[string][]byte

// taken is a store as a kill would leave it, with what was acknowledged.
type taken struct {
	files files
	want  map[thread.CheckpointID][]thread.Item
}

// take copies the files of a live store: that is what a kill -9 leaves.
func take(t testing.TB, path string) files {
	t.Helper()
	out := files{}
	for _, end := range []string{"", "-wal", "-shm", "-mark"} {
		b, err := os.ReadFile(path + end)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil {
			out[end] = b
		}
	}
	return out
}

// lay puts files where a store is opened next.
func (f files) lay(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	for end, b := range f {
		if err := os.WriteFile(path+end, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// with is a copy with one file changed; nil removes it.
func (f files) with(end string, b []byte) files {
	out := maps.Clone(f)
	if out[end] = b; b == nil {
		delete(out, end)
	}
	return out
}

func flipped(b []byte, at int, bit int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1 << bit
	return b
}

// killed makes a store of three threads with four turns each, as a demo leaves it, and kills it. before is called
// after the first half.
func killed(t testing.TB, before func(*sqlite.Store)) taken {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	p := newProse()
	var talks []*talk
	for i := range 3 {
		talks = append(talks, newTalk(t, s, fmt.Sprintf("t-%04d", i)))
	}
	k := taken{want: map[thread.CheckpointID][]thread.Item{}}
	for turn := range 4 {
		for _, one := range talks {
			one.say(p.text(300), p.text(900))
			items, err := s.Conversation(t.Context(), one.head.ID)
			if err != nil {
				t.Fatal(err)
			}
			k.want[one.head.ID] = items
		}
		if turn == 1 && before != nil {
			before(s)
		}
	}
	k.files = take(t, path)
	return k
}

// result is what became of a damaged store.
type result struct {
	refused error
	lost    int
	report  *sqlite.Report
}

// start opens a store after a kill and damage. What it shows is right; what it does not show, it names.
func (k taken) start(t *testing.T, f files, what string) result {
	t.Helper()
	path := f.lay(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		if !errors.Is(err, thread.ErrInvalid) && !errors.Is(err, thread.ErrUnsupported) {
			t.Errorf("%s blocks the start: %v", what, err)
		}
		return result{refused: err}
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}()
	r := result{report: s.Report()}
	for id, want := range k.want {
		got, err := s.Conversation(t.Context(), id)
		if errors.Is(err, thread.ErrNotFound) {
			r.lost++
			continue
		}
		if errors.Is(err, thread.ErrDamaged) {
			continue // named by every reader
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: checkpoint %s has %d items, want %d: %v", what, id, len(got), len(want), err)
		}
		for i := range got {
			if !bytes.Equal(got[i].Raw, want[i].Raw) {
				t.Fatalf("%s: checkpoint %s, item %d is wrong and nobody says so", what, id, i)
			}
		}
	}
	if r.lost > 0 && r.report == nil {
		t.Errorf("SILENT LOSS: %s: %d of %d acknowledged checkpoints are gone and nothing is reported", what, r.lost,
			len(k.want))
	}
	if r.report != nil {
		notices(t, path, what)
	}
	newTalk(t, s, "new-0001").say("and it", "goes on")
	return r
}

// notices checks that a report stays until it is read.
func notices(t *testing.T, path, what string) {
	t.Helper()
	dir, err := private.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if said, err := quarantine.Notices(dir); err != nil || len(said) == 0 {
		t.Errorf("%s: nothing is noticed: %v", what, err)
	}
}

// TestDamagedLog is what a flipped bit, a cut, a missing or another database's log do to a store that was killed before
// anything was folded: the whole of it lies in the log.
func TestDamagedLog(t *testing.T) {
	k, other := killed(t, nil), killed(t, nil)
	wal := k.files["-wal"]
	if len(wal) < 20_000 {
		t.Fatalf("the log has %d bytes: all of it should lie there", len(wal))
	}
	if r := k.start(t, k.files, "a kill"); r.report != nil || r.lost > 0 {
		t.Errorf("a kill alone: %+v", r)
	}
	if r := k.start(t, k.files.with("-shm", bytes.Repeat([]byte("junk"), 9000)), "junk in the index"); r.report != nil ||
		r.lost > 0 {
		t.Errorf("junk in the log's index: %+v", r)
	}
	for bit := range 8 {
		r := k.start(t, k.files.with("-wal", flipped(wal, 8080, bit)), fmt.Sprintf("bit %d at 8080", bit))
		if r.report == nil || r.report.Quarantined == "" || r.lost > 0 {
			t.Errorf("one bit at 8080: %d lost, %+v", r.lost, r.report)
		}
	}
	for n := range 7 {
		what := fmt.Sprintf("cut at %d/7", n)
		if r := k.start(t, k.files.with("-wal", wal[:n*len(wal)/7]), what); r.report == nil || r.lost == 0 {
			t.Errorf("%s: %+v", what, r)
		}
	}
	for what, f := range map[string]files{
		"missing": k.files.with("-wal", nil), "another's": k.files.with("-wal", other.files["-wal"]),
		"junk": k.files.with("-wal", bytes.Repeat([]byte{0xa5}, len(wal))),
	} {
		if r := k.start(t, f, what); r.report == nil || r.report.Missing == 0 {
			t.Errorf("a log that is %s: %+v", what, r)
		}
	}
	for what, f := range map[string]files{
		"of 0 bytes": k.files.with("", []byte{}), "missing": k.files.with("", nil),
	} {
		if r := k.start(t, f, what); r.report == nil || r.refused != nil {
			t.Errorf("a database %s with its log: %+v", what, r)
		}
	}
	if r := k.start(t, files{"-mark": k.files["-mark"]}, "all but the mark gone"); r.report == nil {
		t.Error("a mark without a database says nothing")
	}
}

// TestRandomLoss damages the files of killed stores in many ways: nothing that was acknowledged is lost in silence.
func TestRandomLoss(t *testing.T) {
	bases := []taken{killed(t, nil), killed(t, func(s *sqlite.Store) { sqlite.Fold(t, s) })}
	rnd := rand.New(rand.NewSource(11))
	n := rounds(t, 60)
	reported, lost, refused, all := 0, 0, 0, 0
	for i := range n {
		k := bases[i%len(bases)]
		other := bases[(i+1)%len(bases)]
		end := []string{"-wal", "", "-mark", "-wal", ""}[i%5]
		b := slices.Clone(k.files[end])
		kind := []string{"bit", "bits", "zeros", "noise", "cut", "gone", "other"}[rnd.Intn(7)]
		at := rnd.Intn(len(b))
		switch kind {
		case "bit":
			b[at] ^= 1 << rnd.Intn(8)
		case "bits":
			for range 5 {
				b[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8)
			}
		case "zeros":
			clear(b[at:min(at+512, len(b))])
		case "noise":
			rnd.Read(b[at:min(at+2048, len(b))])
		case "cut":
			b = b[:at]
		case "gone":
			b = nil
		case "other":
			b = other.files[end]
		}
		r := k.start(t, k.files.with(end, b), fmt.Sprintf("round %d: %s in %q at %d", i, kind, end, at))
		all += len(k.want)
		lost += r.lost
		if r.report != nil {
			reported++
		}
		if r.refused != nil {
			refused++
		}
	}
	t.Logf("%d rounds: %d reported, %d refused by name, %d of %d checkpoints lost, 0 in silence", n, reported, refused,
		lost, all)
}

// TestAFailedCommitIsNotMarked: a mark that is ahead of its database would name a loss that never was.
func TestAFailedCommitIsNotMarked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CreateThread(t.Context(), thread.Thread{ID: "a", Name: "a-1"}); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(path + "-mark")
	if err != nil {
		t.Fatal(err)
	}
	sqlite.FailCommits(t, s)
	if err := s.CreateThread(t.Context(), thread.Thread{ID: "b", Name: "b-1"}); err == nil {
		t.Error("a commit that failed was acknowledged")
	}
	if now, err := os.ReadFile(path + "-mark"); err != nil || !bytes.Equal(now, was) {
		t.Errorf("a commit that failed is marked (%v)", err)
	}
	if err := take(t, path).reopened(t); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// reopened reports what a store that is opened on the files says that it lost.
func (f files) reopened(t testing.TB) error {
	t.Helper()
	s, err := sqlite.Open(t.Context(), f.lay(t), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // nothing was written
	if r := s.Report(); r != nil {
		return fmt.Errorf("reported %+v", *r)
	}
	return nil
}
