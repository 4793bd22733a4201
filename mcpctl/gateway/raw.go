package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"

	"orchestrator/thread/ground/rpc"
)

// object is a JSON object whose values stay as they came.
type object map[string]json.RawMessage

// asObject decodes an object; anything else is an error of the caller. Nothing is an empty object.
func asObject(raw json.RawMessage) (object, error) {
	o := object{}
	if len(raw) == 0 || string(raw) == "null" {
		return o, nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "params must be an object")
	}
	return o, nil
}

// text returns a string value, "" if there is none.
func (o object) text(key string) string {
	var s string
	_ = json.Unmarshal(o[key], &s)
	return s
}

// set sets a value that always can be encoded.
func (o object) set(key string, v any) { o[key] = encoded(v) }

// raw encodes the object.
func (o object) raw() json.RawMessage { return encoded(o) }

// encoded encodes what is known to be encodable, without escaping HTML.
func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// with returns an object with one more key at its front and the rest as it came, or the object itself if it has the key
// already or is none.
func with(raw json.RawMessage, key string, v json.RawMessage) json.RawMessage {
	o := object{}
	if json.Unmarshal(raw, &o) != nil || o[key] != nil {
		return raw
	}
	body := bytes.TrimSpace(raw)
	var out bytes.Buffer
	out.Grow(len(body) + len(key) + len(v) + 4)
	out.WriteByte('{')
	out.Write(encoded(key))
	out.WriteByte(':')
	out.Write(v)
	if len(o) > 0 {
		out.WriteByte(',')
	}
	out.Write(body[1:])
	return out.Bytes()
}

// failure is a tool's result that tells the model what went wrong.
func failure(text string) json.RawMessage {
	return encoded(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true})
}

// said is a tool's result of one text.
func said(text string) json.RawMessage {
	return encoded(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

// into decodes arguments of a tool that has no others than those that are named; the result is what the model is told if they
// do not fit, nil if they do.
func (o object) into(to any, named string) json.RawMessage {
	strict := json.NewDecoder(bytes.NewReader(o.raw()))
	strict.DisallowUnknownFields()
	if err := strict.Decode(to); err != nil {
		return failure("the arguments do not fit: " + err.Error() + "; there are " + named)
	}
	return nil
}
