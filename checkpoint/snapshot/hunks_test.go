package snapshot

import (
	"strings"
	"testing"
)

// TestHunks: the numbers of hunks count, and nothing that a file contains, however it is written.
func TestHunks(t *testing.T) {
	const patch = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ func @@ -9,9 +9,9 @@\n-@@ -5,5 +5,5 @@\n-b\n+diff --git a/y b/y\n" +
		"@@ -9,0 +9,3 @@\n+\n+a\n+Binary files a and b differ\n\\ No newline at end of file\n" +
		"diff --git a/y b/y\nBinary files a/y and b/y differ\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n"
	want := []lineCount{{added: 3, modified: 1, deleted: 1}, {binary: true}, {}}
	for _, size := range []int{1, 2, 3, 7, len(patch)} {
		var h hunkReader
		for rest := patch; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := h.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if h.err != nil || len(h.counts) != len(want) {
			t.Fatalf("%d: %+v, %v", size, h.counts, h.err)
		}
		for i, c := range h.counts {
			if c != want[i] {
				t.Errorf("in pieces of %d: file %d has %+v, want %+v", size, i, c, want[i])
			}
		}
	}
	for _, line := range []string{"@@ -1,x +1 @@", "@@ 1 +1 @@", "@@ -1 +1", "@@", "@@ -1,-3 +1 @@", "@@ -1,99999999999999999999 +1 @@"} {
		if _, _, err := parseHunk(line); err == nil {
			t.Errorf("%q is a hunk", line)
		}
	}
}

// FuzzHunks: whatever git writes, counts are never negative and no line is kept whole.
func FuzzHunks(f *testing.F) {
	f.Add("diff --git a/x b/x\n@@ -1,2 +1 @@\n-a\n-b\n+c\n", 3)
	f.Add("@@ -1 +1 @@\n", 1)
	f.Fuzz(func(t *testing.T, patch string, size int) {
		size = max(1, size%1000)
		var h hunkReader
		for rest := patch; rest != ""; rest = rest[min(size, len(rest)):] {
			_, _ = h.Write([]byte(rest[:min(size, len(rest))]))
		}
		if len(h.line) > mostHead || len(h.counts) > strings.Count(patch, "diff --git ") {
			t.Errorf("%d bytes kept, %d files", len(h.line), len(h.counts))
		}
		for _, c := range h.counts {
			if c.added < 0 || c.modified < 0 || c.deleted < 0 {
				t.Errorf("%+v", c)
			}
		}
	})
}

// FuzzLines: the list of files that git writes is read whole or refused.
func FuzzLines(f *testing.F) {
	f.Add([]byte(":100644 100644 1 2 M\x00a\x00:100644 000000 1 0 D\x00b\x00:100644 100644 1 2 R090\x00c\x00d\x00"))
	f.Add([]byte(":1 2 3 4 R\x00a\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		files, err := parseLines(raw)
		for _, one := range files {
			if err == nil && one.Status == 0 {
				t.Errorf("%+v", one)
			}
		}
	})
}
