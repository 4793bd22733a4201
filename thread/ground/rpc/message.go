package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Message is a JSON-RPC message. Its parts are kept as they came: numbers, unknown fields and the order of keys stay.
type Message struct {
	// ID is a number or a string as it came; nil for a notification.
	ID     json.RawMessage
	Method string // empty for a response
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// Error is the error of a response.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// The error codes of JSON-RPC 2.0 and of MCP.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	// CodeHeader is MCP's for headers that contradict the body, CodeVersion for a protocol version that is not spoken.
	CodeHeader  = -32020
	CodeVersion = -32022
)

// Errorf returns an error to respond with.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// errMessage is the reason why something is no JSON-RPC message.
var errMessage = errors.New("not a JSON-RPC message")

type wire struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *errorOf        `json:"error,omitempty"`
}

// errorOf is an Error that takes what is none: its caller must hear that something went wrong.
type errorOf Error

// UnmarshalJSON implements json.Unmarshaler.
func (e *errorOf) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*Error)(e)); err != nil {
		*e = errorOf{Code: CodeInternal, Message: "an error that is not one of JSON-RPC", Data: bytes.Clone(raw)}
	}
	return nil
}

// Decode decodes one message. Batches, which MCP had for one revision only, are not messages.
func Decode(frame []byte) (Message, error) {
	frame = bytes.TrimSpace(frame)
	if len(frame) == 0 || frame[0] != '{' {
		return Message{}, errMessage
	}
	var w wire
	if err := json.Unmarshal(frame, &w); err != nil {
		return Message{}, fmt.Errorf("%w: %w", errMessage, err)
	}
	m := Message{ID: w.ID, Method: w.Method, Params: w.Params, Result: w.Result, Error: (*Error)(w.Error)}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	switch {
	case w.Version != "2.0":
		return Message{}, fmt.Errorf("%w: jsonrpc is %q, not \"2.0\"", errMessage, w.Version)
	case m.Method == "" && m.ID == nil && m.Error == nil,
		m.Method == "" && m.Result == nil && m.Error == nil,
		m.ID != nil && !scalar(m.ID):
		return Message{}, errMessage
	}
	return m, nil
}

func scalar(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// Encode encodes a message on one line, without the newline. It fails only if one of its parts is not JSON.
func (m Message) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	w := wire{Version: "2.0", ID: m.ID, Method: m.Method, Params: m.Params, Result: m.Result, Error: (*errorOf)(m.Error)}
	if err := e.Encode(w); err != nil {
		return nil, fmt.Errorf("encode a JSON-RPC message: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// IsRequest reports whether the message asks for a response.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether the message is a response.
func (m Message) IsResponse() bool { return m.Method == "" }
