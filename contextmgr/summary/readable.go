package summary

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Readable returns the entries of a conversation as a text that people and agents can read. Nothing that was said,
// called or returned is left out.
func Readable(entries []thread.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		head := string(e.Kind)
		if e.Tool != "" {
			head += " " + line(e.Tool)
		}
		if e.Error {
			head += " (failed)"
		}
		b.WriteString("--- " + head + " ---\n")
		text := clean(e.Text)
		if e.Kind == thread.EntryCall {
			text = input(text)
		}
		b.WriteString(strings.TrimRight(text, "\n") + "\n\n")
	}
	return b.String()
}

// clean returns a text as it is stored and compared.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// input returns the input of a call with its strings as they are meant, not as JSON writes them. An input that is no
// JSON object stays as it is.
func input(raw string) string {
	if !json.Valid([]byte(raw)) || !strings.HasPrefix(strings.TrimSpace(raw), "{") {
		return raw
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var b strings.Builder
	for {
		t, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			return raw
		}
		if _, bracket := t.(json.Delim); bracket {
			continue
		}
		if t == nil {
			t = "null"
		}
		fmt.Fprintln(&b, t)
	}
}

// commandOf returns the command that a call runs, "" if it runs none.
func commandOf(e thread.Entry) string {
	var fields struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
	}
	if json.Unmarshal([]byte(clean(e.Text)), &fields) != nil {
		return ""
	}
	for _, raw := range []json.RawMessage{fields.Command, fields.Cmd} {
		var one string
		var words []string
		switch {
		case json.Unmarshal(raw, &one) == nil && one != "":
			return line(one)
		case json.Unmarshal(raw, &words) == nil && len(words) > 0:
			return line(strings.Join(words, " "))
		}
	}
	return ""
}

// useOf returns which file a call reads or writes.
func useOf(e thread.Entry) (reads, writes string) {
	use := policy.Describe(e.Tool, []byte(clean(e.Text)))
	return line(use.Reads), line(use.Writes)
}

// cutWords returns the first words of a text, at most so many bytes; a word is never cut, since a part of a name is
// another name.
func cutWords(text string, size int) string {
	if len(text) <= size {
		return text
	}
	size = len(plaintext.Cut(text, size))
	if next, _ := utf8.DecodeRuneInString(text[size:]); !unicode.IsSpace(next) {
		size = max(0, strings.LastIndexFunc(text[:size], unicode.IsSpace))
	}
	return strings.TrimSpace(text[:size])
}
