package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
)

const fence = "```"

// object accepts objects that have a field "a".
func object(v json.RawMessage) error {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(v, &o); err != nil {
		return errors.New("it is no object")
	}
	if o["a"] == nil {
		return errors.New(`"a" is missing`)
	}
	return nil
}

func TestExtractFindsWhatIsHandedOver(t *testing.T) {
	t.Parallel()
	plain, schema := Agent{}, Agent{Schema: json.RawMessage(`{}`)}
	odd := `{"z":1.0,"a":12345678901234567890123456789,"z":2,"u":"<&>\u003c\/","e":1e+400,"n":{  "k" :[ ] }}`
	for _, c := range []struct {
		name, said string
		agent      Agent
		want       Contract
	}{
		{"the object alone", `{"summary":"s","output_data":{"b":1},"files":["x/y.png"]}`, plain,
			Contract{"s", json.RawMessage(`{"b":1}`), []string{"x/y.png"}}},
		{"a bare object", " \n{\"b\": 1}\n", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"behind a byte order mark", "\ufeff{\"b\": 1}", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"in a fence", "Here it is:\n\n" + fence + "json\n{\"b\": 1}\n" + fence + "\nDone.", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"in a fence that is not closed", "Here it is:\n" + fence + "json\n{\"b\": 1}\n", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"in a line of prose", "The result is {\"b\": 1}.", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"behind code and brackets", "func main() {} [1] if (x) { y } then\n{\"b\": 1}", plain, Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"the last of several", "{\"b\": 1}\n{\"b\": 2}\n", plain, Contract{Data: json.RawMessage(`{"b": 2}`)}},
		{"the whole one, not an example behind it", "{\"output_data\": {\"b\": 1}}\nFor example:\n{\"b\": 2}\n", plain,
			Contract{Data: json.RawMessage(`{"b": 1}`)}},
		{"byte for byte", `{"output_data":` + odd + `}`, plain, Contract{Data: json.RawMessage(odd)}},
		{"any value as output_data", `{"output_data": [1, "x"] }`, plain, Contract{Data: json.RawMessage(`[1, "x"]`)}},
		{"what it does not know is left", `{"output_data": 1, "confidence": 0.5, "summary": null}`, plain, Contract{Data: json.RawMessage(`1`)}},
		{"the last that meets the schema", "{\"a\": 1}\n{\"b\": 2}\n", schema, Contract{Data: json.RawMessage(`{"a": 1}`)}},
		{"what stands alone before what does not", "{\"a\": 1}\nas in {\"a\": 2} of it\n", schema, Contract{Data: json.RawMessage(`{"a": 1}`)}},
		{"an object whose schema has output_data", `{"a": 1, "output_data": 3}`, schema, Contract{Data: json.RawMessage(`{"a": 1, "output_data": 3}`)}},
		{"a text", "# Title\n\nsome <b>\n", Agent{Output: OutputDoc}, Contract{Data: json.RawMessage(`"# Title\n\nsome <b>"`)}},
		{"a text in a fence", fence + "markdown\n# Title\n" + fence + "\n", Agent{Output: OutputText}, Contract{Data: json.RawMessage(`"# Title"`)}},
		{"a text with two fences", fence + "\na\n" + fence + "\nb\n" + fence + "\nc\n" + fence, Agent{Output: OutputText},
			Contract{Data: Quote(fence + "\na\n" + fence + "\nb\n" + fence + "\nc\n" + fence)}},
		{"a text that shows an object", "{\"files\": [\"a\"]}\nis an example.", Agent{Output: OutputDoc},
			Contract{Data: Quote("{\"files\": [\"a\"]}\nis an example.")}},
		{"a sheet as a file", fence + "json\n{\"summary\": \"s\", \"files\": [\"a.csv\"]}\n" + fence, Agent{Output: OutputSheet},
			Contract{"s", json.RawMessage("null"), []string{"a.csv"}}},
		{"a text before its files", "All of it.\n\n{\"files\": [\"a.md\"]}", Agent{Output: OutputDoc},
			Contract{Data: Quote("All of it."), Files: []string{"a.md"}}},
		{"pictures by pattern", "made", Agent{Output: OutputImage, Deliver: []string{"*.png"}}, Contract{Data: Quote("made")}},
		{"nothing said, files by pattern", "", Agent{Output: OutputImage, Deliver: []string{"*.png"}}, Contract{Data: Quote("")}},
	} {
		meets := func(json.RawMessage) error { return nil }
		if len(c.agent.Schema) > 0 {
			meets = object
		}
		got, err := Extract(c.said, c.agent, meets)
		if err != nil || got.Summary != c.want.Summary || string(got.Data) != string(c.want.Data) || strings.Join(got.Files, "|") != strings.Join(c.want.Files, "|") {
			t.Errorf("%s: %q %s %q, %v", c.name, got.Summary, got.Data, got.Files, err)
		}
	}
}

