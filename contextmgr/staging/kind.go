package staging

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// kindOf determines the kind of data from its beginning; all is set if that is all of the data.
func kindOf(head []byte, all bool) thread.DataKind {
	if !isText(head, all) {
		return thread.DataBinary
	}
	whole := head
	if !all {
		whole = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	records := 0
	for line := range bytes.Lines(whole) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' && line[0] != '[' || !json.Valid(line) {
			records = 0
			break
		}
		records++
	}
	start := bytes.TrimSpace(head)
	switch {
	case records > 1, records == 1 && start[0] == '{':
		return thread.DataNDJSON
	case len(start) == 0 || start[0] != '{' && start[0] != '[':
		return thread.DataText
	case all && json.Valid(head), !all && begins(head):
		return thread.DataJSON
	default:
		return thread.DataText
	}
}

// isText reports whether data is UTF-8 without NUL. Unless all is set, its last character may be truncated.
func isText(head []byte, all bool) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for len(head) > 0 && !utf8.Valid(head) {
		if all || utf8.RuneStart(head[len(head)-1]) && utf8.FullRune(head[len(head)-1:]) {
			return false
		}
		cut := len(head) - 1
		for cut > 0 && len(head)-cut < utf8.UTFMax && !utf8.RuneStart(head[cut]) {
			cut--
		}
		if utf8.FullRune(head[cut:]) {
			return false
		}
		head, all = head[:cut], true
	}
	return true
}

// begins reports whether data with this beginning can be JSON.
func begins(head []byte) bool {
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(head), endless{}))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, errMore)
		}
	}
}

// errMore is returned at the end of the known beginning of data.
var errMore = errors.New("more data follows")

// endless stands for the data after its known beginning.
type endless struct{}

func (endless) Read([]byte) (int, error) { return 0, errMore }

// sourceOf returns the source that the first record names in its fields source and type.
func sourceOf(head []byte, kind thread.DataKind) string {
	if kind != thread.DataNDJSON {
		return ""
	}
	var first struct{ Source, Type any }
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if json.Unmarshal(line, &first) != nil {
		return ""
	}
	source, _ := first.Source.(string)
	if kind, _ := first.Type.(string); source != "" && kind != "" {
		source += "/" + kind
	}
	if len(source) > 100 || plaintext.Line(source) != source {
		return ""
	}
	return source
}

// lines counts lines.
type lines struct {
	n    int64
	open bool // the last line has no newline
}

func (l *lines) add(b []byte) {
	if len(b) == 0 {
		return
	}
	l.n += int64(bytes.Count(b, []byte{'\n'}))
	l.open = b[len(b)-1] != '\n'
}

// records returns the number of records in data of a kind.
func (l *lines) records(kind thread.DataKind, size int64) int64 {
	switch kind {
	case thread.DataBinary:
		return 0
	case thread.DataJSON:
		return min(size, 1)
	default:
		if l.open {
			return l.n + 1
		}
		return l.n
	}
}
