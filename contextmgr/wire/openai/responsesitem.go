package openai

import (
	"encoding/json"
	"strings"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/span"
)

// outputParts are the parts of tools' outputs in Responses. Others, such as encrypted ones, must stay as they are.
var outputParts = wire.PartKinds{Text: "input_text", Other: []string{"input_image", "input_file"}}

// scannedItem is an item of Responses as a scan needs it.
type scannedItem struct {
	kind, id, callID, role, namespace, name, arguments, input, action, output wire.Value
	opaque                                                                    bool
}

// readItem reads one item: whose it is, and the output of a tool. The inputs of calls are read but not listed: they may
// have to come back as they were.
func readItem(c *span.Cursor, f *wire.Facts) error {
	var it scannedItem
	if err := c.Object(it.member); err != nil {
		return err
	}
	f.Flags |= flagsOf(it.role)
	if f.Flags == 0 && !strings.HasSuffix(it.kind.Text(), "_output") {
		f.Flags = wire.ByModel // a message of the assistant, its reasoning, or a call
	}
	if !f.Listing || !it.kind.Once() || it.opaque {
		return nil
	}
	it.addOutput(f)
	it.addCall(f)
	return nil
}

func (it *scannedItem) member(key string, c *span.Cursor) error {
	switch key {
	case "type":
		return it.kind.Read(c)
	case "id":
		return it.id.Read(c)
	case "call_id":
		return it.callID.Read(c)
	case "role":
		return it.role.Read(c)
	case "namespace":
		return it.namespace.Read(c)
	case "name":
		return it.name.Read(c)
	case "arguments":
		return it.arguments.Read(c)
	case "input":
		return it.input.Read(c)
	case "action":
		return it.action.Read(c)
	case "output":
		return it.output.Read(c)
	case "encrypted_content":
		it.opaque = true
	}
	return nil
}

// call returns the id of the item's call, "" if it is ambiguous. Some items have it as their own id.
func (it *scannedItem) call() string {
	id := it.callID
	if id.Raw == nil {
		id = it.id
	}
	if !id.Once() {
		return ""
	}
	return id.Text()
}

// addOutput adds the output of one of the agent's own tools.
func (it *scannedItem) addOutput(f *wire.Facts) {
	switch kind := it.kind.Text(); kind {
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output",
		"apply_patch_call_output":
		if id := it.call(); id != "" {
			form, other := outputParts.FormOf(it.output)
			f.AddResult(wire.Content{Span: it.output.Span(), Call: id, Form: form, Other: other}, 0)
		}
	}
}

// addCall adds a call of one of the agent's own tools.
func (it *scannedItem) addCall(f *wire.Facts) {
	kind := it.kind.Text()
	id := it.call()
	if !clientCall(kind) || id == "" || !it.name.AtMostOnce() || !it.namespace.AtMostOnce() {
		return
	}
	var input json.RawMessage
	switch {
	case it.arguments.Once():
		input, _ = inputOf(it.arguments)
	case it.input.Once():
		input, _ = inputOf(it.input)
	case it.action.Once():
		input = it.action.Raw
	}
	name := toolName(item{Type: kind, Name: it.name.Text(), Namespace: it.namespace.Text()})
	f.AddCall(id, name, input, nil)
}

// inputOf returns the input of a call of its value: the object that a string holds, or a text. It reports whether it
// is such an object.
func inputOf(v wire.Value) (json.RawMessage, bool) {
	if !v.IsText() {
		return v.Raw, false
	}
	if object, ok := wire.ObjectInString(v.Raw); ok {
		return object, true
	}
	return wire.TextInput(v.Raw), false
}
