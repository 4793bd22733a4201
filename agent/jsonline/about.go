package jsonline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

const (
	// lineBreak stands for a line break in what a question is about, as it does for a dialog on a screen.
	lineBreak = ` \n `
	// maxMark is the most bytes of the mark of a cut.
	maxMark = 24
)

// About returns what permission for a call is asked with, on one line: who says yes to the call allows all that it is given,
// and so sees all of it, but the fields that are named as harmless. The field that says the most comes first, as it is, and
// then the others as JSON, the short ones first: a long field hides no other one. What is cut has a mark.
func About(raw json.RawMessage, harmless ...string) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return short(flat(text), maxInput)
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return short(flat(compact(raw)), maxInput)
	}
	maps.DeleteFunc(given, func(key string, v json.RawMessage) bool {
		return string(v) == "null" || slices.Contains(harmless, key)
	})
	lead := ""
	for _, key := range telling() {
		if json.Unmarshal(given[key], &text) == nil && strings.TrimSpace(text) != "" {
			lead = text
			delete(given, key)
			break
		}
	}
	return Asked(lead, given)
}

// Asked is About for a text that says the most, and the other fields.
func Asked(lead string, given map[string]json.RawMessage) string {
	if lead = flat(lead); len(given) == 0 {
		return short(lead, maxInput)
	}
	rest := short(flat(object(given)), maxInput-min(len(lead)+1, maxInput/2))
	return strings.TrimSpace(short(lead, maxInput-1-len(rest)) + " " + rest)
}

// Option is what of an answer is offered: its name, and what the model says that it means.
func Option(label, more string) string {
	if more = strings.TrimSpace(more); more == "" || more == label {
		return label
	}
	return label + " (" + more + ")"
}

// object is JSON of fields, the short ones first.
func object(given map[string]json.RawMessage) string {
	keys := slices.SortedFunc(maps.Keys(given), func(a, b string) int {
		return cmp.Or(len(given[a])-len(given[b]), strings.Compare(a, b))
	})
	fields := make([]string, len(keys))
	for i, key := range keys {
		fields[i] = strings.TrimSuffix(string(Encode(key)), "\n") + ":" + compact(given[key])
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// flat returns a text on one line, harmless, in which the line breaks are seen: a command has one where another would have
// a semicolon.
func flat(s string) string {
	lines := strings.Split(strings.TrimSpace(plaintext.Text(strings.ToValidUTF8(s, "\ufffd"))), "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, lineBreak)
}

// short returns a text of at most n bytes, with a mark that says how much more there is.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := plaintext.Cut(s, max(n-maxMark, 0))
	return fmt.Sprintf("%s\u2026 (%s more)", head, thread.Bytes(int64(len(s)-len(head))))
}
