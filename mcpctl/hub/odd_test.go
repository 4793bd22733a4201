package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/mcpctl/hub"
	"orchestrator/thread/ground/await"
)

// TestOddServers: a server runs if an agent's own client gets along with it. If none does, the reason and the log show
// what it printed.
func TestOddServers(t *testing.T) {
	r := newRig(t, func(cfg *hub.Config) { cfg.Times = hub.Times{Start: 20 * time.Second} })
	for _, test := range []struct {
		mode  string
		fails string // what the reason says; empty if calls are answered
	}{
		{"odd=bom", ""},
		{"odd=prompt", ""},
		{"odd=colour", ""},
		{"odd=progress", ""},
		{"odd=braces", ""},
		{"odd=title", ""},
		{"odd=space", ""},
		{"odd=nul", ""},
		{"odd=junk", ""},
		{"odd=crlf", ""},
		{"odd=string-ids", ""},
		{"odd=float-ids", ""},
		{"odd=exponent-ids", ""},
		{"odd=spaced-ids", ""},
		{"odd=float-string-ids", ""},

		{"silent", "did not start in 1s; it printed nothing"},
		{"crash", "exit status 3); it printed: cannot start: ␛[31mno such database␛[0m"},
		{"odd=pretty", `did not start in 1s; it printed: { "jsonrpc": "2.0", "id": `},
		{"odd=endless", `it printed: {"jsonrpc":"2.0","id":`},
		{"odd=cr", `it printed: {"jsonrpc":"2.0","id":`},
		{"odd=every-prompt", "it printed: Loading... "},
		{"odd=every-bom", `{"jsonrpc":"2.0","id":`},
		{"odd=after", `it printed: {"jsonrpc":"2.0","id":`},
		{"odd=batch", `it printed: [{"jsonrpc":"2.0","id":`},
		{"odd=no-version", `it printed: {"id":`},
		{"odd=utf16", "it printed: {␀\"␀j␀s␀o␀n"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			s, c := server(test.mode), r.by("t1")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if test.fails != "" {
				s.Definition.Options.StartTimeout = time.Second
				go func() {
					await.Until(t, "it has failed", func() bool { return r.state(s.Hash).Status == hub.Backoff })
					cancel()
				}()
			}
			_, err := r.call(ctx, s, c, "echo", `{"i":1}`)
			if test.fails == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			state := r.state(s.Hash)
			if err == nil || !strings.Contains(state.Reason, test.fails) || utf8.RuneCountInString(state.Reason) > 400 {
				t.Fatalf("%v, and it says %q, want %q", err, state.Reason, test.fails)
			}
			if said := strings.Contains(test.fails, "nothing"); said != (len(r.Hub.Log(s.Hash)) == 0) {
				t.Errorf("its log is %q", r.Hub.Log(s.Hash))
			}
			r.Stop(s.Hash)
		})
	}
}
