package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"orchestrator/thread/ground/rpc"
)

// Verbatim is the result of the tool "verbatim": what typed clients lose.
const Verbatim = `{"content":[{"type":"text","text":"<é & ü>"},{"type":"hologram","x":1.50}],` +
	`"big":9007199254740993123,"unknown":{"b":1,"a":2},"isError":false}`

// call is a call of a tool that is being carried out.
type call struct {
	name  string
	args  json.RawMessage
	token json.RawMessage // of progress; nil if none is wanted
	peer  *rpc.Peer
	// mode of the server
	modes modes
	// answers and state are what a modern client sends along when it was asked something.
	answers, state json.RawMessage
}

// text is the result with one text.
func text(s string) json.RawMessage {
	return encode(map[string]any{"content": []any{map[string]string{"type": "text", "text": s}}})
}

// run carries out a call.
func (c call) run(ctx context.Context) (json.RawMessage, error) {
	var a struct {
		MS    int    `json:"ms"`
		N     int    `json:"n"`
		Once  string `json:"once"`  // a file: the fault happens if it is not there, and makes it
		Await string `json:"await"` // a file: the call lasts until it is there
	}
	_ = json.Unmarshal(c.args, &a) // other arguments are echoed
	if a.Await != "" {
		for _, err := os.Stat(a.Await); err != nil && ctx.Err() == nil; _, err = os.Stat(a.Await) {
			time.Sleep(time.Millisecond)
		}
	}
	sleep := time.Duration(a.MS) * time.Millisecond
	switch c.name {
	case "sleep", "write", "again", "echo":
		select {
		case <-time.After(sleep):
		case <-ctx.Done():
			c.modes.note("witness", "cancelled")
			return nil, ctx.Err()
		}
		return text(string(c.args)), nil
	case "environ":
		return text(strings.Join(os.Environ(), "\n")), nil
	case "folder":
		dir, err := os.Getwd()
		return text(dir), err
	case "verbatim":
		return json.RawMessage(Verbatim), nil
	case "fail":
		return nil, &rpc.Error{Code: -32050, Message: "as asked", Data: json.RawMessage(`{"n":9007199254740993123}`)}
	case "records":
		return records(a.N), nil
	case "progress":
		for i := range 3 {
			c.progress(ctx, i)
		}
		time.AfterFunc(50*time.Millisecond, func() { c.progress(context.Background(), 99) }) // too late
		return text("done"), nil
	case "elicit":
		if c.modes.has("modern") {
			return c.require()
		}
		return c.ask(ctx, "elicitation/create", `{"message":"your name?","requestedSchema":{"type":"object"}}`)
	case "elicit2":
		first := make(chan error, 1)
		go func() {
			_, err := c.ask(ctx, "elicitation/create", `{"message":"first"}`)
			first <- err
		}()
		second, err := c.ask(ctx, "elicitation/create", `{"message":"second"}`)
		if e := <-first; e != nil {
			err = e
		}
		return second, err
	case "roots":
		return c.ask(ctx, "roots/list", `{}`)
	case "sample":
		return c.ask(ctx, "sampling/createMessage", `{"messages":[]}`)
	case "stop", "die":
		if a.Once != "" {
			f, err := os.OpenFile(a.Once, os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return text("done"), nil
			}
			f.Close()
		}
		sig := syscall.SIGKILL
		if c.name == "stop" {
			sig = syscall.SIGSTOP
		}
		err := syscall.Kill(os.Getpid(), sig)
		time.Sleep(50 * time.Millisecond) // until it is acted on
		return text("done"), err
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "unknown tool %q", c.name)
}

// require asks as modern servers do: the call is made again with the answer.
func (c call) require() (json.RawMessage, error) {
	if c.answers == nil {
		return json.RawMessage(`{"resultType":"input_required","requestState":"s1","inputRequests":{` +
			`"q":{"method":"elicitation/create","params":{"message":"your name?"}},"r":{"method":"roots/list"}}}`), nil
	}
	return text(string(c.state) + " " + string(c.answers)), nil
}

func (c call) progress(ctx context.Context, n int) {
	if c.token == nil {
		return
	}
	_ = c.peer.Notify(ctx, "notifications/progress",
		json.RawMessage(fmt.Sprintf(`{"progressToken":%s,"progress":%d,"big":9007199254740993123}`, c.token, n)))
}

// ask sends a request to the client and returns its answer as text.
func (c call) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	answer, err := c.peer.Call(ctx, method, json.RawMessage(params))
	if err != nil {
		return text("refused: " + err.Error()), nil
	}
	return text(string(answer)), nil
}

// records is a large result.
func records(n int) json.RawMessage {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":%d,\"name\":\"record %d\"}\n", i, i)
	}
	return text(b.String())
}
