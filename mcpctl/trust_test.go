package mcpctl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/mcpctl"
	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// TestP1NothingRunsUnaccepted looks at a repository's servers in every way, and none is started before its exact command
// is accepted.
func TestP1NothingRunsUnaccepted(t *testing.T) {
	ctx := context.Background()
	var script string
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		script = filepath.Join(r.project, "server.sh")
		r.put(script, []byte("#!/bin/sh\necho ran >> "+r.witness("script")+"\n"))
		if err := os.Chmod(script, 0o700); err != nil {
			t.Fatal(err)
		}
		r.repository(conf{
			"evil":   with(r.fake("evil"), "taskPatterns", []string{"*"}),
			"plain":  r.fake("plain"),
			"script": {"command": script, "taskPatterns": []string{"test"}},
			"remote": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headersHelper": "touch " + r.witness("helper")},
		})
	})
	none := func(after string) {
		t.Helper()
		for _, name := range []string{"evil", "plain", "script", "helper"} {
			if _, err := os.Stat(r.witness(name)); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s ran after %s", name, after)
			}
		}
		for _, s := range r.report("t1").Servers {
			if s.Starts > 0 || s.PID > 0 {
				t.Fatalf("%s was started after %s: %+v", s.ID, after, s)
			}
		}
	}
	names := []string{"evil", "plain", "script", "remote"}
	for _, s := range r.report("t1").Servers {
		if s.On || s.Accepted || s.State != string(hub.Unapproved) {
			t.Errorf("%s: on %v, accepted %v, %s", s.ID, s.On, s.Accepted, s.State)
		}
	}
	none("list")
	for _, name := range names {
		r.detail("t1", name)
	}
	none("show")
	for _, name := range names {
		for _, on := range []bool{true, false} {
			_ = r.flip("t1", name, on) // refused or without effect
		}
		_ = r.Take(ctx, "t1", name, "suggested")
	}
	none("switching")
	// A thread that comes with switches, as from an archive or a fork.
	r.threads.add("t2", "claude", r.project)
	r.threads.change("t2", thread.MCPSwitches{Exact: true, On: []thread.MCPSwitch{{Server: "evil"}, {Server: "plain"}}})
	r.On("t2")
	none("a thread with switches")
	r.Prompt("t1", "test evil plain script remote")
	r.Ready(ctx, "t1")
	none("a pattern")
	if _, err := r.Why(ctx, thread.MCPTask{Thread: "t1", Text: "test evil"}); err != nil {
		t.Fatal(err)
	}
	r.Find(ctx, "t1", "echo test evil")
	none("why and find_tool")
	for _, name := range names {
		for _, act := range []string{mcpctl.ActRestart, mcpctl.ActApproveTools, mcpctl.ActSignIn} {
			if err := r.act(act, name, ""); err == nil {
				t.Errorf("%s %s works", act, name)
			}
		}
		if _, err := r.CallTool(ctx, thread.MCPCall{Server: name, Tool: "echo"}); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("call of %s: %v", name, err)
		}
		if r.Off("t1", name, "echo") == "" {
			t.Errorf("an agent may call %s", name)
		}
		// Even past that.
		_, err := r.Call(ctx, name, caller{"t1", r.project}, "tools/call", json.RawMessage(`{"name":"echo"}`))
		if err == nil {
			t.Errorf("a call of %s is answered", name)
		}
	}
	for _, name := range []string{"evil", "plain", "script", "helper"} {
		if _, err := os.Stat(r.witness(name)); err == nil {
			t.Errorf("%s ran", name)
		}
	}
}

// TestChangedBeforeStart starts nothing that was changed between its approval and its start.
func TestChangedBeforeStart(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.repository(conf{"repo": r.fake("repo")}) })
	r.approve("repo")
	if r.on("t1") != "repo" {
		t.Fatal("it is not on")
	}
	r.repository(conf{"repo": r.fake("repo", "banner")}) // the Controller has not looked yet
	if _, err := r.call("t1", "repo", "echo"); !errors.Is(err, hub.ErrUnapproved) {
		t.Errorf("a call: %v", err)
	}
	if n := len(r.starts("repo")); n != 0 {
		t.Fatalf("%d starts", n)
	}
	r.look()
	s := r.server("t1", "repo")
	if s.On || s.Accepted || !s.Changed || s.State != string(hub.Unapproved) || !strings.Contains(s.Reason, "changed") {
		t.Errorf("%+v", s)
	}
	d := r.detail("t1", "repo")
	if !slices.ContainsFunc(d.Diff, func(l string) bool { return strings.HasPrefix(l, "+") && strings.Contains(l, "banner") }) {
		t.Errorf("diff: %q", d.Diff)
	}
	r.approve("repo")
	r.must("t1", "repo", "echo")
	r.repository(conf{})
	r.look()
	if _, err := r.call("t1", "repo", "echo"); err == nil && len(r.starts("repo")) > 1 {
		t.Error("a server that is not configured any more is started")
	}
}

