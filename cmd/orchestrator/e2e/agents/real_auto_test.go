package agents

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// realClaude is Claude Code as it is tested.
func realClaude() clis.CLI {
	all := clis.All()
	return all[slices.IndexFunc(all, func(c clis.CLI) bool { return c.Name == "claude" })]
}

// varies are the parts of Claude Code's requests that are another at every time: ids, checksums, durations, and what
// git said when it was last asked.
var varies = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|threads/[0-9a-f]{16}|"id":"[0-9a-f]{32}"|` +
	`(msg|toolu)_m\d+_\d+|req_\d+|cch=[0-9a-f]+|Bash=\d+|"git_state":\{.*?\}\}`)

// onWire is what a provider is sent, without what varies and the headers of one connection.
func onWire(q model.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", q.Method, q.Path)
	header := q.Header.Clone()
	for _, name := range []string{"Connection", "Content-Length"} {
		header.Del(name)
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, header[http.CanonicalHeaderKey(name)])
	}
	b.Write(q.Body)
	return varies.ReplaceAllString(b.String(), "…")
}

// TestRealAutoMode has the real Claude Code work in its auto mode, whose safety check is made by the provider as part
// of its answer, with the gateway and without: what it asks is the same but for what varies in every session, and so
// is what becomes of commands that are found safe, that are found dangerous, and of which the provider says nothing.
func TestRealAutoMode(t *testing.T) {
	const command = `#bash:python3 -c 'open("made.txt","w")' #say:went on`
	for _, c := range []struct{ name, first string }{
		{"a proxy of the person's", ""},
		{"as if it were Anthropic", "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL=1"}, // what we say where it is
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRealRig(t, realClaude())
			if c.first != "" {
				r.Env = append(r.Env, c.first)
			}
			file := filepath.Join(r.Project, "made.txt")
			made := func() bool {
				_, err := os.Stat(file)
				_ = os.Remove(file) // often there is none
				return err == nil
			}
			work := func(label string, more ...string) (all []string) {
				name := r.Ok(append([]string{"new", "-a", "claude", "-m", r.cli.Model, "--permission-mode", "auto", label}, more...)...)
				defer r.Ok("stop", name)
				before := len(r.model.Requests())
				got := r.Run("send", "--timeout", "2m", name, "safe "+command)
				if ran := made(); got.Code != 0 || !ran {
					t.Errorf("%s: a command that was found safe ran: %v; %+v", label, ran, got)
				}
				got = r.Run("send", "--timeout", "2m", name, "dangerous #flagged "+command)
				if ran := made(); got.Code != 0 || ran {
					t.Errorf("%s: a command that was found dangerous ran: %v; %+v", label, ran, got)
				}
				got = r.Run("send", "--timeout", "2m", name, "nobody knows #unchecked "+command)
				if ran := made(); got.Code != 4 || ran || !strings.Contains(got.Stderr, "approval") {
					t.Errorf("%s: a command that was not checked ran: %v; %+v", label, ran, got)
				}
				r.AwaitState(name, thread.StateApproval)
				for _, q := range r.model.Requests()[before:] {
					if q.Turn.Wire != "" && !q.Turn.Checked {
						t.Errorf("%s: request %d asks for no check", label, q.N)
					}
					all = append(all, onWire(q))
				}
				return all
			}
			direct, through := work("direct", "--no-gateway"), work("through")
			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("the gateway makes a difference (- without it, + with it):\n%s", diff)
			}
			t.Logf("%d requests each, the same with the gateway and without", len(direct))
		})
	}
}
