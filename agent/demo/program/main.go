package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"orchestrator/agent/demo/record"
)

// HomeVar names the variable that holds the folder of the demo agent's sessions.
const HomeVar = "ORCHESTRATOR_DEMO_HOME"

// Modes of permission.
const (
	ModeAsk  = "ask"
	ModeAuto = "auto"
)

// options are the command line and the environment.
type options struct {
	session, resume, mode, model, prompt string
	base, key, home                      string
	color                                bool
}

// Main runs the demo agent and returns its exit code.
func Main(args []string, stdin, stdout *os.File, env []string) int {
	o, err := readOptions(args, env)
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

func readOptions(args, env []string) (options, error) {
	o := options{color: true}
	for _, kv := range env {
		switch k, v, _ := strings.Cut(kv, "="); k {
		case "ANTHROPIC_BASE_URL":
			o.base = strings.TrimRight(v, "/")
		case "ANTHROPIC_API_KEY":
			o.key = v
		case HomeVar:
			o.home = v
		case "NO_COLOR":
			o.color = v == ""
		}
	}
	f := flag.NewFlagSet("demo-agent", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.session, "session-id", "", "id of the new session")
	f.StringVar(&o.resume, "resume", "", "id of the session to go on with")
	f.StringVar(&o.mode, "permission-mode", ModeAsk, "ask before commands, or auto")
	f.StringVar(&o.model, "model", "demo-1", "model")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.prompt = strings.Join(f.Args(), " ")
	switch {
	case o.base == "":
		return o, errors.New("ANTHROPIC_BASE_URL is not set")
	case o.home == "":
		return o, errors.New(HomeVar + " is not set")
	case (o.session == "") == (o.resume == ""):
		return o, errors.New("give either --session-id or --resume")
	case o.mode == "default": // what other agents call it
		o.mode = ModeAsk
	case o.mode != ModeAsk && o.mode != ModeAuto:
		return o, fmt.Errorf("permission mode %q: it is %s or %s", o.mode, ModeAsk, ModeAuto)
	}
	return o, nil
}

// run opens the session and hands over to the loop.
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
	defer func() { _ = f.root.Close() }() // only read from here
	transport := &http.Transport{MaxIdleConns: 1, IdleConnTimeout: 5 * time.Second}
	defer transport.CloseIdleConnections()
	t := &talk{folder: f, allow: o.mode == ModeAuto, client: &client{
		http: &http.Client{Transport: transport}, base: o.base, key: o.key, model: o.model, session: o.session + o.resume,
	}}
	if err := t.open(o, dir); err != nil {
		return err
	}
	defer func() { _ = t.file.Close() }() // every line is synced already
	restore, err := rawMode(stdin)
	if err != nil {
		return err
	}
	defer restore()
	return newLoop(t, o, stdin, stdout).run()
}

// open makes or takes up the session.
func (t *talk) open(o options, dir string) error {
	if o.resume == "" {
		f, err := record.Create(o.home, o.session, dir)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("session %s is there already", o.session)
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
