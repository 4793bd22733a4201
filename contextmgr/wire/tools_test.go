package wire_test

import (
	"encoding/json"
	"testing"

	"orchestrator/contextmgr/wire"
)

// TestServer: a tool is told by the server that it is of, however an agent calls it.
func TestServer(t *testing.T) {
	for name, want := range map[string]string{
		"Read": "", "read_file": "", "DeferredToolPlaceholder": "", "": "", "list_mcp_resources": "",
		"mcp__github__list_issues": "github", "github__list_issues": "github", "mcp_github_list": "github", "mcp__codex_tui": "codex_tui",
		"mcp__orch__notes__add": "notes", "orch_notes__add": "notes", "mcp_orch62f5d8d3_notes__add": "notes",
		"mcp__orch678faeae": "orch", "orch": "orch", "orch_x": "orch", "orchard__pick": "orchard", "orch_orch__find_tool": "orch",
	} {
		if got := (wire.Tool{Name: name}).Server(); got != want {
			t.Errorf("%q is of %q, want %q", name, got, want)
		}
	}
}

// TestTools: the tools of each format are found, and nothing that cannot be read is a tool.
func TestTools(t *testing.T) {
	for body, want := range map[string]string{
		`{"tools":[{"name":"A","input_schema":{}},{"type":"web_search"}]}`:                                    `A|web_search|`,
		`{"tools":[{"type":"function","function":{"name":"b"}}]}`:                                             `b|`,
		`{"request":{"tools":[{"functionDeclarations":[{"name":"c"},{"name":"d"},{}]},{"googleSearch":{}}]}}`: `c|d|||`,
		`{"tools":{"name":"A"}}`: ``, `{"tools":[1,"x",null,{"name":3}]}`: `|`, `{`: ``, ``: ``, `[]`: ``,
	} {
		var got string
		for _, tool := range wire.Tools(wire.ToolList([]byte(body))) {
			got += tool.Name + "|"
			if !json.Valid(tool.Raw) {
				t.Errorf("%s: %s", body, tool.Raw)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
