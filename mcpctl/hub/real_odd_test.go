package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/mcptest"
	"orchestrator/thread/ground/await"
)

// TestRealOddServers compares our verdict on odd servers with that of `claude mcp list`.
func TestRealOddServers(t *testing.T) {
	if os.Getenv("ORCHESTRATOR_REAL_AGENTS") == "" {
		t.Skip("SKIPPED: ORCHESTRATOR_REAL_AGENTS is not set; it starts the real agents")
	}
	kinds := []string{
		"", "bom", "prompt", "colour", "progress", "braces", "title", "space", "nul", "junk", "crlf", "string-ids", "float-ids",
		"exponent-ids", "spaced-ids", "float-string-ids", "pretty", "endless", "cr", "every-prompt", "every-bom", "after",
		"batch", "no-version", "utf16",
	}
	connected := claudeConnects(t, kinds, 15*time.Second)
	t.Logf("it connects to %d of %d", len(connected), len(kinds))
	var apart []string
	for k, err := range weConnect(t, kinds, 3*time.Second) {
		if (err == nil) != connected[k] {
			apart = append(apart, k)
		}
	}
	if len(apart) == 0 {
		return
	}
	t.Logf("apart at first, tried again with time for a busy machine: %q", apart)
	connected = claudeConnects(t, apart, time.Minute)
	for k, err := range weConnect(t, apart, time.Minute) {
		if (err == nil) != connected[k] {
			t.Errorf("%q: we say %v, Claude Code connects: %v", k, err, connected[k])
		}
	}
}

// claudeConnects returns the kinds of servers to which Claude Code connects.
func claudeConnects(t *testing.T, kinds []string, limit time.Duration) map[string]bool {
	t.Helper()
	servers := make(map[string]any)
	for _, k := range kinds {
		command, args, env := mcptest.Command("odd=" + k)
		set := make(map[string]string)
		for _, kv := range env {
			name, value, _ := strings.Cut(kv, "=")
			set[name] = value
		}
		servers["s-"+k] = map[string]any{"command": command, "args": args, "env": set}
	}
	home, work := t.TempDir(), t.TempDir()
	b, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true, "mcpServers": servers})
	if err == nil {
		err = os.WriteFile(filepath.Join(home, ".claude.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	bin := filepath.Join(os.Getenv("ORCHESTRATOR_CLIS"), "node_modules/.bin")
	c := exec.CommandContext(ctx, filepath.Join(bin, "claude"), "mcp", "list")
	c.Dir = work
	c.Env = []string{
		"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=dumb", "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "HTTPS_PROXY=http://127.0.0.1:9",
		fmt.Sprintf("MCP_TIMEOUT=%d", limit.Milliseconds()),
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("claude mcp list: %v\n%s", err, out)
	}
	connected := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^s-([a-z0-9-]*): .*✔`).FindAllSubmatch(out, -1) {
		connected[string(m[1])] = true
	}
	return connected
}

// weConnect returns what keeps us from each kind of server.
func weConnect(t *testing.T, kinds []string, limit time.Duration) map[string]error {
	t.Helper()
	r := newRig(t, func(cfg *hub.Config) { cfg.Times = hub.Times{Start: limit} })
	all := make(map[string]error)
	for _, k := range kinds {
		s, c := server("odd="+k), r.by("t1")
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			await.Until(t, "a verdict on "+k, func() bool {
				st := r.state(s.Hash).Status
				if st == hub.Backoff {
					cancel() // it would be tried again; one that is ready is still read
				}
				return st == hub.Backoff || st == hub.Ready
			})
		}()
		_, all[k] = r.Manifest(ctx, s, c)
		<-ended
		cancel()
	}
	return all
}
