package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/thread"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

// rows is a Source in memory.
type rows map[int64]Row

func (s rows) Lineage(_ context.Context, n int64, limit int) ([]Row, error) {
	var out []Row
	for ; n != 0 && len(out) < limit; n = s[n].Parent {
		r, there := s[n]
		if !there {
			if len(out) == 0 {
				return nil, thread.ErrNotFound
			}
			break
		}
		out = append(out, r)
	}
	return out, nil
}

// put packs and keeps one checkpoint.
func (s rows) put(t testing.TB, p *Packer, parent int64, d thread.Delta) int64 {
	t.Helper()
	n := int64(len(s) + 1)
	c := thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint("c", n)), Thread: "t"}
	if parent != 0 {
		c.Parent = s[parent].ID
	}
	k, err := p.Pack(t.Context(), s, parent, c, d)
	if err != nil {
		t.Fatal(err)
	}
	k.Row.N, k.Row.Seq = n, n
	k.Row.Sum = Seal(k.Plain, n)
	s[n] = k.Row
	p.Done(k, n)
	return n
}

func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		old := text(r, r.Intn(4000))
		var now []byte
		for range r.Intn(6) {
			switch a := r.Intn(len(old) + 1); r.Intn(3) {
			case 0:
				now = append(now, old[a:]...)
			case 1:
				now = append(now, old[:a]...)
			default:
				now = append(now, text(r, r.Intn(200))...)
			}
		}
		runs, lit := diff(old, now)
		var got []byte
		for i := 0; i < len(runs); i += 3 {
			got = append(append(got, lit[:runs[i]]...), old[runs[i+1]:runs[i+1]+runs[i+2]]...)
			lit = lit[runs[i]:]
		}
		if !bytes.Equal(got, now) || len(lit) != 0 {
			t.Fatalf("got %q, want %q", got, now)
		}
	})
}

func text(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefgh \n"[r.Intn(10)]
	}
	return b
}

// TestRewriteIsSmall rewrites a file as agents do: a changed head and a new tail, and an id in every line.
func TestRewriteIsSmall(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	s, p := rows{}, New()
	var lines []string
	for n := range 400 {
		lines = append(lines, fmt.Sprintf(`{"session":"SESSION","n":%d,"text":"%x"}`, n, text(r, 400)))
	}
	file := strings.Join(lines, "\n")
	n := s.put(t, p, 0, thread.Delta{Transcript: []thread.Chunk{{File: "main", Data: []byte(file)}}})
	for i, now := range []string{
		`{"updated":1}` + file + `{"tail":1}`,
		strings.ReplaceAll(file, "SESSION", "0123456789abcdef"),
	} {
		n2 := s.put(t, p, n, thread.Delta{Transcript: []thread.Chunk{{File: "main", Data: []byte(now)}}})
		if got := len(s[n2].Data); got > len(file)/20 {
			t.Errorf("rewrite %d of %d bytes takes %d", i, len(file), got)
		}
		files, err := New().Transcript(t.Context(), s, s[n2])
		if err != nil || string(files[0].Data) != now {
			t.Fatalf("rewrite %d comes back wrong: %v", i, err)
		}
	}
}

