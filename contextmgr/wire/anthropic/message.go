package anthropic

import (
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
)

// spoken marks user messages that contain text, which may be a person's.
const spoken wire.Flags = 1

// resultParts are the parts of tool results. Those that are no text, such as images, are counted.
var resultParts = wire.PartKinds{Text: "text"}

// scannedMessage is a message that is being read.
type scannedMessage struct {
	role     wire.Value
	contents int // how often the content is there
	text     bool
	blocks   []scannedBlock
}

// scannedBlock is a content block as a scan needs it.
type scannedBlock struct {
	kind, id, name, input, result, content, failed wire.Value
}

// readMessage reads one message: whether it may contain a person's text, and the tools' results and inputs.
func readMessage(c *span.Cursor, f *wire.Facts) error {
	var m scannedMessage
	err := c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "role":
			return m.role.Read(c)
		case "content":
			m.contents++
			if c.Kind() == '"' {
				m.text = true
				return nil
			}
			return c.Array(func(c *span.Cursor) error { return m.block(c, f.Listing) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.text && m.role.Is("user") {
		f.Flags |= spoken
	}
	if m.role.Is("assistant") {
		f.Flags |= wire.ByModel
	}
	if !f.Listing || !m.role.Once() || m.contents != 1 {
		return nil
	}
	switch {
	case m.role.Is("user"):
		m.addResults(f)
	case m.role.Is("assistant"):
		m.addCalls(f)
	}
	return nil
}

// block reads one content block.
func (m *scannedMessage) block(c *span.Cursor, listing bool) error {
	var b scannedBlock
	err := c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "type":
			return b.kind.Read(c)
		case "id":
			return b.id.Read(c)
		case "name":
			return b.name.Read(c)
		case "input":
			return b.input.Read(c)
		case "tool_use_id":
			return b.result.Read(c)
		case "content":
			return b.content.Read(c)
		case "is_error":
			return b.failed.Read(c)
		}
		return nil
	})
	result := b.kind.Is("tool_result")
	m.text = m.text || b.kind.Raw != nil && !result
	if listing && b.kind.Once() && (result || b.kind.Is("tool_use")) {
		m.blocks = append(m.blocks, b)
	}
	return err
}

// addResults adds the results of the agent's own tools. Server tools have block types of their own.
func (m *scannedMessage) addResults(f *wire.Facts) {
	for i, b := range m.blocks {
		id := b.result.Text()
		if !b.kind.Is("tool_result") || !b.result.Once() || id == "" || !b.failed.AtMostOnce() {
			continue
		}
		form, other := resultParts.FormOf(b.content)
		f.AddResult(wire.Content{
			Span: b.content.Span(), Call: id, Form: form, Other: other, Error: string(b.failed.Raw) == "true",
		}, i)
	}
}

// addCalls adds the calls of the agent's own tools.
func (m *scannedMessage) addCalls(f *wire.Facts) {
	for _, b := range m.blocks {
		id := b.id.Text()
		if !b.kind.Is("tool_use") || !b.id.Once() || id == "" || !b.name.Once() || !b.input.Once() {
			continue
		}
		var place *wire.Span
		if b.input.IsObject() {
			at := b.input.Span()
			place = &at
		}
		f.AddCall(id, b.name.Text(), b.input.Raw, place)
	}
}
