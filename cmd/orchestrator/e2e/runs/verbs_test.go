package runs

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// line is what a line of -o ndjson is read into.
type line struct {
	Execution string            `json:"execution"`
	Kind      string            `json:"kind"`
	Text      string            `json:"text"`
	State     string            `json:"state"`
	Outcome   thread.RunOutcome `json:"outcome"`
	Result    *work.Execution   `json:"result"`
	Missed    int               `json:"missed"`
}

// lines reads lines of JSON.
func lines(t *testing.T, out string) (all []line) {
	t.Helper()
	for text := range strings.Lines(out) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		all = append(all, l)
	}
	return all
}

// TestRunVerb: what people and programs read of a run, and the code it ends with.
func TestRunVerb(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("run", "--once", "-a", "demo", "--as", "first", "say hello") // starts the server
	for _, c := range []struct {
		args   []string
		code   int
		stdout string // in it
		stderr []string
	}{
		{[]string{"say one two"}, exitcode.OK, "one two\n", nil},
		{[]string{"--asks", "refuse", "run ls -la"}, exitcode.OK, "That did not work", []string{"* run_command ls -la", "refused: Allow"}},
		{[]string{"--read-only", "write a.txt: x"}, exitcode.OK, "", []string{"! there is no tool"}},
		{[]string{"--deadline", "1s", "count to 5000"}, exitcode.Agent, "1\n2\n", []string{"has failed: ", "exec retry exec-"}},
	} {
		got := r.Run(append([]string{"run", "--once", "-a", "demo"}, c.args...)...)
		if got.Code != c.code || !strings.Contains(got.Stdout, c.stdout) {
			t.Errorf("%v: exit %d\n%s%s", c.args, got.Code, got.Stdout, got.Stderr)
		}
		for _, says := range append(c.stderr, "exec-") {
			if !strings.Contains(got.Stderr, says) || strings.Contains(got.Stdout, says) {
				t.Errorf("%v: %q is not said beside the answer:\n%s%s", c.args, says, got.Stdout, got.Stderr)
			}
		}
	}
	if _, err := os.Stat(r.Project + "/a.txt"); err == nil {
		t.Error("a run that only reads has written")
	}
	all := lines(t, r.Ok("run", "--once", "-a", "demo", "-o", "ndjson", "say one two"))
	var kinds []string
	text := ""
	for _, l := range all {
		if !strings.HasPrefix(l.Execution, "exec-") || l.Missed > 0 {
			t.Errorf("a line is %+v", l)
		}
		if kinds = append(kinds, l.Kind); l.Kind == "text" {
			text += l.Text
		}
	}
	end := all[len(all)-1]
	if kinds = slices.Compact(kinds); text != "one two" || end.Kind != "execution" || end.Result == nil || end.Result.State != work.Completed ||
		!slices.Contains(kinds, "session") || !slices.Contains(kinds, "usage") || !slices.Contains(kinds, "end") {
		t.Errorf("it said %q; kinds %v, at last %+v", text, kinds, end)
	}
	x := e2e.Get[work.Execution](r, "run", "--once", "-a", "demo", "say json")
	if x.State != work.Completed || x.Answer != "json" || x.Attempt != 1 {
		t.Errorf("as JSON: %+v", x)
	}
	log := lines(t, r.Ok("exec", "logs", x.Name, "-o", "ndjson"))
	if last := log[len(log)-1]; last.State != string(work.Completed) || last.Execution != x.Name {
		t.Errorf("its record ends with %+v", last)
	}
	if out := r.Ok("exec", "logs", x.Name); !strings.Contains(out, "text      json") || !strings.Contains(out, "state     completed") {
		t.Errorf("its record is printed as\n%s", out)
	}
	if out := r.Run("exec", "logs", "-f", x.Name); out.Code != exitcode.OK || !strings.Contains(out.Stdout, "json") {
		t.Errorf("an ended one is followed with %d:\n%s", out.Code, out.Stdout)
	}
	if got := r.Run("exec", "cancel", x.Name, "first"); got.Code != exitcode.Refused || !strings.Contains(got.Stderr, "completed already") {
		t.Errorf("cancelled after its end: %d %s", got.Code, got.Stderr)
	}
	if got := r.Run("run", "--once", "-a", "demo", "--as", "first", "x"); got.Code != exitcode.Refused {
		t.Errorf("a name that is taken: %d %s", got.Code, got.Stderr)
	}
	if got := r.Run("exec", "show", "frist"); got.Code != exitcode.NotFound || !strings.Contains(got.Stderr, "Did you mean first?") {
		t.Errorf("a mistyped name: %d %s", got.Code, got.Stderr)
	}
}

