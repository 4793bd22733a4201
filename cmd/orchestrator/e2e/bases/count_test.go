package bases

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/agent/agenttest/model"
	"orchestrator/contextmgr/tokens"
)

// base is what a first request holds besides its prompt.
type base struct {
	texts []string
	tools map[string]string // the JSON of each tool's definition, by name
	raw   string            // the JSON of all tools, as it was sent
}

// baseOf reads a request of any format.
func baseOf(t *testing.T, q model.Request) base {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal(q.Body, &body); err != nil {
		t.Fatal(err)
	}
	b := base{tools: map[string]string{}, raw: string(body["tools"])}
	for _, key := range []string{"system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		var v any
		if raw, ok := body[key]; ok && json.Unmarshal(raw, &v) == nil {
			b.walk(v)
		}
	}
	b.list(body["tools"])
	b.texts = slices.DeleteFunc(b.texts, func(s string) bool { return strings.TrimSpace(s) == q.Turn.Prompt })
	return b
}

// walk adds the texts below a value; Codex has tools among them.
func (b *base) walk(v any) {
	switch v := v.(type) {
	case string:
		b.texts = append(b.texts, v)
	case []any:
		for _, e := range v {
			b.walk(e)
		}
	case map[string]any:
		if v["type"] == "additional_tools" {
			raw, err := json.Marshal(v["tools"])
			if err == nil {
				b.raw += string(raw)
				b.list(raw)
			}
			return
		}
		for _, key := range []string{"text", "content", "parts"} {
			if e, ok := v[key]; ok {
				b.walk(e)
			}
		}
	}
}

// list adds the tools of a list.
func (b *base) list(raw json.RawMessage) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	for _, one := range all {
		var e struct {
			Type, Name   string
			Function     struct{ Name string }
			Tools        json.RawMessage
			Declarations json.RawMessage `json:"functionDeclarations"`
		}
		if json.Unmarshal(one, &e) != nil {
			continue
		}
		name := e.Name + e.Function.Name
		switch {
		case len(e.Declarations) > 0:
			b.list(e.Declarations)
			continue
		case e.Type == "namespace":
			b.list(e.Tools)
			continue
		case name == "":
			name = e.Type // Codex' web_search
		}
		var compact bytes.Buffer
		if json.Compact(&compact, one) == nil {
			b.tools[name] = compact.String()
		}
	}
}

var counter = sync.OnceValue(tokens.New)

// size returns the tokens of all texts and definitions.
func (b base) size() int {
	n := 0
	for _, s := range b.texts {
		n += counter().Count(s)
	}
	for _, s := range b.tools {
		n += counter().Count(s)
	}
	return n
}

// names returns the names of the tools, sorted.
func (b base) names() []string { return slices.Sorted(maps.Keys(b.tools)) }

// mentions returns where a tool is named in the texts and in the definitions of other tools. A name that is a word of
// English counts where it is marked as a tool's: in quotes for code, before "tool", or called.
func (b base) mentions(tool string) []string {
	q := regexp.QuoteMeta(tool)
	pattern := `\b` + q + `\b`
	if !strings.Contains(tool, "_") && !regexp.MustCompile(`[a-z][A-Z]`).MatchString(tool) {
		pattern = "`" + q + "[`(]|(?:\\b|\\*)" + q + `(?:\b|\*)[* ]*tool\b|\b` + q + `\(`
	}
	re := regexp.MustCompile(pattern)
	var found []string
	look := func(where, s string) {
		for _, at := range re.FindAllStringIndex(s, -1) {
			found = append(found, where+": …"+s[max(0, at[0]-60):min(len(s), at[1]+60)]+"…")
		}
	}
	for _, s := range b.texts {
		look("text", s)
	}
	for _, name := range b.names() {
		if name != tool {
			look(name, b.tools[name])
		}
	}
	return found
}
