package program

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// HomeVar names the variable that holds the folder of the demo agent's sessions.
const HomeVar = "ORCHESTRATOR_DEMO_HOME"

// The permission modes.
const (
	ModeAsk  = "ask"
	ModeAuto = "auto"
)

// options are the command line and the environment.
type options struct {
	session, resume, mode, model, prompt string
	url, key, home                       string
	color, headless, asks, idle          bool
	retries                              int
	mcp                                  mcpServer
	base                                 base
}

func readOptions(args, env []string) (options, error) {
	o := options{color: true}
	for _, kv := range env {
		switch k, v, _ := strings.Cut(kv, "="); k {
		case "ANTHROPIC_BASE_URL":
			o.url = strings.TrimRight(v, "/")
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
	f.StringVar(&o.resume, "resume", "", "id of the session to resume")
	f.StringVar(&o.mode, "permission-mode", ModeAsk, "ask before commands, or auto")
	f.BoolVar(&o.headless, "headless", false, "take a prompt and print what happens as lines of JSON, without a terminal")
	f.BoolVar(&o.asks, "asks", false, "with --headless: ask the person, and wait for an answer, instead of refusing")
	f.BoolVar(&o.idle, "no-calls", false, "fail every call of a tool, though they are offered")
	f.IntVar(&o.retries, "retries", retries, "how often a request is sent again after a temporary refusal")
	f.StringVar(&o.model, "model", "demo-1", "model")
	f.Func("leave-out", "parts of what is sent before a word is said, with commas: "+strings.Join(partNames(), ", "), func(s string) error {
		o.base.without = strings.Split(s, ",") // what is no part is of another version, and means nothing
		return nil
	})
	f.Func("mcp", "the MCP server whose tools are offered: its name and its command, as JSON", func(s string) error {
		if err := json.Unmarshal([]byte(s), &o.mcp); err != nil {
			return err
		}
		if o.mcp.Name == "" || len(o.mcp.Command) == 0 {
			return errors.New("it needs a name and a command")
		}
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.prompt = strings.Join(f.Args(), " ")
	switch {
	case o.url == "":
		return o, errors.New("ANTHROPIC_BASE_URL is not set")
	case o.home == "":
		return o, errors.New(HomeVar + " is not set")
	case (o.session == "") == (o.resume == ""):
		return o, errors.New("give either --session-id or --resume")
	case o.headless && o.prompt != "":
		return o, errors.New("--headless reads the prompt from its input")
	case o.mode == "default": // the name that other agents use
		o.mode = ModeAsk
	case o.mode != ModeAsk && o.mode != ModeAuto:
		return o, fmt.Errorf("permission mode %q: it is %s or %s", o.mode, ModeAsk, ModeAuto)
	}
	return o, nil
}
