package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// callsName is the variable that makes this test program a client of a server instead, which makes the calls that
// a file lists.
const callsName = "ORCHESTRATOR_TEST_CALLS"

// calls is what such a client does.
type calls struct {
	Socket string
	Token  string
	UID    int // 0: as it is
	List   []apiCall
}

type apiCall struct{ Op, Body string }

// called is what became of a call: the HTTP status, 0 where there was no answer, and what was said. Answer is that of a
// call that succeeded and is no stream.
type called struct {
	Status  int
	Code    string
	Message string
	Answer  string
}

// makeCalls makes a file's calls and writes what became of them next to it.
func makeCalls(file string) int {
	var c calls
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil && c.UID != 0 { // from the folder itself: another user may not get there
		err = errors.Join(os.Chdir(filepath.Dir(c.Socket)), syscall.Setuid(c.UID))
		c.Socket = filepath.Base(c.Socket)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out, err := json.Marshal(c.make())
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		return 1
	}
	return 0
}

// make makes the calls.
func (c calls) make() []called {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	}}}
	defer client.CloseIdleConnections()
	out := make([]called, len(c.List))
	for i, one := range c.List {
		out[i] = c.one(&client, one)
	}
	return out
}

func (c calls) one(client *http.Client, one apiCall) called {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	method := http.MethodPost
	if one.Op == "events" || one.Op == "terminal" {
		method = http.MethodGet
	} else if one.Op == "stage" {
		method = http.MethodPut
	}
	path := api.Prefix + one.Op
	if method == http.MethodPut && one.Body != "[]" {
		path += "?" + url.Values{api.RequestQuery: {one.Body}}.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://x"+path, strings.NewReader(one.Body))
	if err != nil {
		return called{Message: err.Error()}
	}
	if c.Token != "" {
		r.Header.Set(api.TokenHeader, c.Token)
	}
	res, err := client.Do(r)
	if err != nil {
		return called{Message: err.Error()}
	}
	defer res.Body.Close()
	got := called{Status: res.StatusCode}
	if res.StatusCode >= 400 {
		var e api.Error
		_ = json.NewDecoder(res.Body).Decode(&e) // without it the code is empty
		got.Code, got.Message = e.Code, e.Message
	} else if res.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return called{Message: err.Error()}
		}
		got.Answer = string(b)
	}
	return got
}

// inside is a thread whose agent is a shell that runs what the test gives it.
type inside struct {
	*rig
	name string
	dir  string
	jobs int
}

// agentShell starts such a thread.
func (r *rig) agentShell(label string) *inside {
	r.t.Helper()
	dir := r.t.TempDir()
	fifo := filepath.Join(dir, "jobs")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		r.t.Fatal(err)
	}
	loop := `while :; do while read -r job; do sh "$job" >"$job.out" 2>"$job.err" </dev/null; echo $? >"$job.tmp"; mv "$job.tmp" "$job.rc"; done <"$1"; done`
	name := r.ok("new", "-a", "command", label, "--", "/bin/sh", "-c", loop, "sh", fifo)
	return &inside{rig: r, name: name, dir: dir}
}

// sh runs a script below the agent and returns how it ended. A script that leaves something behind whose end counts
// names the file for its exit code $RC, and ends with code 77.
func (i *inside) sh(script string) result {
	i.t.Helper()
	i.jobs++
	job := filepath.Join(i.dir, strconv.Itoa(i.jobs))
	script = "RC=" + job + ".late OUT=" + job + ".out ERR=" + job + ".err\nexport RC OUT ERR\n" + script
	if err := os.WriteFile(job, []byte(script), 0o600); err != nil {
		i.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(i.dir, "jobs"), os.O_WRONLY, 0)
	if err != nil {
		i.t.Fatal(err)
	}
	if _, err := f.WriteString(job + "\n"); err != nil {
		i.t.Fatal(err)
	}
	f.Close()
	code := i.await(job + ".rc")
	if code == 77 {
		code = i.await(job + ".late")
	}
	read := func(file string) string { b, _ := os.ReadFile(file); return string(b) }
	return result{stdout: read(job + ".out"), stderr: read(job + ".err"), code: code}
}

