package wire

import (
	"encoding/json"
	"strings"

	"orchestrator/contextmgr/wire/span"
)

// Text returns a content's text, of its bytes in the body, as the tool returned it: texts of several parts are joined
// by new lines, and a part that is no text is named, such as "[image]". An object is its output if it holds nothing
// else, and its JSON otherwise. The text of a call's input is its JSON.
func (c Content) Text(raw json.RawMessage) string {
	var out []string
	switch c.Form {
	case FormText:
		if s, ok := text(raw); ok {
			return s
		}
	case FormParts:
		if err := eachPart(raw, func(p part) { out = append(out, p.String()) }); err == nil {
			return strings.Join(out, "\n")
		}
	case FormValue:
		if s, ok := onlyOutput(raw); ok {
			return s
		}
	case FormInput:
		if s, ok := text(raw); ok {
			return s
		}
	}
	return string(raw)
}

// onlyOutput returns the output of an object that has no other member.
func onlyOutput(raw json.RawMessage) (out string, only bool) {
	members := 0
	err := span.New(raw).Object(func(key string, c *span.Cursor) (err error) {
		if members++; key == "output" && c.Kind() == '"' {
			out, err = c.String()
			only = true
		}
		return err
	})
	return out, err == nil && only && members == 1
}
