package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/thread/ground/rpc"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"

	// reserved is how the keys begin that the modern protocol puts into _meta: they are between two neighbours.
	reserved = "io.modelcontextprotocol/"
)

// object is a JSON object whose values are kept byte for byte.
type object map[string]json.RawMessage

// asObject reads an object. Nothing and null are empty ones.
func asObject(raw json.RawMessage) (object, error) {
	o := object{}
	if t := bytes.TrimSpace(raw); len(t) == 0 || string(t) == "null" {
		return o, nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "params are not an object")
	}
	return o, nil
}

// raw encodes the object.
func (o object) raw() (json.RawMessage, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// outgoing returns a client's parameters as the server gets them: what the client says to us about the protocol is
// replaced by what we say to the server, and its progress token by ours. It returns the client's token, nil if it has
// none.
func outgoing(params json.RawMessage, ours object, token string) (sent, theirs json.RawMessage, err error) {
	p, err := asObject(params)
	if err != nil {
		return nil, nil, err
	}
	meta, err := asObject(p["_meta"])
	if err != nil {
		return nil, nil, rpc.Errorf(rpc.CodeInvalidParams, "_meta is not an object")
	}
	for key := range meta {
		if strings.HasPrefix(key, reserved) {
			delete(meta, key)
		}
	}
	if t, ok := meta["progressToken"]; ok {
		theirs = t
		meta["progressToken"] = json.RawMessage(`"` + token + `"`)
	}
	for key, value := range ours {
		meta[key] = value
	}
	if len(meta) > 0 {
		if p["_meta"], err = meta.raw(); err != nil {
			return nil, nil, err
		}
	} else {
		delete(p, "_meta")
	}
	if sent, err = p.raw(); err != nil {
		return nil, nil, err
	}
	return sent, theirs, nil
}

// progressOf returns the token of a progress notification.
func progressOf(params json.RawMessage) (token string, ok bool) {
	var p struct {
		Token *string `json:"progressToken"`
	}
	if json.Unmarshal(params, &p) != nil || p.Token == nil {
		return "", false
	}
	return *p.Token, true
}

// withToken returns the parameters of a progress notification with another token.
func withToken(params, token json.RawMessage) (json.RawMessage, error) {
	p, err := asObject(params)
	if err != nil {
		return nil, err
	}
	p["progressToken"] = token
	return p.raw()
}

// with returns the object with one more value, which is known to be JSON.
func (o object) with(key string, value any) object {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // a value of our own
	}
	o[key] = b
	return o
}
