package snapshot

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
)

// lineCount is what a patch does to one file, in lines.
type lineCount struct {
	added, modified, deleted int
	binary                   bool
}

// add adds a hunk.
func (c *lineCount) add(deleted, added int) {
	both := min(deleted, added)
	c.modified += both
	c.deleted += deleted - both
	c.added += added - both
}

// hunkReader counts the lines of a patch without context as git writes it, file by file in its order. It keeps the
// beginning of one line, whatever the patch has.
type hunkReader struct {
	counts []lineCount
	line   []byte // the beginning of the line that is being written
	err    error
}

// mostHead is how much of a line is kept: a hunk's numbers come first.
const mostHead = 128

// Write takes more of the patch.
func (h *hunkReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		h.line = append(h.line, line[:min(len(line), mostHead-len(h.line))]...)
		if whole {
			h.take(h.line)
			h.line = h.line[:0]
		}
		p = rest
	}
	return n, nil
}

// take takes a line. What files contain begins with "+", "-" or "\".
func (h *hunkReader) take(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("diff --git ")):
		h.counts = append(h.counts, lineCount{})
	case len(h.counts) == 0:
	case bytes.HasPrefix(line, []byte("Binary files ")):
		h.counts[len(h.counts)-1].binary = true
	case bytes.HasPrefix(line, []byte("@@ ")):
		deleted, added, err := parseHunk(string(line))
		if err != nil {
			h.err = err
			return
		}
		h.counts[len(h.counts)-1].add(deleted, added)
	}
}

// parseHunk reads how many lines a hunk removes and adds: "@@ -12,3 +14 @@", where a missing number is 1.
func parseHunk(line string) (deleted, added int, err error) {
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "@@" || f[3] != "@@" || !strings.HasPrefix(f[1], "-") || !strings.HasPrefix(f[2], "+") {
		return 0, 0, fmt.Errorf("git diff-tree wrote %q", git.Printable(line))
	}
	var n [2]int
	for i, one := range f[1:3] {
		_, count, given := strings.Cut(one, ",")
		n[i] = 1
		if given {
			if n[i], err = strconv.Atoi(count); err != nil || n[i] < 0 {
				return 0, 0, fmt.Errorf("git diff-tree wrote %q", git.Printable(line))
			}
		}
	}
	return n[0], n[1], nil
}
