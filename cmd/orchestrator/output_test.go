package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"orchestrator/agent/demo"
	"orchestrator/thread"
)

// hostile is what a model, a file, a name or a message may hold to act on the person's terminal.
var hostile = strings.Join([]string{
	"\x1b]0;owned\a", "\x1b]1;icon\x1b\\", "\x1b]2;title\x1b\\", "\x1b]4;1;?\x1b\\", "\x1b]7;file://x/\x1b\\",
	"\x1b]8;;file:///bin/sh\x1b\\https://good\x1b]8;;\x1b\\", "\x1b]9;note\a", "\x1b]10;?\a", "\x1b]11;?\a", "\x1b]50;?\a", "\x1b]52;c;b3duZWQ=\a",
	"\x1b]133;A\a", "\x1b]777;notify;x;y\a", "\x1b]1337;File=inline=1:aGk=\a", "\x1bP$qm\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\",
	"\x1b[21t", "\x1b[c", "\x1b[6n", "\x1bkname\x1b\\", "\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\", "\x1bc", "\u009d52;c;eA==\u009c", "\u009b6n", "\u0090$qm\u009c",
	"\a\b\v\f\x0e\x0f\x7f", "shown\rhidden", "\u202eexe.txt\u202c", "\u2066x\u2069", "\u200e\u200f\u061c", "zero\u200bwidth\u2060\ufeff", "\U000e0041\U000e007f",
	"a\u200db\u200cc", "x\ufe0f\U000e0100",
}, "")

// hostileName is what a file may be called on any file system, and hostileBranch a branch.
const (
	hostileName   = "evil\x1b]52;c;eA==\a\u009b6n\u202etxt\u200b\r.txt"
	hostileBranch = "evil\u009b6n\u202e\u200b\U000e0041"
)

