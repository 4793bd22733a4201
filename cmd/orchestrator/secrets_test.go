package main

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

	"orchestrator/thread"
	"orchestrator/thread/secret/secrettest"
)

// TestSecretsAreNowhereElse has every kind of secret come through prompts, labels, names, tool output, errors and
// addresses, and looks for them in all that is kept or shown beside the conversation.
func TestSecretsAreNowhereElse(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	all := secrettest.All()
	var texts []string
	for _, c := range all {
		texts = append(texts, c.Text)
	}
	together := strings.Join(texts, "\n\n")
	r.write("keys.txt", together+"\n")
	var shown bytes.Buffer
	call := func(args ...string) {
		res := r.run(args...)
		shown.WriteString(res.stdout + res.stderr)
	}
	name := r.demo("-w", "-p", "read keys.txt")
	r.awaitState(name, thread.StateIdle, thread.StateDone)
	call("send", "-d", name, "take note: "+together)
	await(t, "the second turn", func() bool { return r.status(name).Turn == 2 })
	r.awaitState(name, thread.StateIdle, thread.StateDone)
	for i, c := range all[:9] {
		text := strings.ReplaceAll(c.Text, "\n", " ")
		switch i % 3 {
		case 0:
			call("new", "-a", "command", text, "--", "true")
		case 1:
			call("fork", "-t", name, "--no-start", text)
		default:
			call("rename", name, "key "+text)
			name = r.status(r.newest()).Name
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
	call("checkpoint", "list", r.newest(), "--json")
	r.ok("export", r.newest(), "--no-files", "-o", filepath.Join(r.home, "out"))
	there := newRig(t)
	s := get[thread.Status](there, "import", filepath.Join(r.home, "out"))
	shown.WriteString(there.ok("checkpoint", "show", s.Name, "1") + there.ok("checkpoint", "show", s.Name, "2"))
	there.ok("resume", s.Name)
	there.turn(s.Name, "what did I ask before?")
	shown.WriteString(there.ok("checkpoint", "show", s.Name))
	for _, c := range all {
		if c.In(shown.String()) {
			t.Errorf("%s is shown", c.Name)
		}
		if refs := r.git("for-each-ref"); c.In(refs) {
			t.Errorf("%s is in the names of branches: %s", c.Name, refs)
		}
	}
	if whole := r.ok("checkpoint", "show", r.newest(), "1"); !all[0].In(whole) {
		t.Error("the conversation lost what resuming needs")
	}
	p := r.claimed()
	r.ok("stop")
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
func (r *rig) newest() string {
	r.t.Helper()
	for _, s := range get[[]thread.Status](r, "threads", "--all") {
		if s.Agent == "demo" && s.Parent == "" {
			return string(s.ID)
		}
	}
	r.t.Fatal("no demo thread")
	return ""
}
