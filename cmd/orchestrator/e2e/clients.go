package e2e

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
	"strconv"
	"strings"
	"syscall"

	"orchestrator/cmd/orchestrator/protocol"
)

// CallsName is the variable that makes this test program a client of a server instead, which makes the calls that
// a file lists.
const CallsName = "ORCHESTRATOR_TEST_CALLS"

// Calls is what such a client does.
type Calls struct {
	Socket string
	Token  string
	UID    int // 0: as it is
	List   []APICall
}

// APICall is a call of the API with its body as it is sent.
type APICall struct{ Op, Body string }

// Called is what became of a call: the HTTP status, 0 where there was no answer, and what was said. Answer is that of a
// call that succeeded and is no stream.
type Called struct {
	Status  int
	Code    string
	Message string
	Answer  string
}

// makeCalls makes a file's calls and writes what became of them next to it.
func makeCalls(file string) int {
	var c Calls
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
	out, err := json.Marshal(c.Make())
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		return 1
	}
	return 0
}

// Make makes the calls.
func (c Calls) Make() []Called {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	}}}
	defer client.CloseIdleConnections()
	out := make([]Called, len(c.List))
	for i, one := range c.List {
		out[i] = c.one(&client, one)
	}
	return out
}

func (c Calls) one(client *http.Client, one APICall) Called {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	method := http.MethodPost
	if one.Op == "events" || one.Op == "terminal" {
		method = http.MethodGet
	} else if one.Op == "stage" {
		method = http.MethodPut
	}
	path := protocol.Prefix + one.Op
	if method == http.MethodPut && one.Body != "[]" {
		path += "?" + url.Values{protocol.RequestQuery: {one.Body}}.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://x"+path, strings.NewReader(one.Body))
	if err != nil {
		return Called{Message: err.Error()}
	}
	if c.Token != "" {
		r.Header.Set(protocol.TokenHeader, c.Token)
	}
	res, err := client.Do(r)
	if err != nil {
		return Called{Message: err.Error()}
	}
	defer res.Body.Close()
	got := Called{Status: res.StatusCode}
	if res.StatusCode >= 400 {
		var e protocol.Error
		_ = json.NewDecoder(res.Body).Decode(&e) // without it the code is empty
		got.Code, got.Message = e.Code, e.Message
	} else if res.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return Called{Message: err.Error()}
		}
		got.Answer = string(b)
	}
	return got
}

// Inside is a thread whose agent is a shell that runs what the test gives it.
type Inside struct {
	*Rig
	Name string
	dir  string
	jobs int
}

// AgentShell starts such a thread.
func (r *Rig) AgentShell(label string) *Inside {
	r.T.Helper()
	dir := r.T.TempDir()
	fifo := filepath.Join(dir, "jobs")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		r.T.Fatal(err)
	}
	// Open for both, the pipe never ends and loses nothing that is written between two jobs.
	loop := `exec 3<>"$1"; while read -r job <&3; do sh "$job" >"$job.out" 2>"$job.err" </dev/null 3<&-; echo $? >"$job.tmp"; mv "$job.tmp" "$job.rc"; done`
	name := r.Ok("new", "-a", "command", label, "--", "/bin/sh", "-c", loop, "sh", fifo)
	return &Inside{Rig: r, Name: name, dir: dir}
}

// Sh runs a script below the agent and returns how it ended. A script that leaves something behind whose end counts
// names the file for its exit code $RC, and ends with code 77.
func (i *Inside) Sh(script string) Result {
	i.T.Helper()
	i.jobs++
	job := filepath.Join(i.dir, strconv.Itoa(i.jobs))
	script = "RC=" + job + ".late OUT=" + job + ".out ERR=" + job + ".err\nexport RC OUT ERR\n" + script
	if err := os.WriteFile(job, []byte(script), 0o600); err != nil {
		i.T.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(i.dir, "jobs"), os.O_WRONLY, 0)
	if err != nil {
		i.T.Fatal(err)
	}
	if _, err := f.WriteString(job + "\n"); err != nil {
		i.T.Fatal(err)
	}
	f.Close()
	code := i.await(job + ".rc")
	if code == 77 {
		code = i.await(job + ".late")
	}
	read := func(file string) string { b, _ := os.ReadFile(file); return string(b) }
	return Result{Stdout: read(job + ".out"), Stderr: read(job + ".err"), Code: code}
}

// await waits for a file with an exit code.
func (i *Inside) await(file string) int {
	i.T.Helper()
	code := -1
	Await(i.T, "what the agent runs", func() bool {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			return false
		}
		code, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return code
}

// Orchestrator calls the program below the agent.
func (i *Inside) Orchestrator(args ...string) Result {
	i.T.Helper()
	words := []string{Program}
	for _, a := range args {
		words = append(words, "'"+a+"'")
	}
	return i.Sh(strings.Join(words, " "))
}

// Call makes calls of the API below the agent, in an environment that a prefix such as "env -i" may change.
func (i *Inside) Call(prefix string, c Calls) []Called {
	i.T.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		i.T.Fatal(err)
	}
	file := filepath.Join(i.dir, "calls.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		i.T.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		i.T.Fatal(err)
	}
	res := i.Sh(prefix + " " + CallsName + "=" + file + " " + exe)
	var out []Called
	if err := json.Unmarshal([]byte(res.Stdout), &out); err != nil || len(out) != len(c.List) {
		i.T.Fatalf("calls from inside: exit %d, %v\n%s%s", res.Code, err, res.Stdout, res.Stderr)
	}
	return out
}

// Socket is where the server listens.
func (r *Rig) Socket() string {
	r.T.Helper()
	return r.Claimed().Socket
}

// Token reads the token of a thread's agent out of its environment.
func (i *Inside) Token() string {
	i.T.Helper()
	token := strings.TrimSpace(i.Sh("echo $ORCHESTRATOR_TOKEN").Stdout)
	if len(token) < 32 {
		i.T.Fatalf("the agent's token is %q", token)
	}
	return token
}
