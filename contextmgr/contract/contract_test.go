package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

var _ plan.Schemas = (*Checker)(nil)

const vision = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["top_keywords","search_volume"],
 "properties":{"top_keywords":{"type":"array","items":{"type":"string","pattern":"^[A-Z]"},"minItems":1},"search_volume":{"type":"integer","minimum":0},
 "tree":{"$ref":"#/$defs/node"},"pair":{"prefixItems":[{"type":"string"},{"type":"number"}]}},
 "$defs":{"node":{"type":"object","properties":{"left":{"$ref":"#/$defs/node"},"right":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/node"}]},"name":{"type":"string"}}}}}`

func TestCheck(t *testing.T) {
	for value, want := range map[string]string{
		`{"top_keywords":["AI"],"search_volume":24000}`:                                             "",
		`{"top_keywords":["AI"],"search_volume":24000.0,"tree":{"left":{"right":null,"name":"x"}}}`: "",
		`{"top_keywords":["AI","CRM",5],"search_volume":1}`:                                         `output_data.top_keywords[]: type: 5 has type "integer", want "string"`,
		`{"top_keywords":["ai"],"search_volume":1}`:                                                 `output_data.top_keywords[]: pattern: "ai" does not match`,
		`{"top_keywords":[],"search_volume":1}`:                                                     "output_data.top_keywords: minItems",
		`{"top_keywords":["AI"]}`:                                                                   `output_data: required: missing properties: ["search_volume"]`,
		`{"top_keywords":["AI"],"search_volume":1,"x":2}`:                                           `output_data: unexpected additional properties ["x"]`,
		`{"top_keywords":["AI"],"search_volume":-1}`:                                                "output_data.search_volume: minimum",
		`{"top_keywords":["AI"],"search_volume":1,"tree":{"left":{"name":3}}}`:                      "output_data, the part node.name: type: 3",
		`{"top_keywords":["AI"],"search_volume":1,"pair":["x","y"]}`:                                `output_data.pair[1]: type: "y"`,
		`[]`:                                   `output_data: type: the list of 0 has type "array", want "object"`,
		`{`:                                    "it is no JSON",
		`{} {}`:                                "it is no JSON",
		``:                                     "it is no JSON",
		`1e999`:                                "the number 1e999 is too large",
		strings.Repeat("[", 300):               "nested more than 256 deep",
		`"` + strings.Repeat("x", 2<<20) + `"`: "it has 2 MiB",
	} {
		err := (&Checker{}).Check([]byte(vision), []byte(value))
		if want == "" && err != nil || want != "" && (!errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v, want %q", value, err, want)
		}
	}
}

// An error is short and printable whatever the value is, and what is expected stands in it.
func TestCheckIsShort(t *testing.T) {
	value, _ := json.Marshal(map[string]any{"top_keywords": []string{strings.Repeat("\x1b[2J\u00e9", 20_000)}, "search_volume": 1})
	err := (&Checker{}).Check([]byte(vision), value)
	if err == nil || len(err.Error()) > 800 || strings.ContainsRune(err.Error(), 0x1b) || !utf8.ValidString(err.Error()) || !strings.Contains(err.Error(), `"^[A-Z]"`) {
		t.Errorf("%d %v", len(fmt.Sprint(err)), err)
	}
}

func TestSchema(t *testing.T) {
	for schema, want := range map[string]string{
		vision: "",
		`true`: "",
		`{}`:   "",
		`{"$id":"https://example.com/x.json","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}}`:                     "",
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"items":[{"$ref":"#/definitions/a"}]}`: "",
		`{"type":"object","properties":{"next":{"$ref":"#"}}}`:                                                                             "",
		`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"items":{"$ref":"#"}}}}`:                                                        "",
		`[]`:                                    "neither an object",
		`5`:                                     "neither an object",
		`{`:                                     "no JSON",
		`{"$ref":"file:///etc/passwd"}`:         "parts of itself only",
		`{"$ref":"https://example.com/a.json"}`: "parts of itself only",
		`{"$ref":"other.json#/a"}`:              "parts of itself only",
		`{"$ref":"#anchor"}`:                    "parts of itself only",
		`{"$ref":"#/$defs/x"}`:                  "does not have",
		`{"$dynamicRef":"#x"}`:                  "$dynamicRef",
		`{"properties":{"a":{"$id":"x.json"}}}`: "$id of its own",
		`{"$schema":"https://json-schema.org/draft/2019-09/schema"}`: "another version",
		`{"type":"strng"}`:                                `type "strng"`,
		`{"type":["object","none"]}`:                      `type "none"`,
		`{"pattern":"(?=x)"}`:                             "pattern",
		`{"pattern":"` + strings.Repeat("x", 1001) + `"}`: "more than 1000 bytes",
		`{"properties":{"a":5}}`:                          "neither an object",
		`{"required":"a"}`:                                "the schema:",
		`{"$ref":"#"}`:                                    "without going into the value",
		`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"type":"null"},{"$ref":"#"}]}}}`: "without going into the value",
		`{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}`:         "more than one way",
		`{"properties":{"x":{"$ref":"#"}},"patternProperties":{"x":{"$ref":"#"}}}`:                "more than one way",
		`{"items":{"$ref":"#"},"contains":{"$ref":"#"}}`:                                          "more than one way",
		doubling(30): "more than 10000 checks",
		`{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 300) + `true]}`:  "more than 100 alternatives",
		strings.Repeat(`{"not":`, 100) + "true" + strings.Repeat("}", 100): "nested more than 64",
		`{"enum":[` + strings.Repeat("1,", 2000) + `1]}`:                   "enum of more",
		`{"title":"` + strings.Repeat("x", 300<<10) + `"}`:                 "are the most",
	} {
		var c Checker
		for range 2 { // the second time from what is kept
			err := c.Schema([]byte(schema))
			if want == "" && err != nil || want != "" && (!errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%.150s: %v, want %q", schema, err, want)
			}
		}
	}
}

