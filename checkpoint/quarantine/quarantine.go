// Package quarantine keeps damaged files out of the way and reports them until a person has dealt with them.
//
// Each find has its own folder in the state folder, "damaged-" and the time, with the files as they were found and a
// report. Nothing here ever removes one: whoever has read it deletes the folder, and with it the notice.
package quarantine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"orchestrator/thread/private"
)

const (
	prefix = "damaged-"
	report = "report.txt"
	// most is the largest size of a report.
	most = 1 << 20
	// first is the size of the part of a report that is the notice: its first line.
	first = 600
)

// New creates the folder of a find.
func New(state *private.Folder, now time.Time) (*private.Folder, error) {
	base := prefix + now.UTC().Format("20060102T150405")
	name := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(state.Path(name)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
	f, err := state.Make(name)
	if err != nil {
		return nil, fmt.Errorf("quarantine damaged files: %w", err)
	}
	return f, nil
}

// Report writes what was found. Its first line is the notice for people.
func Report(find *private.Folder, text string) error {
	if err := find.Write(report, []byte(text)); err != nil {
		return fmt.Errorf("report damaged files: %w", err)
	}
	return nil
}

// Newest returns the folder of the newest find, "" if there is none.
func Newest(state *private.Folder) (name string, err error) {
	names, err := list(state)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return names[len(names)-1], nil
}

// Notices returns what people should know about the existing finds, oldest first.
func Notices(state *private.Folder) ([]string, error) {
	names, err := list(state)
	var out []string
	for _, name := range names {
		text := "Damaged files were found."
		if f, err := state.Open(name); err == nil {
			if b, err := f.Read(report, most); err == nil {
				line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
				text = strings.ToValidUTF8(line[:min(first, len(line))], "")
			}
			f.Close()
		}
		out = append(out, fmt.Sprintf("%s See %s (delete that folder to dismiss this notice).",
			text, state.Path(name, report)))
	}
	return out, err
}

func list(state *private.Folder) ([]string, error) {
	entries, err := state.List()
	if err != nil {
		return nil, fmt.Errorf("list quarantined files: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
