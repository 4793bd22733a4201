package remote

import (
	"encoding/json"
	"strconv"
	"strings"

	"orchestrator/thread/ground/rpc"
)

// maxDepth is how deep in a schema an argument with a header may be.
const maxDepth = 16

// property is what is read of a schema.
type property struct {
	Header     json.RawMessage     `json:"x-mcp-header"`
	Properties map[string]property `json:"properties"`
}

// paramHeaders are the headers that repeat arguments of a call, as the schema of its tool demands: "Mcp-Param-Region" for
// an argument with "x-mcp-header": "Region".
func paramHeaders(m rpc.Message, schemaOf func(tool string) json.RawMessage) map[string]string {
	if m.Method != "tools/call" || schemaOf == nil {
		return nil
	}
	schema := schemaOf(nameIn(m))
	if !strings.Contains(string(schema), "x-mcp-header") {
		return nil
	}
	var of property
	var p struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(schema, &of) != nil || json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	headers := map[string]string{}
	of.collect(p.Arguments, headers, 0)
	return headers
}

func (of property) collect(value json.RawMessage, into map[string]string, depth int) {
	var name string
	if json.Unmarshal(of.Header, &name) == nil && token(name) {
		if text, ok := primitive(value); ok {
			into["Mcp-Param-"+name] = headerValue(text)
		}
	}
	var fields map[string]json.RawMessage
	if len(of.Properties) == 0 || depth == maxDepth || json.Unmarshal(value, &fields) != nil {
		return
	}
	for key, inner := range of.Properties {
		if v, ok := fields[key]; ok {
			inner.collect(v, into, depth+1)
		}
	}
}

// primitive is a string, a boolean, or an integer that every language has, as text.
func primitive(value json.RawMessage) (string, bool) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return "", false
	}
	const most = 1<<53 - 1
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v == float64(int64(v)) && v >= -most && v <= most {
			return strconv.FormatInt(int64(v), 10), true
		}
	}
	return "", false
}

// token reports whether a text can be part of a header's name.
func token(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}