// await waits for a file with an exit code.
func (i *inside) await(file string) int {
	i.t.Helper()
	code := -1
	await(i.t, "what the agent runs", func() bool {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			return false
		}
		code, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return code
}

// orchestrator calls the program below the agent.
func (i *inside) orchestrator(args ...string) result {
	i.t.Helper()
	words := []string{program}
	for _, a := range args {
		words = append(words, "'"+a+"'")
	}
	return i.sh(strings.Join(words, " "))
}

// call makes calls of the API below the agent, in an environment that a prefix such as "env -i" may change.
func (i *inside) call(prefix string, c calls) []called {
	i.t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		i.t.Fatal(err)
	}
	file := filepath.Join(i.dir, "calls.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		i.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		i.t.Fatal(err)
	}
	res := i.sh(prefix + " " + callsName + "=" + file + " " + exe)
	var out []called
	if err := json.Unmarshal([]byte(res.stdout), &out); err != nil || len(out) != len(c.List) {
		i.t.Fatalf("calls from inside: exit %d, %v\n%s%s", res.code, err, res.stdout, res.stderr)
	}
	return out
}

// socket is where the server listens.
func (r *rig) socket() string {
	r.t.Helper()
	return r.claimed().Socket
}

// token reads the token of a thread's agent out of its environment.
func (i *inside) token() string {
	i.t.Helper()
	token := strings.TrimSpace(i.sh("echo $ORCHESTRATOR_TOKEN").stdout)
	if len(token) < 32 {
		i.t.Fatalf("the agent's token is %q", token)
	}
	return token
}

// tableCalls makes a call of every operation of the server, about a thread. What would change something has a body
// that is refused after the caller was looked at. data is the token of somebody else's data, or empty where a call
// about it would be allowed.
func tableCalls(about thread.Status, data string) (rows []grant.Row, list []apiCall) {
	for _, r := range grant.Table() {
		if r.Local {
			continue
		}
		body := `[]`
		switch ofData := r.Op == "unstage" || r.Op == "stage-touch"; {
		case ofData && data != "":
			body = `{"token":"` + data + `"}`
		case !ofData && r.Own != r.Others:
			body = `{"thread":"` + string(about.ID) + `"}`
		default:
		}
		rows, list = append(rows, r), append(list, apiCall{r.Op, body})
	}
	return rows, list
}