func TestExtractSaysWhatToMend(t *testing.T) {
	t.Parallel()
	plain, schema := Agent{}, Agent{Schema: json.RawMessage(`{}`)}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for _, c := range []struct {
		name, said string
		agent      Agent
		want       string
	}{
		{"nothing", " \n", plain, "the final message is empty"},
		{"prose", "I have done it all.", plain, "there is no JSON object"},
		{"a number", "42", plain, "there is no JSON object"},
		{"a list of references", "as in [1] and [2]", plain, "there is no JSON object"},
		{"cut off", "Here:\n{\"a\": {\"b\": 1},\n \"c\": ", plain, "begins at line 2, character 1 is not complete: at line 3, character 7, the text ends within it"},
		{"cut off in a word", `{"a": tru`, plain, "the text ends within it"},
		{"cut off in a string", `{"a": "x\`, plain, "the text ends within it"},
		{"a draft, then one that is cut off", "{\"b\": 1}\n{\"b\": 2, ", plain, "line 2, character 1"},
		{"a comma too many", `{"a": 1,}`, plain, `line 1, character 9, a key in "quotes" should stand here`},
		{"a comma too few", `{"a": 1 "b": 2}`, plain, "line 1, character 9, a comma or } should follow here"},
		{"no colon", `{"a" 1}`, plain, "a colon should follow on the key"},
		{"python", `{"a": None}`, plain, "a value should stand here"},
		{"a number that is none", `{"a": 01}`, plain, "a value should stand here"},
		{"a new line in a string", "{\"a\": \"b\nc\"}", plain, `write \n for a new line`},
		{"a wrong escape", `{"a": "\d"}`, plain, "there is no such escape"},
		{"a wrong number of digits", `{"a": "\u12g4"}`, plain, "four hex digits"},
		{"deep", `{"output_data": ` + deep + `}`, plain, "nested deeper than 256"},
		{"bytes", "{\"a\": \"\xff\"}", plain, "bytes that are no text"},
		{"a zero byte", "a\x00b", Agent{Output: OutputText}, "bytes that are no text"},
		{"twice", `{"output_data": 1, "output_data": 2}`, plain, `"output_data" stands twice`},
		{"a summary that is none", `{"summary": {}, "output_data": 2}`, plain, "the summary is a string"},
		{"files that are none", `{"files": [{"path": "a"}], "output_data": 2}`, plain, "files are a list of paths"},
		{"a bare object that misses", `{"b": 1}`, schema, `does not meet the schema of output_data: "a" is missing`},
		{"output_data that misses", `{"output_data": {"b": 1}}`, schema, `output_data does not meet its schema: "a" is missing`},
		{"no value at all that meets", `true`, schema, "it is no object"},
		{"an empty text", "", Agent{Output: OutputText}, "the final message is empty"},
		{"a picture in words", "a cat", Agent{Output: OutputImage}, "an image is handed over as a file"},
		{"neither data nor file", `{"files": []}`, Agent{Output: OutputSheet}, "neither output_data nor a file"},
		{"too large", `{"output_data": "` + strings.Repeat("x", MaxData) + `"}`, plain, "Hand it over as a file"},
		{"too many files", `{"output_data": 1, "files": ["a"` + strings.Repeat(`,"a"`, MaxFiles) + `]}`, plain, "10001 files are more than 10000"},
	} {
		meets := func(json.RawMessage) error { return nil }
		if len(c.agent.Schema) > 0 {
			meets = object
		}
		got, err := Extract(c.said, c.agent, meets)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%s: %.80q %.80s, %v; not %q", c.name, got.Summary, got.Data, err, c.want)
		}
	}
}

// What costs more time the longer it is, by the square, would let one answer stop the engine.
func TestExtractTakesTimeByTheLength(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"{", "[", `{"a":`, `["`, `{"a":[`, "[1] ", `{"a":1} `, "\\", `"{`} {
		said := strings.Repeat(piece, 1_000_000/len(piece))
		begun := time.Now()
		_, _ = Extract(said, Agent{}, nil)
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%q takes %v", piece, took)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, said := range []string{
		`{"summary":"s","output_data":{"b":1},"files":["x"]}`, "x\n```json\n[1,{\"a\":\"\\u00e9\"}]\n```", `{"a":1,}`, "\ufeff{}", `[[[]]]`,
		`{"output_data":"`, "{\"a\": -1.5e+3, \"b\": true}", "```\n```",
	} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said string) {
		for _, a := range []Agent{{}, {Schema: json.RawMessage(`{}`)}, {Output: OutputDoc}, {Output: OutputImage}} {
			c, err := Extract(said, a, nil)
			if err != nil {
				if !errors.Is(err, thread.ErrInvalid) || !utf8.ValidString(err.Error()) {
					t.Fatalf("%q: %v", said, err)
				}
				continue
			}
			if !json.Valid(c.Data) || !utf8.Valid(c.Data) {
				t.Fatalf("%q hands over %q", said, c.Data)
			}
			if a.json() && !bytes.Contains([]byte(said), c.Data) {
				t.Fatalf("%q was changed to %q", said, c.Data)
			}
		}
		if json.Valid([]byte(said)) != valid(said) {
			t.Fatalf("%q: valid is %v", said, valid(said))
		}
	})
}

// valid is json.Valid by the scanner.
func valid(text string) bool {
	s := &scanner{text: text}
	s.space()
	if err := s.value(); err != nil {
		return strings.Contains(err.what, "nested deeper")
	}
	s.space()
	return s.at == len(text)
}