// TestInterruptCancelsTheRun: Ctrl+C ends the run that a verb has started, and only leaves one that it watches.
func TestInterruptCancelsTheRun(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("run", "--once", "-a", "demo", "say hello")
	for _, c := range []struct {
		args  []string
		state work.State
		code  int
		says  string
	}{
		{[]string{"run", "--once", "-a", "demo", "--as", "mine", "count to 5000"}, work.Cancelled, exitcode.Cancelled, "mine was cancelled"},
		{[]string{"exec", "logs", "-f", "watched"}, work.Running, exitcode.Error, "left watched, which goes on"},
	} {
		name := "mine"
		if c.args[0] == "exec" {
			name = r.Ok("run", "--once", "-d", "-a", "demo", "--as", "watched", "count to 5000")
			becomes(r, name, work.Running)
		}
		cmd := r.Command(c.args...)
		var stdout, stderr bytes.Buffer
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := out.Read(first); err != nil { // it prints, so it follows
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_, _ = stdout.ReadFrom(out) // its end
		_ = cmd.Wait()              // with a code that is looked at
		if x := show(r, name); cmd.ProcessState.ExitCode() != c.code || x.State != c.state || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v: exit %d, %s: %s\n%s", c.args, cmd.ProcessState.ExitCode(), x.State, x.Reason, &stderr)
		}
	}
	if out := r.Ok("exec", "cancel", "watched"); out != "watched: cancelled" {
		t.Errorf("cancelled: %s", out)
	}
	nothingLeft(r)
}

// TestAgentsRuns: an agent with the grant starts runs, which may start none, or one level less deep; it sees, follows and
// cancels those that it asked for, and no others.
func TestAgentsRuns(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	other := r.Ok("run", "--once", "-d", "-a", "demo", "--as", "other", "count to 5000")
	in := r.AgentShell("inside")
	may := func(code int, says string, args ...string) string {
		t.Helper()
		got := in.Orchestrator(args...)
		if got.Code != code || !strings.Contains(got.Stdout+got.Stderr, says) {
			t.Errorf("%v: exit %d, want %d and %q\n%s%s", args, got.Code, code, says, got.Stdout, got.Stderr)
		}
		return strings.TrimSpace(got.Stdout)
	}
	may(exitcode.Refused, `"run"`, "run", "--once", "-a", "demo", "say x")
	r.Ok("grants", in.Name, "--add", "run:2")
	may(exitcode.Refused, `"start"`, "run", "--once", "-a", "demo", "say x") // of another kind than its own
	may(exitcode.Refused, `"start"`, "run", "--once", "-a", "demo", "--permission-mode", "all", "x")
	may(exitcode.Refused, `"start"`, "run", "--once", "-a", "command", "x", "--", "touch", "planted")
	may(exitcode.Refused, `"start"`, "new", "-a", "demo")
	r.Ok("grants", in.Name, "--add", "start")
	may(exitcode.OK, "x", "run", "--once", "-a", "demo", "--as", "mine", "say x")
	may(exitcode.OK, "", "run", "--once", "-d", "-a", "demo", "--as", "long", "count to 5000")
	if out := may(exitcode.OK, "mine", "exec", "list"); strings.Contains(out, "other") {
		t.Errorf("it sees others' runs:\n%s", out)
	}
	may(exitcode.OK, "x", "exec", "logs", "mine")
	may(exitcode.Refused, `"read"`, "exec", "show", other)
	may(exitcode.Refused, `"manage"`, "exec", "cancel", other)
	may(exitcode.OK, "again", "exec", "send", "mine", "say again")
	may(exitcode.OK, "long: cancelled", "exec", "cancel", "long")
	x := show(r, "mine")
	of := r.Status(nameOf(r, x))
	if x.By != r.Status(in.Name).ID || x.Depth != 1 || !slices.Equal(of.Grants, []thread.Grant{"run"}) {
		t.Errorf("it is by %q, %d deep, its thread may %v", x.By, x.Depth, of.Grants)
	}
	if o := show(r, other); o.State != work.Running || o.By != "" || o.Depth != 0 {
		t.Errorf("the other is %+v", o)
	}
}