// TestTableOfGrants goes through the table with every kind of caller, against a real server over its socket.
func TestTableOfGrants(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are told apart by descent on Linux only; run it there")
	}
	t.Parallel()
	r := newRig(t)
	bare, granted := r.agentShell("bare"), r.agentShell("granted")
	r.ok("grants", granted.name, "--add", "read,send,start,merge,manage,switch")
	other := r.ok("new", "-a", "command", "other", "--", "sleep", "1000")
	socket := r.socket()
	token := bare.token()
	staged := r.ok("stage")
	for _, c := range []struct {
		name  string
		about string // the thread that the calls are about
		own   bool
		has   []thread.Grant
		agent bool
		make  func(calls) []called
	}{
		{"the person", other, false, nil, false, calls.make},
		{"an agent by its token", other, false, nil, true, func(c calls) []called { c.Token = token; return c.make() }},
		{"an agent by its token, itself", bare.name, true, nil, true, func(c calls) []called { c.Token = token; return c.make() }},
		{"a token that nobody has", other, false, nil, true, func(c calls) []called { c.Token = "x"; return c.make() }},
		{"an agent by descent", other, false, nil, true, func(c calls) []called { return bare.call("env -i", c) }},
		{"an agent by descent, itself", bare.name, true, nil, true, func(c calls) []called { return bare.call("env -i", c) }},
		{"an agent with another's token", other, false, nil, true, func(c calls) []called { c.Token = granted.token(); return bare.call("env", c) }},
		{"an agent with all grants", other, false, grant.Names(), true, func(c calls) []called { return granted.call("env", c) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := ""
			if c.agent && !c.own && len(c.has) == 0 {
				data = staged
			}
			rows, list := tableCalls(r.status(c.about), data)
			for i, got := range c.make(calls{Socket: socket, List: list}) {
				need := rows[i].Others
				if c.own {
					need = rows[i].Own
				}
				allowed := !c.agent || need == "" || slices.Contains(c.has, need)
				refused := got.Status == http.StatusForbidden && got.Code == "not-granted"
				if rows[i].Op == api.ServeMCP { // of the caller's own thread, which not all callers have
					if of := c.agent && c.name != "a token that nobody has"; of == refused {
						t.Errorf("%s: %+v", rows[i].Op, got)
					}
					continue
				}
				switch {
				case got.Status == 0:
					t.Errorf("%s: no answer: %s", rows[i].Op, got.Message)
				case allowed == refused:
					t.Errorf("%s, which needs %q: %+v", rows[i].Op, need, got)
				case refused && need != "person" && !strings.Contains(got.Message, `"`+string(need)+`"`):
					t.Errorf("%s: the refusal does not name the grant: %s", rows[i].Op, got.Message)
				}
			}
		})
	}
	t.Run("another user", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can be another user")
		}
		_, list := tableCalls(r.status(other), "")
		if err := os.Chmod(filepath.Dir(socket), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(socket, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := r.command()
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "calls.json")
		b, err := json.Marshal(calls{Socket: socket, UID: 65534, List: list})
		if err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Args = exe, []string{exe}
		cmd.Env = append(cmd.Env, callsName+"="+file)
		out, err := cmd.Output()
		var got []called
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, one := range got {
			if one.Status != 0 || strings.Contains(one.Message, "permission denied") {
				t.Errorf("%s: another user is answered, or does not reach the socket: %+v", list[i].Op, one)
			}
		}
	})
}

