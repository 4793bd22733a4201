package wiretest

import (
	"fmt"
	"net/http"
	"strings"

	"orchestrator/contextmgr/wire"
)

// Talk makes requests of a format for the suite over wire.Scanner. Its items are JSON.
type Talk struct {
	Path string
	// Body returns a request with a list of items, given as the text between the brackets.
	Body func(items string) string
	// Person, Call and Result return an item with what the person says, with a call of a tool with an input, an object,
	// and with the result of it.
	Person func(text string) string
	Call   func(id, tool, input string) string
	Result func(id, tool, text string) string
	// Marked returns an item with the mark for the provider's cache, which agents move from one request to the next; nil
	// if agents of the format send none.
	Marked func(item string) string
	// Form is the form of Result's content.
	Form wire.Form
	// Inputs is set if the inputs of calls are listed.
	Inputs bool
}

// request returns a request to the path.
func (k Talk) request(body string) wire.Call {
	return wire.Call{Path: k.Path, Header: http.Header{}, Body: []byte(body)}
}

// conversation returns a request with items.
func (k Talk) conversation(items ...string) wire.Call {
	return k.request(k.Body(strings.Join(items, ",")))
}

// steps returns the items of n calls with their results. Each call writes a file, and its input and result have about
// size bytes together.
func (k Talk) steps(n, size int) []string {
	items := []string{k.Person("please")}
	line := "func main() {\n\tfmt.Println(\"hello, <b>wörld\")\n}\n"
	quoted := len(wire.Quote("00000"+line)) - len(`""`)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("%05d", i)+line, size/(2*quoted)+1)
		input := fmt.Sprintf(`{"file_path":"/w/file%d.go","n":1.0,"content":%s}`, i, wire.Quote(text))
		id := fmt.Sprintf("call_%d", i)
		items = append(items, k.Call(id, "write_file", input), k.Result(id, "write_file", text))
	}
	return items
}

// marked returns the items as an agent sends them: the newest two have the mark for the cache.
func (k Talk) marked(items []string) []string {
	if k.Marked == nil {
		return items
	}
	out := append([]string(nil), items...)
	for i := max(0, len(out)-2); i < len(out); i++ {
		out[i] = k.Marked(out[i])
	}
	return out
}
