package screens

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// hand presses keys as a person does who looks at what each one did, and counts them. Text that is typed into a field
// is not counted, its enter is.
type hand struct {
	*e2e.Screen
	pressed []string
}

// look is how long the person looks after each key: longer than a letter waits for text that follows it.
const look = time.Second

var bytesOf = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "pgup": "\x1b[5~",
	"space": " ", "ctrl+q": "\x11", "ctrl+s": "\x13", "ctrl+f": "\x06", "ctrl+alt+w": "\x1b\x17", "ctrl+alt+o": "\x1b\x0f",
}

func (h *hand) keys(keys ...string) {
	h.T.Helper()
	for _, k := range keys {
		h.pressed = append(h.pressed, k)
		if b, named := bytesOf[k]; named {
			k = b
		}
		h.Press(k)
		time.Sleep(look)
	}
}

func (h *hand) text(s string) {
	for _, c := range s {
		h.Press(string(c))
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(look)
}

// task is one of what people do all day: it begins inside an agent. goal is how many keys it may take; out is set where
// the best peer needs as many from its list, and ours one more because ctrl+q leaves the agent first.
type task struct {
	name string
	goal int
	out  bool
	do   func(t *testing.T, h *hand)
}

// office is a project in which all of the tasks can be done.
type office struct {
	*e2e.Rig
	docs, auth, fork string
}

func newOffice(t *testing.T) *office {
	o := &office{Rig: e2e.NewRig(t)}
	bin := filepath.Join(o.Home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"edit": `echo "$1" >>"$HOME/edited"`, "gemini": `[ "$1" = --version ] && echo 0.60.0 || exec sleep 600`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o.Env = append(o.Env, "PATH="+bin+":"+os.Getenv("PATH"), "EDITOR="+filepath.Join(bin, "edit"))
	e2e.Put(t, filepath.Join(o.Home, ".config", "orchestrator", "config.toml"), "[profiles.quick]\nagent = \"demo\"\n")
	o.Write(".mcp.json", `{"mcpServers": {"notes": {"command": "orchestrator", "args": ["demo-notes"]}}}`)
	o.Write("main.go", "package alpha\n\n"+strings.Repeat("// one of many lines\n", 20))
	o.Git("add", "-A")
	o.Git("commit", "-q", "-m", "begin")
	o.docs = o.Ok("new", "-a", "demo", "-w", "docs")
	o.auth = o.Ok("new", "-a", "demo", "--permission-mode", "auto", "auth")
	o.Turn(o.auth, "write auth.go: package auth")
	o.Turn(o.auth, "read auth.go")
	o.Turn(o.auth, "write jwt.go: package auth")
	o.fork = e2e.Get[thread.Status](o.Rig, "fork", "try jwt", "-t", o.auth).Name
	o.Turn(o.fork, "replace alpha with beta in main.go")
	return o
}

// asks has docs ask for a permission.
func (o *office) asks(command string) {
	o.T.Helper()
	o.Run("send", o.docs, command, "-d")
	e2e.Await(o.T, "the question", func() bool { q := o.Status(o.docs).State.Question; return q != nil && len(q.Choices) > 0 })
}

func (o *office) calm() {
	o.T.Helper()
	if o.Status(o.docs).State.Question != nil {
		o.Run("deny", o.docs, "--yes")
	}
	o.AwaitState(o.docs, thread.StateIdle, thread.StateDone)
}

func (o *office) file(name string) string {
	b, _ := os.ReadFile(filepath.Join(o.Status(o.docs).Dir, name))
	return string(b)
}

func (o *office) tasks() []task {
	return []task{
		{"approve the oldest waiting", 2, false, func(t *testing.T, h *hand) {
			o.asks("run echo yes >approved.txt")
			h.See("need")
			h.keys("ctrl+alt+w", "a")
			e2e.Await(t, "the approved command", func() bool { return o.file("approved.txt") == "yes\n" })
		}},
		{"deny it with a reason", 2, true, func(t *testing.T, h *hand) {
			o.asks("run echo no >denied.txt")
			h.keys("ctrl+alt+w", "r")
			h.text("use a file of another name")
			h.keys("enter")
			e2e.Await(t, "the reason", func() bool {
				for _, p := range e2e.Get[[]thread.Prompt](o.Rig, "prompts", o.docs) {
					if strings.Contains(p.Text, "another name") {
						return true
					}
				}
				return false
			})
			if o.file("denied.txt") != "" {
				t.Error("it ran")
			}
			o.AwaitState(o.docs, thread.StateIdle, thread.StateDone)
		}},
		{"to the next waiting", 1, false, func(t *testing.T, h *hand) {
			o.asks("run echo x >x.txt")
			h.keys("ctrl+alt+w")
			h.See("a approve")
			o.calm()
		}},
		{"back to the last thread", 1, false, func(t *testing.T, h *hand) {
			o.Ok("switch", o.docs)
			h.See("│ docs ")
			h.Press("\r")
			time.Sleep(look)
			h.keys("ctrl+alt+o")
			h.See("│ auth ", "back to threads")
		}},
		{"copy the last answer", 2, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "Y")
			h.See("copied")
		}},
		{"scroll back and search", 2, true, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "[", "/")
			h.text("package")
			h.Press("\r")
			h.See("match ")
		}},
		{"three agents side by side", 2, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "V")
			h.See("stack")
			h.Press("V")
			time.Sleep(look)
		}},
		{"what today cost", 0, false, func(t *testing.T, h *hand) { h.See("today") }},
		{"the turn that changed a file", 3, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "ctrl+f")
			h.text("jwt.go")
			h.See("write jwt.go")
			h.keys("enter")
			h.See("turn 3")
		}},
		{"diff of the last turn", 2, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "D")
			h.See("jwt.go")
		}},
		{"open a changed file in the editor", 3, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "D", "e")
			e2e.Await(t, "the editor", func() bool {
				b, _ := os.ReadFile(filepath.Join(o.Home, "edited"))
				return strings.Contains(string(b), "jwt.go")
			})
		}},
		{"accept a new MCP server", 3, true, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "m", "a")
			h.See("demo-notes", "ctrl+s accept")
			h.keys("ctrl+s")
			h.See("accepted")
		}},
		{"switch an MCP server", 3, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "m", "space")
			h.See("notes off")
			h.Press("\x1b")
		}},
		{"why is it masked", 3, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "C", "E")
			h.See("why")
		}},
		{"fork from turn 3 into another agent", 6, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "T", "F")
			h.text("other way")
			h.keys("tab", "left", "enter")
			e2e.Await(t, "the fork", func() bool {
				for _, s := range e2e.Get[[]thread.Status](o.Rig, "threads") {
					if s.Label == "other way" && s.Agent != "demo" {
						return true
					}
				}
				return false
			})
		}},
		{"merge, committing the parent first", 3, true, func(t *testing.T, h *hand) {
			o.Ok("switch", o.fork)
			h.See("│ try jwt ")
			h.Press("\r")
			h.See("back to threads")
			if err := os.WriteFile(filepath.Join(o.Status(o.auth).Dir, "main.go"), []byte("package alpha\n\n"+strings.Repeat("// one of many lines\n", 20)+"// the last one\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			h.keys("ctrl+q", ".", "m")
			h.See("main.go", "ctrl+s commit and merge")
			h.keys("ctrl+s")
			e2e.Await(t, "the merge", func() bool { return o.Status(o.fork).Outcome.Kind == thread.OutcomeMerged })
		}},
		{"one prompt to three threads", 5, true, func(t *testing.T, h *hand) {
			h.Press("\x11")
			time.Sleep(look)
			h.Press("\x1b[H") // from the top of the list
			time.Sleep(look)
			h.keys("v", "v", "v", "i")
			h.text("hello")
			h.keys("enter")
			e2e.Await(t, "three prompts", func() bool {
				n := 0
				for _, s := range e2e.Get[[]thread.Status](o.Rig, "threads") {
					for _, p := range e2e.Get[[]thread.Prompt](o.Rig, "prompts", s.Name) {
						if p.Text == "hello" {
							n++
						}
					}
				}
				return n == 3
			})
		}},
		{"start with a remembered profile", 2, true, func(t *testing.T, h *hand) {
			before := len(e2e.Get[[]thread.Status](o.Rig, "threads"))
			h.keys("ctrl+q", "n", "1")
			e2e.Await(t, "the new thread", func() bool { return len(e2e.Get[[]thread.Status](o.Rig, "threads")) == before+1 })
		}},
		{"why this state", 2, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", "E")
			h.See("The first source decides")
		}},
		{"recover after a crash", 2, false, func(t *testing.T, h *hand) {
			if err := syscall.Kill(o.ServerPID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			h.See("Start server")
			time.Sleep(look)
			h.keys("enter")
			h.See("interrupted", "resume all")
			time.Sleep(look)
			h.keys("A")
			o.AwaitState(o.auth, thread.StateIdle, thread.StateDone)
			o.AwaitState(o.docs, thread.StateIdle, thread.StateDone)
		}},
		{"stop a runaway agent", 3, false, func(t *testing.T, h *hand) {
			h.keys("ctrl+q", ".", "ctrl+s")
			e2e.Await(t, "its end", func() bool { return o.Status(o.auth).Execution == nil })
		}},
	}
}

// TestTasks counts the keys of what people do all day, on the whole program, at most as many as the best peer needs.
// "Unmask" is counted in package ui, TestUnmaskTakesFourKeys.
func TestTasks(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, task := range o.tasks() {
		t.Run(task.name, func(t *testing.T) {
			s := o.Open(120, 36, "attach", o.auth)
			s.See("back to threads")
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the screen:\n%s", s.Text())
				}
			})
			time.Sleep(look)
			s.T = t
			h := &hand{Screen: s}
			task.do(t, h)
			goal := task.goal
			if task.out {
				goal++
			}
			t.Logf("%d keys (%s), the goal is %d", len(h.pressed), strings.Join(h.pressed, " "), task.goal)
			if len(h.pressed) > goal {
				t.Errorf("%d keys, at most %d are allowed", len(h.pressed), goal)
			}
			for range 4 { // out of whatever is open
				s.Press("\x11")
				time.Sleep(50 * time.Millisecond)
			}
			time.Sleep(look)
			s.Leave()
		})
	}
}
