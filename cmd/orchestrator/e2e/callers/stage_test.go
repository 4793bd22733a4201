package callers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// max puts the program on the PATH under its second name, which also answers `search` with records.
func max(r *e2e.Rig) *e2e.Rig {
	r.T.Helper()
	dir := r.T.TempDir()
	script := `#!/bin/sh
case "$1 $2" in
"search hubspot") seq 1 5000 | awk '{print "{\"id\":\"" $1 "\",\"firstName\":\"" ` +
		`($1 % 3 ? "John" : "Sarah") "\",\"company\":\"" ($1 % 2 ? "Acme Corp" : "Globex") ` +
		`"\",\"source\":\"hubspot\",\"type\":\"contact\"}"}' ;;
"search gdrive") seq 1 47 | awk '{print "{\"name\":\"file" $1 ".doc\",\"id\":" $1 "}"}' ;;
*) exec '` + e2e.Program + `' "$@" ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "max"), []byte(script), 0o755); err != nil {
		r.T.Fatal(err)
	}
	with := *r
	with.Env = append(slices.Clone(r.Env), "PATH="+dir+":"+os.Getenv("PATH"))
	return &with
}

// TestStagingSession runs the documented pipelines with jq, sort, uniq and head.
func TestStagingSession(t *testing.T) {
	for _, tool := range []string{"jq", "awk", "uniq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, not run: staged data in pipelines: %v", err)
		}
	}
	t.Parallel()
	r := max(e2e.NewRig(t))
	token := strings.TrimSpace(r.Shell(
		"exec 2>/dev/null\nTOKEN=$(max search hubspot --type=contact --all -o ndjson | max stage); echo $TOKEN"))
	if !e2e.OneToken.MatchString(token + "\n") {
		t.Fatalf("the token is %q", token)
	}
	for _, c := range []struct{ line, want string }{
		{"max retrieve max:TOKEN | jq '.firstName' | sort | uniq -c", `^ *3334 "John"\n *1666 "Sarah"\n$`},
		{"max retrieve max:TOKEN | jq -r '.company // empty' | sort | uniq -c | sort -rn | head -10",
			`^ *2500 Globex\n *2500 Acme Corp\n$`},
		{"max retrieve max:TOKEN | head -1", `^{"id":"1","firstName":"John".*}\n$`},
		{"max retrieve max:TOKEN --grep Sarah --head 2 | jq -r .id", `^3\n6\n$`},
		{"max retrieve max:TOKEN --range 4999- | jq -r .id", `^4999\n5000\n$`},
		{"max search hubspot | cmp - $(max stage info max:TOKEN --json | jq -r .file) &&\n" +
			"max retrieve max:TOKEN | cmp - $(max stage info max:TOKEN --json | jq -r .file)", `^$`},
		{"max stage list", `(?s)^TOKEN  .*\nmax:[0-9a-f]{8} +5000 .*ndjson +hubspot/contact `},
		{"max stage info max:TOKEN", `(?s)^Token: +max:TOKEN\nRecords: +5,000\nSize: .*\nSource: +hubspot/contact\n` +
			`Created: .* ago\nExpires: .*(1h|59m)\n.*File: +/.*\.ndjson\nPreview: +{"id":"1",.*\n +\.\.\.\n$`},
		{"exec 2>/dev/null\nDOCS=$(max search gdrive --type=file --filter \"name~=*Acme*\" --fields name,id -o ndjson |\n" +
			"max stage --source gdrive/file --label Acme)\n" +
			"echo Their docs: ${DOCS}; max retrieve $DOCS | jq -r .name | wc -l", `^Their docs: max:[0-9a-f]{8}\n *47\n$`},
		{"max stage touch max:TOKEN --ttl 3h", `^max:TOKEN: kept until `},
		{"max unstage max:TOKEN", `^max:TOKEN: unstaged\n$`},
		{"max retrieve max:TOKEN 2>&1 || echo exit $?",
			`^orchestrator: max:TOKEN \(hubspot/contact, staged at .*\) was unstaged at .*: not found\nexit 3\n$`},
	} {
		want := regexp.MustCompile(strings.ReplaceAll(c.want, "max:TOKEN", token))
		if got := r.Shell(strings.ReplaceAll(c.line, "max:TOKEN", token)); !want.MatchString(got) {
			t.Errorf("$ %s\n%s\nwant %s", c.line, got, want)
		}
	}
}

// TestStagedBytes: a pipe gets the bytes that were staged, a terminal gets none that it would act on.
func TestStagedBytes(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, text := range []string{"", e2e.Hostile + "\n", "\x00\xff\x1b[2J\n", strings.Repeat("words\n", 300_000)} {
		token := r.Stage(text)
		if got := r.Run("retrieve", token); got.Stdout != text || got.Code != 0 || got.Stderr != "" {
			t.Errorf("%d bytes came back as %d: exit %d, %s", len(text), len(got.Stdout), got.Code, got.Stderr)
		}
		if len(text) < 5000 {
			r.Clean("retrieve", token)
			r.Clean("stage", "info", token)
		}
	}
	token := r.Stage(e2e.Hostile + "\n")
	if got := e2e.Get[e2e.Retrieved](r, "retrieve", token); got.Data != e2e.Hostile+"\n" || got.Encoding != "utf-8" {
		t.Errorf("%+v", got)
	}
	if got := e2e.Get[e2e.Retrieved](r, "retrieve", r.Stage("\xff")); got.Data != "/w==" || got.Encoding != "base64" {
		t.Errorf("%+v", got)
	}
	file := e2e.Get[thread.StagedInfo](r, "stage", "info", token).File
	if err := os.WriteFile(file, []byte(strings.ToUpper(e2e.Hostile)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := r.Run("retrieve", token)
	if got.Code != exitcode.Error || got.Stdout != strings.ToUpper(e2e.Hostile)+"\n" || !strings.Contains(got.Stderr, "SHA-256") ||
		!strings.Contains(got.Stderr, file) {
		t.Errorf("data that was changed on disk: %+v", got)
	}
	r.Says(exitcode.Error, []string{"SHA-256"}, "retrieve", token, "--json")
	if err := os.WriteFile(file, []byte(e2e.Hostile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := string(r.Record("retrieve", token)); !strings.Contains(out, "␛]52;c;b3duZWQ=␇") {
		t.Errorf("a terminal shows %q", out)
	}
}

// TestStagedDataStays: it survives a restart and a kill of the server, even one while other data is being staged.
func TestStagedDataStays(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	token := r.Stage("kept\n", "--ttl", "2h", "--label", "of a test")
	brief := r.Stage("brief\n", "--ttl", "15s")
	if out := r.Ok("doctor"); !strings.Contains(out, "staged data: 2 entries, ") {
		t.Errorf("doctor does not show it:\n%s", out)
	}
	slow := r.Command("stage")
	in, err := slow.StdinPipe()
	if err == nil {
		err = slow.Start()
	}
	if err == nil {
		_, err = in.Write(make([]byte, 1<<20))
	}
	if err != nil {
		t.Fatal(err)
	}
	parts := func() int {
		found, err := filepath.Glob(filepath.Join(r.StateDir(), "staging", "*.part"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	e2e.Await(t, "half of the data", func() bool { return parts() == 1 })
	p, err := os.FindProcess(r.ServerPID())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := slow.Wait(); err == nil {
		t.Error("what was not staged is called staged")
	}
	if got := r.Ok("retrieve", token); got != "kept" {
		t.Errorf("after a kill: %q", got)
	}
	e2e.Await(t, "what the kill left to be swept", func() bool { return parts() == 0 })
	r.Ok("stop", "--force")
	var list []thread.Staged
	e2e.Await(t, "the brief one to expire", func() bool {
		list = e2e.Get[[]thread.Staged](r, "stage", "list")
		return len(list) < 2
	})
	if len(list) != 1 || string(list[0].Token) != token || !slices.Equal(list[0].Labels, []string{"of a test"}) {
		t.Errorf("after a restart: %+v", list)
	}
	r.Says(exitcode.NotFound, []string{brief, "expired"}, "retrieve", brief)
	r.Ok("gc")
	if files, err := filepath.Glob(filepath.Join(r.StateDir(), "staging", "*.txt")); err != nil || len(files) != 1 {
		t.Errorf("after gc there are %v (%v)", files, err)
	}
	r.Says(exitcode.NotFound, []string{brief, "expired"}, "retrieve", brief)
}

// TestPromptsKeepStagedData: data that a queued prompt names does not expire.
func TestPromptsKeepStagedData(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "worker")
	r.Ok("send", "-d", name, "#slow:600s list files")
	kept, lost := r.Stage("kept\n", "--ttl", "1s"), r.Stage("lost\n", "--ttl", "1s")
	p := e2e.Get[thread.Prompt](r, "send", "-d", name, "sum up "+kept+".")
	expired := func(token string) func() bool {
		return func() bool { return r.Run("stage", "info", token).Code == exitcode.NotFound }
	}
	e2e.Await(t, "data that nothing needs to expire", expired(lost))
	info := e2e.Get[thread.StagedInfo](r, "stage", "info", kept)
	if !slices.Equal(info.Pins, []string{"prompt " + string(p.ID)}) {
		t.Errorf("what needs it: %v", info.Pins)
	}
	r.Ok("gc")
	if got := r.Ok("retrieve", kept); got != "kept" {
		t.Errorf("after gc: %q", got)
	}
	if list := r.Ok("stage", "list"); !strings.Contains(list, "pinned") || strings.Contains(list, lost) {
		t.Errorf("the list:\n%s", list)
	}
	r.Ok("prompts", "cancel", string(p.ID))
	e2e.Await(t, "data that nothing needs any more to expire", expired(kept))
}

// TestStageSettings: the settings of the time to live and the size hold, and data that is too large leaves nothing.
func TestStageSettings(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_STAGE_TTL=3h", "ORCHESTRATOR_LIMITS_STAGE_MB=1")
	token := r.Stage(strings.Repeat("x", 1<<20))
	if d := e2e.Get[thread.StagedInfo](r, "stage", "info", token); d.Expires.Sub(d.Created).Round(time.Minute) != 3*time.Hour {
		t.Errorf("it expires %v after %v", d.Expires, d.Created)
	}
	if out := r.Shell("yes | '" + e2e.Program + "' stage 2>&1; echo exit $?"); !strings.Contains(out, "exit 4") ||
		!strings.Contains(out, "larger than 1 MiB: limit reached") || !strings.Contains(out, "limits.stage_mb") {
		t.Errorf("an endless stream: %s", out)
	}
	if files, err := filepath.Glob(filepath.Join(r.StateDir(), "staging", "*")); err != nil || len(files) != 2 {
		t.Errorf("what is kept: %v (%v)", files, err)
	}
}

// TestAgentStages: an agent uses the staged data of its project in any folder, and sees and removes its own.
func TestAgentStages(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	one, two := r.AgentShell("one"), r.AgentShell("two")
	of := r.Stage("of the person\n")
	elsewhere := t.TempDir()
	from := func(i *e2e.Inside, script string) e2e.Result {
		i.T.Helper()
		return i.Sh("cd '" + elsewhere + "'\n" + strings.ReplaceAll(script, "max ", e2e.Program+" "))
	}
	staged := from(one, "echo mine | max stage")
	if staged.Code != 0 || !e2e.OneToken.MatchString(staged.Stdout) {
		t.Fatalf("stage: %+v", staged)
	}
	mine := strings.TrimSpace(staged.Stdout)
	other := strings.TrimSpace(from(two, "echo others | max stage").Stdout)
	for _, c := range []struct {
		who    *e2e.Inside
		script string
		code   int
		out    string // in either stream
		not    string
	}{
		{one, "max retrieve " + mine, 0, "mine", ""},
		{two, "max retrieve " + mine, 0, "mine", ""}, // it knows the token
		{one, "max retrieve " + of, 0, "of the person", ""},
		{one, "max stage list", 0, mine, other},
		{two, "max stage list", 0, other, mine},
		{one, "max stage info " + mine, 0, string(r.Status(one.Name).ID), ""},
		{one, "max retrieve " + mine[:6], 0, "mine", ""},
		{one, "max retrieve " + other[:11], exitcode.NotFound, "no token begins with", ""},
		{one, "max unstage " + other, exitcode.Refused, `"manage"`, ""},
		{one, "max unstage " + of, exitcode.Refused, `"manage"`, ""},
		{one, "max stage touch " + other, exitcode.Refused, `"manage"`, ""},
		{one, "max stage touch " + mine, 0, "kept until", ""},
		{one, "max unstage " + mine, 0, "unstaged", ""},
		{one, "max unstage " + mine, exitcode.NotFound, "was unstaged", ""},
		{two, "max --project " + elsewhere + " stage list", exitcode.Refused, "only the user may do this", ""},
	} {
		got := from(c.who, c.script)
		if all := got.Stdout + got.Stderr; got.Code != c.code || !strings.Contains(all, c.out) ||
			c.not != "" && strings.Contains(all, c.not) {
			t.Errorf("%s, %s: exit %d\n%s", c.who.Name, c.script, got.Code, all)
		}
	}
	if got := r.Ok("retrieve", other); got != "others" {
		t.Errorf("the person reads %q", got)
	}
	r.Ok("grants", one.Name, "--add", "read,manage")
	if got := from(one, "max stage list && max unstage "+other); got.Code != 0 || !strings.Contains(got.Stdout, other) {
		t.Errorf("with grants: %+v", got)
	}
}

// TestManyStage runs many programs that stage and retrieve at the same time.
func TestManyStage(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	shared := r.Stage(strings.Repeat("shared\n", 10_000))
	var wg sync.WaitGroup
	var mu sync.Mutex
	tokens := map[string]bool{}
	for i := range 100 {
		wg.Go(func() {
			text := strings.Repeat(fmt.Sprintf("of %d\n", i), 1000)
			cmd := r.Command("stage")
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.Output()
			if err != nil || !e2e.OneToken.Match(out) {
				t.Errorf("stage: %q, %v", out, err)
				return
			}
			token := strings.TrimSpace(string(out))
			for want, token := range map[string]string{text: token, strings.Repeat("shared\n", 10_000): shared} {
				if got, err := r.Command("retrieve", token).Output(); err != nil || string(got) != want {
					t.Errorf("retrieve: %d bytes of %d, %v", len(got), len(want), err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			tokens[token] = true
		})
	}
	wg.Wait()
	if n := len(e2e.Get[[]thread.Staged](r, "stage", "list")); n != 101 || len(tokens) != 100 {
		t.Errorf("%d are listed of %d", n, len(tokens)+1)
	}
}
