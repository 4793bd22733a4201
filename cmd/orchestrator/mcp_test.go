package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/mcpctl/rpc"
	"orchestrator/thread"
)

// configureMCP writes what the person configures for all agents.
func (r *rig) configureMCP(servers map[string]any) {
	r.t.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		r.t.Fatal(err)
	}
	dir := filepath.Join(r.home, ".config", "orchestrator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp.json"), b, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// matched is a fake server that is off until a pattern or a person switches it on.
func matched(modes ...string) map[string]any {
	s := fakeServer(modes...)
	s["taskPatterns"] = []string{"e2e"}
	return s
}

// pidsIn reads the pids in a file, none if there is no such file.
func pidsIn(t *testing.T, file string) (pids []int) {
	t.Helper()
	b, _ := os.ReadFile(file)
	for _, word := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// runs reports whether a process runs.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// mcpClient is the MCP client of a thread's agent: a bridge below the agent, whose streams the test holds.
type mcpClient struct {
	t       *testing.T
	peer    *rpc.Peer
	changed chan struct{} // a list of tools has changed
}

// Request implements rpc.Handler.
func (c *mcpClient) Request(context.Context, rpc.Message) (json.RawMessage, error) {
	return nil, rpc.Errorf(rpc.CodeNoMethod, "not here")
}

// Notification implements rpc.Handler.
func (c *mcpClient) Notification(m rpc.Message) {
	if m.Method == "notifications/tools/list_changed" {
		c.changed <- struct{}{}
	}
}

// mcp connects as the thread's agent does. environment may change that of the bridge.
func (i *inside) mcp(environment string) *mcpClient {
	i.t.Helper()
	i.jobs++
	in, out := filepath.Join(i.dir, fmt.Sprint("in", i.jobs)), filepath.Join(i.dir, fmt.Sprint("out", i.jobs))
	for _, fifo := range []string{in, out} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
	res := i.sh(fmt.Sprintf("%s %s mcp-bridge %s <%s >%s 2>%s.err &", environment, program, i.socket(), in, out, out))
	if res.code != 0 {
		i.t.Fatalf("start the bridge: %+v", res)
	}
	w, err := os.OpenFile(in, os.O_WRONLY, 0)
	if err != nil {
		i.t.Fatal(err)
	}
	read, err := os.OpenFile(out, os.O_RDONLY, 0)
	if err != nil {
		i.t.Fatal(err)
	}
	c := &mcpClient{t: i.t, changed: make(chan struct{}, 100)}
	c.peer = rpc.NewPeer(rpc.NewLines(read, w, w, nil), c)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.peer.Run() }()
	i.t.Cleanup(func() {
		_ = c.peer.Close()
		_ = read.Close()
		<-ended
	})
	c.do("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	if err := c.peer.Notify(i.t.Context(), "notifications/initialized", nil); err != nil {
		i.t.Fatal(err)
	}
	return c
}

func (c *mcpClient) do(method, params string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	result, err := c.peer.Call(ctx, method, json.RawMessage(params))
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return string(result)
}

// tools are the names of the tools that the agent gets.
func (c *mcpClient) tools() (names []string) {
	c.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(c.do("tools/list", `{}`)), &list); err != nil {
		c.t.Fatal(err)
	}
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

func (c *mcpClient) has(tool string) bool { return slices.Contains(c.tools(), tool) }

// call calls a tool; ok is unset if the result is an error, or there is none.
func (c *mcpClient) call(tool, arguments string) (text string, ok bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	raw, err := c.peer.Call(ctx, "tools/call", json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))
	var answer *rpc.Error
	if errors.As(err, &answer) {
		return answer.Message, false
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var res struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &res); err != nil || len(res.Content) == 0 {
		c.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return res.Content[0].Text, !res.IsError
}

// awaitChange waits until the agent is told that its tools have changed.
func (c *mcpClient) awaitChange() {
	c.t.Helper()
	select {
	case <-c.changed:
	case <-time.After(30 * time.Second):
		c.t.Fatal("the agent was not told of a change")
	}
}

