package outputs

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// hostileName is what a file may be called on any file system, and hostileBranch a branch.
const (
	hostileName   = "evil\x1b]52;c;eA==\a\u009b6n\u202etxt\u200b\r.txt"
	hostileBranch = "evil\u009b6n\u202e\u200b\U000e0041"
)

// TestNothingPrintedActsOnATerminal records every byte of every verb in a project where everything is hostile.
func TestNothingPrintedActsOnATerminal(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write("note.txt", e2e.Hostile+"\n")
	r.Write(hostileName, "raw \x9b6n \x1b[c "+e2e.Hostile+"\n")
	r.Git("add", ".")
	r.Git("commit", "-qm", "say "+e2e.Hostile)
	r.Git("checkout", "-qb", hostileBranch)
	name := r.Demo("-p", "read note.txt", e2e.Hostile)
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	r.Write("more"+hostileName, e2e.Hostile+"\n")
	r.Write("note.txt", "changed "+e2e.Hostile+"\n")
	fork := strings.Fields(r.Ok("fork", "-t", name, "fork "+e2e.Hostile))[0]
	r.AwaitState(fork, thread.StateIdle, thread.StateDone)
	r.Turn(fork, "write "+strings.Map(noSpace, "x"+hostileName)+": text")
	broken := r.Ok("new", "-a", "command", "other", "--", "sh", "-c", "cat note.txt; exit 3")
	shows := func(what string, args ...string) {
		t.Helper()
		if out := r.Clean(args...); !strings.Contains(out, what) {
			t.Errorf("orchestrator %q does not show %q, so that it proves nothing:\n%s", args, what, out)
		}
	}
	shows("␛]52;c;b3duZWQ=␇", "send", name, "read note.txt")
	shows("␛]52;c;b3duZWQ=␇", "run", "-a", "demo", "--permission-mode", "auto", "read note.txt")
	shows("␛]52", "find", "owned")
	shows("␛]8;;file:///bin/sh", "checkpoint", "show", name)
	shows("\\u202e", "checkpoint", "show", name)
	shows("<U+202E>", "checkpoint", "diff", name)
	shows("TURN", "checkpoint", "list", name)
	for _, args := range [][]string{
		{"threads", "--all", "--tree"}, {"why", name}, {"why", broken}, {"resume", broken}, {"switch", name}, {"doctor"}, {"trust", "--yes"}, {"version"}, {"gc", "--dry-run"},
		{"checkpoint", "restore", fork, "1"}, {"merge", fork, "--dry-run"}, {"merge", fork, "--into", name}, {"finish", fork}, {"push", name}, {"pr", name},
		{"export", name, "-o", filepath.Join(r.Home, hostileName)}, {"export", name, "-o", filepath.Join(r.Home, hostileName)},
		{"import", filepath.Join(r.Home, hostileName)}, {"import", "note.txt"}, {"pin", name}, {"rename", name, e2e.Hostile}, {"archive", broken}, {"restore", broken},
		{"delete", broken}, {"undelete", broken}, {"abandon", broken, e2e.Hostile}, {"new", "-a", e2e.Hostile, e2e.Hostile}, {"new", "-a", "demo", "--dir", e2e.Hostile, e2e.Hostile},
		{"new", "-a", "command", "--env", e2e.Hostile, "x", "--", "true"}, {"stop", broken}, {"help", e2e.Hostile}, {"completion", "bash"}, {"__complete", "why", ""},
		{"__complete", "why", "--" + e2e.Hostile}, {"__complete", e2e.Hostile, ""}, {"--project", e2e.Hostile, "threads"}, {"--project", "note.txt", "threads"},
		{"threads", "--" + e2e.Hostile}, {e2e.Hostile}, {"checkpoint", e2e.Hostile}, {"hook", e2e.Hostile},
	} {
		r.Clean(args...)
	}
	p := r.Claimed()
	log, err := os.ReadFile(p.LogFile())
	if err != nil || e2e.Harms(log) != "" {
		t.Errorf("the server's log holds %s, %v:\n%q", e2e.Harms(log), err, log)
	}
	lock, err := os.OpenFile(filepath.Join(p.StateDir(), "server.lock"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.WriteAt([]byte(e2e.Hostile), 0); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	r.Clean("serve")
	config := filepath.Join(r.Home, ".config", "orchestrator", "config.toml")
	e2e.Put(t, config, "theme = \"dark\"\n\""+hostileBranch+"\" = \""+hostileBranch+"\"\n")
	shows("config.toml:2", "doctor")
	shows("config.toml:2", "threads")
	if err := os.Remove(config); err != nil { // with it the server cannot be stopped
		t.Fatal(err)
	}
}

func noSpace(r rune) rune {
	if r == '\r' || r == ':' || r == ' ' {
		return '_'
	}
	return r
}

// TestBareOutput holds the list of those who print past the cleaning writer: nobody else touches the
// process's own streams.
func TestBareOutput(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string][]string{
		"bare": {"output.go"}, "terminal": {"screen.go", "terminal.go", "demo.go", "doctor.go", "cli.go", "wavewatch.go"}, "Stdout": {"main.go"}, "Stderr": {"main.go"},
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			on, _ := sel.X.(*ast.Ident)
			name := sel.Sel.Name
			ours := on != nil && (on.Name == "os" && strings.HasPrefix(name, "Std") || (on.Name == "c" || on.Name == "o") && (name == "bare" || name == "terminal"))
			if ours && name != "Stdin" && !slices.Contains(allowed[name], file) {
				t.Errorf("%s uses %s.%s; output.go says who may", file, on.Name, name)
			}
			if on != nil && on.Name == "fmt" && slices.Contains([]string{"Print", "Println", "Printf"}, name) {
				t.Errorf("%s uses fmt.%s, which prints past the writer", file, name)
			}
			return true
		})
	}
}

// TestScreenShowsHostileThreads: the screen's own sequences are its only ones.
func TestScreenShowsHostileThreads(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write("note.txt", e2e.Hostile+"\n")
	name := r.Demo("-p", "read note.txt", e2e.Hostile)
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	for _, args := range [][]string{nil, {"attach", name}} {
		cmd := exec.Command(e2e.Program, args...)
		cmd.Dir, cmd.Env = r.Project, r.Env
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 160, Rows: 50})
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		buf := make([]byte, 64<<10)
		for !bytes.Contains(out, []byte("owned")) {
			n, err := tty.Read(buf)
			if err != nil {
				t.Fatalf("the screen ended: %v\n%q", err, out)
			}
			out = append(out, buf[:n]...)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tty.Close()
		for _, bad := range []string{
			"]52;", "]0;owned", "]1;icon", "]2;title", "]7;file", "]9;note", "]50;", "]133;", "]777;", "]1337;", "\x1bP$qm", "\x1b_apc", "\x1b^pm",
			"\x1bXsos", "\x1b[21t", "\x1bk", "\x1bPtmux", "\u009d", "\u009b", "\u0090", "\u202e", "\u2066", "\u200b", "\U000e0041", "file:///bin/sh\x1b\\",
		} {
			if strings.HasPrefix(bad, "]") {
				bad = "\x1b" + bad
			}
			if bytes.Contains(out, []byte(bad)) {
				t.Errorf("the screen %q writes %q", args, bad)
			}
		}
	}
}