// doubling is a schema of which each part refers to the next one twice.
func doubling(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/a0","$defs":{%s,"a%d":{"type":"null"}}}`, strings.Join(defs, ","), n)
}

// A schema that is taken is checked, whatever the value is: a deep one, a wide one, and one that fits at no alternative.
func TestCheckTakesTimeByTheValue(t *testing.T) {
	deep := strings.Repeat(`{"left":`, 250) + "{}" + strings.Repeat("}", 250)
	wide := `{"top_keywords":[` + strings.Repeat(`"A",`, 200_000) + `"A"],"search_volume":1,"tree":` + deep + `}`
	began := time.Now()
	if err := (&Checker{}).Check([]byte(vision), []byte(wide)); err != nil {
		t.Error(err)
	}
	anyOf := `{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 90) + `{"type":"boolean"}]}`
	if err := (&Checker{}).Check([]byte(anyOf), []byte(wide)); err == nil || len(err.Error()) > 800 {
		t.Error("an alternative fits")
	}
	t.Log(time.Since(began))
}

func FuzzCheck(f *testing.F) {
	f.Add(vision, `{"top_keywords":["AI"],"search_volume":1}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#"}}}}`, `[[[]]]`)
	f.Add(doubling(3), `null`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"not":true}},"additionalItems":{"const":null}}`, `{"c":1}`)
	f.Add(`{"multipleOf":0,"uniqueItems":true,"if":{},"then":false,"unevaluatedProperties":{"minLength":1}}`, `{"a":0}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		if len(schema) > 4096 || len(value) > 4096 {
			return
		}
		var c Checker
		wrong := c.Schema([]byte(schema))
		err := c.Check([]byte(schema), []byte(value))
		if wrong != nil && err == nil {
			t.Fatalf("a value meets a schema that is refused: %v", wrong)
		}
		for _, err := range []error{wrong, err} {
			if err == nil {
				continue
			}
			if !errors.Is(err, thread.ErrInvalid) || len(err.Error()) > 1500 || strings.ContainsRune(err.Error(), 0x1b) {
				t.Fatalf("%q", err)
			}
		}
	})
}