// TestAgentCallsVerbs calls every verb from inside of a thread.
func TestAgentCallsVerbs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".orchestrator.toml", "agent = \"demo\"\n")
	r.write(".mcp.json", `{"mcpServers":{"repo":{"command":"/bin/cat"}}}`)
	in := r.agentShell("inside")
	other := r.ok("new", "-a", "command", "other", "--", "sleep", "1000")
	began := r.status(other)
	archive := filepath.Join(t.TempDir(), "archive")
	staged := r.ok("stage")
	const alone = "only the user may do this"
	refused := []struct {
		words []string
		say   string
	}{
		{[]string{"new", "-a", "command", "--", "touch", "planted"}, `"start"`},
		{[]string{"run", "-a", "demo", "write planted: x"}, `"start"`},
		{[]string{"fork", "more", "-t", other}, `"start"`},
		{[]string{"resume", other}, `"start"`},
		{[]string{"resume"}, `"start"`},
		{[]string{"setup", other}, `"start"`},
		{[]string{"prompts", other}, `"read"`},
		{[]string{"send", other, "hello"}, `"send"`},
		{[]string{"send", "-d", other, "hello"}, `"send"`},
		{[]string{"switch", other}, `"switch"`},
		{[]string{"why", other}, `"read"`},
		{[]string{"prompts", other}, `"read"`},
		{[]string{"prompts"}, `"read"`},
		{[]string{"grants", other}, `"read"`},
		{[]string{"find", "hello"}, `"read"`},
		{[]string{"checkpoint", "list", other}, `"read"`},
		{[]string{"context", "show", other}, `"read"`},
		{[]string{"context", "policy", in.name, "off"}, alone},
		{[]string{"context", "mask", in.name, "all"}, alone},
		{[]string{"checkpoint", "show", other, "1"}, `"read"`},
		{[]string{"checkpoint", "diff", other}, `"read"`},
		{[]string{"checkpoint", "restore", other, "1"}, `"merge"`},
		{[]string{"merge", other}, `"merge"`},
		{[]string{"merge", other, "--continue"}, `"merge"`},
		{[]string{"merge", other, "--abort"}, `"merge"`},
		{[]string{"finish", other}, `"merge"`},
		{[]string{"push", other}, `"merge"`},
		{[]string{"pr", other}, `"merge"`},
		{[]string{"rename", other, "mine"}, `"manage"`},
		{[]string{"pin", other}, `"manage"`},
		{[]string{"archive", other}, `"manage"`},
		{[]string{"restore", other}, `"manage"`},
		{[]string{"delete", other}, `"manage"`},
		{[]string{"undelete", other}, `"manage"`},
		{[]string{"abandon", other, "nothing"}, `"manage"`},
		{[]string{"stop", other}, `"manage"`},
		{[]string{"gc"}, `"manage"`},
		{[]string{"unstage", staged}, `"manage"`},
		{[]string{"grants", in.name, "--add", "send"}, alone},
		{[]string{"attach", other}, alone},
		{[]string{"export", in.name, "-o", archive}, alone},
		{[]string{"import", archive}, alone},
		{[]string{"backup", archive}, alone},
		{[]string{"restore-backup", archive}, alone},
		{[]string{"stop"}, alone},
		{[]string{"stop", "--force"}, "stop --force: " + alone},
		{[]string{"restart"}, alone},
		{[]string{"serve"}, alone},
		{[]string{"trust"}, alone},
		{[]string{"trust", "--git"}, alone},
		{[]string{"trust", "--folder"}, alone},
		{[]string{"adopt", "--new"}, alone},
		{[]string{"mcp", "why", "x", "--thread", other}, `"read"`},
		{[]string{"mcp", "show", "repo", "--thread", other}, `"read"`},
		{[]string{"mcp", "enable", "repo", "--thread", in.name}, alone},
		{[]string{"mcp", "disable", "repo", "--thread", other}, alone},
		{[]string{"mcp", "approve", "repo", "--hash", "0"}, `"read"`},
		{[]string{"mcp", "revoke", "repo"}, `"read"`},
		{[]string{"mcp", "restart", "repo"}, `"read"`},
		{[]string{"mcp", "call", "repo", "x"}, alone},
	}
	allowed := [][]string{
		{"threads"}, {"prompts", in.name}, {"why", in.name}, {"grants", in.name}, {"checkpoint", "list", in.name}, {"version"}, {"doctor"}, {"completion", "bash"},
		{"stage"}, {"stage", "list"}, {"retrieve", staged}, {"context", "show", in.name},
		{"mcp", "list"}, {"mcp", "list", "--thread", in.name}, {"mcp", "health"}, {"mcp", "why", "x", "--thread", in.name}, {"mcp", "show", "repo", "--thread", in.name}, {"mcp-bridge", r.socket()},
	}
	tried := map[string]bool{"hook": true, "demo-agent": true, "demo-notes": true, "context": true} // which do not speak to the server
	for _, v := range refused {
		tried[v.words[0]] = true
		if got := in.orchestrator(v.words...); got.code != exitcode.Refused || !strings.Contains(got.stderr, v.say) {
			t.Errorf("%v: exit %d\n%s%s", v.words, got.code, got.stdout, got.stderr)
		}
	}
	for _, words := range allowed {
		tried[words[0]] = true
		if got := in.orchestrator(words...); got.code != exitcode.OK || strings.Contains(got.stdout, other) {
			t.Errorf("%v: exit %d\n%s%s", words, got.code, got.stdout, got.stderr)
		}
	}
	for _, v := range new(cli).verbs() {
		if !tried[v.Name()] {
			t.Errorf("%s is not tried", v.Name())
		}
	}
	if now := r.status(other); now.Name != began.Name || now.Pinned || !now.Archived.IsZero() || now.Outcome.Kind != "" || now.Execution == nil {
		t.Errorf("the other thread was touched: %+v", now.Thread)
	}
	if n := len(get[[]thread.Status](r, "threads", "--all")); n != 2 {
		t.Errorf("there are %d threads", n)
	}
	if out := r.ok("doctor"); !strings.Contains(out, "is not trusted yet") {
		t.Errorf("the project's configuration was accepted:\n%s", out)
	}
}

