package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"testing"
)

// TestBodyTakesNoMoreThanItsSize unpacks a body of exactly a size: its buffer has not grown in search of the end.
func TestBodyTakesNoMoreThanItsSize(t *testing.T) {
	for _, size := range []int{3 << 20, 8 << 20, 8<<20 + 1} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		u := newUnpacker(256<<20, 64<<20)
		held := newMemory(256 << 20).hold(&account{})
		got, err := u.body(context.Background(), held, []string{"gzip"}, packed.Bytes())
		if err != nil || len(got) != size || cap(got) > size+64<<10 {
			t.Errorf("%d bytes in a buffer of %d, want %d: %v", len(got), cap(got), size, err)
		}
		held.release()
	}
}