// TestApprove accepts exactly what the person saw.
func TestApprove(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.repository(conf{"repo": r.fake("repo"), "broken": {"args": []string{"x"}}})
	})
	seen := r.detail("", "repo").Hash
	for _, c := range []struct {
		server, hash string
		want         error
	}{
		{"repo", "", thread.ErrInvalid}, {"repo", strings.Repeat("0", 64), thread.ErrConflict},
		{"repo", seen[:12], thread.ErrConflict}, {"broken", seen, thread.ErrInvalid}, {"nothing", seen, thread.ErrNotFound},
	} {
		if err := r.act(mcpctl.ActApprove, c.server, c.hash); !errors.Is(err, c.want) {
			t.Errorf("approve %s %s: %v, want %v", c.server, c.hash, err, c.want)
		}
	}
	r.repository(conf{"repo": r.fake("repo", "banner")}) // while the person reads
	if err := r.act(mcpctl.ActApprove, "repo", seen); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("approve what has changed: %v", err)
	}
	if r.server("t1", "repo").Accepted {
		t.Fatal("it is accepted")
	}
	r.approve("repo")
	if !r.server("t1", "repo").Accepted {
		t.Fatal("it is not accepted")
	}
	r.ready("repo")
	pid := r.starts("repo")[0]
	if err := r.act(mcpctl.ActRevoke, "repo", ""); err != nil {
		t.Fatal(err)
	}
	if s := r.server("t1", "repo"); s.Accepted || s.On || s.Changed {
		t.Errorf("revoked: %+v", s)
	}
	await.Until(r, "its process has ended", func() bool { return !alive(pid) })
	if err := r.act(mcpctl.ActReject, "repo", r.detail("", "repo").Hash); err != nil {
		t.Fatal(err)
	}
	if s := r.server("t1", "repo"); s.Accepted || !strings.Contains(s.Reason, "rejected") {
		t.Errorf("rejected: %+v", s)
	}
	if err := r.act("explode", "repo", ""); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("an act that there is not: %v", err)
	}
	if err := r.act(mcpctl.ActSignIn, "repo", ""); err == nil {
		t.Error("it signs in to a server that is rejected")
	}
}

