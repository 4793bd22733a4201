package sqlite

import (
	"fmt"
	"strings"
)

// Report describes what damage was found at the start, and what was done.
type Report struct {
	// Quarantined is the folder with the damaged file and its log. It is "" if the file was valid except for what Dropped
	// names, and stayed in place.
	Quarantined string
	// Cause is what was wrong with it.
	Cause string
	// Threads and Checkpoints are how many were copied completely from a quarantined file.
	Threads, Checkpoints int
	// Missing is how many of the newest commits are missing from the copy.
	Missing uint64
	// Dropped names what could not be copied, for people.
	Dropped []string
}

// String formats the report for people.
func (r *Report) String() string {
	var b strings.Builder
	if r.Quarantined == "" {
		fmt.Fprintf(&b, "The database was checked: %s", r.Cause)
	} else {
		fmt.Fprintf(&b, "The database was damaged (%s): it was quarantined, "+
			"and %d threads with %d checkpoints were recovered completely",
			r.Cause, r.Threads, r.Checkpoints)
	}
	if r.Missing > 0 {
		fmt.Fprintf(&b, "; up to %d of the newest commits are lost", r.Missing)
	}
	b.WriteString(".\n")
	if len(r.Dropped) == 0 {
		b.WriteString("Nothing else was dropped, as far as it could be read.\n")
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "dropped: %s\n", d)
	}
	return b.String()
}