// TestMCPOfThreads has the agents of two threads use MCP servers through the bridge, while a person switches them.
func TestMCPOfThreads(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are told apart by descent on Linux only; run it there")
	}
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	witness := t.TempDir()
	starts := func(server string) []int { return pidsIn(t, filepath.Join(witness, server)) }
	r.configureMCP(map[string]any{
		"alpha": fakeServer("starts=" + filepath.Join(witness, "alpha")),
		"beta":  matched("starts="+filepath.Join(witness, "beta"), "stubborn", "fork"),
	})
	one, two := r.agentShell("one"), r.agentShell("two")
	if len(starts("alpha"))+len(starts("beta")) > 0 {
		t.Error("a server runs before anybody calls it")
	}
	first, second := one.mcp(""), two.mcp("")
	await(t, "the tools of alpha", func() bool { return first.has("alpha__echo") })
	if tools := first.tools(); !slices.Contains(tools, "orch__find_tool") || slices.Contains(tools, "beta__echo") {
		t.Errorf("tools: %v", tools)
	}
	if text, ok := first.call("alpha__echo", `{"x":9007199254740993123}`); !ok || text != `{"x":9007199254740993123}` {
		t.Errorf("a call: %v %s", ok, text)
	}
	if text, ok := second.call("beta__echo", `{}`); ok || !strings.Contains(text, "switched off") {
		t.Errorf("a call of a server that is off: %v %s", ok, text)
	}
	// Live, and for one thread only.
	for len(first.changed) > 0 {
		<-first.changed
	}
	rep := get[thread.MCPReport](r, "mcp", "enable", "beta", "--thread", one.name)
	if i := slices.IndexFunc(rep.Servers, func(s thread.MCPServer) bool { return s.ID == "beta" }); i < 0 || !rep.Servers[i].On {
		t.Errorf("report: %+v", rep)
	}
	first.awaitChange()
	if !first.has("beta__echo") {
		t.Errorf("tools: %v", first.tools())
	}
	if second.has("beta__echo") {
		t.Error("another thread's agent gets the tools")
	}
	if _, ok := first.call("beta__echo", `{}`); !ok {
		t.Error("a server that was switched on takes no calls")
	}
	if text, ok := second.call("beta__echo", `{}`); ok || !strings.Contains(text, "switched off") {
		t.Errorf("another thread's agent calls it: %v %s", ok, text)
	}
	t.Run("isolation", func(t *testing.T) {
		forged := two.mcp("ORCHESTRATOR_TOKEN=" + one.token())
		if forged.has("beta__echo") {
			t.Error("a process of one thread gets the tools of another by its token")
		}
		person := r.run("mcp-bridge", r.socket())
		if person.code == exitcode.OK || !strings.Contains(person.stderr, "only an agent") {
			t.Errorf("a person's process is served: %+v", person)
		}
		got := calls{Socket: r.socket(), List: []apiCall{{"mcp-serve", `{}`}}}.make()
		if got[0].Status != http.StatusForbidden {
			t.Errorf("a person's call: %+v", got[0])
		}
	})
	r.ok("mcp", "disable", "beta", "echo", "--thread", one.name)
	first.awaitChange()
	if first.has("beta__echo") || !first.has("beta__again") {
		t.Errorf("tools: %v", first.tools())
	}
	// Nothing is left when the server is killed, and what was switched stays.
	if len(starts("beta")) < 3 {
		t.Errorf("beta and its children: %v", starts("beta"))
	}
	for _, pid := range r.servers() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	await(t, "the end of the servers", func() bool {
		return !slices.ContainsFunc(slices.Concat(starts("alpha"), starts("beta")[:1]), runs)
	})
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the servers ended after %v", took)
	}
	rep = get[thread.MCPReport](r, "mcp", "list", "--thread", one.name)
	for _, s := range rep.Servers {
		if !s.On || s.ID == "beta" && (s.By != thread.MCPPerson || s.ToolsOn == 0 || s.Starts != 0) {
			t.Errorf("after the start: %+v", s)
		}
		for _, tool := range get[thread.MCPDetail](r, "mcp", "show", s.ID, "--thread", one.name).List {
			if tool.Name == "echo" && tool.On != (s.ID == "alpha") {
				t.Errorf("echo of %s is on: %v", s.ID, tool.On)
			}
		}
	}
	await(t, "the end of the servers' children", func() bool { return !slices.ContainsFunc(starts("beta"), runs) })
}

