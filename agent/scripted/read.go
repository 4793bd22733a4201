package scripted

import (
	"encoding/json"
	"fmt"
)

// body contains the fields that are read, for all wires.
type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []object          `json:"messages"`
	Input    json.RawMessage   `json:"input"`
	Contents []object          `json:"contents"`
	Tools    []json.RawMessage `json:"tools"`

	ResponseFormat any    `json:"response_format"`
	Text           object `json:"text"`
	OutputConfig   object `json:"output_config"`
	OutputFormat   any    `json:"output_format"`
	Generation     object `json:"generationConfig"`

	Safeguards []object `json:"safeguards"`
}

// Read reads a model request. Each message passes through label first, which may change its role, for example if agents
// put their own texts into the person's messages; nil leaves all as they are. The caller fills in what is not in the
// body, such as Gemini's model and whether to stream.
func Read(wire Wire, raw []byte, label func(*Message)) (Turn, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return Turn{}, fmt.Errorf("read request: %w", err)
	}
	t := Turn{Wire: wire, Model: b.Model, Stream: b.Stream}
	for _, m := range b.Messages {
		if wire == Anthropic {
			t.readAnthropic(m)
		} else {
			t.readChat(m)
		}
	}
	for _, c := range b.Contents {
		t.readGemini(c)
	}
	if b.Input != nil {
		t.readResponses(b.Input)
	}
	for _, raw := range b.Tools {
		t.readTools(raw)
	}
	t.Schema = b.ResponseFormat != nil || b.Text["format"] != nil || b.OutputFormat != nil ||
		b.OutputConfig["format"] != nil || b.Generation["responseSchema"] != nil || b.Generation["responseJsonSchema"] != nil
	for _, s := range b.Safeguards {
		t.Checked = t.Checked || str(s["type"]) == dangerous
	}
	t.settle(label)
	return t, nil
}

// readTools reads one entry of a request's tools in any wire's shape.
func (t *Turn) readTools(raw json.RawMessage) {
	var e struct {
		Type        string            `json:"type"`
		Tools       []json.RawMessage `json:"tools"`
		Name        string            `json:"name"`
		InputSchema json.RawMessage   `json:"input_schema"`
		Parameters  json.RawMessage   `json:"parameters"`
		Function    struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
		Declarations []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			JSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	for _, d := range e.Declarations {
		t.Tools = append(t.Tools, Tool{Name: d.Name, Params: either(d.JSONSchema, d.Parameters)})
	}
	switch {
	case e.Type == "namespace": // of Responses
		from := len(t.Tools)
		for _, raw := range e.Tools {
			t.readTools(raw)
		}
		for i := range t.Tools[from:] {
			t.Tools[from+i].Namespace = e.Name
		}
	case e.Function.Name != "":
		t.Tools = append(t.Tools, Tool{Name: e.Function.Name, Params: e.Function.Parameters})
	case e.Name != "":
		t.Tools = append(t.Tools, Tool{Name: e.Name, Params: either(e.InputSchema, e.Parameters)})
	}
}

func either(a, b json.RawMessage) json.RawMessage {
	if len(a) > 0 {
		return a
	}
	return b
}
