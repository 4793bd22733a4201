package snapshot

import (
	"bytes"
	"fmt"
	"strings"

	"orchestrator/checkpoint/git"
)

// entry is a line of an index.
type entry struct {
	tag   byte // as `ls-files -v` shows it
	mode  string
	oid   string
	stage string
	path  string
}

const (
	modeLink = "120000"
	modeRepo = "160000"
)

// parseEntries reads `ls-files -v -s -z`: "H 100644 <oid> 0\t<path>\0".
func parseEntries(out []byte) ([]entry, error) {
	var entries []entry
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		head, path, ok := bytes.Cut(line, []byte{'\t'})
		f := strings.Fields(string(head))
		if !ok || len(f) != 4 || len(f[0]) != 1 {
			return nil, fmt.Errorf("git ls-files wrote %q", git.Printable(string(line)))
		}
		entries = append(entries, entry{tag: f[0][0], mode: f[1], oid: f[2], stage: f[3], path: string(path)})
	}
	return entries, nil
}
