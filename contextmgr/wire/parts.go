package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire/span"
)

// part is a part of a list of parts.
type part struct {
	kind, text Value
	marked     bool // it has a mark for the cache
}

// String returns the part's text, or its kind if it has none.
func (p part) String() string {
	if s := p.text.Text(); s != "" || p.text.Raw != nil {
		return s
	}
	return "[" + strings.TrimPrefix(p.kind.Text(), "input_") + "]"
}

// eachPart calls fn for each part of a list.
func eachPart(raw json.RawMessage, fn func(part)) error {
	return span.New(raw).Array(func(c *span.Cursor) error {
		var p part
		err := c.Object(func(key string, c *span.Cursor) error {
			switch key {
			case "type":
				return p.kind.Read(c)
			case "text":
				return p.text.Read(c)
			case "cache_control":
				p.marked = true
			}
			return nil
		})
		fn(p)
		return err
	})
}

// PartKinds are the kinds of the parts of a format's tool results.
type PartKinds struct {
	Text string
	// Other are the kinds that are known besides text; nil if any are fine.
	Other []string
}

// FormOf returns the form of a tool result that is a string or a list of parts, and how many parts are no text. It is
// "" if the result must stay as it is: it is neither, or it has parts that are not known or that are ambiguous. A part
// with a mark for the cache counts as such, since the mark would be lost with it.
func (k PartKinds) FormOf(result Value) (form Form, other int) {
	if !result.Once() {
		return "", 0
	}
	switch result.Raw[0] {
	case '"':
		return FormText, 0
	case '[':
	default:
		return "", 0
	}
	fine := true
	err := eachPart(result.Raw, func(p part) {
		switch {
		case p.marked || !p.kind.Once():
			fine = false
		case p.kind.Is(k.Text):
			fine = fine && p.text.Once() && p.text.Raw[0] == '"'
		case k.Other != nil && !slices.ContainsFunc(k.Other, p.kind.Is):
			fine = false
		default:
			other++
		}
	})
	if err != nil || !fine {
		return "", 0
	}
	return FormParts, other
}
