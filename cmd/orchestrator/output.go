package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Everything that a verb, the server's log or cobra prints goes through one writer, which lets no byte
// through that a terminal acts on and no character that hides or reorders text: threads, models, agents,
// repositories and the command line itself choose what is printed. It makes no difference whether the
// output is a terminal, for a log is read on one later.
//
// bare is the output without it. It is used by, and a test holds that it is used only by:
//
//   - the screen, whose painter draws cells that it made itself,
//   - the demo agent, which is an agent's program: its terminal is the server's,
//   - the doctor and the question about a wide folder, which ask it what it is and write nothing.
//
// What goes to stderr, where errors and the server's log quote prompts, addresses and environments, shows
// secrets redacted, too. The file of an export is written by the server and not printed; the editor that the screen opens is
// the person's own program in the person's own terminal.
type output struct {
	stdout io.Writer
	stderr io.Writer
	bare   io.Writer

	flush []*plaintext.Writer
	json  bool // --json: show prints it
}

// newOutput puts the writer before the process's own streams.
func newOutput(stdout, stderr io.Writer) output {
	out, err := plaintext.NewWriter(stdout), plaintext.NewWriter(stderr)
	return output{stdout: out, stderr: discreet{err}, bare: stdout, flush: []*plaintext.Writer{out, err}}
}

// discreet leaves the secrets out of what is written at once: a line of the log, an error.
type discreet struct{ w io.Writer }

// Write implements io.Writer.
func (d discreet) Write(p []byte) (int, error) {
	if _, err := d.w.Write(secret.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// close writes what the writers still hold.
func (o output) close() {
	for _, w := range o.flush {
		_ = w.Flush() // there is nowhere left to report it
	}
}

// terminal is the output as a file that may be a terminal.
func (o output) terminal() (*os.File, bool) {
	f, ok := o.bare.(*os.File)
	return f, ok
}

// show prints a value as JSON with --json, by the function otherwise.
func (o output) show(v any, plain func(io.Writer)) error {
	if !o.json {
		plain(o.stdout)
		return nil
	}
	w := plaintext.NewJSONWriter(o.stdout)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return nil
}

// guard runs a command; a panic in it becomes an error, so that its words are cleaned, too.
func guard(cmd func() (*cobra.Command, error)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a bug in orchestrator: %v\n%s", p, debug.Stack())
		}
	}()
	_, err = cmd()
	return err
}

// done says what was done to a thread.
func (o output) done(name, what string) error {
	return o.show(map[string]string{"thread": name, "done": what},
		func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", name, what) })
}