// TestAgentLeavesItself calls a verb in the ways in which a process hides whose it is.
func TestAgentLeavesItself(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("what left its parents is known on Linux only")
	}
	t.Parallel()
	r := newRig(t)
	in := r.agentShell("inside")
	other := r.ok("new", "-a", "command", "other", "--", "sleep", "1000")
	env := "env -i PATH=\"$PATH\" HOME=" + r.home + " XDG_RUNTIME_DIR=" + lookup(r.env, "XDG_RUNTIME_DIR") + " RC=$RC OUT=$OUT ERR=$ERR"
	verb := func(v string) string { return "sh -c '" + program + " " + v + " >$OUT 2>$ERR; echo $? >$RC'" }
	for _, words := range []string{"delete " + other, "trust", "stop --force"} {
		for name, script := range map[string]string{
			"env -i":      env + " " + verb(words) + "\nexit 77",
			"unset":       "unset ORCHESTRATOR_TOKEN ORCHESTRATOR_THREAD\n" + verb(words) + "\nexit 77",
			"nohup":       "nohup " + verb(words) + " &\nexit 77",
			"setsid":      "setsid " + env + " " + verb(words) + " &\nexit 77",
			"double fork": "(setsid " + env + " sh -c '(sleep 0.2; setsid " + program + " " + words + " >$OUT 2>$ERR; echo $? >$RC) &' >/dev/null 2>&1 </dev/null &)\nexit 77",
		} {
			if got := in.sh(script); got.code != exitcode.Refused || !strings.Contains(got.stderr, "not granted") {
				t.Errorf("%s, %s: exit %d\n%s%s", words, name, got.code, got.stdout, got.stderr)
			}
		}
	}
	if r.status(other).Execution == nil {
		t.Error("the other thread's agent was stopped")
	}
}

// TestAgentOfAnotherProject is nobody in this one.
func TestAgentOfAnotherProject(t *testing.T) {
	t.Parallel()
	r, there := newRig(t), newRig(t)
	in := r.agentShell("inside")
	r.ok("grants", in.name, "--add", "read,send,start,merge,manage,switch")
	call := func(prefix, words string) result {
		return in.sh(prefix + " HOME=" + there.home + " XDG_RUNTIME_DIR=" + lookup(there.env, "XDG_RUNTIME_DIR") + " " +
			program + " --project " + there.project + " " + words)
	}
	for _, prefix := range []string{"env", `env -i PATH="$PATH"`} {
		if got := call(prefix, "threads"); got.code != exitcode.Refused || !strings.Contains(got.stderr, "starting a server: only the user may do this") {
			t.Errorf("%s: an agent started a server: exit %d\n%s%s", prefix, got.code, got.stdout, got.stderr)
		}
	}
	other := there.ok("new", "-a", "command", "other", "--", "sleep", "1000")
	for _, prefix := range []string{"env", `env -i PATH="$PATH"`, `setsid -w env -i PATH="$PATH"`} {
		for _, words := range []string{"delete " + other, "why " + other, "send -d " + other + " hello", "stop"} {
			if got := call(prefix, words); got.code != exitcode.Refused || !strings.Contains(got.stderr, "not granted") {
				t.Errorf("%s, %s: exit %d\n%s%s", prefix, words, got.code, got.stdout, got.stderr)
			}
		}
		if got := call(prefix, "threads"); got.code != exitcode.OK || strings.Contains(got.stdout, other) {
			t.Errorf("%s, threads: exit %d\n%s%s", prefix, got.code, got.stdout, got.stderr)
		}
	}
}

