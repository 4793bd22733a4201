package jsonline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"orchestrator/thread/plaintext"
)

const (
	// MaxText is the most bytes of a text in an event.
	MaxText = 64 << 10
	// maxInput is the most bytes of what a tool is given.
	maxInput = 4 << 10
	// maxName is the most bytes of a name or an id.
	maxName = 512
)

// Encode returns a value as a line. The value is made of what JSON has: one that is not is a mistake of the caller's.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("jsonline: " + err.Error())
	}
	return b.Bytes()
}

// Cut returns the first MaxText bytes of a text, with a mark if there are more.
func Cut(s string) string { return cut(s, MaxText) }

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "\n[cut]"
	return plaintext.Cut(s, n-len(mark)) + mark
}

// Input returns what a tool is given, for people: the one text that says it if the tool has one, or else JSON.
func Input(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return cut(text, maxInput)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for _, key := range telling() {
			if json.Unmarshal(fields[key], &text) == nil && text != "" {
				return cut(text, maxInput)
			}
		}
	}
	return cut(compact(raw), maxInput)
}

// telling are the fields of tools' inputs that say the most, the first that is there.
func telling() []string {
	return []string{"command", "cmd", "file_path", "filePath", "absolute_path", "notebook_path", "dir_path", "path", "pattern", "url",
		"query", "prompt", "plan", "description"}
}

// Reads returns the file that a tool reads which is given this, from its beginning; "" if it begins later: a long file is
// read in pieces.
func Reads(raw json.RawMessage) string {
	var in struct {
		FilePath  string  `json:"file_path"`
		FilePath2 string  `json:"filePath"`
		Absolute  string  `json:"absolute_path"`
		Path      string  `json:"path"`
		Offset    float64 `json:"offset"`
		Start     float64 `json:"start_line"`
	}
	if json.Unmarshal(raw, &in) != nil || max(in.Offset, in.Start) > 1 {
		return ""
	}
	return cut(cmp.Or(in.FilePath, in.FilePath2, in.Absolute, in.Path), maxInput)
}

// Text returns what a tool returned, for people: a text, the texts of a list of parts, or else JSON.
func Text(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Cut(text)
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return Cut(compact(raw))
	}
	var all []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			all = append(all, p.Text)
		case p.Type != "":
			all = append(all, "["+p.Type+"]")
		}
	}
	return Cut(strings.Join(all, "\n"))
}

// compact returns JSON on one line, and what is none as it is.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
