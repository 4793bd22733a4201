package base

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// sent is what a request sends. Texts and tools are those of the base and the prompt; history is the size in bytes of the
// rest of the conversation.
type sent struct {
	texts   []thread.BaseText
	tools   []thread.BaseText
	offered []string
	list    json.RawMessage // of the tools, as it was sent
	history int
}

// What is kept of names of tools is bounded: how many, and their bytes.
const (
	mostOffered = 1000
	mostName    = 300
)

// speaker is in whose place an item stands.
type speaker int

const (
	byTool speaker = iota // or what else an agent reports
	byModel
	byMaker
	byPerson
)

// read reads a request. What stands before the model's first answer, and after its last, is of the base: a resumed
// conversation is between the two.
func read(q wire.Request, body []byte) sent {
	s := sent{list: wire.ToolList(body)}
	for _, tool := range wire.Tools(s.list) {
		s.tool(tool)
	}
	s.add(byMaker, texts(q.System))
	items := make([]item, len(q.Items))
	first, last := len(items), -1
	for i, it := range q.Items {
		if items[i] = itemOf(it.Raw); items[i].by == byModel {
			first, last = min(first, i), i
		}
	}
	for i, it := range items {
		if i > first && i < last || it.by != byMaker && it.by != byPerson {
			s.history += len(q.Items[i].Raw)
			continue
		}
		s.add(it.by, it.texts)
	}
	return s
}

// add adds texts in the place of a speaker. What the person said is told apart from what an agent says in the person's
// place.
func (s *sent) add(by speaker, texts []string) {
	for _, text := range texts {
		if by == byMaker {
			s.text(thread.BaseSystem, text)
			continue
		}
		said := wire.PersonText(text)
		at := strings.Index(text, said)
		if said == "" || at < 0 {
			s.text(thread.BaseOther, text)
			continue
		}
		s.text(thread.BaseOther, text[:at])
		s.text(thread.BasePrompt, said)
		s.text(thread.BaseOther, text[at+len(said):])
	}
}

// tool adds the definition of a tool: of an MCP server, by the name of the server.
func (s *sent) tool(tool wire.Tool) {
	if len(s.offered) < mostOffered {
		s.offered = append(s.offered, plaintext.Cut(tool.Name, mostName))
	}
	text := thread.BaseText{Kind: thread.BaseTool, Name: tool.Name, Text: string(tool.Raw)}
	if server := tool.Server(); server != "" {
		text.Kind, text.Name = thread.BaseMCP, server
	}
	s.tools = append(s.tools, text)
}

func (s *sent) text(kind thread.BaseKind, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	s.texts = append(s.texts, thread.BaseText{Kind: kind, Text: text})
}

// item is a part of a conversation, in any format.
type item struct {
	by    speaker
	texts []string
}

func itemOf(raw json.RawMessage) item {
	var role, kind string
	var content json.RawMessage
	_ = span.New(raw).Object(func(key string, c *span.Cursor) (err error) { // what cannot be read has no texts
		switch key {
		case "role":
			role, err = c.String()
		case "type":
			kind, err = c.String()
		case "content", "parts":
			content, err = c.Raw()
		}
		return err
	})
	it := item{by: byTool}
	switch {
	case role == "assistant", role == "model", kind == "reasoning", strings.HasSuffix(kind, "_call"):
		it.by = byModel
	case kind != "" && kind != "message":
	case role == "system", role == "developer":
		it.by, it.texts = byMaker, texts(content)
	case role == "user", role == "":
		it.by, it.texts = byPerson, texts(content)
	}
	return it
}

// textKinds are the kinds of parts that are texts, "" where a format has none.
var textKinds = []string{"", "text", "input_text"}

// texts returns the texts of a content: a string, a part, a list of parts, or an object with such a list.
func texts(raw json.RawMessage) (out []string) {
	c := span.New(raw)
	switch c.Kind() {
	case '"':
		if text, err := c.String(); err == nil {
			out = append(out, text)
		}
	case '[':
		_ = c.Array(func(c *span.Cursor) error { // as far as it can be read
			part, err := c.Raw()
			out = append(out, texts(part)...)
			return err
		})
	case '{':
		var kind string
		_ = c.Object(func(key string, c *span.Cursor) (err error) {
			var part json.RawMessage
			switch key {
			case "type":
				kind, err = c.String()
			case "text", "parts":
				part, err = c.Raw()
				out = append(out, texts(part)...)
			}
			return err
		})
		if !slices.Contains(textKinds, kind) {
			return nil
		}
	}
	return out
}
