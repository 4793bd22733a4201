package program

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// server is an MCP server as a shell script: what it says by the method that it is asked for.
func server(t *testing.T, says map[string]string) *mcpClient {
	t.Helper()
	script := "n=0\nwhile read -r line; do\nid=$(printf %s \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\ncase $line in\n"
	for method, does := range says {
		script += "*'\"" + method + "\"'*) " + does + ";;\n"
	}
	path := filepath.Join(t.TempDir(), "server.sh")
	if err := os.WriteFile(path, []byte(script+"esac\ndone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(mcpServer{Name: "orch", Command: []string{"sh", path}})
	t.Cleanup(c.close)
	return c
}

// answers is a line of such a script that answers a request.
func answers(result string) string {
	return `printf '{"jsonrpc":"2.0","id":%s,` + result + `}\n' "$id"`
}

// TestMCP: tools are listed over pages and again when they have changed, calls return texts, and what goes wrong is
// said in the server's words or ours.
func TestMCP(t *testing.T) {
	const changed = `echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'`
	c := server(t, map[string]string{
		"initialize": answers(`"result":{}`),
		"tools/list": `n=$((n+1)); case $line in *more*) ` + answers(`"result":{"tools":[{"name":"b"}]}`) + `;; *) ` +
			answers(`"result":{"tools":[{"name":"a"}],"nextCursor":"more"}`) + `;; esac`,
		"tools/call": `case $line in *refuse*) ` + answers(`"error":{"code":-32602,"message":"not that"}`) +
			`;; *fail*) ` + answers(`"result":{"isError":true,"content":[{"type":"text","text":"it failed"}]}`) +
			`;; *end*) exit;; *) ` + changed + `; ` +
			answers(`"result":{"content":[{"type":"text","text":"one"},{"type":"image"}]}`) + `;; esac`,
	})
	names := func() string {
		all, err := c.list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, d := range all {
			out = append(out, d.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(); got != "mcp__orch__a mcp__orch__b" || !c.listed {
		t.Errorf("tools %q", got)
	}
	use := func(name string) (string, error) {
		return c.use(t.Context(), "mcp__orch__"+name, json.RawMessage(`{}`))
	}
	if got, err := use("a"); got != "one\n[image]" || err != nil || c.listed {
		t.Errorf("%q, %v; listed %v after a change", got, err, c.listed)
	}
	names()
	for name, want := range map[string]string{"refuse": "not that", "fail": "it failed"} {
		if _, err := use(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.use(ctx, "mcp__orch__a", json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is given up: %v", err)
	}
	for range 2 {
		if _, err := use("end"); err == nil || err.Error() != "the MCP server orch has ended" {
			t.Errorf("a server that ends: %v", err)
		}
	}
	if _, err := server(t, map[string]string{"initialize": "exit"}).list(t.Context()); err == nil ||
		err.Error() != "the MCP server orch has ended" {
		t.Errorf("a server that ends at its start: %v", err)
	}
}
