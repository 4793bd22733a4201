package pack

import (
	"fmt"
	"testing"

	"orchestrator/thread"
)

// fill packs two records of each of some threads, one thread after the other.
func fill(t testing.TB, p *Packer, threads int) (joined, size int) {
	s := rows{}
	for i := range threads {
		n := int64(0)
		for turn := range 2 {
			n = s.put(t, p, n, thread.Delta{Keep: s[n].Items,
				Items: []thread.Item{{Wire: "w", Raw: fmt.Appendf(nil, `{"role":"user","content":"%d of %d"}`, turn, i)}}})
			if s[n].Chain > 0 {
				joined++
			}
			size += len(s[n].Data)
		}
	}
	return joined, size
}

// TestInOrder fills a store thread by thread: one open group is as good as many.
func TestInOrder(t *testing.T) {
	many, large := fill(t, New(), 60)
	if one, size := fill(t, InOrder(), 60); one < many || size > large {
		t.Errorf("with one open group %d records joined another in %d bytes; with many %d in %d", one, size, many, large)
	}
}

func BenchmarkFill(b *testing.B) {
	for name, packer := range map[string]func() *Packer{"one open": InOrder, "many open": New} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fill(b, packer(), 14)
			}
		})
	}
}
