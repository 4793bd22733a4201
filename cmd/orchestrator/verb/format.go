package verb

import (
	"fmt"
	"slices"
	"strings"
)

// format is how a verb prints.
type format string

// The formats. Lines of JSON are for verbs that follow an answer.
const (
	formatText   format = "text"
	formatJSON   format = "json"
	formatNDJSON format = "ndjson"
)

// formatFlag is the flag -o; `-o json` means the same as --json.
type formatFlag struct {
	json   *bool
	format format
	lines  bool // ndjson is possible
}

// String returns the format.
func (f *formatFlag) String() string {
	if f.format == "" {
		return string(formatText)
	}
	return string(f.format)
}

// Set takes a format.
func (f *formatFlag) Set(text string) error {
	may := []format{formatText, formatJSON}
	if f.lines {
		may = append(may, formatNDJSON)
	}
	if !slices.Contains(may, format(text)) {
		var names []string
		for _, m := range may {
			names = append(names, string(m))
		}
		return fmt.Errorf("must be %s", strings.Join(names, " or "))
	}
	if f.format = format(text); f.format == formatJSON {
		*f.json = true
	}
	return nil
}

// Type names the kind of value in help.
func (f *formatFlag) Type() string { return "format" }
