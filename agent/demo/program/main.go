package program

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/charmbracelet/x/term"

	"orchestrator/agent/demo/record"
)

// Main runs the demo agent and returns its exit code.
func Main(args []string, stdin, stdout *os.File, env []string) int {
	o, err := readOptions(args, env)
	if o.headless {
		if err == nil {
			err = run(o, stdin, stdout)
		}
		return newReporter(stdout).end(err)
	}
	if err != nil {
		fmt.Fprintln(stdout, "demo agent:", err)
		return 2
	}
	if err := run(o, stdin, stdout); err != nil {
		fmt.Fprintln(stdout, "demo agent:", err)
		return 1
	}
	return 0
}

// run opens the session and runs the loop, or a turn without a terminal.
func run(o options, stdin, stdout *os.File) error {
	debug.SetGCPercent(50) // many of these run side by side
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.root.Close() }() // a folder that was only opened
	transport := &http.Transport{MaxIdleConns: 1, IdleConnTimeout: 5 * time.Second}
	defer transport.CloseIdleConnections()
	t := &talk{folder: f, base: o.base, idle: o.idle, client: &client{
		http: &http.Client{Transport: transport}, base: o.url, key: o.key, model: o.model, session: o.session + o.resume,
		system: o.base.system(), retries: o.retries,
	}}
	t.allow.Store(o.mode == ModeAuto)
	if err := t.open(o, dir); err != nil {
		return err
	}
	if o.mcp.Name != "" {
		t.mcp = connect(o.mcp)
		defer t.mcp.close()
	}
	defer func() { _ = t.file.Close() }() // every line is synced already
	if o.headless {
		return headless(t, o.asks, stdin, stdout)
	}
	was, err := term.MakeRaw(stdin.Fd())
	if err != nil {
		return fmt.Errorf("not a terminal: %w", err)
	}
	defer func() { _ = term.Restore(stdin.Fd(), was) }() // it fails if the terminal is gone
	return newLoop(t, o, stdin, stdout).run()
}

// open creates or resumes the session.
func (t *talk) open(o options, dir string) error {
	if o.resume == "" {
		f, err := record.Create(o.home, o.session, dir)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("session %s already exists", o.session)
		}
		t.file = f
		return err
	}
	f, lines, err := record.Resume(o.home, o.resume)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no session %s", o.resume)
	}
	if err != nil {
		return err
	}
	t.file = f
	return t.load(lines)
}
