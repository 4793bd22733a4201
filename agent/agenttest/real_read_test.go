package agenttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/thread"
)

// TestRealReads starts every real CLI in a folder that the person trusts, and in a worktree of it that is elsewhere, in
// a mode that asks. The folders that we name to the agent can be read without a question, by its own tool and by its
// shell, and are not written to; its shell finds our program although the person's dotfiles reset PATH; neither the
// prompt nor the gateway's secret is in any process's arguments. In a folder that the person never trusted, and in a
// worktree of it, it asks as always.
func TestRealReads(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Log("REAL: what is named to the real " + cli.Name)
			readScenario(t, cli)
		})
	}
}

const (
	canary  = "prompt-canary-4711"
	urlMark = "url-secret-0815"
)

func readScenario(t *testing.T, cli clis.CLI) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trusted, strange := filepath.Join(root, "work"), filepath.Join(root, "strange")
	s := newStage(t, cli, []string{trusted, strange})
	s.env = slices.DeleteFunc(cli.SetUp(t, s.home, s.server.URL(), trusted), func(kv string) bool {
		return kv == "GEMINI_CLI_TRUST_WORKSPACE=true"
	})
	s.env = append(s.env, "HOME="+s.home, "PATH="+clis.Bin(t)+":"+os.Getenv("PATH"))
	folders, err := json.Marshal(map[string]string{trusted: "TRUST_FOLDER"})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(s.home, ".gemini", "trustedFolders.json"): string(folders),
		filepath.Join(s.home, ".bashrc"):                        "export PATH=/usr/bin:/bin\n",
		filepath.Join(s.home, ".profile"):                       "export PATH=/usr/bin:/bin\n",
		filepath.Join(root, "state", "bin", "orchestrator"):     "#!/bin/sh\necho \"found $1 $ORCHESTRATOR_BIN\"\n",
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, dir := range map[string]string{"near": trusted, "far": strange} {
		c := exec.Command("git", "worktree", "add", "-q", filepath.Join(root, "elsewhere", name))
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git: %v: %s", err, out)
		}
	}
	for _, tt := range []struct {
		id          thread.ID
		dir, origin string
		asks        bool
	}{
		{"000000000000000a", trusted, "", false},
		{"000000000000000b", filepath.Join(root, "elsewhere", "near"), trusted, false},
		{"000000000000000c", strange, "", true},
		{"000000000000000d", filepath.Join(root, "elsewhere", "far"), strange, true},
	} {
		if tt.asks && cli.Name == "opencode" {
			continue // it trusts every folder
		}
		t.Logf("%s starts in %s", cli.Name, tt.dir)
		s.cli.Asking = cli.Asking
		r := s.careful(tt.id, tt.dir, tt.origin, root)
		if tt.asks {
			r.await("the question whether to trust the folder", func() bool { return r.asked() != "" })
			r.stop()
			continue
		}
		r.reads()
		r.fails()
		r.stop()
		s.finds(tt.id, tt.dir, tt.origin, root)
	}
	s.holdsNoSecret()
}

// fails has a request refused, which CLIs log.
func (r *careful) fails() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	prompt := "refused-6 " + string(r.id) + " #status:400"
	r.send(ctx, prompt)
	if _, err := r.server.Wait(ctx, func(q model.Request) bool {
		return strings.Contains(q.Turn.Prompt, "refused-6 "+string(r.id)) && !q.Turn.Side
	}); err != nil {
		r.t.Fatal(err)
	}
	r.await("the end of the turn", func() bool { return r.session.State().State != thread.StateWorking })
	if strings.Contains(r.screen(), urlMark) {
		r.t.Errorf("the secret is on the screen:\n%s", r.screen())
	}
}

