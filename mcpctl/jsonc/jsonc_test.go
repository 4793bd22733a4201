package jsonc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"orchestrator/mcpctl/jsonc"
)

// plain converts a value to what encoding/json makes of it.
func plain(v jsonc.Value) any {
	switch v.Kind {
	case jsonc.Object:
		out := map[string]any{}
		for _, m := range v.Members() {
			out[m.Key] = plain(m.Value)
		}
		return out
	case jsonc.Array:
		out := []any{}
		for _, item := range v.Items() {
			out = append(out, plain(item))
		}
		return out
	case jsonc.String:
		s, _ := v.Text()
		return s
	case jsonc.Number:
		s, _ := v.Text()
		return json.Number(s)
	case jsonc.Bool:
		s, _ := v.Text()
		return s == "true"
	case jsonc.Null:
	}
	return nil
}

func TestLines(t *testing.T) {
	v, err := jsonc.Parse([]byte("\xef\xbb\xbf// first\n{ /* two\nlines */ \"a\": 1,\n\n\"b\": {\"c\":\n  [true,\n null,],\n},\n\"a\": \"\\u0041\\n\" }\n// end"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range v.Members() {
		got = append(got, fmt.Sprint(m.Key, m.Line, m.Value.Kind, m.Value.Line))
	}
	if want := []string{"a3number3", "b5object5", "a9string9"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	last, _ := v.Member("a")
	if s, ok := last.Text(); s != "A\n" || !ok {
		t.Errorf("the last a is %q, %v", s, ok)
	}
	b, _ := v.Member("b")
	c, _ := b.Member("c")
	items := c.Items()
	if len(items) != 2 || items[0].Line != 6 || items[1].Line != 7 || items[1].Kind != jsonc.Null {
		t.Errorf("items: %+v", items)
	}
	if _, ok := v.Member("x"); ok {
		t.Error("a member that is not there")
	}
	if _, ok := items[1].Text(); ok {
		t.Error("null is a text")
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":          "line 1: unexpected end, expected a value",
		"{\n\"a\":": "line 2: unexpected end, expected a value",
		"{\"a\" 1}": "line 1: unexpected '1', expected a colon",
		"{a: 1}":    "line 1: unexpected 'a', expected a key",
		"[1\n2]":    "line 2: unexpected '2', expected a comma",
		"[1,,2]":    "unexpected ','",
		"{,}":       "unexpected ','",
		"[1}":       "expected a comma or ']'",
		"{}\n{}":    "line 2: unexpected '{' after the value",
		"/* x":      "a comment does not end",
		"\"a":       "a string does not end",
		"\"a\nb\"":  "a string contains '\\n'",
		`"\x"`:      "wrong escape",
		"nul":       "found 'n'",
		"01":        "found '0'",
		"NaN":       "unexpected 'N'",
		"'a'":       "unexpected '\\''",
		"\x00":      "unexpected",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "nested more than",
	} {
		_, err := jsonc.Parse([]byte(in))
		var syntax *jsonc.Error
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", in, err, want)
		}
	}
}

// TestLinear: hostile text of 1 MB ends, which it does not if its parts are read again and again.
func TestLinear(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 1<<20), "objects": strings.Repeat(`{"a":`, 1<<18), "quotes": strings.Repeat(`"`, 1<<20),
		"comments": strings.Repeat("/*", 1<<19), "slashes": "[" + strings.Repeat("//\n", 1<<18),
		"commas": "[" + strings.Repeat("1,", 1<<19), "escapes": `"` + strings.Repeat(`\`, 1<<20),
	} {
		if _, err := jsonc.Parse([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,true,false,null,"x\u00e9\ud800"],"a":{}}`, "{//\n\"a\":/**/1,}", "[", "\"\\", "\xef\xbb\xbf{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := jsonc.Parse(b)
		var want any
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		if !json.Valid(b) || d.Decode(&want) != nil {
			if err == nil {
				plain(v) // what is more than JSON must not panic
			}
			return
		}
		if err != nil {
			var syntax *jsonc.Error
			if !errors.As(err, &syntax) || !strings.Contains(syntax.Text, "nested") {
				t.Errorf("valid JSON is refused: %v", err)
			}
			return
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