// TestGrantsOfAThread are shown, kept, and not handed on.
func TestGrantsOfAThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.agentShell("inside")
	other := r.ok("new", "-a", "command", "other", "--", "sleep", "1000")
	if got := get[api.ThreadGrants](r, "grants", in.name); len(got.Grants) != 0 {
		t.Errorf("a new thread has %v", got.Grants)
	}
	r.ok("grants", in.name, "--add", "manage,read")
	if got := in.orchestrator("pin", other); got.code != exitcode.OK {
		t.Errorf("with the grant: exit %d, %s", got.code, got.stderr)
	}
	if !r.status(other).Pinned {
		t.Error("the thread is not pinned")
	}
	if out := r.ok("why", in.name); !strings.Contains(out, "its agent may also: read, manage") {
		t.Errorf("why does not show the grants:\n%s", out)
	}
	r.ok("stop")
	r.ok("resume", in.name)
	if got := get[api.ThreadGrants](r, "grants", in.name); !slices.Equal(got.Grants, []thread.Grant{grant.Read, grant.Manage}) {
		t.Errorf("after a restart: %v", got.Grants)
	}
	r.ok("grants", in.name, "--remove", "manage")
	if got := in.orchestrator("pin", "--off", other); got.code != exitcode.Refused {
		t.Errorf("without the grant: exit %d, %s", got.code, got.stderr)
	}
	for _, words := range [][]string{{"grants", in.name, "--add", "everything"}, {"grants"}, {"grants", in.name, "--remove", "trust"}} {
		if got := r.run(words...); got.code != exitcode.Usage {
			t.Errorf("%v: exit %d, %s", words, got.code, got.stderr)
		}
	}
	name := r.demo("parent", "-p", "write a.txt: one")
	r.awaitState(name, thread.StateDone)
	r.ok("grants", name, "--add", "send")
	fork := get[thread.Status](r, "fork", "child", "-t", name)
	if len(fork.Grants) != 0 {
		t.Errorf("a fork has %v", fork.Grants)
	}
}

// TestStopEndsWhatTheAgentLeft: what an agent detached from itself, its session and its environment ends with it.
func TestStopEndsWhatTheAgentLeft(t *testing.T) {
	manyStarts(t)
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("what left its parents is known on Linux only")
	}
	t.Parallel()
	r := newRig(t)
	left := func(in *inside) int {
		res := in.sh(`(setsid env -i PATH="$PATH" RC=$RC sh -c '(setsid sh -c "echo \$\$ >\$RC; exec sleep 1000" &)' >/dev/null 2>&1 </dev/null &)` + "\nexit 77")
		return res.code // the pid, by the way of the exit code's file
	}
	one, two := r.agentShell("one"), r.agentShell("two")
	mine, others := left(one), left(two)
	r.ok("stop", one.name)
	await(t, "what the agent left to end", func() bool { return syscall.Kill(mine, 0) != nil })
	if err := syscall.Kill(others, 0); err != nil {
		t.Errorf("the other agent's went too: %v", err)
	}
	r.ok("stop")
	await(t, "what the other agent left to end", func() bool { return syscall.Kill(others, 0) != nil })
	// And when the server is killed, at the next start.
	three := r.agentShell("three")
	orphan := left(three)
	if err := syscall.Kill(r.serverPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.ok("threads")
	await(t, "what outlived the server to end", func() bool { return syscall.Kill(orphan, 0) != nil })
}

// TestCapsOfAThread are shown, and an agent with too many processes ends and says why.
func TestCapsOfAThread(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are counted on Linux only")
	}
	t.Parallel()
	r := newRig(t)
	put(t, filepath.Join(r.home, ".config", "orchestrator", "config.toml"), "[limits]\nprocesses = 30\nusd = 2.5\n")
	if out := r.ok("doctor"); !strings.Contains(out, "per thread: 30 processes, unlimited requests, $2.50") {
		t.Errorf("the doctor does not show the caps:\n%s", out)
	}
	cl := client.New(r.claimed().Socket)
	defer cl.Close()
	r.ok("threads")
	events, err := api.Events.Open(t.Context(), cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	name := r.ok("new", "-a", "command", "many", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; wait")
	s := r.awaitState(name, thread.StateInterrupted, thread.StateExited)
	if why := r.ok("why", name); !strings.Contains(why, "limits.processes allows 30; raise it") {
		t.Errorf("%s, and why does not say what happened:\n%s", s.State.State, why)
	}
	for e := range events { // ends with the test
		if e.Kind == thread.EventNotice && e.ThreadID == s.ID && strings.Contains(e.Notice.Text, "limits.processes allows 30") {
			return
		}
	}
	t.Error("no notice tells of it")
}