// TestDamage flips every part of stored rows: a wrong byte is never read as right.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	s, p := rows{}, New()
	var n int64
	for i := range 12 {
		n = s.put(t, p, n, thread.Delta{Keep: i, Items: []thread.Item{{Wire: "w", Raw: text(r, 300)}},
			Transcript: []thread.Chunk{{File: "main", Offset: int64(i * 100), Data: text(r, 100)}}})
	}
	want, err := New().Conversation(t.Context(), s, n, 12)
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		bad := rows{}
		for k, v := range s {
			bad[k] = v
		}
		k := int64(1 + r.Intn(12))
		row := bad[k]
		row.Data = slices.Clone(row.Data)
		row.Data[r.Intn(len(row.Data))] ^= 1 << r.Intn(8)
		switch r.Intn(11) {
		case 0:
			row.Data = row.Data[:r.Intn(len(row.Data))]
		case 1:
			row.Data, row.Parent = s[k].Data, int64(r.Intn(12))
		case 2:
			row.Data, row.Seq = s[k].Data, row.Seq+1
		case 3:
			row.Data = s[int64(1+r.Intn(12))].Data
		case 4:
			row.Data, row.Chain = s[k].Data, r.Intn(40)-20
		case 5:
			row.Data, row.Parent = s[k].Data, -row.Parent
		case 6:
			row.Data, row.Items = s[k].Data, r.Intn(40)-20
		}
		bad[k] = row
		got, err := New().Conversation(t.Context(), bad, n, bad[n].Items)
		if _, err := New().Verify(t.Context(), bad, row); err != nil && !errors.Is(err, thread.ErrDamaged) &&
			!errors.Is(err, thread.ErrNotFound) {
			t.Fatalf("row %d damaged: verified: %v", k, err)
		}
		if err == nil {
			for i := range want {
				if !bytes.Equal(got[i].Raw, want[i].Raw) {
					t.Fatalf("row %d damaged: item %d is wrong and nobody says so", k, i)
				}
			}
			continue
		}
		if !errors.Is(err, thread.ErrDamaged) {
			t.Fatalf("row %d damaged: %v", k, err)
		}
	}
}

// TestDamagedCount reads conversations by rows whose count of items is not what their records hold: all are refused,
// and nothing is allocated for what no record has confirmed.
func TestDamagedCount(t *testing.T) {
	s, p := rows{}, New()
	var n int64
	for i := range 3 {
		n = s.put(t, p, n, thread.Delta{Keep: i, Items: []thread.Item{{Wire: "w", Raw: []byte("an item")}}})
	}
	for _, count := range []int{-1, 0, 2, 4, 1 << 50} {
		bad := maps.Clone(s)
		row := bad[n]
		row.Items = count
		bad[n] = row
		if got, err := New().Conversation(t.Context(), bad, n, count); !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("a count of %d instead of 3: %d items, %v", count, len(got), err)
		}
		if _, err := New().Verify(t.Context(), bad, row); !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("a count of %d instead of 3 is verified: %v", count, err)
		}
		got, err := New().Conversation(t.Context(), s, n, count)
		if count >= 0 && count <= 3 {
			if err != nil || len(got) != count {
				t.Errorf("the first %d items of whole rows: %d, %v", count, len(got), err)
			}
		} else if !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("%d items of whole rows that hold 3: %v", count, err)
		}
	}
}

// sealed is a row that holds a record as somebody made it, with the right hash.
func sealed(t testing.TB, p *Packer, raw plain, h head) Row {
	t.Helper()
	data, err := p.frames.alone(raw)
	if err != nil {
		t.Fatal(err)
	}
	c := h.Checkpoint
	return Row{N: 1, ID: c.ID, Seq: 1, Items: c.Items, Turn: c.Turn, Kind: c.Kind, Raw: raw.size(),
		Sum: Seal(raw.sum(), 1), Data: data}
}

// TestTranscriptHash reads a native file whose record is whole and whose own hash is another's: it is refused.
func TestTranscriptHash(t *testing.T) {
	p := New()
	body := []byte("a line\n")
	for hash, ok := range map[[32]byte]bool{sum(body): true, sum([]byte("another")): false} {
		h := head{Checkpoint: thread.Checkpoint{ID: "x"}, Files: []fileEntry{{Name: "main", Len: int64(len(body))}},
			Marks: []markEntry{{Name: "main", Size: int64(len(body)), Hash: hex.EncodeToString(hash[:])}}, Full: true}
		raw, err := join(h, body)
		if err != nil {
			t.Fatal(err)
		}
		row := sealed(t, p, raw, h)
		files, err := p.Transcript(t.Context(), rows{1: row}, row)
		switch {
		case ok && (err != nil || len(files) != 1 || string(files[0].Data) != string(body)):
			t.Errorf("the right hash: %v, %v", files, err)
		case !ok && !errors.Is(err, thread.ErrDamaged):
			t.Errorf("a wrong hash: %v, %v", files, err)
		}
	}
}