// harms returns what of an output a terminal would act on, or a person not see.
func harms(out []byte) string {
	out = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")) // the terminal's own
	if !utf8.Valid(out) {
		return "bytes that are no UTF-8"
	}
	for _, r := range string(out) {
		switch {
		case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r >= 0x200b && r <= 0x200f, r == 0x61c, r == 0xfeff, r >= 0x2060 && r <= 0x2064, r >= 0xe0000 && r <= 0xe01ef, r == 0xfe0f:
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// record calls the program with a terminal for its output and returns every byte that came there.
func (r *rig) record(args ...string) []byte {
	r.t.Helper()
	cmd := r.command(args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		r.t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // ends with EIO when the program has ended
	_ = cmd.Wait()           // its exit code is not what this is about
	return out.Bytes()
}

// clean calls the program with and without --json and holds that nothing harmful is printed; it returns both outputs.
func (r *rig) clean(args ...string) string {
	r.t.Helper()
	at := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		at = i
	}
	var all []byte
	for _, call := range [][]string{args, slices.Insert(slices.Clone(args), at, "--json")} {
		out := r.record(call...)
		if bad := harms(out); bad != "" {
			r.t.Errorf("orchestrator %q prints %s:\n%q", call, bad, out)
		}
		all = append(all, out...)
	}
	return string(all)
}

// TestNothingPrintedActsOnATerminal records every byte of every verb in a project where everything is hostile.
func TestNothingPrintedActsOnATerminal(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.write("note.txt", hostile+"\n")
	r.write(hostileName, "raw \x9b6n \x1b[c "+hostile+"\n")
	r.git("add", ".")
	r.git("commit", "-qm", "say "+hostile)
	r.git("checkout", "-qb", hostileBranch)
	name := r.demo("-p", "read note.txt", hostile)
	r.awaitState(name, thread.StateIdle, thread.StateDone)
	r.write("more"+hostileName, hostile+"\n")
	r.write("note.txt", "changed "+hostile+"\n")
	fork := strings.Fields(r.ok("fork", "-t", name, "fork "+hostile))[0]
	r.awaitState(fork, thread.StateIdle, thread.StateDone)
	r.turn(fork, "write "+strings.Map(noSpace, "x"+hostileName)+": text")
	broken := r.ok("new", "-a", "command", "other", "--", "sh", "-c", "cat note.txt; exit 3")
	shows := func(what string, args ...string) {
		t.Helper()
		if out := r.clean(args...); !strings.Contains(out, what) {
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
		{"export", name, "-o", filepath.Join(r.home, hostileName)}, {"export", name, "-o", filepath.Join(r.home, hostileName)},
		{"import", filepath.Join(r.home, hostileName)}, {"import", "note.txt"}, {"pin", name}, {"rename", name, hostile}, {"archive", broken}, {"restore", broken},
		{"delete", broken}, {"undelete", broken}, {"abandon", broken, hostile}, {"new", "-a", hostile, hostile}, {"new", "-a", "demo", "--dir", hostile, hostile},
		{"new", "-a", "command", "--env", hostile, "x", "--", "true"}, {"stop", broken}, {"help", hostile}, {"completion", "bash"}, {"__complete", "why", ""},
		{"__complete", "why", "--" + hostile}, {"__complete", hostile, ""}, {"--project", hostile, "threads"}, {"--project", "note.txt", "threads"},
		{"threads", "--" + hostile}, {hostile}, {"checkpoint", hostile}, {"hook", hostile},
	} {
		r.clean(args...)
	}
	p := r.claimed()
	log, err := os.ReadFile(p.LogFile())
	if err != nil || harms(log) != "" {
		t.Errorf("the server's log holds %s, %v:\n%q", harms(log), err, log)
	}
	lock, err := os.OpenFile(filepath.Join(p.StateDir(), "server.lock"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.WriteAt([]byte(hostile), 0); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	r.clean("serve")
	config := filepath.Join(r.home, ".config", "orchestrator", "config.toml")
	put(t, config, "theme = \"dark\"\n\""+hostileBranch+"\" = \""+hostileBranch+"\"\n")
	shows("config.toml:2", "doctor")
	shows("config.toml:2", "threads")
	if err := os.Remove(config); err != nil { // with it the server cannot be stopped
		t.Fatal(err)
	}
}

// TestEveryVerbIsClean gives every verb of the tree, also one that is added tomorrow, hostile words.
func TestEveryVerbIsClean(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	r.ok("threads")
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		for _, sub := range cmd.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
		if len(path) == 0 || path[0] == demo.Verb {
			return // they draw
		}
		for _, more := range [][]string{{"--help"}, {"--" + hostile}, {hostile}, {hostile, hostile}} {
			if !slices.Contains([]string{"new", "run"}, path[0]) || len(more) == 1 && more[0] != hostile { // those would start an agent
				out := r.record(append(slices.Clone(path), more...)...)
				if bad := harms(out); bad != "" {
					t.Errorf("orchestrator %q %q prints %s:\n%q", path, more, bad, out)
				}
			}
		}
	}
	walk((&cli{}).command(), nil)
}

func noSpace(r rune) rune {
	if r == '\r' || r == ':' || r == ' ' {
		return '_'
	}
	return r
}

// TestPanicsAreCleaned: what a panic says is printed as all else, without the bytes of its cause.
func TestPanicsAreCleaned(t *testing.T) {
	var out bytes.Buffer
	o := newOutput(&out, &out)
	err := guard(func() (*cobra.Command, error) { panic(hostile) })
	fmt.Fprintf(o.stderr, "orchestrator: %v\n", err)
	o.close()
	if bad := harms(out.Bytes()); bad != "" || !strings.Contains(out.String(), "this is a bug") {
		t.Errorf("a panic printed %s: %q", bad, out.String())
	}
}

// TestJSONStaysEqual: what --json prints of hostile text is that text.
func TestJSONStaysEqual(t *testing.T) {
	var out bytes.Buffer
	c := &cli{output: newOutput(&out, &out)}
	c.json = true
	if err := c.show(hostile, nil); err != nil {
		t.Fatal(err)
	}
	c.close()
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != hostile || harms(out.Bytes()) != "" {
		t.Errorf("%q, %v, %s", back, err, harms(out.Bytes()))
	}
}

// TestBareOutput holds the list of those who print past the cleaning writer: nobody else touches the
// process's own streams.
func TestBareOutput(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string][]string{
		"bare": {"output.go"}, "terminal": {"screen.go", "terminal.go", "demo.go", "doctor.go", "cli.go"}, "Stdout": {"main.go"}, "Stderr": {"main.go"},
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
	r := newRig(t)
	r.write("note.txt", hostile+"\n")
	name := r.demo("-p", "read note.txt", hostile)
	r.awaitState(name, thread.StateIdle, thread.StateDone)
	for _, args := range [][]string{nil, {"attach", name}} {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = r.project, r.env
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

func TestAboutOf(t *testing.T) {
	for _, c := range [][3]string{{"list files\nnow", "", "list files"}, {"", "before a rewind", "before a rewind"}, {"list files", "the turn ended here", "list files; the turn ended here"}, {"", "", ""}} {
		if got := aboutOf(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q: %q", c[0], c[1], got)
		}
	}
}
