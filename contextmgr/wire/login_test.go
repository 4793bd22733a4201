package wire_test

import (
	"net/http"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
)

// TestLogin uses the headers that the agents send; the credentials are made up.
func TestLogin(t *testing.T) {
	for _, tc := range []struct {
		codec  wire.Scanner
		header http.Header
		want   bool
	}{
		{anthropic.New(), http.Header{"X-Api-Key": {"sk-ant-api03-x"}}, false},
		{anthropic.New(), http.Header{"Authorization": {"Bearer x"}, "Anthropic-Beta": {"interleaved-thinking-2025-05-14"}}, false},
		{anthropic.New(), http.Header{
			"Authorization":  {"Bearer sk-ant-oat01-x"},
			"Anthropic-Beta": {"claude-code-20250219,oauth-2025-04-20", "extended-cache-ttl-2025-04-11"},
		}, true},
		{openai.NewResponses(), http.Header{"Authorization": {"Bearer sk-x"}}, false},
		{openai.NewResponses(), http.Header{"Authorization": {"Bearer eyJx"}, "Chatgpt-Account-Id": {"a"}}, true},
		{openai.NewChat(), http.Header{"Authorization": {"Bearer sk-x"}}, false},
		{gemini.New(), http.Header{"X-Goog-Api-Key": {"x"}}, false},
		{gemini.New(), http.Header{"Authorization": {"Bearer ya29.x"}}, true},
		{gemini.New(), http.Header{}, false},
	} {
		if got := tc.codec.Login(tc.header); got != tc.want {
			t.Errorf("%T with %v: %v", tc.codec, tc.header, got)
		}
	}
}
