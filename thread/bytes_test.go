package thread_test

import (
	"testing"

	"orchestrator/thread"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-1 B", 0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 1<<20 - 1: "1 MiB", 1 << 20: "1 MiB",
		20<<20 + 1<<19: "20.5 MiB", 1 << 30: "1 GiB", 1<<40 - 1: "1 TiB", 5000 << 40: "5000 TiB",
	} {
		if got := thread.Bytes(n); got != want {
			t.Errorf("%d bytes are %q, not %q", n, got, want)
		}
	}
}