// TestDamagedRecordIsNamed: while it cannot be read what was accepted, the list says so, and names the file.
func TestDamagedRecordIsNamed(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.repository(conf{"repo": r.fake("repo")}) })
	r.approve("repo")
	found, err := filepath.Glob(filepath.Join(r.state, "trust", "*", "mcp-trust*.json"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, file := range found {
		if err := os.WriteFile(file, []byte(`{"half`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.look()
	if s := r.server("t1", "repo"); s.On || s.Accepted || !strings.Contains(s.Reason, filepath.Join(r.state, "trust")) {
		t.Errorf("with a damaged record: %+v", s)
	}
	for _, file := range found {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	r.look()
	if s := r.server("t1", "repo"); s.Accepted || !strings.Contains(s.Reason, "not accepted it yet") {
		t.Errorf("without a record: %+v", s)
	}
}

// TestRugPull withholds a tool whose definition changes, shows how, and leaves the others alone.
func TestRugPull(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.repository(conf{"rug": r.fake("rug", "rug"), "calm": r.fake("calm")})
	})
	r.approve("rug")
	r.approve("calm")
	r.ready("rug") // its first call
	r.ready("calm")
	if !slices.Contains(r.tools("t1"), "rug/echo") {
		t.Fatalf("tools: %v", r.tools("t1"))
	}
	told := r.agents.tellings("t1")
	r.must("t1", "rug", "echo") // its second: the definition changes
	await.Until(r, "echo is withheld", func() bool { return r.server("t1", "rug").Withheld == 1 })
	if r.agents.tellings("t1") == told {
		t.Error("the agent was not told")
	}
	now := r.tools("t1")
	if slices.Contains(now, "rug/echo") || !slices.Contains(now, "rug/again") || !slices.Contains(now, "calm/echo") {
		t.Errorf("tools: %v", now)
	}
	if _, err := r.call("t1", "rug", "echo"); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a call of the changed tool: %v", err)
	}
	r.must("t1", "rug", "again")
	for _, f := range r.Find(context.Background(), "t1", "echo arguments") {
		if f.Server == "rug" && f.Tool == "echo" {
			t.Error("the changed tool is found")
		}
	}
	if !slices.ContainsFunc(r.Find(context.Background(), "t1", "echoing"), func(f gateway.Found) bool { return f.Server == "calm" && f.Tool == "echo" }) {
		t.Error("a tool is not found by another form of its name")
	}
	diff := ""
	for _, tool := range r.detail("t1", "rug").List {
		if tool.Name == "echo" {
			diff = strings.Join(tool.Diff, "\n")
			if tool.On {
				t.Error("echo is on")
			}
		}
	}
	if !strings.Contains(diff, "id_rsa") {
		t.Errorf("diff: %s", diff)
	}
	if err := r.act(mcpctl.ActApproveTools, "rug", "other"); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("accepted what was not seen: %v", err)
	}
	if err := r.act(mcpctl.ActApproveTools, "rug", r.detail("t1", "rug").ToolsHash); err != nil {
		t.Fatal(err)
	}
	if s := r.server("t1", "rug"); s.Withheld != 0 || !slices.Contains(r.tools("t1"), "rug/echo") {
		t.Errorf("after it was accepted: %+v", s)
	}
	r.must("t1", "rug", "echo")
	if err := r.act(mcpctl.ActApproveTools, "calm", ""); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("nothing to accept: %v", err)
	}
}

// TestUnusableTools counts tools that no agent can use, and says why; what is hidden is named.
func TestUnusableTools(t *testing.T) {
	r := newRig(t, func(r *rig, _ *mcpctl.Config) {
		r.own(conf{
			"odd":       r.fake("odd", "null", "names"),
			"few":       with(r.fake("few"), "x-orchestrator", map[string]any{"tools": map[string]any{"allow": []string{"echo", "write"}, "deny": []string{"write"}}}),
			"s\u200bly": with(r.fake("sly"), "args", []string{"-c", "true \u202e eurt"}),
		})
	})
	r.ready("odd")
	r.ready("few")
	s := r.server("t1", "odd")
	if s.Withheld != 0 || s.ToolsOn == 0 || s.Tools == s.ToolsOn {
		t.Errorf("%+v", s)
	}
	for _, tool := range r.detail("t1", "odd").List {
		if (tool.Unusable == "") != tool.On || tool.Withheld != "" {
			t.Errorf("%+v", tool)
		}
	}
	var few []string
	for _, tool := range r.tools("t1") {
		if strings.HasPrefix(tool, "few/") {
			few = append(few, tool)
		}
	}
	if !slices.Equal(few, []string{"few/echo"}) {
		t.Errorf("allowed: %v", few)
	}
	if _, err := r.call("t1", "few", "write"); err == nil {
		t.Error("a tool is called that the configuration leaves out")
	}
	b, err := json.Marshal(r.report("t1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"\u200b", "\u202e", `\u200b`, `\u202e`} {
		if strings.Contains(string(b), c) {
			t.Errorf("the report has %q", c)
		}
	}
	for _, one := range r.report("t1").Servers {
		if strings.HasPrefix(one.ID, "s") {
			if launch := strings.Join(r.detail("t1", one.ID).Launch, "\n"); strings.Contains(launch, "\u202e") || !strings.Contains(launch, "202E") {
				t.Errorf("launch: %q", launch)
			}
		}
	}
}

// TestP4MinimalEnvironment gives servers what they declare and where things are, and nothing else of the person's.
func TestP4MinimalEnvironment(t *testing.T) {
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = append(cfg.Env, "ANTHROPIC_API_KEY=canary-key", "ORCHESTRATOR_TOKEN=canary-token", "ORCHESTRATOR_SOCKET=canary-socket",
			"AWS_SECRET_ACCESS_KEY=canary-aws", "NODE_OPTIONS=canary-node", "LD_PRELOAD=canary-preload", "WANTED=wanted-value", "LANG=C")
		own, other := r.fake("own"), r.fake("other")
		own["env"].(map[string]any)["MINE"] = "${WANTED}"
		other["env"].(map[string]any)["OTHERS"] = "canary-other"
		r.own(conf{"own": own, "other": other})
	})
	t.Setenv("ANTHROPIC_API_KEY", "canary-process")
	r.must("t1", "other", "echo")
	asked := r.must("t1", "own", "environ")
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", r.starts("own")[0]))
	if err != nil {
		t.Fatal(err)
	}
	for what, env := range map[string]string{"what it sees": asked, "what it was started with": strings.ReplaceAll(string(b), "\x00", "\n")} {
		if strings.Contains(env, "canary") {
			t.Errorf("%s:\n%s", what, env)
		}
		for _, want := range []string{"MINE=wanted-value", "HOME=" + r.home, "LANG=C", "CLAUDE_PROJECT_DIR=" + r.project} {
			if !strings.Contains("\n"+env+"\n", "\n"+want+"\n") {
				t.Errorf("%s lacks %s:\n%s", what, want, env)
			}
		}
	}
}