// TestMCPVerbs lists, accepts and calls a repository's server.
func TestMCPVerbs(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	witness := filepath.Join(t.TempDir(), "starts")
	server := fakeServer("starts=" + witness)
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"repo": server}})
	if err != nil {
		t.Fatal(err)
	}
	r.write(".mcp.json", string(b))
	command := server["command"].(string)
	if out := r.ok("mcp", "list"); !strings.Contains(out, "repo") || !strings.Contains(out, "not accepted") || !strings.Contains(out, ".mcp.json:") {
		t.Errorf("list:\n%s", out)
	}
	show := get[thread.MCPDetail](r, "mcp", "show", "repo")
	if show.Accepted || !strings.Contains(strings.Join(show.Launch, "\n"), command) {
		t.Errorf("show: %+v", show)
	}
	r.says(exitcode.Refused, []string{"not accepted"}, "mcp", "call", "repo", "echo")
	r.says(exitcode.Refused, []string{"nobody can be asked", command}, "mcp", "approve", "repo")
	// On a terminal it asks, and takes no for an answer.
	s := r.open(200, 30, "mcp", "approve", "repo")
	s.see(filepath.Base(command), "Accept it?")
	s.press("n\r")
	if code := s.end(); code != exitcode.Refused {
		t.Errorf("no ends with %d:\n%s", code, s.text())
	}
	if get[thread.MCPDetail](r, "mcp", "show", "repo").Accepted {
		t.Error("it is accepted")
	}
	s = r.open(200, 30, "mcp", "approve", "repo")
	s.see("Accept it?")
	s.press("y\r")
	if code := s.end(); code != exitcode.OK {
		t.Errorf("yes ends with %d:\n%s", code, s.text())
	}
	if len(pidsIn(t, witness)) > 0 {
		t.Error("it was started by that")
	}
	var result struct {
		Content []struct{ Text string } `json:"content"`
	}
	if err := json.Unmarshal([]byte(r.ok("mcp", "call", "repo", "echo", `{"a":1}`)), &result); err != nil || result.Content[0].Text != `{"a":1}` {
		t.Errorf("call: %v %+v", err, result)
	}
	r.says(exitcode.Usage, []string{"JSON object"}, "mcp", "call", "repo", "echo", "[1]")
	if got := get[thread.MCPResult](r, "mcp", "call", "repo", "verbatim").Result; !strings.Contains(got, "9007199254740993123") {
		t.Errorf("call --json: %s", got)
	}
	if out := r.ok("mcp", "health"); !strings.Contains(out, "ready") || !strings.Contains(out, fmt.Sprint(pidsIn(t, witness)[0])) {
		t.Errorf("health:\n%s", out)
	}
	r.ok("mcp", "restart", "repo")
	if n := len(pidsIn(t, witness)); n != 2 {
		t.Errorf("%d starts", n)
	}
	// What has changed is asked about again, and shows how.
	r.write(".mcp.json", strings.Replace(string(b), "starts=", "banner\",\"starts=", 1))
	await(t, "the change", func() bool { return get[thread.MCPDetail](r, "mcp", "show", "repo").Changed })
	r.says(exitcode.Refused, []string{"changed since you accepted", "+", "banner"}, "mcp", "approve", "repo")
	r.says(exitcode.Refused, []string{"not what you have seen"}, "mcp", "approve", "repo", "--hash", show.Hash)
	r.ok("mcp", "approve", "repo", "--hash", get[thread.MCPDetail](r, "mcp", "show", "repo").Hash)
	r.ok("mcp", "call", "repo", "echo")
	if out := r.ok("mcp", "logs", "repo"); !strings.Contains(out, "Welcome!") || strings.Contains(out, "\x1b") {
		t.Errorf("logs: %q", out)
	}
	if out := r.ok("mcp", "why", "nothing in particular"); out == "" {
		t.Error("why says nothing")
	}
	r.ok("mcp", "revoke", "repo")
	r.says(exitcode.Refused, []string{"not accepted"}, "mcp", "call", "repo", "echo")
}

// TestMCPOff leaves agents to their own configuration.
func TestMCPOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.env = append(r.env, "ORCHESTRATOR_MCP=off")
	r.configureMCP(map[string]any{"alpha": fakeServer()})
	one := r.agentShell("one")
	rep := get[thread.MCPReport](r, "mcp", "list", "--thread", one.name)
	if len(rep.Servers) != 1 || rep.Takes != "" || !strings.Contains(strings.Join(rep.Outside, "\n"), "setting mcp is off") {
		t.Errorf("report: %+v", rep)
	}
}
