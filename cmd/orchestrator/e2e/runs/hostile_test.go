package runs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// fake puts a program on the rig's PATH in the place of Claude Code, or replaces it by another version.
func fake(r *e2e.Rig, script string) {
	r.T.Helper()
	bin := filepath.Join(r.Home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		r.T.Fatal(err)
	}
	next := filepath.Join(bin, ".claude")
	e2e.Put(r.T, next, "#!/bin/sh\ncase \"$*\" in *--version*) echo '9.9.9 (Claude Code)'; exit;; esac\n"+script+"\n")
	if err := os.Chmod(next, 0o700); err != nil {
		r.T.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(bin, "claude")); err != nil {
		r.T.Fatal(err)
	}
	path := "PATH=" + bin + ":" + os.Getenv("PATH")
	if i := slices.IndexFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }); r.Env[i] != path {
		r.Env[i] = path
	}
}

// submit asks for a run of any agent, and returns its name.
func submit(r *e2e.Rig, args ...string) string {
	r.T.Helper()
	return strings.TrimSpace(r.Ok(append([]string{"run", "--once", "-d"}, args...)...))
}

// ends waits until an execution has ended, however.
func ends(r *e2e.Rig, name string) work.Execution {
	r.T.Helper()
	return becomes(r, name, work.Completed, work.Failed, work.Cancelled, work.Lost)
}

// below are the processes of a rig's runs: all that have its home, but for its servers and for what the test calls.
func below(r *e2e.Rig) (found []string) {
	r.T.Helper()
	mine := []byte("HOME=" + r.Home + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append(env, 0), mine) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")) // of one that ended there is none
		if len(line) == 0 || bytes.HasPrefix(line, []byte(r.Program+"\x00")) || bytes.Contains(line, []byte("\x00serve\x00")) {
			continue
		}
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// noneLeft checks that nothing of a run is left a moment after its end.
func noneLeft(r *e2e.Rig) {
	r.T.Helper()
	var left []string
	for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(50 * time.Millisecond) {
		if left = below(r); len(left) == 0 {
			return
		}
	}
	r.T.Errorf("left running: %q", left)
}

// peak is the most memory that the rig's server has used, in bytes.
func peak(r *e2e.Rig) int64 {
	r.T.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.ServerPID()))
	if err != nil {
		r.T.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				r.T.Fatal(err)
			}
			return kb << 10
		}
	}
	return 0
}

// result is how Claude Code says that it has answered.
const result = `{"type":"result","subtype":"success","session_id":"%s","result":"done","terminal_reason":"completed"}`

// TestStrangeCLIs runs CLIs that behave as none should, on the whole program: each run ends, says why, and leaves nothing.
func TestStrangeCLIs(t *testing.T) {
	t.Parallel()
	done := fmt.Sprintf("echo '"+result+"'", "4b9dd0b4-7a3c-4b0c-9a55-3a8f5a6f0001")
	for _, c := range []struct {
		name, script string
		flags        []string
		want         work.State
		says         string
	}{
		{"prints no JSON", `read -r p; echo hello; echo '{"type":'; echo '[1,2'; exit 0`, nil, work.Failed, "before it had answered"},
		{"prints half a line", `read -r p; printf '{"type":"resu'`, nil, work.Failed, "before it had answered"},
		{"prints JSON of another kind", `read -r p; echo 'null'; echo '[]'; echo '"x"'; echo '{"type":7}'; echo '{"type":"result","is_error":"perhaps","usage":[]}' ; ` + done, nil, work.Completed, ""},
		{"prints 1 GB", `read -r p; head -c 1073741824 /dev/zero; ` + done, nil, work.Failed, "limits.run_output_mb"},
		{"prints a line of 60 MB", `read -r p; head -c 60000000 /dev/zero | tr '\0' x; echo; ` + done, nil, work.Completed, ""},
		{"prints NUL", `read -r p; printf 'a\000b\n\000\n'; printf '{"type":"x\000"}\n'; ` + done, nil, work.Completed, ""},
		{"floods its errors", `read -r p; yes error | head -c 40000000 >&2; exit 3`, nil, work.Failed, "ended with code 3"},
		{"says nothing and hangs", `sleep 1000`, []string{"--deadline", "2s"}, work.Failed, "was over"},
		{"hangs and ignores all signals", `trap '' TERM INT HUP; while :; do sleep 1; done`, []string{"--deadline", "2s"}, work.Failed, "was over"},
		{"daemonises", `read -r p; (setsid sh -c 'trap "" TERM HUP; exec sleep 1000' &) ; ` + done, nil, work.Completed, ""},
		{"holds the pipe open", `read -r p; (setsid sleep 1000 &) ; ` + done + `; exit 0`, nil, work.Completed, ""},
		{"leaves its group without its label", `read -r p; (env -i HOME="$HOME" setsid sleep 1000 >/dev/null 2>&1 </dev/null &) ; ` + done, nil, work.Completed, ""},
		{"never reports its session", `read -r p; echo '{"type":"result","subtype":"success","result":"done"}'`, nil, work.Completed, ""},
		{"reports a session that is none", `read -r p; echo '{"type":"system","subtype":"init","session_id":"../../etc/passwd"}'; ` + done, nil, work.Completed, ""},
		{"exits 0 when it is killed", `trap 'exit 0' TERM; read -r p; kill -TERM $$; sleep 5`, nil, work.Failed, "before it had answered"},
		{"answers and exits with 1", `read -r p; ` + done + `; exit 1`, nil, work.Completed, ""},
		{"is killed", `read -r p; kill -9 $$`, nil, work.Lost, "signal 9"},
		{"exits 0 without reading its prompt", `exit 0`, nil, work.Failed, "before it had answered"},
		{"closes its input and works", `exec 0<&-; sleep 1; ` + done, nil, work.Completed, ""},
		{"does not begin", `exit 127`, nil, work.Failed, "127"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			fake(r, c.script)
			name := submit(r, append([]string{"-a", "claude", "do it"}, c.flags...)...)
			x := ends(r, name)
			if x.State != c.want || !strings.Contains(x.Reason, c.says) {
				t.Errorf("%s: %q, want %s: %q", x.State, x.Reason, c.want, c.says)
			}
			noneLeft(r)
			s := r.Status(nameOf(r, x))
			e2e.Await(t, "its thread to be at rest", func() bool {
				s = r.Status(s.Name)
				return s.Execution == nil && s.Queued == 0
			})
			for _, p := range e2e.Get[[]thread.Prompt](r, "prompts", s.Name) {
				if !p.State.Over() {
					t.Errorf("its prompt is %s", p.State)
				}
			}
			if most := peak(r); most > 220<<20 {
				t.Errorf("the server took %s", thread.Bytes(most))
			}
			if log := r.Ok("exec", "logs", name); log == "" || len(log) > 4<<20 {
				t.Errorf("its log has %d bytes", len(log))
			}
		})
	}
}

