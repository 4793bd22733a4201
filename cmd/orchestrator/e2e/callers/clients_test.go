package callers

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
)

// tableCalls makes a call of every operation of the server, about a thread. What would change something has a body
// that is refused after the caller was looked at. data is the token of somebody else's data, or empty where a call
// about it would be allowed.
func tableCalls(about thread.Status, data, execution string) (rows []grant.Row, list []e2e.APICall) {
	for _, r := range grant.Table() {
		if r.Local {
			continue
		}
		body := `[]`
		switch ofData := r.Op == "unstage" || r.Op == "stage-touch"; {
		case ofData && data != "":
			body = `{"token":"` + data + `"}`
		case r.Own != r.Others && strings.HasPrefix(r.Op, "exec-"):
			body = `{"execution":"` + execution + `"}`
		case !ofData && r.Own != r.Others:
			body = `{"thread":"` + string(about.ID) + `"}`
		default:
		}
		rows, list = append(rows, r), append(list, e2e.APICall{Op: r.Op, Body: body})
	}
	return rows, list
}

// TestTableOfGrants goes through the table with every kind of caller, against a real server over its socket.
func TestTableOfGrants(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are told apart by descent on Linux only; run it there")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_AGENT=demo") // which runs of agents may be of, too
	bare, granted := r.AgentShell("bare"), r.AgentShell("granted")
	r.Ok("grants", granted.Name, "--add", "read,send,start,run,merge,manage,switch")
	other := r.Ok("new", "-a", "command", "other", "--", "sleep", "1000")
	theirs, own := r.Ok("run", "--once", "-d", "-a", "demo", "say theirs"), "own"
	r.Ok("grants", bare.Name, "--add", "run")
	if got := bare.Orchestrator("run", "--once", "-a", "demo", "--as", own, "say own"); got.Code != 0 {
		t.Fatalf("an agent's run: %d\n%s", got.Code, got.Stderr)
	}
	r.Ok("grants", bare.Name, "--remove", "run")
	socket := r.Socket()
	token := bare.Token()
	staged := r.Ok("stage")
	for _, c := range []struct {
		name  string
		about string // the thread that the calls are about
		own   bool
		has   []thread.Grant
		agent bool
		make  func(e2e.Calls) []e2e.Called
	}{
		{"the person", other, false, nil, false, e2e.Calls.Make},
		{"an agent by its token", other, false, nil, true, func(c e2e.Calls) []e2e.Called { c.Token = token; return c.Make() }},
		{"an agent by its token, itself", bare.Name, true, nil, true, func(c e2e.Calls) []e2e.Called { c.Token = token; return c.Make() }},
		{"a token that nobody has", other, false, nil, true, func(c e2e.Calls) []e2e.Called { c.Token = "x"; return c.Make() }},
		{"an agent by descent", other, false, nil, true, func(c e2e.Calls) []e2e.Called { return bare.Call("env -i", c) }},
		{"an agent by descent, itself", bare.Name, true, nil, true, func(c e2e.Calls) []e2e.Called { return bare.Call("env -i", c) }},
		{"an agent with another's token", other, false, nil, true, func(c e2e.Calls) []e2e.Called { c.Token = granted.Token(); return bare.Call("env", c) }},
		{"an agent with all grants", other, false, grant.Names(), true, func(c e2e.Calls) []e2e.Called { return granted.Call("env", c) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := ""
			if c.agent && !c.own && len(c.has) == 0 {
				data = staged
			}
			execution := theirs
			if c.own {
				execution = own
			}
			rows, list := tableCalls(r.Status(c.about), data, execution)
			for i, got := range c.make(e2e.Calls{Socket: socket, List: list}) {
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
			t.Skip("SKIPPED: only root can be another user; run as root to test it")
		}
		_, list := tableCalls(r.Status(other), "", theirs)
		if err := os.Chmod(filepath.Dir(socket), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(socket, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := r.Command()
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "calls.json")
		b, err := json.Marshal(e2e.Calls{Socket: socket, UID: 65534, List: list})
		if err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Args = exe, []string{exe}
		cmd.Env = append(cmd.Env, e2e.CallsName+"="+file)
		out, err := cmd.Output()
		var got []e2e.Called
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

// TestAgentLeavesItself calls a verb in the ways in which a process hides whose it is.
func TestAgentLeavesItself(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: what left its parents is known on Linux only; run it there")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	in := r.AgentShell("inside")
	other := r.Ok("new", "-a", "command", "other", "--", "sleep", "1000")
	env := "env -i PATH=\"$PATH\" HOME=" + r.Home + " XDG_RUNTIME_DIR=" + thread.Lookup(r.Env, "XDG_RUNTIME_DIR") + " RC=$RC OUT=$OUT ERR=$ERR"
	verb := func(v string) string { return "sh -c '" + e2e.Program + " " + v + " >$OUT 2>$ERR; echo $? >$RC'" }
	for _, words := range []string{"delete " + other, "trust", "stop --force"} {
		for name, script := range map[string]string{
			"env -i":      env + " " + verb(words) + "\nexit 77",
			"unset":       "unset ORCHESTRATOR_TOKEN ORCHESTRATOR_THREAD\n" + verb(words) + "\nexit 77",
			"nohup":       "nohup " + verb(words) + " &\nexit 77",
			"setsid":      "setsid " + env + " " + verb(words) + " &\nexit 77",
			"double fork": "(setsid " + env + " sh -c '(sleep 0.2; setsid " + e2e.Program + " " + words + " >$OUT 2>$ERR; echo $? >$RC) &' >/dev/null 2>&1 </dev/null &)\nexit 77",
		} {
			if got := in.Sh(script); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, "not granted") {
				t.Errorf("%s, %s: exit %d\n%s%s", words, name, got.Code, got.Stdout, got.Stderr)
			}
		}
	}
	if r.Status(other).Execution == nil {
		t.Error("the other thread's agent was stopped")
	}
}

// TestAgentOfAnotherProject is nobody in this one.
func TestAgentOfAnotherProject(t *testing.T) {
	t.Parallel()
	r, there := e2e.NewRig(t), e2e.NewRig(t)
	in := r.AgentShell("inside")
	r.Ok("grants", in.Name, "--add", "read,send,start,merge,manage,switch")
	call := func(prefix, words string) e2e.Result {
		return in.Sh(prefix + " HOME=" + there.Home + " XDG_RUNTIME_DIR=" + thread.Lookup(there.Env, "XDG_RUNTIME_DIR") + " " +
			e2e.Program + " --project " + there.Project + " " + words)
	}
	for _, prefix := range []string{"env", `env -i PATH="$PATH"`} {
		if got := call(prefix, "threads"); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, "starting a server: only the user may do this") {
			t.Errorf("%s: an agent started a server: exit %d\n%s%s", prefix, got.Code, got.Stdout, got.Stderr)
		}
	}
	other := there.Ok("new", "-a", "command", "other", "--", "sleep", "1000")
	for _, prefix := range []string{"env", `env -i PATH="$PATH"`, `setsid -w env -i PATH="$PATH"`} {
		for _, words := range []string{"delete " + other, "why " + other, "send -d " + other + " hello", "stop"} {
			if got := call(prefix, words); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, "not granted") {
				t.Errorf("%s, %s: exit %d\n%s%s", prefix, words, got.Code, got.Stdout, got.Stderr)
			}
		}
		if got := call(prefix, "threads"); got.Code != exitcode.OK || strings.Contains(got.Stdout, other) {
			t.Errorf("%s, threads: exit %d\n%s%s", prefix, got.Code, got.Stdout, got.Stderr)
		}
	}
}

// TestGrantsOfAThread are shown, kept, and not handed on.
func TestGrantsOfAThread(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	in := r.AgentShell("inside")
	other := r.Ok("new", "-a", "command", "other", "--", "sleep", "1000")
	if got := e2e.Get[api.ThreadGrants](r, "grants", in.Name); len(got.Grants) != 0 {
		t.Errorf("a new thread has %v", got.Grants)
	}
	r.Ok("grants", in.Name, "--add", "manage,read")
	if got := in.Orchestrator("pin", other); got.Code != exitcode.OK {
		t.Errorf("with the grant: exit %d, %s", got.Code, got.Stderr)
	}
	if !r.Status(other).Pinned {
		t.Error("the thread is not pinned")
	}
	if out := r.Ok("why", in.Name); !strings.Contains(out, "its agent may also: read, manage") {
		t.Errorf("why does not show the grants:\n%s", out)
	}
	r.Ok("stop")
	r.Ok("resume", in.Name)
	if got := e2e.Get[api.ThreadGrants](r, "grants", in.Name); !slices.Equal(got.Grants, []thread.Grant{grant.Read, grant.Manage}) {
		t.Errorf("after a restart: %v", got.Grants)
	}
	r.Ok("grants", in.Name, "--remove", "manage")
	if got := in.Orchestrator("pin", "--off", other); got.Code != exitcode.Refused {
		t.Errorf("without the grant: exit %d, %s", got.Code, got.Stderr)
	}
	for _, words := range [][]string{{"grants", in.Name, "--add", "everything"}, {"grants"}, {"grants", in.Name, "--remove", "trust"}} {
		if got := r.Run(words...); got.Code != exitcode.Usage {
			t.Errorf("%v: exit %d, %s", words, got.Code, got.Stderr)
		}
	}
	name := r.Demo("parent", "-p", "write a.txt: one")
	r.AwaitState(name, thread.StateDone)
	r.Ok("grants", name, "--add", "send")
	fork := e2e.Get[thread.Status](r, "fork", "child", "-t", name)
	if len(fork.Grants) != 0 {
		t.Errorf("a fork has %v", fork.Grants)
	}
}

// TestStopEndsWhatTheAgentLeft: what an agent detached from itself, its session and its environment ends with it.
func TestStopEndsWhatTheAgentLeft(t *testing.T) {
	e2e.ManyStarts(t)
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: what left its parents is known on Linux only; run it there")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	left := func(in *e2e.Inside) int {
		res := in.Sh(`(setsid env -i PATH="$PATH" RC=$RC sh -c '(setsid sh -c "echo \$\$ >\$RC; exec sleep 1000" &)' >/dev/null 2>&1 </dev/null &)` + "\nexit 77")
		return res.Code // the pid, by the way of the exit code's file
	}
	one, two := r.AgentShell("one"), r.AgentShell("two")
	mine, others := left(one), left(two)
	r.Ok("stop", one.Name)
	e2e.Await(t, "what the agent left to end", func() bool { return syscall.Kill(mine, 0) != nil })
	if err := syscall.Kill(others, 0); err != nil {
		t.Errorf("the other agent's went too: %v", err)
	}
	r.Ok("stop")
	e2e.Await(t, "what the other agent left to end", func() bool { return syscall.Kill(others, 0) != nil })
	// And when the server is killed, at the next start.
	three := r.AgentShell("three")
	orphan := left(three)
	if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.Ok("threads")
	e2e.Await(t, "what outlived the server to end", func() bool { return syscall.Kill(orphan, 0) != nil })
}

// TestCapsOfAThread are shown, and an agent with too many processes ends and says why.
func TestCapsOfAThread(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("SKIPPED: processes are counted on Linux only; run it there")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "[limits]\nprocesses = 30\nusd = 2.5\n")
	if out := r.Ok("doctor"); !strings.Contains(out, "30 processes a thread; $2.50 a thread") {
		t.Errorf("the doctor does not show the caps:\n%s", out)
	}
	cl := client.New(r.Claimed().Socket)
	defer cl.Close()
	r.Ok("threads")
	events, err := api.Events.Open(t.Context(), cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	name := r.Ok("new", "-a", "command", "many", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; wait")
	s := r.AwaitState(name, thread.StateInterrupted, thread.StateExited)
	if why := r.Ok("why", name); !strings.Contains(why, "limits.processes allows 30; raise it") {
		t.Errorf("%s, and why does not say what happened:\n%s", s.State.State, why)
	}
	for e := range events { // ends with the test
		if e.Kind == thread.EventNotice && e.ThreadID == s.ID && strings.Contains(e.Notice.Text, "limits.processes allows 30") {
			return
		}
	}
	t.Error("no notice tells of it")
}
