package page

import (
	"fmt"
	"io"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Restored prints what was restored from a backup, and how what exists already comes back if it is out of sight.
func Restored(w io.Writer, kept thread.BackupReport) {
	fmt.Fprintf(w, "restored %s, %s\n", plaintext.Count(kept.Threads, "thread"),
		plaintext.Count(kept.Checkpoints, "checkpoint"))
	Recorded(w, kept)
	if len(kept.Existing) > 0 {
		fmt.Fprintf(w, "unchanged, since it is here already: %s: %s\n", plaintext.Count(len(kept.Existing), "thread"),
			strings.Join(kept.Existing, ", "))
	}
	for _, of := range []struct {
		names     []string
		are, verb string
	}{{kept.Deleted, "deleted", "undelete"}, {kept.Archived, "archived", "restore"}} {
		if len(of.names) > 0 {
			fmt.Fprintf(w, "of these, %s: %s (`orchestrator %s %s` brings it back)\n", of.are,
				strings.Join(of.names, ", "), of.verb, of.names[0])
		}
	}
	LeftOut(w, kept.LeftOut)
	Notes(w, kept.Notes)
}

// Recorded prints what of the record of work a backup has, or was restored, if there is any.
func Recorded(w io.Writer, kept thread.BackupReport) {
	if kept.Executions+kept.Sessions+kept.Bundles+kept.Tasks > 0 {
		plans := ""
		if kept.Tasks > 0 {
			plans = ", " + plaintext.Count(kept.Tasks, "task") + " of plans"
		}
		fmt.Fprintf(w, "of the record of work: %s, %s, %s%s\n", plaintext.Count(kept.Executions, "execution"),
			plaintext.Count(kept.Sessions, "work session"), plaintext.Count(kept.Bundles, "bundle"), plans)
	}
	if kept.Recorded > 0 {
		fmt.Fprintf(w, "of the record of work, unchanged, since it is here already: %s\n", plaintext.Count(kept.Recorded, "row"))
	}
}
