package sqlite

import (
	"fmt"
	"strings"
)

// Report says what was found damaged at the start, and what became of it.
type Report struct {
	// Quarantined is the folder where the damaged file and its log lie now. It is empty when the file was sound but
	// for what Dropped names, and stayed in its place.
	Quarantined string
	// Cause is what was wrong with it.
	Cause string
	// Threads and Checkpoints are how many were copied whole out of a quarantined file.
	Threads, Checkpoints int
	// Missing is how many of the newest commits are not in what was copied.
	Missing uint64
	// Dropped names what could not be, for people.
	Dropped []string
}

// String is the report as people read it.
func (r *Report) String() string {
	var b strings.Builder
	if r.Quarantined == "" {
		fmt.Fprintf(&b, "The database was looked through: %s", r.Cause)
	} else {
		fmt.Fprintf(&b, "The database was damaged (%s): it was put aside, and %d threads with %d checkpoints were read from it whole",
			r.Cause, r.Threads, r.Checkpoints)
	}
	if r.Missing > 0 {
		fmt.Fprintf(&b, "; up to %d of the newest commits are lost", r.Missing)
	}
	b.WriteString(".\n")
	if len(r.Dropped) == 0 {
		b.WriteString("Nothing else that could be listed was dropped.\n")
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "dropped: %s\n", d)
	}
	return b.String()
}
