package tokens

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func keyFor(n int) key {
	return keyOf(Default, sha256.Sum256(binary.AppendVarint(nil, int64(n))))
}

// TestRecentIsBounded holds that no more is kept than the limit, that what is returned was put, and that the half of
// the limit that was used last is there.
func TestRecentIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 20).Draw(t, "limit")
		r := newRecent(limit)
		var used []int // the newest last
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			n := rapid.IntRange(0, 40).Draw(t, "n")
			if rapid.Bool().Draw(t, "put") {
				r.put(entry{keyFor(n), uint32(n)})
			} else if got, ok, _ := r.get(keyFor(n)); !ok {
				continue
			} else if got != uint32(n) {
				t.Fatalf("%d is %d", n, got)
			}
			for i, old := range used {
				if old == n {
					used = append(used[:i:i], used[i+1:]...)
					break
				}
			}
			used = append(used, n)
			lists := r.lists()
			if held := len(lists[0]) + len(lists[1]); held > limit || len(r.young.counts) != len(lists[1]) {
				t.Fatalf("%d of %d are held", held, limit)
			}
			for _, n := range used[max(0, len(used)-limit/2):] {
				_, young := r.young.counts[keyFor(n)]
				if _, old := r.old.counts[keyFor(n)]; !young && !old {
					t.Fatalf("%d was used lately, and is gone", n)
				}
			}
		}
	})
}

func TestRatio(t *testing.T) {
	r := newRatio()
	for bytes, want := range map[int]int64{-5: 0, 0: 0, 1: 1, 7: 2, 3500: 1000} {
		if got := r.estimate(bytes); got != want {
			t.Errorf("%d bytes: %d tokens, want %d", bytes, got, want)
		}
	}
	if n := r.estimate(math.MaxInt); n <= 0 {
		t.Errorf("the longest text has %d tokens", n)
	}
	for range 1000 {
		r.add(5_000, 1_000)
	}
	if got := r.estimate(50_000); got < 9_900 || got > 10_100 {
		t.Errorf("50000 bytes, at 5 for a token: %d tokens", got)
	}
	before := r.estimate(1 << 20)
	r.add(32<<20, 32<<17)
	r.add(0, 5)
	r.add(-1, 5)
	r.add(5, 0)
	if after := r.estimate(1 << 20); math.Abs(float64(after)/float64(before)-1) > 0.1 {
		t.Errorf("one text moved it from %d to %d tokens", before, after)
	}
}

// TestRatioOfAnything: whatever is counted, an estimate is between a token for each byte and one for eight.
func TestRatioOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRatio()
		for range rapid.IntRange(0, 50).Draw(t, "texts") {
			r.add(rapid.Int64().Draw(t, "bytes"), rapid.Int64().Draw(t, "tokens"))
		}
		n := rapid.IntRange(1, 1<<40).Draw(t, "n")
		if got := r.estimate(n); got < int64(n/8) || got > int64(n) {
			t.Fatalf("%d bytes are %d tokens", n, got)
		}
	})
}

// counted is a file of some counts.
func counted(n int) []byte {
	r := newRecent(1000)
	for i := range n {
		r.put(entry{keyFor(i), uint32(i)})
	}
	return encodeCounts(r.lists(), newRatio())
}

// TestDamagedCounts cuts a file off at each byte and damages each byte: it is refused before anything of it is taken.
func TestDamagedCounts(t *testing.T) {
	good := counted(3)
	take := func(entry) { t.Error("something of a damaged file is taken") }
	for n := range good {
		if _, err := decodeCounts(good[:n], take); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(good))
		}
		bad := append([]byte{}, good...)
		bad[n] ^= 0x40
		if _, err := decodeCounts(bad, take); err == nil {
			t.Errorf("accepted with byte %d damaged", n)
		}
	}
	for _, r := range []ratio{{0, 1}, {1, 0}, {math.NaN(), 1}, {1, math.Inf(1)}, {-5, 5}} {
		if _, err := decodeCounts(encodeCounts([2][]entry{{{}}}, r), take); err == nil {
			t.Errorf("%v is accepted", r)
		}
	}
	n := 0
	if _, err := decodeCounts(good, func(entry) { n++ }); err != nil || n != 3 {
		t.Errorf("%d of 3 are read: %v", n, err)
	}
}

func FuzzCountsFile(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(countsMagic))
	f.Add(counted(0))
	f.Add(counted(5))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeCounts(b, func(entry) {})
		if err == nil && r.estimate(1000) < 1 {
			t.Errorf("%v", r)
		}
	})
}

// TestCut holds that the parts of a long text are no longer than they may be, and whole characters.
func TestCut(t *testing.T) {
	for name, unit := range map[string]string{
		"lines": "some words of a line\n", "no line": "x", "wide": "日", "wider": "x😀", "broken": "\x80",
		"halves": "\xf0\x9f",
	} {
		text := ""
		for len(text) < partSize+10 {
			text += unit + text
		}
		n := cut(text, partSize)
		switch {
		case n <= 0 || n > partSize || n < partSize-4096:
			t.Errorf("%s: cut at %d", name, n)
		case name == "lines" && text[n-1] != '\n':
			t.Errorf("%s: not cut at the end of a line", name)
		case name != "broken" && name != "halves" && text[n]&0xc0 == 0x80:
			t.Errorf("%s: cut within a character", name)
		}
	}
	if n := cut("short\ntext", partSize); n != 10 {
		t.Errorf("a short text is cut at %d", n)
	}
}
