package openai

import (
	"encoding/json"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
)

// messageParts are the parts of tools' results in Chat. Those that are no text, such as images, are counted.
var messageParts = wire.PartKinds{Text: "text"}

// scannedMessage is a message of Chat as a scan needs it.
type scannedMessage struct {
	role, content, callID wire.Value
	lists                 int // how often the list of calls is there
	calls                 []scannedCall
}

// scannedCall is a call in a message.
type scannedCall struct {
	id, name, input wire.Value
	bodies          int // how often what is called is there
	function        bool
	more            bool // it has members that are not known, such as a signature
}

// readMessage reads one message: whose it is, the result of a tool, and the inputs of calls.
func readMessage(c *span.Cursor, f *wire.Facts) error {
	var m scannedMessage
	err := c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "role":
			return m.role.Read(c)
		case "content":
			return m.content.Read(c)
		case "tool_call_id":
			return m.callID.Read(c)
		case "tool_calls":
			if m.lists++; f.Listing {
				return c.Array(m.call)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.Flags |= flagsOf(m.role)
	if m.role.Is("assistant") {
		f.Flags |= wire.ByModel
	}
	if !f.Listing || !m.role.Once() {
		return nil
	}
	switch {
	case m.role.Is("tool"):
		if id := m.callID.Text(); m.callID.Once() && id != "" {
			form, other := messageParts.FormOf(m.content)
			f.AddResult(wire.Content{Span: m.content.Span(), Call: id, Form: form, Other: other}, 0)
		}
	case m.role.Is("assistant") && m.lists == 1:
		for _, call := range m.calls {
			call.add(f)
		}
	}
	return nil
}

// call reads one call of a message.
func (m *scannedMessage) call(c *span.Cursor) error {
	var call scannedCall
	err := c.Object(func(key string, c *span.Cursor) error {
		switch key {
		case "id":
			return call.id.Read(c)
		case "function", "custom":
			call.bodies++
			call.function = key == "function"
			return c.Object(call.member)
		case "type", "index":
		default:
			call.more = true
		}
		return nil
	})
	m.calls = append(m.calls, call)
	return err
}

// member reads a member of what is called.
func (call *scannedCall) member(key string, c *span.Cursor) error {
	switch key {
	case "name":
		return call.name.Read(c)
	case "arguments", "input":
		return call.input.Read(c)
	default:
		call.more = true
		return nil
	}
}

// add adds a call. Its input is a content if it is an object and nothing in the call may be a signature of it.
func (call *scannedCall) add(f *wire.Facts) {
	id := call.id.Text()
	if !call.id.Once() || id == "" || call.bodies != 1 || !call.name.Once() || !call.input.AtMostOnce() {
		return
	}
	var place *wire.Span
	var input json.RawMessage
	if call.input.Raw != nil {
		var object bool
		if input, object = inputOf(call.input); object && call.function && !call.more {
			at := call.input.Span()
			place = &at
		}
	}
	f.AddCall(id, call.name.Text(), input, place)
}
