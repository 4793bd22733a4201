package pack

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/thread"
)

// TestTree grows a random tree of checkpoints on more lines than groups can be open, with puts that fail and
// restarts in between: every conversation comes back.
func TestTree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(rt, "seed")))
		s, p := rows{}, New()
		want := map[int64][][]byte{0: nil}
		tips := []int64{0}
		for range 10 + r.Intn(60) {
			i := r.Intn(len(tips))
			switch r.Intn(20) {
			case 0:
				p = New()
			case 1:
				p.Forget()
			case 2: // a fork, anywhere
				i = len(tips)
				tips = append(tips, int64(r.Intn(len(s)+1)))
			case 3:
				s.fail(t, p, tips[i], text(r, 100))
			}
			parent := tips[i]
			raw := text(r, 1+r.Intn(400))
			switch r.Intn(60) {
			case 0, 1, 2:
				raw = bytes.Repeat(raw, groupLimit/4/len(raw))
			case 3:
				raw = bytes.Repeat(raw, groupLimit/len(raw)+1)
			}
			n := s.put(t, p, parent, thread.Delta{Keep: len(want[parent]), Items: []thread.Item{{Wire: "w", Raw: raw}}})
			want[n] = append(slices.Clone(want[parent]), raw)
			tips[i] = n
		}
		reader := New()
		for _, n := range tips {
			if n == 0 {
				continue
			}
			items := want[n]
			got, err := reader.Conversation(t.Context(), s, n, len(items))
			if err != nil {
				rt.Fatal(err)
			}
			for i := range items {
				if !bytes.Equal(got[i].Raw, items[i]) {
					rt.Fatalf("checkpoint %d: item %d is wrong", n, i)
				}
			}
		}
	})
}

// fail packs a checkpoint that is not stored.
func (s rows) fail(t testing.TB, p *Packer, parent int64, raw []byte) {
	t.Helper()
	c := thread.Checkpoint{ID: "lost", Thread: "t"}
	d := thread.Delta{Items: []thread.Item{{Wire: "w", Raw: raw}}}
	if r, there := s[parent]; there {
		c.Parent, d.Keep = r.ID, r.Items
	}
	k, err := p.Pack(t.Context(), s, parent, c, d)
	if err != nil {
		t.Fatal(err)
	}
	p.Done(k, 0)
}

// TestOpenGroups puts on many lines in turn: as many groups as may be open go on, and lines that rest give
// theirs to others.
func TestOpenGroups(t *testing.T) {
	s, p := rows{}, New()
	round := func(tips []int64, turns int) (chained int) {
		for range turns {
			for i, n := range tips {
				tips[i] = s.put(t, p, n, thread.Delta{Keep: s[n].Items,
					Items: []thread.Item{{Wire: "w", Raw: fmt.Append(nil, "text ", n)}}})
				if s[tips[i]].Chain > 0 {
					chained++
				}
			}
		}
		return chained
	}
	if got := round(make([]int64, 2*openFrames), 3); got != 2*openFrames {
		t.Errorf("%d of %d records joined a group with %d lines, want those of %d lines", got, 6*openFrames, 2*openFrames,
			openFrames)
	}
	if got, all := round(make([]int64, 1), idlePuts*openFrames+10), idlePuts*openFrames+10; got == 0 {
		t.Errorf("none of %d records of one line joined a group after the others rested", all)
	}
}
