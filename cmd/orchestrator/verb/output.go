package verb

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Everything that a verb, the server's log or cobra prints goes through one writer. It removes bytes that a terminal
// acts on and characters that hide or reorder text, because threads, models, agents, repositories and the command line
// itself influence what is printed. It does so even if the output is not a terminal, because a log may be read on one
// later.
//
// bare is the output without that writer. A test checks that it is used only by:
//
//   - the screen and the watcher of a task, which draw only cells of their own making,
//   - the demo agent, whose terminal belongs to the server, as any agent's does,
//   - the doctor and the question about a wide folder, which inspect it and write nothing,
//   - staged data that does not go to a terminal: it comes back byte for byte.
//
// Secrets are also redacted on stderr, where errors and the server's log quote prompts, addresses and environments. An
// exported file is written by the server, not printed. The editor that the screen opens is the user's own program in
// the user's own terminal.
type output struct {
	stdout io.Writer
	stderr io.Writer
	bare   io.Writer

	flush []*plaintext.Writer
	json  bool // --json: show prints JSON
}

// newOutput wraps the process's own streams.
func newOutput(stdout, stderr io.Writer) output {
	out, err := plaintext.NewWriter(stdout), plaintext.NewWriter(stderr)
	return output{stdout: out, stderr: redacting{err}, bare: stdout, flush: []*plaintext.Writer{out, err}}
}

// redacting redacts secrets within each write, which is a line of the log or an error.
type redacting struct{ w io.Writer }

// Write implements io.Writer.
func (d redacting) Write(p []byte) (int, error) {
	if _, err := d.w.Write(secret.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// close flushes the writers.
func (o output) close() {
	for _, w := range o.flush {
		_ = w.Flush() // there is nowhere to report it
	}
}

// terminal returns the output if it is a file, which may be a terminal.
func (o output) terminal() (*os.File, bool) {
	f, ok := o.bare.(*os.File)
	return f, ok
}

// data returns the writer for data that is printed byte for byte unless the output is a terminal.
func (o output) data() io.Writer {
	if f, ok := o.bare.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return o.stdout
	}
	return o.bare
}

// show prints a value: as JSON with --json, and otherwise with plain.
func (o output) show(v any, plain func(io.Writer)) error {
	if !o.json {
		plain(o.stdout)
		return nil
	}
	w := plaintext.NewJSONWriter(o.stdout)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// guard runs a command and turns a panic into an error, so that its message is sanitised too.
func guard(cmd func() (*cobra.Command, error)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a bug in orchestrator: %v\n%s", p, debug.Stack())
		}
	}()
	_, err = cmd()
	return err
}

// done prints what was done to a thread.
func (o output) done(name, what string) error {
	return o.show(map[string]string{"thread": name, "done": what},
		func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", name, what) })
}
