package mcpctl_test

import (
	"context"
	"strings"
	"testing"

	"orchestrator/mcpctl"
	"orchestrator/thread"
)

// TestEnvironmentOfThreads starts servers in the environment that a thread's agent was started in: how other machines are
// reached is today's, and a value that a server takes and that has changed since it was accepted is asked about, for that
// thread alone.
func TestEnvironmentOfThreads(t *testing.T) {
	const canary = "sk-canary-of-today"
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		takes := r.fake("takes")
		takes["env"].(map[string]any)["GIVEN"] = "${SHELL_KEY}"
		shared := with(r.fake("shared"), "x-orchestrator", map[string]any{"share": "project"})
		shared["env"].(map[string]any)["GIVEN"] = "${SHELL_KEY}"
		r.repository(conf{"takes": takes, "plain": r.fake("plain"), "shared": shared})
		cfg.Env = append(cfg.Env, "SHELL_KEY=old", "HTTPS_PROXY=http://old.corp")
		cfg.Places.Key = []byte("key")
		cfg.Places.Lookup = func(name string) (string, bool) {
			for _, kv := range cfg.Env {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					return v, true
				}
			}
			return "", false
		}
	})
	for _, name := range []string{"takes", "plain", "shared"} {
		r.approve(name)
	}
	r.threads.add("t2", "claude", r.project)
	r.threads.bring("t2", []string{"PATH=/usr/bin:/bin", "HOME=" + r.home, "SHELL_KEY=" + canary, "HTTPS_PROXY=http://today.corp", "OWN_SECRET=x"})
	if got := r.must("t1", "takes", "environ"); !strings.Contains(got, "GIVEN=old") || !strings.Contains(got, "old.corp") {
		t.Errorf("in the server's environment: %s", got)
	}
	if got := r.must("t2", "plain", "environ"); !strings.Contains(got, "today.corp") || strings.Contains(got, "OWN_SECRET") {
		t.Errorf("in the thread's environment: %s", got)
	}
	if _, err := r.call("t2", "takes", "environ"); err == nil {
		t.Fatal("a changed value was given without a question")
	}
	if n := len(r.starts("takes")); n != 1 {
		t.Errorf("%d starts", n)
	}
	s := r.server("t2", "takes")
	if s.Accepted || !s.Changed || !strings.Contains(s.Reason, "SHELL_KEY") {
		t.Errorf("%+v", s)
	}
	_, err := r.CallTool(context.Background(), thread.MCPCall{Server: "takes", Tool: "environ", Thread: "t2"})
	if err == nil || !strings.Contains(err.Error(), "SHELL_KEY") {
		t.Errorf("a person's call: %v", err)
	}
	d := r.detail("t2", "takes")
	if text := strings.Join(append(d.Diff, d.Launch...), "\n"); !strings.Contains(text, "SHELL_KEY") || strings.Contains(text, canary) {
		t.Errorf("what is asked:\n%s", text)
	}
	if s := r.server("t1", "takes"); !s.Accepted || s.Changed {
		t.Errorf("for the other thread: %+v", s)
	}
	if _, err := r.Act(context.Background(), thread.MCPAct{Act: mcpctl.ActApprove, Server: "takes", Thread: "t2", Hash: d.Hash}); err != nil {
		t.Fatal(err)
	}
	if got := r.must("t2", "takes", "environ"); !strings.Contains(got, "GIVEN="+canary) {
		t.Errorf("after it was accepted: %s", got)
	}
	if got := r.must("t1", "takes", "environ"); !strings.Contains(got, "GIVEN=old") {
		t.Errorf("the other thread's: %s", got)
	}
	// Threads share this one: it has the environment of the server, for all of them.
	if got := r.must("t2", "shared", "environ"); !strings.Contains(got, "GIVEN=old") || len(r.starts("shared")) != 1 {
		t.Errorf("shared: %s", got)
	}
	// The next shell's value, while it runs.
	r.threads.bring("t2", []string{"PATH=/usr/bin:/bin", "HOME=" + r.home, "SHELL_KEY=tomorrow"})
	if _, err := r.call("t2", "takes", "environ"); err == nil {
		t.Error("a value that changed once more was given without a question")
	}
	r.threads.bring("t2", nil)
	if got := r.must("t2", "takes", "environ"); !strings.Contains(got, "GIVEN=old") {
		t.Errorf("in the server's environment again: %s", got)
	}
	if strings.Contains(r.log.String(), canary) {
		t.Error("the value is in the log")
	}
}