// TestP5SecretsStay looks for secrets where they do not belong: in what is reported, logged, kept and put into arguments.
func TestP5SecretsStay(t *testing.T) {
	const canary = "CANARY7f3a9c"
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Env = append(cfg.Env, "TOKEN="+canary+"1", "ANTHROPIC_API_KEY="+canary+"2")
		cfg.Hub.Times.Wait = 50 * time.Millisecond // two of the servers cannot be started
		server := r.fake("own")
		server["env"].(map[string]any)["SECRET_KEY"] = "${TOKEN}"
		server["env"].(map[string]any)["API_TOKEN"] = "sk-ant-api03-" + canary + "3"
		r.own(conf{"own": server,
			"remote": {"type": "http", "url": "https://user:" + canary + "4@127.0.0.1:1/mcp?key=" + canary + "5",
				"headers": map[string]any{"Authorization": "Bearer " + canary + "6", "X-Api-Key": "${TOKEN}"}},
			"unset": {"command": "/bin/cat", "env": map[string]any{"SECRET": "${TOKEN}${NOT_SET}"}},
		})
	})
	shown := func(v any, err error) string {
		b, _ := json.Marshal(v)
		if err != nil {
			return string(b) + err.Error()
		}
		return string(b)
	}
	ctx := context.Background()
	r.ready("own")
	r.Prompt("t1", "use the remote")
	var out []string
	for _, name := range []string{"own", "remote", "unset"} {
		out = append(out, shown(r.Detail(ctx, thread.MCPAct{Server: name, Thread: "t1"})))
		out = append(out, shown(r.CallTool(ctx, thread.MCPCall{Server: name, Tool: "echo"})))
		out = append(out, shown(r.Act(ctx, thread.MCPAct{Act: mcpctl.ActRestart, Server: name})))
	}
	out = append(out, shown(r.Report(ctx, thread.MCPQuery{Thread: "t1"})), shown(r.Why(ctx, thread.MCPTask{Text: "remote"})),
		shown(r.Launch(thread.Thread{ID: "t1"}), nil), r.log.String())
	for _, text := range out {
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("a secret is shown: …%s…", text[max(0, i-100):min(len(text), i+60)])
		}
	}
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.starts("own")[0]))
	if err == nil && strings.Contains(string(arguments), canary) {
		t.Error("a secret is in the arguments of a process")
	}
	err = filepath.WalkDir(r.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), canary) {
			t.Errorf("%s has a secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAllowedLater lets a tool through once the configuration does, without asking again: nothing else is started.
func TestAllowedLater(t *testing.T) {
	few := func(r *rig, allow ...string) conf {
		return conf{"few": with(r.fake("few"), "x-orchestrator", map[string]any{"tools": map[string]any{"allow": allow}})}
	}
	r := newRig(t, func(r *rig, _ *mcpctl.Config) { r.own(few(r, "echo")) })
	r.ready("few")
	if got := r.tools("t1"); !slices.Equal(got, []string{"few/echo"}) {
		t.Fatalf("tools: %v", got)
	}
	r.own(few(r, "echo", "write"))
	await.Until(r, "the other tool is listed", func() bool {
		return slices.Equal(r.tools("t1"), []string{"few/echo", "few/write"})
	})
}
