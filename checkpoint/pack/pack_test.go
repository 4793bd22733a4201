package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
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
	if k.Row.Data, err = k.Data(); err != nil {
		t.Fatal(err)
	}
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
		switch r.Intn(8) {
		case 0:
			row.Data = row.Data[:r.Intn(len(row.Data))]
		case 1:
			row.Data, row.Parent = s[k].Data, int64(r.Intn(12))
		case 2:
			row.Data, row.Seq = s[k].Data, row.Seq+1
		case 3:
			row.Data = s[int64(1+r.Intn(12))].Data
		}
		bad[k] = row
		got, err := New().Conversation(t.Context(), bad, n, 12)
		if err == nil {
			for i := range want {
				if !bytes.Equal(got[i].Raw, want[i].Raw) {
					t.Fatalf("row %d damaged: item %d is wrong and nobody says so", k, i)
				}
			}
			continue
		}
		if !errors.Is(err, thread.ErrDamaged) && !errors.Is(err, thread.ErrNotFound) {
			t.Fatalf("row %d damaged: %v", k, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x02{}"))
	f.Add([]byte(`` + "\x30" + `{"c":{},"k":1,"i":[{"l":9}],"f":[{"n":"","o":[1,2]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		row := Row{ID: "x"}
		r := &record{row: row, raw: raw}
		_ = r
		p := New()
		if _, err := p.codec.ungroup([][]byte{raw}, 0); err == nil {
			t.Log("a frame")
		}
		row.Sum = Seal(sum(raw), 0)
		if r, err := open(row, raw); err == nil { // sealed but senseless, as from a hostile writer
			r.itemSpans()
			r.newItems()
			for _, e := range r.head.Files {
				r.fileSpans(e.Name)
			}
		}
	})
}

func sum(b []byte) [32]byte { return sha256.Sum256(b) }
