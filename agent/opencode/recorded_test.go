package opencode_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
)

// TestPieces holds what is read of an exported session.
func TestPieces(t *testing.T) {
	export := func(messages string) string { return `{"info":{"id":"ses_abcdefgh"},"messages":[` + messages + `]}` }
	for _, c := range []struct{ name, text, want string }{
		{"opencode's own words", export(`{"info":{"role":"user"},"parts":[{"type":"text","text":"go"},{"type":"text","text":"do","synthetic":true},
			{"type":"text","text":"x","ignored":true},{"type":"file","mime":"image/png"},{"type":"file","mime":"text/plain"}]}`),
			"person text2|text2|person text0 picture"},
		{"broken off", export(`{"info":{"role":"assistant","tokens":{"input":0}},"parts":[{"type":"text","text":"ye"},
			{"type":"tool","tool":"bash","callID":"a","state":{"status":"error","input":{},"error":"no"}}]}`),
			"own text2 0>0|own call2|result2 failed"},
		{"an impossible count", export(`{"info":{"role":"assistant"},"parts":[{"type":"step-finish","tokens":{"input":-1}}]}`),
			"line 1: a count of tokens that cannot be true"},
		{"half", export(`{}`)[:40], "read a session of opencode: unexpected end of JSON input"},
		{"another database", "SQLite format 3\x00", "open opencode's database: file is not a database"},
	} {
		if got := agenttest.Pieces(t, opencode.New(launch.Config{}), c.text); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestResponses: a compaction is a response beside the conversation, whose request is not that of what follows.
func TestResponses(t *testing.T) {
	a := opencode.New(launch.Config{})
	const asked = `{"info":{"role":"user"},"parts":[{"type":"text","text":"go"}]}`
	const sums = `{"info":{"role":"assistant","summary":true,"finish":"stop","tokens":{"input":9,"output":4}},` +
		`"parts":[{"type":"text","text":"sum"}]}`
	const failed = `{"info":{"role":"assistant","error":{"name":"x"},"tokens":{"input":8,"output":3}},` +
		`"parts":[{"type":"tool","tool":"bash","state":{}},{"type":"text","text":"note","synthetic":true}]}`
	text := asked + "\n" + sums + "\n" + failed + "\n"
	if got, want := agenttest.Responses(t, a, "main", text), "compaction[go] sum [] 9>4 ends|main[go]  [bash] 8>3 ends interrupted"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := agenttest.Responses(t, a, "session", text); got != "" {
		t.Errorf("the data of the session has %s", got)
	}
	export := `{"info":{"id":"ses_abcdefgh"},"messages":[` + asked + "," + sums + `]}`
	if got, want := agenttest.Pieces(t, a, export), "person text2|boundary0|own text3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
