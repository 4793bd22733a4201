package wiretest

import (
	"crypto/sha256"
	"testing"

	"orchestrator/contextmgr/wire"
)

// overhead is how many bytes a call and its result have besides what is in them, about.
const overhead = 350

// BenchScan measures the scan of a request that continues a conversation with 400 results, which has grown by two items
// while the mark for the cache has moved: without the earlier scan, with it, and with 300 contents that are replaced,
// by what was kept of an earlier request or anew.
func BenchScan(b *testing.B, c wire.Scanner, k Talk) {
	for name, size := range map[string]int{"200KB": 200 << 10, "1MB": 1 << 20, "4MB": 4 << 20} {
		b.Run(name, func(b *testing.B) {
			items := k.steps(400, max(0, size/400-overhead))
			first := k.conversation(k.marked(items)...)
			items = append(items, k.Call("n", "Read", `{"file_path":"/w/a"}`), k.Result("n", "Read", "new"))
			call := k.conversation(k.marked(items)...)
			earlier, err := c.Scan(first, nil)
			if err != nil {
				b.Fatal(err)
			}
			earlier = earlier.Memory()
			b.Run("fresh", func(b *testing.B) { benchScan(b, c, call, nil, 0, nil) })
			b.Run("next", func(b *testing.B) { benchScan(b, c, call, earlier, 0, nil) })
			kept := map[[sha256.Size]byte][]byte{}
			b.Run("next+splice", func(b *testing.B) { benchScan(b, c, call, earlier, 300, kept) })
			b.Run("next+replace+splice", func(b *testing.B) { benchScan(b, c, call, earlier, 300, nil) })
		})
	}
}

// benchScan scans a call and replaces so many of its contents, by what is kept if there is a place for it.
func benchScan(
	b *testing.B, c wire.Scanner, call wire.Call, earlier *wire.Scan, replaced int, kept map[[sha256.Size]byte][]byte,
) {
	b.SetBytes(int64(len(call.Body)))
	b.ReportAllocs()
	stub := "[Masked: Read returned 412 lines, 5210 tokens] internal/x.go:1-412 - full output: outputs/ab12cd34.txt"
	for b.Loop() {
		s, err := c.Scan(call, earlier)
		if err != nil {
			b.Fatal(err)
		}
		with := make([]wire.Replacement, 0, replaced)
		for _, content := range s.Contents {
			if len(with) == replaced {
				break
			}
			new, known := kept[content.Sum]
			if !known {
				new = c.Replace(content.Of(call.Body), content.Form, stub)
			}
			if kept != nil {
				kept[content.Sum] = new
			}
			if new != nil {
				with = append(with, wire.Replacement{Span: content.Span, With: new})
			}
		}
		if len(with) < replaced {
			b.Fatalf("only %d contents of %d are replaced", len(with), len(s.Contents))
		}
		if replaced > 0 {
			wire.Splice(call.Body, with)
		}
	}
}
