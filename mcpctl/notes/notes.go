// Package notes is a small MCP server that comes with the program, to try MCP with: it keeps notes for as long as it
// runs, and writes lists that are too long for a context. It stores nothing and reaches nothing.
package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"orchestrator/thread/ground/rpc"
)

// Verb is the command of this program that runs the server.
const Verb = "demo-notes"

// version is the one of MCP that the server speaks.
const version = "2025-11-25"

// The limits of what it keeps and writes.
const (
	mostNotes   = 1000
	mostText    = 10_000
	mostRecords = 100_000
)

// Serve answers requests until the input ends.
func Serve(in io.Reader, out io.Writer, end io.Closer) error {
	return rpc.NewPeer(rpc.NewLines(in, out, end, nil), &server{}).Run()
}

type server struct {
	mu    sync.Mutex
	notes []string
}

// tools are those that the server offers, as tools/list returns them.
const tools = `{"tools":[` +
	`{"name":"add","description":"Keep a note for as long as this server runs.","inputSchema":{"type":"object",` +
	`"properties":{"text":{"type":"string","description":"The note."}},"required":["text"]}},` +
	`{"name":"list","description":"List the notes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
	`{"name":"many","description":"Return a long list of records, to see what becomes of a result that is too long.",` +
	`"inputSchema":{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":100000}},` +
	`"required":["count"]},"annotations":{"readOnlyHint":true}}]}`

// Notification implements rpc.Handler.
func (*server) Notification(rpc.Message) {}

// Request implements rpc.Handler.
func (s *server) Request(_ context.Context, m rpc.Message) (json.RawMessage, error) {
	switch m.Method {
	case "initialize":
		return json.RawMessage(`{"protocolVersion":"` + version + `","capabilities":{"tools":{}},` +
			`"serverInfo":{"name":"notes","version":"1"}}`), nil
	case "ping":
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return json.RawMessage(tools), nil
	case "tools/call":
		var call struct {
			Name      string `json:"name"`
			Arguments struct {
				Text  string `json:"text"`
				Count int    `json:"count"`
			} `json:"arguments"`
		}
		if err := json.Unmarshal(m.Params, &call); err != nil {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "tools/call: %v", err)
		}
		text, err := s.call(call.Name, strings.TrimSpace(call.Arguments.Text), call.Arguments.Count)
		if err != nil {
			text = err.Error()
		}
		return json.Marshal(map[string]any{
			"content": []any{map[string]any{"type": "text", "text": text}}, "isError": err != nil,
		})
	default:
		return nil, rpc.Errorf(rpc.CodeNoMethod, "%s is not supported", m.Method)
	}
}

func (s *server) call(name, text string, count int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name {
	case "add":
		switch {
		case text == "":
			return "", fmt.Errorf("the note is empty: give it a text")
		case len(text) > mostText:
			return "", fmt.Errorf("the note has %d bytes: at most %d are kept", len(text), mostText)
		case len(s.notes) == mostNotes:
			return "", fmt.Errorf("there are %d notes already: restart this server to begin again", mostNotes)
		}
		s.notes = append(s.notes, text)
		return fmt.Sprintf("kept as note %d", len(s.notes)), nil
	case "list":
		if len(s.notes) == 0 {
			return "no notes yet", nil
		}
		var b strings.Builder
		for i, note := range s.notes {
			fmt.Fprintf(&b, "%d. %s\n", i+1, note)
		}
		return b.String(), nil
	case "many":
		if count < 0 || count > mostRecords {
			return "", fmt.Errorf("count %d: give a number from 0 to %d", count, mostRecords)
		}
		records := make([]map[string]any, count)
		for i := range records {
			records[i] = map[string]any{"id": i + 1, "name": fmt.Sprintf("record %d", i+1)}
		}
		raw, err := json.Marshal(records)
		return string(raw), err
	default:
		return "", fmt.Errorf("there is no tool %q", name)
	}
}