// holdsNoSecret looks for the gateway's secret in all files that the CLI wrote.
func (s *stage) holdsNoSecret() {
	s.t.Helper()
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // removed meanwhile
		}
		raw, err := os.ReadFile(path)
		if err == nil && bytes.Contains(raw, []byte(urlMark)) {
			s.t.Errorf("the secret is in %s", path)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// finds has the CLI run our program by its name, in the mode that asks nothing.
func (s *stage) finds(id thread.ID, dir, origin, root string) {
	s.t.Helper()
	s.cli.Asking = s.cli.Mode
	r := s.careful(id+"-path", dir, origin, root)
	got := r.try("look-5 #bash:orchestrator version #say:seen")
	if !strings.Contains(got, "found version "+r.bin+"/orchestrator") {
		s.t.Errorf("%s: the shell does not find our program: %q", dir, got)
	}
	r.stop()
}

// careful is a process in a mode that asks, which records whether it did.
type careful struct {
	*running
	read, bin string

	mu   sync.Mutex // guards what follows
	what string
}

func (s *stage) careful(id thread.ID, dir, origin, root string) *careful {
	s.t.Helper()
	r := &careful{
		read: filepath.Join(root, "state", "threads", string(id), "read"), bin: filepath.Join(root, "state", "bin"),
	}
	state := filepath.Dir(r.read)
	if err := os.MkdirAll(filepath.Join(r.read, "handoff-1"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	handed := filepath.Join(r.read, "handoff-1", "turn-1-1.txt")
	if err := os.WriteFile(handed, []byte("handed out to "+string(id)+"\n"), 0o400); err != nil {
		s.t.Fatal(err)
	}
	l, err := s.agent.Launch(s.t.Context(), thread.LaunchSpec{
		Thread: id, Dir: dir, Origin: origin, StateDir: state, Env: s.env,
		Flags: thread.Flags{PermissionMode: s.cli.Asking}, Model: s.cli.Model,
		BaseURL: s.server.URL() + "/t/" + urlMark, HookURL: s.server.URL() + "/t/" + urlMark + "/_hook",
		ReadDirs: []string{r.read}, Bin: r.bin,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	asks := func(rep thread.StateReport) {
		if rep.State == thread.StateApproval || rep.State == thread.StateQuestion {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.what = rep.Evidence[0].Detail
		}
	}
	one, err := s.all.Start(s.t.Context(), thread.SessionSpec{
		Thread: id, Agent: s.cli.Name, Launch: l, Cols: 120, Rows: 40, OnState: asks,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	r.running = &running{stage: s, id: id, dir: dir, session: one, native: l.Session, kept: map[string][]byte{}}
	return r
}

// asked is what the agent asked, empty if it did not.
func (r *careful) asked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.what
}

func (r *careful) await(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s never came: %+v\n%s", what, r.session.State(), r.screen())
		}
	}
}

// send types a prompt as soon as the agent waits for one.
func (r *careful) send(ctx context.Context, prompt string) {
	r.t.Helper()
	var err error
	r.await("the time to type "+prompt, func() bool {
		err = r.session.Send(ctx, prompt)
		return !errors.As(err, new(*thread.NotReadyError)) || r.asked() != ""
	})
	if err != nil {
		r.t.Fatalf("send %q: %v; asked %q\n%s", prompt, err, r.asked(), r.screen())
	}
}

// try sends a prompt and returns what its tool printed; a question by the agent fails the test.
func (r *careful) try(prompt string) string {
	r.t.Helper()
	prompt = canary + " " + prompt
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	r.send(ctx, prompt)
	var last model.Request
	r.await("the answer to "+prompt, func() bool {
		if what := r.asked(); what != "" {
			r.t.Fatalf("%q: the agent asks: %s\n%s", prompt, what, r.screen())
		}
		for _, q := range r.server.Main() {
			if q.Turn.Prompt == prompt && len(q.Reply.Calls) == 0 {
				last = q
				return true
			}
		}
		return false
	})
	if path := last.Path; strings.Contains(path, urlMark) == (r.cli.Name == "codex" || r.cli.Name == "opencode") {
		r.t.Errorf("request to %s", path)
	}
	carries := func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, urlMark) })
	}
	if !strings.Contains(last.Path, urlMark) {
		found := false
		for _, values := range last.Header {
			found = found || carries(values)
		}
		if !found {
			r.t.Errorf("no header carries the secret: %v", last.Header)
		}
	}
	results := last.Turn.Results()
	if len(results) == 0 {
		r.t.Fatalf("%q: no tool ran\n%s", prompt, r.screen())
	}
	return results[len(results)-1]
}

func (r *careful) reads() {
	r.t.Helper()
	file := filepath.Join(r.read, "handoff-1", "turn-1-1.txt")
	want := "handed out to " + string(r.id)
	if got := r.try("look-1 #read:" + file + " #say:seen"); !strings.Contains(got, want) {
		r.t.Errorf("%s: its tool read %q", r.dir, got)
	}
	if got := r.try("look-2 #bash:cat " + file + " #say:seen"); !strings.Contains(got, want) {
		r.t.Errorf("%s: its shell read %q", r.dir, got)
	}
	inArguments(r.t, canary, urlMark)
	if r.cli.Name == "codex" { // another one below it must not send our secret to the provider
		got := r.try("look-7 #bash:echo organisation=$OPENAI_ORGANIZATION. #say:seen")
		if !strings.Contains(got, "organisation=.") {
			r.t.Errorf("its shell sees %q", got)
		}
	}
	if got := r.try("look-3 #write:" + filepath.Join(r.read, "own.txt") + "=mine #say:tried"); got == "" {
		r.t.Error("the attempt to write has no result")
	}
	if _, err := os.Stat(filepath.Join(r.read, "own.txt")); err == nil {
		r.t.Error("wrote into the folder that is to be read")
	}
	if r.cli.Name == "codex" || r.cli.Name == "opencode" { // the others ask before they run programs
		got := r.try("look-4 #bash:orchestrator version #say:seen")
		if !strings.Contains(got, "found version "+r.bin+"/orchestrator") {
			r.t.Errorf("%s: its shell does not find our program: %q", r.dir, got)
		}
	}
}

// inArguments fails if words are in the arguments of any process.
func inArguments(t *testing.T, words ...string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Logf("no arguments can be read here: %v", err)
		return
	}
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		for _, word := range words {
			if bytes.Contains(raw, []byte(word)) {
				t.Errorf("%q is in the arguments of %q", word, bytes.ReplaceAll(raw, []byte{0}, []byte{' '}))
			}
		}
	}
}