// TestThreadOfAnotherSum opens a thread's document under the sum of another one, and another thread's under its own.
func TestThreadOfAnotherSum(t *testing.T) {
	p := New()
	older, olderSum, err := p.Thread(thread.Thread{ID: "a", Label: "older"})
	if err != nil {
		t.Fatal(err)
	}
	newer, newerSum, err := p.Thread(thread.Thread{ID: "a", Label: "newer"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id       thread.ID
		doc, sum []byte
		ok       bool
	}{
		{"a", older, olderSum, true}, {"a", newer, newerSum, true},
		{"a", older, newerSum, false}, {"a", newer, nil, false}, {"b", newer, newerSum, false},
	} {
		got, err := p.OpenThread(c.id, c.doc, c.sum)
		if c.ok && err != nil || !c.ok && !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("thread %s, sum %.4x: %+v, %v", c.id, c.sum, got, err)
		}
	}
}

// FuzzOpen opens records that carry the right hash and may make no sense, as from a hostile writer: one is refused as
// damaged, or all that it describes lies within it. The same record under another hash or number is always refused.
func FuzzOpen(f *testing.F) {
	for _, h := range []head{{Checkpoint: thread.Checkpoint{ID: "x"}},
		{Checkpoint: thread.Checkpoint{ID: "x", Items: 1}, Items: []itemEntry{{Wire: "w", Len: 2}},
			Files: []fileEntry{{Name: "main", Len: 1}}, Marks: []markEntry{{Name: "main", Size: 1}}}} {
		raw, err := join(h, []byte("{}a")[:3*h.Checkpoint.Items])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(slices.Concat(raw...), h.Checkpoint.Items)
	}
	f.Fuzz(func(t *testing.T, raw []byte, items int) {
		row := Row{ID: "x", Seq: 1, Items: items, Sum: Seal(sum(raw), 1)}
		r, err := open(row, raw)
		if err != nil {
			if !errors.Is(err, thread.ErrDamaged) {
				t.Errorf("not said to be damaged: %v", err)
			}
			return
		}
		total := int64(0)
		for _, e := range r.head.Items {
			total += int64(e.Len)
		}
		for _, e := range r.head.Files {
			total += e.Len
			for i := 0; i < len(e.Runs); i += 3 {
				total += e.Runs[i]
			}
			r.fileSpans(e.Name)
		}
		if total != int64(len(r.body)) || r.head.Checkpoint.Items != items {
			t.Errorf("%d bytes are described, %d are there", total, len(r.body))
		}
		r.itemSpans()
		r.newItems()
		r.marks()
		row.Seq++
		if _, err := open(row, raw); !errors.Is(err, thread.ErrDamaged) {
			t.Errorf("under another number: %v", err)
		}
	})
}

// FuzzPut puts conversations and files and reads them back: they are what was put.
func FuzzPut(f *testing.F) {
	f.Add([]byte("hello"), []byte("hello, world"), []byte("log\n"), 3)
	f.Add([]byte(""), []byte("x"), []byte(""), 0)
	p := New()
	f.Fuzz(func(t *testing.T, one, two, file []byte, at int) {
		if at < 0 || at > len(file) {
			at = len(file)
		}
		s := rows{}
		a := s.put(t, p, 0, thread.Delta{Items: []thread.Item{{Wire: "w", Raw: one}},
			Transcript: []thread.Chunk{{File: "main", Data: file}}})
		b := s.put(t, p, a, thread.Delta{Keep: 1, Items: []thread.Item{{Wire: "w", Raw: two}},
			Transcript: []thread.Chunk{{File: "main", Offset: int64(at), Data: one}}})
		got, err := p.Conversation(t.Context(), s, b, 2)
		if err != nil || !bytes.Equal(got[0].Raw, one) || !bytes.Equal(got[1].Raw, two) {
			t.Fatalf("%q, %v", got, err)
		}
		files, err := p.Transcript(t.Context(), s, s[b])
		if err != nil || len(files) != 1 || !bytes.Equal(files[0].Data, append(bytes.Clone(file[:at]), one...)) {
			t.Fatalf("%q, %v", files, err)
		}
	})
}

func sum(b []byte) [32]byte { return sha256.Sum256(b) }
