package verb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/secret/secrettest"
)

// TestSecretsAreNowhereElse has every kind of secret come through prompts, labels, names, tool output, errors and
// addresses, and looks for them in all that is kept or shown beside the conversation.
func TestSecretsAreNowhereElse(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	all := secrettest.All()
	var texts []string
	for _, c := range all {
		texts = append(texts, c.Text)
	}
	together := strings.Join(texts, "\n\n")
	r.Write("keys.txt", together+"\n")
	var shown bytes.Buffer
	call := func(args ...string) {
		res := r.Run(args...)
		shown.WriteString(res.Stdout + res.Stderr)
	}
	name := r.Demo("-w", "-p", "read keys.txt")
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	call("send", "-d", name, "take note: "+together)
	e2e.Await(t, "the second turn", func() bool { return r.Status(name).Turn == 2 })
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	for i, c := range all[:9] {
		text := strings.ReplaceAll(c.Text, "\n", " ")
		switch i % 3 {
		case 0:
			call("new", "-a", "command", text, "--", "true")
		case 1:
			call("fork", "-t", name, "--no-start", text)
		default:
			call("rename", name, "key "+text)
			name = r.Status(newestName(r)).Name
		}
	}
	for _, c := range all {
		text := strings.ReplaceAll(c.Text, "\n", " ")
		if strings.ContainsAny(text[:1], "-{") {
			continue
		}
		_, err := os.Stat("/nonexistent/" + text)
		if res := guard(func() (*cobra.Command, error) { panic(fmt.Sprint("dial ", text, err)) }); res != nil {
			o := newOutput(&shown, &shown)
			fmt.Fprintln(o.stderr, res)
			slog.New(slog.NewTextHandler(o.stderr, nil)).Error("it went wrong", "error", errors.New(text), "env", []string{text})
		}
	}
	call("why", all[0].Secret)
	call("new", "-a", "demo", "--dir", "/nonexistent/"+all[1].Secret, "x")
	call("fork", "-t", all[7].Secret, "x")
	call("threads", "--all", "--json")
	call("find", "redacted", "--json")
	call("checkpoint", "list", newestName(r), "--json")
	r.Ok("export", newestName(r), "--no-files", "-o", filepath.Join(r.Home, "out"))
	there := e2e.NewRig(t)
	s := e2e.Get[thread.Status](there, "import", filepath.Join(r.Home, "out"))
	shown.WriteString(there.Ok("checkpoint", "show", s.Name, "1") + there.Ok("checkpoint", "show", s.Name, "2"))
	there.Ok("resume", s.Name)
	there.Turn(s.Name, "what did I ask before?")
	shown.WriteString(there.Ok("checkpoint", "show", s.Name))
	for _, c := range all {
		if c.In(shown.String()) {
			t.Errorf("%s is shown", c.Name)
		}
		if refs := r.Git("for-each-ref"); c.In(refs) {
			t.Errorf("%s is in the names of branches: %s", c.Name, refs)
		}
	}
	if whole := r.Ok("checkpoint", "show", newestName(r), "1"); !all[0].In(whole) {
		t.Error("the conversation lost what resuming needs")
	}
	p := r.Claimed()
	r.Ok("stop")
	files := 0
	err := filepath.WalkDir(p.StateDir(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "worktrees" || d.Name() == "bin" || d.Name() == "sessions"):
			return filepath.SkipDir // the project's own files, the program, the agent's own transcripts
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "state.db"):
			return nil // the store holds the conversation
		}
		b, err := os.ReadFile(path)
		files++
		for _, c := range all {
			if c.In(string(b)) || c.In(path) {
				t.Errorf("%s is in %s", c.Name, path)
			}
		}
		return err
	})
	if err != nil || files < 2 {
		t.Errorf("%d files, %v", files, err)
	}
}

// newest is the id of the thread that the demo agent talks in.
func newestName(r *e2e.Rig) string {
	r.T.Helper()
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--all") {
		if s.Agent == "demo" && s.Parent == "" {
			return string(s.ID)
		}
	}
	r.T.Fatal("no demo thread")
	return ""
}
