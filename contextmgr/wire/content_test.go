package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/contextmgr/wire/wiretest"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		form      wire.Form
		raw, want string
	}{
		{wire.FormText, `"a\nb\u00e9"`, "a\nbé"},
		{wire.FormText, `7`, "7"},
		{wire.FormParts, `[{"type":"text","text":"a"},{"type":"image"},{"type":"input_image"},{"type":"text","text":""}]`,
			"a\n[image]\n[image]\n"},
		{wire.FormParts, `[`, "["},
		{wire.FormValue, `{"output":"a"}`, "a"},
		{wire.FormValue, `{"output":"a","more":1}`, `{"output":"a","more":1}`},
		{wire.FormValue, `{"output":1}`, `{"output":1}`},
		{wire.FormValue, `{}`, `{}`},
		{wire.FormInput, `{"a": 1.0}`, `{"a": 1.0}`},
		{wire.FormInput, `"{\"a\": 1.0}"`, `{"a": 1.0}`},
	} {
		if got := (wire.Content{Form: c.form}).Text(json.RawMessage(c.raw)); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.form, c.raw, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`)).Draw(t, "text")
		quoted := wire.Quote(text)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != runesOf(text) {
			t.Fatalf("%q is quoted as %s, which reads %q, %v", text, quoted, back, err)
		}
		if again := wire.Quote(back); string(again) != string(quoted) {
			t.Fatalf("%q is quoted as %s, then as %s", text, quoted, again)
		}
	})
	for text, want := range map[string]string{"é\xff": `"é\ufffd"`, "\u2028": `"\u2028"`, "\x7f": "\"\x7f\""} {
		if got := string(wire.Quote(text)); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
	if got := string(wire.Quote("<a>&\u2028\"")); got != `"<a>&\u2028\""` {
		t.Errorf("quoted %s", got)
	}
}

// TestKeptInput tests what a content keeps of a long input.
func TestKeptInput(t *testing.T) {
	long := strings.Repeat("x", 5000)
	runes := strings.Repeat("é", 5000)
	escapes := strings.Repeat(`\ud83d\ude00`, 500)
	for input, check := range map[string]func(fields map[string]any) bool{
		`{"content":"` + long + `","file_path":"/w/a","n":1}`: func(f map[string]any) bool {
			return f["file_path"] == "/w/a" && f["n"] == 1.0 && f["content"] != "" &&
				strings.HasPrefix(long, f["content"].(string))
		},
		`{"file_path":"/w/` + long[:500] + `","content":"` + long + `"}`: func(f map[string]any) bool {
			return f["file_path"] == "/w/"+long[:500]
		},
		`{"path":"` + long + `","b":1}`: func(f map[string]any) bool { return len(f) == 1 && f["b"] == 1.0 },
		`{"a":"` + runes + `","b":"` + escapes + `","c":"zzzzz` + escapes + `"}`: func(f map[string]any) bool {
			return strings.Trim(f["a"].(string), "é") == "" && strings.Trim(f["b"].(string), "\U0001F600") == "" &&
				strings.Trim(f["c"].(string), "z\U0001F600") == "" && len(f["b"].(string)) > 40
		},
		`{"input":"*** Begin Patch\n*** Update File: a.go\n` + strings.Repeat(`+\n`, 5000) + `"}`: func(
			f map[string]any) bool {
			return strings.HasPrefix(f["input"].(string), "*** Begin Patch\n*** Update File: a.go\n")
		},
		`{"a":[` + strings.Repeat("1,", 1000) + `1],"b":2}`: func(f map[string]any) bool { return len(f) == 1 },
	} {
		s, err := anthropic.New().Scan(wire.Call{Path: "/v1/messages", Body: []byte(`{"messages":[{"role":"assistant",` +
			`"content":[{"type":"tool_use","id":"c","name":"Write","input":` + input + `}]}]}`)}, nil)
		if err != nil || len(s.Contents) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		kept := s.Contents[0].Input
		var fields map[string]any
		if err := json.Unmarshal(kept, &fields); err != nil || len(kept) > wire.MaxInput || !check(fields) {
			t.Errorf("of %.80s is kept %s, %v", input, kept, err)
		}
	}
}

func FuzzReplace(f *testing.F) {
	wiretest.Quick(f)
	f.Add([]byte(`{"a":"`+strings.Repeat("x", 300)+`","path":"`+strings.Repeat("y", 300)+`"}`), "stub")
	f.Add([]byte(wire.Quote(`{"a":["`+strings.Repeat("\\n", 300)+`"]}`)), "<stub>\n")
	f.Add([]byte(`[{"type":"text","text":"`+strings.Repeat("x", 300)+`"}]`), "\xff")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		c := span.New(raw)
		if _, err := c.Raw(); err != nil || c.End() != nil {
			raw = wire.Quote(string(raw)) // contents are values
		}
		for _, form := range []wire.Form{wire.FormText, wire.FormParts, wire.FormValue, wire.FormInput} {
			got := wire.Replace(raw, form, text, "text")
			if got == nil {
				continue
			}
			if !json.Valid(got) || len(got) >= len(raw) {
				t.Fatalf("%s %s becomes %s", form, raw, got)
			}
			if again := wire.Replace(raw, form, text, "text"); string(again) != string(got) {
				t.Fatalf("%s becomes %s and %s", raw, got, again)
			}
			if form == wire.FormInput {
				continue
			}
			if back := (wire.Content{Form: form}).Text(got); back != runesOf(text) {
				t.Fatalf("%q became %s, which reads %q", text, got, back)
			}
		}
	})
}

// runesOf returns a text with a replacement for each byte that is no part of a rune, as JSON has it.
func runesOf(text string) string { return string([]rune(text)) }
