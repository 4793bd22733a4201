package repository

import (
	"bytes"
	"fmt"
	"strings"

	"orchestrator/checkpoint/git"
)

// Entry is a line of an index.
type Entry struct {
	Tag   byte // as in the output of `ls-files -v`
	Mode  string
	OID   string
	Stage string
	Path  string
}

// Modes of entries that are not files.
const (
	ModeLink = "120000" // a symbolic link
	ModeRepo = "160000" // another repository
)

// ParseEntries parses `ls-files -v -s -z`: "H 100644 <oid> 0\t<path>\0".
func ParseEntries(out []byte) ([]Entry, error) {
	var entries []Entry
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		head, path, ok := bytes.Cut(line, []byte{'\t'})
		f := strings.Fields(string(head))
		if !ok || len(f) != 4 || len(f[0]) != 1 {
			return nil, fmt.Errorf("git ls-files wrote %q", git.Printable(string(line)))
		}
		entries = append(entries, Entry{Tag: f[0][0], Mode: f[1], OID: f[2], Stage: f[3], Path: string(path)})
	}
	return entries, nil
}
