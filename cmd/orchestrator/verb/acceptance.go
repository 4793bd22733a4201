package verb

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// acceptance is something that a person is asked to accept, all of it or nothing.
type acceptance struct {
	what  string   // in one line
	shown []string // what is accepted, in full
	note  string   // what is not part of it
	parts []part
	json  map[string]any
}

// part is a content with its place.
type part struct {
	place   string
	content []byte
}

// hash tells apart all acceptances.
func (a acceptance) hash() string {
	h := sha256.New()
	for _, p := range a.parts {
		fmt.Fprintf(h, "%d %s %d ", len(p.place), p.place, len(p.content))
		h.Write(p.content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// print prints what is to be accepted.
func (a acceptance) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n", a.what)
	for _, line := range a.shown {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if a.note != "" {
		fmt.Fprintln(w, a.note)
	}
	fmt.Fprintf(w, "hash %s\n", a.hash())
}
