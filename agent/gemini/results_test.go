package gemini

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestResultsOnce: a fork's file has each result once, as the message that was sent; a result that only its call has
// stays there.
func TestResultsOnce(t *testing.T) {
	call := func(id, result string) string {
		if result != "" {
			result = `,"result":[{"functionResponse":{"id":"` + id + `","response":{"output":"` + result + `"}}}]`
		}
		return `{"id":"` + id + `","name":"shell","args":{"n":9007199254740993,"s":"<&>"}` + result + `}`
	}
	model := func(id string, calls ...string) string {
		return `{"id":"` + id + `","type":"gemini","content":"","toolCalls":[` + strings.Join(calls, ",") + `]}`
	}
	answer := func(id string, calls ...string) string {
		var parts []string
		for _, c := range calls {
			parts = append(parts, `{"functionResponse":{"id":"`+c+`","response":{"output":"sent-`+c+`"}}}`)
		}
		return `{"id":"` + id + `","type":"user","content":[` + strings.Join(parts, ",") + `]}`
	}
	set := func(messages ...string) string {
		return `{"$set":{"messages":[` + strings.Join(messages, ",") + `],"lastUpdated":"x"}}`
	}
	for _, tc := range []struct {
		name        string
		lines, want []string
	}{
		{"one", []string{model("m", call("a", "whole")), answer("u", "a")}, []string{model("m", call("a", "")), answer("u", "a")}},
		{"two at once", []string{model("m", call("a", "x"), call("b", "y")), answer("u", "a", "b")},
			[]string{model("m", call("a", ""), call("b", "")), answer("u", "a", "b")}},
		{"not answered", []string{model("m", call("a", "x"))}, []string{model("m", call("a", "x"))}},
		{"one of two", []string{model("m", call("a", "x"), call("b", "y")), answer("u", "a")},
			[]string{model("m", call("a", ""), call("b", "y")), answer("u", "a")}},
		{"answered before", []string{answer("u", "a"), model("m", call("a", "x"))}, []string{answer("u", "a"), model("m", call("a", "x"))}},
		{"after a resume", []string{set(model("m", call("a", "x")), answer("m_response", "a"), answer("u", "a")), answer("u2", "b")},
			[]string{set(model("m", call("a", "")), answer("u", "a")), answer("u2", "b")}},
		{"a copy alone", []string{set(model("m", call("a", "x")), answer("m_response", "a"))},
			[]string{set(model("m", call("a", "x")), answer("m_response", "a"))}},
		{"a message of the person", []string{model("m", call("a", "x")), `{"id":"u","type":"user","content":[{"text":"hi"}]}`},
			[]string{model("m", call("a", "x")), `{"id":"u","type":"user","content":[{"text":"hi"}]}`}},
		{"other lines", []string{`{"sessionId":"s"}`, `broken`, `{"$set":{"summary":"x"}}`, `[]`},
			[]string{`{"sessionId":"s"}`, `broken`, `{"$set":{"summary":"x"}}`, `[]`}},
	} {
		got := strings.Split(strings.TrimSuffix(string(once([]byte(strings.Join(tc.lines, "\n")+"\n"))), "\n"), "\n")
		if len(got) != len(tc.want) {
			t.Errorf("%s: %d lines", tc.name, len(got))
			continue
		}
		for i := range got {
			if normal(got[i]) != normal(tc.want[i]) {
				t.Errorf("%s:\n got %s\nwant %s", tc.name, got[i], tc.want[i])
			}
		}
		if again := once([]byte(strings.Join(got, "\n") + "\n")); string(again) != strings.Join(got, "\n")+"\n" {
			t.Errorf("%s: changes again", tc.name)
		}
	}
}

// normal returns JSON with its members in order and its numbers as they were.
func normal(s string) string {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(raw)
}
