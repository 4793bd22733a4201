package servers

import (
	"encoding/json"
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

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// matched is a fake server that is off until a pattern or a person switches it on.
func matched(modes ...string) map[string]any {
	s := e2e.FakeServer(modes...)
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

// TestMCPOfThreads has the agents of two threads use MCP servers through the bridge, while a person switches them.
func TestMCPOfThreads(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are told apart by descent on Linux only; run it there")
	}
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	witness := t.TempDir()
	starts := func(server string) []int { return pidsIn(t, filepath.Join(witness, server)) }
	r.ConfigureMCP(map[string]any{
		"alpha": e2e.FakeServer("starts=" + filepath.Join(witness, "alpha")),
		"beta":  matched("starts="+filepath.Join(witness, "beta"), "stubborn", "fork"),
	})
	one, two := r.AgentShell("one"), r.AgentShell("two")
	if len(starts("alpha"))+len(starts("beta")) > 0 {
		t.Error("a server runs before anybody calls it")
	}
	first, second := one.Mcp(""), two.Mcp("")
	e2e.Await(t, "the tools of alpha", func() bool { return first.Has("alpha__echo") })
	if tools := first.Tools(); !slices.Contains(tools, "orch__find_tool") || slices.Contains(tools, "beta__echo") {
		t.Errorf("tools: %v", tools)
	}
	if text, ok := first.Call("alpha__echo", `{"x":9007199254740993123}`); !ok || text != `{"x":9007199254740993123}` {
		t.Errorf("a call: %v %s", ok, text)
	}
	if text, ok := second.Call("beta__echo", `{}`); ok || !strings.Contains(text, "switched off") {
		t.Errorf("a call of a server that is off: %v %s", ok, text)
	}
	// Live, and for one thread only.
	for len(first.Changed) > 0 {
		<-first.Changed
	}
	rep := e2e.Get[thread.MCPReport](r, "mcp", "enable", "beta", "--thread", one.Name)
	if i := slices.IndexFunc(rep.Servers, func(s thread.MCPServer) bool { return s.ID == "beta" }); i < 0 || !rep.Servers[i].On {
		t.Errorf("report: %+v", rep)
	}
	first.AwaitChange()
	if !first.Has("beta__echo") {
		t.Errorf("tools: %v", first.Tools())
	}
	if second.Has("beta__echo") {
		t.Error("another thread's agent gets the tools")
	}
	if _, ok := first.Call("beta__echo", `{}`); !ok {
		t.Error("a server that was switched on takes no calls")
	}
	if text, ok := second.Call("beta__echo", `{}`); ok || !strings.Contains(text, "switched off") {
		t.Errorf("another thread's agent calls it: %v %s", ok, text)
	}
	t.Run("isolation", func(t *testing.T) {
		forged := two.Mcp("ORCHESTRATOR_TOKEN=" + one.Token())
		if forged.Has("beta__echo") {
			t.Error("a process of one thread gets the tools of another by its token")
		}
		person := r.Run("mcp-bridge", r.Socket())
		if person.Code == exitcode.OK || !strings.Contains(person.Stderr, "only an agent") {
			t.Errorf("a person's process is served: %+v", person)
		}
		got := e2e.Calls{Socket: r.Socket(), List: []e2e.APICall{{Op: "mcp-serve", Body: `{}`}}}.Make()
		if got[0].Status != http.StatusForbidden {
			t.Errorf("a person's call: %+v", got[0])
		}
	})
	r.Ok("mcp", "disable", "beta", "echo", "--thread", one.Name)
	first.AwaitChange()
	if first.Has("beta__echo") || !first.Has("beta__again") {
		t.Errorf("tools: %v", first.Tools())
	}
	// Nothing is left when the server is killed, and what was switched stays.
	if len(starts("beta")) < 3 {
		t.Errorf("beta and its children: %v", starts("beta"))
	}
	for _, pid := range r.Servers() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	e2e.Await(t, "the end of the servers", func() bool {
		return !slices.ContainsFunc(slices.Concat(starts("alpha"), starts("beta")[:1]), runs)
	})
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the servers ended after %v", took)
	}
	rep = e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", one.Name)
	for _, s := range rep.Servers {
		if !s.On || s.ID == "beta" && (s.By != thread.MCPPerson || s.ToolsOn == 0 || s.Starts != 0) {
			t.Errorf("after the start: %+v", s)
		}
		for _, tool := range e2e.Get[thread.MCPDetail](r, "mcp", "show", s.ID, "--thread", one.Name).List {
			if tool.Name == "echo" && tool.On != (s.ID == "alpha") {
				t.Errorf("echo of %s is on: %v", s.ID, tool.On)
			}
		}
	}
	e2e.Await(t, "the end of the servers' children", func() bool { return !slices.ContainsFunc(starts("beta"), runs) })
}

