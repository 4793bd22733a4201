package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"orchestrator/thread/ground/process"
)

const (
	// maxRead is how much of a file is read.
	maxRead = 256 << 10
	// maxOutput is how much of a command's output is kept, half of it from its end.
	maxOutput = 64 << 10
	// maxEntries is how many files are listed.
	maxEntries = 300
	// commandTime is how long a command may run.
	commandTime = 10 * time.Minute
	// crashCode is the exit code of a crash, which is a tool that is not offered: the script that is the demo agent's model
	// knows it, and hang, to show what follows.
	crashCode = 70
)

// definition is a tool as it is offered to the model.
type definition struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"input_schema"`
}

func define(name, description string, required ...string) definition {
	properties := make(map[string]any)
	for _, r := range required {
		properties[r] = map[string]any{"type": "string"}
	}
	if name == "ask_person" {
		properties["options"] = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": required}
	return definition{name, description, schema}
}

// definitions are all tools.
var definitions = []definition{
	define("list_files", "List the files of a folder, two levels deep, folders with a slash at their end. "+
		"The path is relative to the working folder; . is the folder itself.", "path"),
	define("read_file", "Read a text file. The path is relative to the working folder.", "path"),
	define("write_file", "Write a text file, making the folders it needs. What was in it before is replaced.",
		"path", "content"),
	define("edit_file", "Replace the one occurrence of a text in a file with another text.", "path", "old", "new"),
	define("run_command", "Run a shell command in the working folder and return what it printed. "+
		"The person may be asked first.", "command"),
	define("ask_person", "Ask the person a question with a few options to choose from, and return the choice.",
		"question", "options"),
	define("write_todos", "Write down the to-do list of the work, one item a line. What was on it before is replaced.", "items"),
}

// input contains the arguments of tools.
type input struct {
	Path     string   `json:"path"`
	Content  string   `json:"content"`
	Old      string   `json:"old"`
	New      string   `json:"new"`
	Command  string   `json:"command"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Items    string   `json:"items"`
	// What the model does not know of, and the script that is the demo agent's model uses: what a question is about, its kind,
	// how long it stands, and which command takes the place of one that nobody has allowed by then.
	About   string `json:"about"`
	Kind    string `json:"kind"`
	Stands  string `json:"stands"`
	Instead string `json:"instead"`
}

// stands is how long a question waits for an answer; 0: for ever.
func (in input) stands() time.Duration {
	d, err := time.ParseDuration(in.Stands)
	if err != nil {
		return 0
	}
	return d
}

func readInput(raw json.RawMessage) (input, error) {
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("read the tool's input: %w", err)
	}
	return in, nil
}

// summary describes a call in one line.
func (in input) summary() string {
	for _, s := range []string{in.Command, in.Path, in.Question, in.Items} {
		if s != "" {
			return plain(s)
		}
	}
	return ""
}

// folder runs tools in one folder; paths and links cannot lead out of it.
type folder struct {
	dir  string
	root *os.Root
}

func openFolder(dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, root: root}, nil
}

// run runs a tool that does not ask the person.
func (f *folder) run(ctx context.Context, name string, in input) (string, error) {
	switch name {
	case "list_files":
		return f.list(orDot(in.Path))
	case "read_file":
		return f.read(in.Path)
	case "write_file":
		return f.write(in.Path, in.Content)
	case "edit_file":
		return f.edit(in)
	case "run_command":
		return f.command(ctx, in.Command)
	case "write_todos":
		return todos(in.Items)
	case "crash":
		os.Exit(crashCode)
	case "hang":
		time.Sleep(commandTime) // whatever it is told meanwhile
	default:
		return "", noTool(name)
	}
	return "", errors.New("it came back")
}

// noTool is the result of a call to a tool that there is not, or that is left out.
func noTool(name string) error { return fmt.Errorf("there is no tool %q", name) }

// todos returns a to-do list as the model has it from then on.
func todos(items string) (string, error) {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(items) {
		if line = strings.TrimSpace(line); line != "" {
			n++
			fmt.Fprintf(&b, "%d. %s\n", n, line)
		}
	}
	if n == 0 {
		return "", errors.New("the list has no items")
	}
	return b.String(), nil
}

func orDot(p string) string {
	if p == "" {
		return "."
	}
	return path.Clean(p)
}

func (f *folder) list(dir string) (string, error) {
	var b strings.Builder
	n := 0
	var walk func(dir, shown string, depth int) error
	walk = func(dir, shown string, depth int) error {
		entries, err := fs.ReadDir(f.root.FS(), dir)
		if err != nil {
			return err
		}
		sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
		for _, e := range entries {
			if e.Name() == ".git" {
				continue
			}
			if n++; n > maxEntries {
				return nil
			}
			name := path.Join(shown, e.Name())
			if !e.IsDir() {
				fmt.Fprintln(&b, name)
				continue
			}
			fmt.Fprintln(&b, name+"/")
			if depth > 1 && e.Name() != "node_modules" {
				if err := walk(path.Join(dir, e.Name()), name, depth-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(dir, "", 2); err != nil {
		return "", err
	}
	if n > maxEntries {
		fmt.Fprintf(&b, "and more\n")
	}
	return b.String(), nil
}

func (f *folder) read(name string) (string, error) {
	file, err := f.root.Open(orDot(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fmt.Errorf("%s is not a regular file", name))
	}
	b, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return "", fmt.Errorf("%s is not a text file", name)
	}
	return string(b), nil
}

func (f *folder) write(name, content string) (string, error) {
	name = orDot(name)
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	if err := f.root.WriteFile(name, []byte(content), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %d bytes to `%s`", len(content), name), nil
}

func (f *folder) edit(in input) (string, error) {
	old, err := f.read(in.Path)
	if err != nil {
		return "", err
	}
	switch n := strings.Count(old, in.Old); {
	case in.Old == "" || n == 0:
		return "", fmt.Errorf("%q is not in %s", in.Old, in.Path)
	case n > 1:
		return "", fmt.Errorf("%q occurs %d times in %s", in.Old, n, in.Path)
	case len(old) >= maxRead:
		return "", fmt.Errorf("%s is too large", in.Path)
	}
	if _, err := f.write(in.Path, strings.Replace(old, in.Old, in.New, 1)); err != nil {
		return "", err
	}
	return fmt.Sprintf("changed `%s`", in.Path), nil
}

// command runs a shell command. However it ends, its whole process group ends with it.
func (f *folder) command(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir = f.dir
	process.Group(cmd, time.Second)
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w: %s", context.Cause(ctx), text)
	case errors.As(err, &exit):
		return "", fmt.Errorf("%w: %s", exit, strings.TrimSpace(text))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // a process that it left behind keeps the output open
		return "", err
	}
	if text == "" {
		text = "(no output)"
	}
	return text, nil
}

// tail keeps the beginning and the end of its input.
type tail struct {
	mu      sync.Mutex // guards the rest: stdout and stderr are written concurrently
	first   []byte
	last    []byte
	dropped int
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if room := maxOutput/2 - len(t.first); room > 0 {
		k := min(room, len(b))
		t.first, b = append(t.first, b[:k]...), b[k:]
	}
	t.last = append(t.last, b...)
	if over := len(t.last) - maxOutput/2; over > maxOutput/2 {
		t.last = append([]byte(nil), t.last[over:]...)
		t.dropped += over
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped > 0 {
		return fmt.Sprintf("%s\n… %d bytes left out …\n%s", t.first, t.dropped, t.last)
	}
	return string(t.first) + string(t.last)
}
