package page

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"orchestrator/thread"
)

// Staged prints the facts about staged data.
func Staged(w io.Writer, d thread.StagedInfo, now time.Time) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name+":", value)
		}
	}
	row("Token", string(d.Token))
	row("Records", thousands(d.Records))
	row("Size", thread.Bytes(d.Bytes))
	row("Type", string(d.Kind))
	row("Source", d.Source)
	row("Labels", strings.Join(d.Labels, ", "))
	row("Thread", string(d.Thread))
	row("Created", thread.Age(now.Sub(d.Created))+" ago")
	row("Expires", expiry(d.Staged, now))
	row("Kept because of", strings.Join(d.Pins, ", "))
	row("SHA-256", d.SHA256)
	row("File", d.File)
	name := "Preview:"
	for _, line := range d.Preview {
		fmt.Fprintf(w, "%-9s %s\n", name, line)
		name = ""
	}
	if d.More {
		fmt.Fprintf(w, "%-9s ...\n", "")
	}
}

// StagedList prints a table of staged data.
func StagedList(w io.Writer, list []thread.Staged, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no staged data; `… | orchestrator stage` adds some")
		return
	}
	var t Columns
	t.Row("TOKEN", "RECORDS", "SIZE", "TYPE", "SOURCE", "AGE", "EXPIRES", "LABELS")
	for _, d := range list {
		t.Row(string(d.Token), strconv.FormatInt(d.Records, 10), thread.Bytes(d.Bytes), string(d.Kind), Dash(d.Source),
			thread.Age(now.Sub(d.Created)), expiry(d, now), strings.Join(d.Labels, ", "))
	}
	t.Print(w)
}

// expiry returns how long staged data is still kept.
func expiry(d thread.Staged, now time.Time) string {
	if len(d.Pins) > 0 {
		return "pinned"
	}
	return thread.Age(d.Expires.Sub(now).Round(time.Minute)) // what is kept for three hours is not said to be for two
}

// Dash stands for what is missing.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
