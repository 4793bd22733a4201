package contract

import (
	"strings"

	"orchestrator/thread/plaintext"
)

// place takes apart an error of the validator, which names the schema's way to each part of it: "validating /properties/a:
// validating /properties/a/items: type: 5 has type ...". The last of these is the place in the value.
func place(text string) (where, what string) {
	const begins = "validating "
	where = "output_data"
	for {
		rest, ok := strings.CutPrefix(text, begins)
		if !ok {
			return where, text
		}
		pointer, after, ok := strings.Cut(rest, ": ")
		if !ok {
			return where, text
		}
		if pointer != "root" {
			where = value(pointer)
		}
		text = after
	}
}

// plain is an error of the schema's own in the words of this program.
func plain(text string) string {
	text = strings.TrimPrefix(text, "jsonschema.Schema: ")
	return strings.TrimPrefix(text, "jsonschema: ")
}

// value returns the place in a value that a part of a schema is about.
func value(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	where := "output_data"
	for i := 0; i < len(parts); i++ {
		switch parts[i] {
		case "properties", "patternProperties", "dependentSchemas":
			if i++; i < len(parts) && parts[i-1] == "properties" {
				where += "." + unescape(parts[i])
			}
		case "items", "additionalItems", "contains", "unevaluatedItems":
			where += "[]"
		case "prefixItems":
			if i++; i < len(parts) {
				where += "[" + parts[i] + "]"
			}
		case "additionalProperties", "unevaluatedProperties":
			where += ".*"
		case "$defs", "definitions": // the way to it is not known
			if i++; i < len(parts) {
				where = "output_data, the part " + unescape(parts[i])
			}
		}
	}
	return plaintext.Line(plaintext.OneLine(where, 200))
}

func unescape(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

// short is a text without its middle, if it is long: what is expected stands at its end.
func short(text string) string {
	const head, tail = 250, 250
	text = strings.ToValidUTF8(text, "?")
	if len(text) > head+tail+20 {
		rest := text[len(text)-tail:]
		for len(rest) > 0 && rest[0]&0xc0 == 0x80 {
			rest = rest[1:]
		}
		text = plaintext.Cut(text, head) + " [...] " + rest
	}
	return plaintext.Line(strings.Join(strings.Fields(text), " "))
}