// TestMCPVerbs lists, accepts and calls a repository's server.
func TestMCPVerbs(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	witness := filepath.Join(t.TempDir(), "starts")
	server := e2e.FakeServer("starts=" + witness)
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"repo": server}})
	if err != nil {
		t.Fatal(err)
	}
	r.Write(".mcp.json", string(b))
	command := server["command"].(string)
	if out := r.Ok("mcp", "list"); !strings.Contains(out, "repo") || !strings.Contains(out, "not accepted") || !strings.Contains(out, ".mcp.json:") {
		t.Errorf("list:\n%s", out)
	}
	show := e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo")
	if show.Accepted || !strings.Contains(strings.Join(show.Launch, "\n"), command) {
		t.Errorf("show: %+v", show)
	}
	r.Says(exitcode.Refused, []string{"not accepted"}, "mcp", "call", "repo", "echo")
	r.Says(exitcode.Refused, []string{"no terminal to ask on", command}, "mcp", "approve", "repo")
	// On a terminal it asks, and takes no for an answer.
	s := r.Open(200, 30, "mcp", "approve", "repo")
	s.See(filepath.Base(command), "Accept it?")
	s.Press("n\r")
	if code := s.End(); code != exitcode.Refused {
		t.Errorf("no ends with %d:\n%s", code, s.Text())
	}
	if e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo").Accepted {
		t.Error("it is accepted")
	}
	s = r.Open(200, 30, "mcp", "approve", "repo")
	s.See("Accept it?")
	s.Press("y\r")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("yes ends with %d:\n%s", code, s.Text())
	}
	if len(pidsIn(t, witness)) > 0 {
		t.Error("it was started by that")
	}
	var result struct {
		Content []struct{ Text string } `json:"content"`
	}
	if err := json.Unmarshal([]byte(r.Ok("mcp", "call", "repo", "echo", `{"a":1}`)), &result); err != nil || result.Content[0].Text != `{"a":1}` {
		t.Errorf("call: %v %+v", err, result)
	}
	r.Says(exitcode.Usage, []string{"JSON object"}, "mcp", "call", "repo", "echo", "[1]")
	if got := e2e.Get[thread.MCPResult](r, "mcp", "call", "repo", "verbatim").Result; !strings.Contains(got, "9007199254740993123") {
		t.Errorf("call --json: %s", got)
	}
	if out := r.Ok("mcp", "health"); !strings.Contains(out, "ready") || !strings.Contains(out, fmt.Sprint(pidsIn(t, witness)[0])) {
		t.Errorf("health:\n%s", out)
	}
	r.Ok("mcp", "restart", "repo")
	if n := len(pidsIn(t, witness)); n != 2 {
		t.Errorf("%d starts", n)
	}
	// What has changed is asked about again, and shows how.
	r.Write(".mcp.json", strings.Replace(string(b), "starts=", "banner\",\"starts=", 1))
	e2e.Await(t, "the change", func() bool { return e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo").Changed })
	r.Says(exitcode.Refused, []string{"changed since you accepted", "+", "banner"}, "mcp", "approve", "repo")
	r.Says(exitcode.Refused, []string{"approve repo: it has changed since you looked"}, "mcp", "approve", "repo", "--hash", show.Hash)
	r.Ok("mcp", "approve", "repo", "--hash", e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo").Hash)
	r.Ok("mcp", "call", "repo", "echo")
	if out := r.Ok("mcp", "logs", "repo"); !strings.Contains(out, "Welcome!") || strings.Contains(out, "\x1b") {
		t.Errorf("logs: %q", out)
	}
	if out := r.Ok("mcp", "why", "nothing in particular"); out == "" {
		t.Error("why says nothing")
	}
	r.Ok("mcp", "revoke", "repo")
	r.Says(exitcode.Refused, []string{"not accepted"}, "mcp", "call", "repo", "echo")
}

// TestMCPOff leaves agents to their own configuration.
func TestMCPOff(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_MCP=off")
	r.ConfigureMCP(map[string]any{"alpha": e2e.FakeServer()})
	one := r.AgentShell("one")
	rep := e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", one.Name)
	if len(rep.Servers) != 1 || rep.Takes != "" || !strings.Contains(strings.Join(rep.Outside, "\n"), "setting mcp is off") {
		t.Errorf("report: %+v", rep)
	}
}