// TestUpgradedCLI: a CLI that is replaced between two runs of a thread resumes its session, or the run says why it cannot.
func TestUpgradedCLI(t *testing.T) {
	t.Parallel()
	// Each version says in its answer how it was called.
	version := func(then string) string {
		return `id=; for a in "$@"; do case "$was" in --session-id|--resume) id=$a; how=$was;; esac; was=$a; done; read -r p
` + then + `
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\",\"model\":\"m\"}"
dir=$HOME/.claude/projects/$(pwd | tr -c 'a-zA-Z0-9\n' -); mkdir -p "$dir"; last=$(wc -l <"$dir/$id.jsonl" 2>/dev/null || echo 0)
for n in 1 2; do [ $n = 1 ] && kind=user text='"do it"' || kind=assistant text='[{"type":"text","text":"done"}]'
printf '{"type":"%s","uuid":"00000000-0000-4000-8000-%012d","parentUuid":%s,"sessionId":"%s","cwd":"%s","timestamp":"2026-01-01T00:00:00.000Z","version":"9.9.9","message":{"id":"msg_%s","role":"%s","model":"m","stop_reason":"end_turn","content":%s}}\n' $kind $((last+n)) null $id "$(pwd)" $((last+n)) $kind "$text" >>"$dir/$id.jsonl"; done
echo "{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"$id\",\"result\":\"$how by VERSION\",\"terminal_reason\":\"completed\"}"`
	}
	r := e2e.NewRig(t)
	fake(r, strings.ReplaceAll(version(""), "VERSION", "one"))
	first := ends(r, submit(r, "-a", "claude", "do it"))
	if first.State != work.Completed || !strings.Contains(first.Answer, "--session-id by one") {
		t.Fatalf("%s: %s: %q", first.State, first.Reason, first.Answer)
	}
	fake(r, strings.ReplaceAll(version(""), "VERSION", "two"))
	second := ends(r, strings.TrimSpace(r.Ok("exec", "send", "-d", first.Name, "go on")))
	if second.State != work.Completed || !strings.Contains(second.Answer, "by two") {
		t.Errorf("%s: %s: %q", second.State, second.Reason, second.Answer)
	}
	t.Logf("the second version was called with %q", second.Answer)
	for _, c := range []struct{ script, says string }{
		{`echo "error: unknown option '--input-format'" >&2; exit 1`, "unknown option"},
		{`read -r p; echo "No conversation found with session ID" >&2; exit 1`, "No conversation found"},
		{`read -r p; echo '{"version":2,"kind":"answer","text":"in a format of the future"}'; exit 0`, "before it had answered"},
	} {
		fake(r, c.script)
		x := ends(r, strings.TrimSpace(r.Ok("exec", "send", "-d", first.Name, "go on")))
		if x.State != work.Failed || !strings.Contains(x.Reason, c.says) {
			t.Errorf("%s: %s, want %q", x.State, x.Reason, c.says)
		}
	}
	if err := os.Remove(filepath.Join(r.Home, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	res := r.Run("exec", "send", first.Name, "go on")
	if res.Code == 0 || !strings.Contains(res.Stderr, "claude") || !strings.Contains(res.Stderr, "not") {
		t.Errorf("a CLI that is gone: exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
	}
	fake(r, strings.ReplaceAll(version(""), "VERSION", "three"))
	if x := ends(r, strings.TrimSpace(r.Ok("exec", "send", "-d", first.Name, "go on"))); x.State != work.Completed || !strings.Contains(x.Answer, "by three") {
		t.Errorf("%s: %s: %q", x.State, x.Reason, x.Answer)
	}
	noneLeft(r)
}

// TestProgramsAsRuns: any program is a run: what it prints is its answer, whether it reads its prompt or not.
func TestProgramsAsRuns(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, c := range []struct {
		script string
		want   work.State
		says   string // in the answer or the reason
	}{
		{"cat", work.Completed, "do it"},
		{"exit 0", work.Completed, ""},
		{"exec 0<&-; echo early", work.Completed, "early"},
		{"exit 3", work.Failed, "code 3"},
		{"echo no >&2; exit 4", work.Failed, "no"},
		{"kill -9 $$", work.Lost, "signal 9"},
	} {
		for range 5 { // it may end before or after it is given its prompt
			x := ends(r, submit(r, "-a", "command", "--no-worktree", "do it", "--", "/bin/sh", "-c", c.script))
			if x.State != c.want || !strings.Contains(x.Answer+x.Reason, c.says) {
				t.Errorf("%s: %s: %q %q, want %s, %q", c.script, x.State, x.Reason, x.Answer, c.want, c.says)
			}
		}
	}
	// It may be gone before it could be given its prompt; that is said then.
	x := ends(r, submit(r, "-a", "command", "--no-worktree", "do it", "--", "/bin/true"))
	p := e2e.Get[[]thread.Prompt](r, "prompts", nameOf(r, x))[0]
	says := "ended without taking its prompt"
	if refused := p.State == thread.PromptRefused; x.State != work.Completed || refused && (!strings.Contains(x.Reason, says) || !strings.Contains(p.Reason, says)) {
		t.Errorf("true: %s: %q, its prompt is %s: %q", x.State, x.Reason, p.State, p.Reason)
	}
	res := r.Run("run", "--once", "-a", "command", "--no-worktree", "do it", "--", "/no/such/program")
	if res.Code == 0 || !strings.Contains(res.Stderr, "/no/such/program") {
		t.Errorf("a program that is not there: exit %d: %s", res.Code, res.Stderr)
	}
	noneLeft(r)
}

// TestLongPrompt: a prompt of a megabyte reaches the agent byte by byte, by whatever way; one that is too long is refused.
func TestLongPrompt(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	text := strings.TrimSuffix(strings.Repeat("word \u00e4 ", 1<<20/8), " ") // 1 MiB less a byte
	for _, args := range [][]string{
		{"run", "--once", "-a", "command", "--no-worktree", "--lines", "-", "--", "/bin/sh", "-c", "wc -c"},
	} {
		cmd := r.Command(args...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %v: %s", args, err, errs.String())
		}
		if got := strings.TrimSpace(out.String()); got != strconv.Itoa(len(text)+1) {
			t.Errorf("it was given %s bytes, want %d", got, len(text)+1)
		}
	}
	x := list(r)[0]
	if p := e2e.Get[[]thread.Prompt](r, "prompts", nameOf(r, x)); len(p) != 1 || !p[0].State.Over() {
		t.Errorf("its prompt: %d, %.200v", len(p), p)
	}
	for file, kinds := range map[string]string{"cmdline": "arguments", "environ": "environment"} {
		files, _ := filepath.Glob("/proc/[0-9]*/" + file)
		for _, f := range files {
			if b, _ := os.ReadFile(f); bytes.Contains(b, []byte("word \u00e4 word \u00e4")) {
				t.Errorf("it is in the %s of %s", kinds, f)
			}
		}
	}
	cmd := r.Command("run", "--once", "-a", "command", "--no-worktree", "--lines", "-", "--", "cat")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Repeat("x", 1<<20+1)), &errs
	if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), "1048576 bytes") {
		t.Errorf("one that is too long: %v: %s", err, errs.String())
	}
	if got := len(list(r)); got != 1 {
		t.Errorf("%d executions, want 1", got)
	}
}
