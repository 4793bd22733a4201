package gateway

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orchestrator/thread/ground/rpc"
)

// way is how a client reaches the gateway.
type way struct {
	name    string
	version string // "" for the newest
}

func ways() []way {
	return []way{{"handshake", "2025-11-25"}, {"stateless", ""}}
}

func (w way) connect(t *testing.T, g *Gateway, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, opts)
	a, b := net.Pipe()
	go func() { _ = g.Serve(own, "/p", rpc.NewLines(b, b, b, nil)) }()
	transport := &mcp.IOTransport{Reader: a, Writer: a}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: w.version})
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestOfficialClient has the official SDK's client use everything, in both eras.
func TestOfficialClient(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			g, shelf, _ := newRig(t)
			changed := make(chan struct{}, 10)
			progress := make(chan float64, 10)
			s := w.connect(t, g, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					progress <- r.Params.Progress
				},
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"said": r.Params.Message}}, nil
				},
			})
			ctx := t.Context()
			list, err := s.ListTools(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if !slices.Equal(names, []string{"fake__echo", "orch__find_tool", "orch__retrieve"}) {
				t.Fatalf("tools: %v", names)
			}
			prompts, err := s.ListPrompts(ctx, nil)
			if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "fake__greet" {
				t.Fatalf("prompts: %+v, %v", prompts, err)
			}
			resources, err := s.ListResources(ctx, nil)
			if err != nil || len(resources.Resources) != 1 || resources.Resources[0].URI != "file:///a" {
				t.Fatalf("resources: %+v, %v", resources, err)
			}
			templates, err := s.ListResourceTemplates(ctx, nil)
			if err != nil || len(templates.ResourceTemplates) != 1 {
				t.Fatalf("templates: %+v, %v", templates, err)
			}

			shelf.answer = func(ctx context.Context, _ string, c Caller, method string, params json.RawMessage) (json.RawMessage, error) {
				switch method {
				case "prompts/get":
					return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}`), nil
				case "resources/read":
					return json.RawMessage(`{"contents":[{"uri":"file:///a","text":"content"}]}`), nil
				case "completion/complete":
					return json.RawMessage(`{"completion":{"values":["world"]}}`), nil
				}
				var p struct {
					Arguments struct{ Do string }
					Meta      struct {
						ProgressToken json.RawMessage `json:"progressToken"`
					} `json:"_meta"`
				}
				if err := json.Unmarshal(params, &p); err != nil {
					return nil, err
				}
				switch p.Arguments.Do {
				case "progress":
					c.Progress(json.RawMessage(`{"progressToken":` + string(p.Meta.ProgressToken) + `,"progress":0.5}`))
				case "ask", "ask twice":
					var answers []string
					for range strings.Count(p.Arguments.Do+" twice", "twice") {
						answer, err := c.Ask(ctx, "elicitation/create",
							json.RawMessage(`{"mode":"form","message":"sure?","requestedSchema":{"type":"object","properties":{"said":{"type":"string"}}}}`))
						if err != nil {
							return nil, err
						}
						answers = append(answers, string(answer))
					}
					return said(strings.Join(answers, "\n")), nil
				case "refuse":
					return nil, &rpc.Error{Code: -32042, Message: "no", Data: json.RawMessage(`{"why":1}`)}
				case "hang":
					<-ctx.Done()
					changed <- struct{}{}
					return nil, ctx.Err()
				}
				return json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`), nil
			}
			call := func(do string, token any) (string, error) {
				p := &mcp.CallToolParams{Name: "fake__echo", Arguments: map[string]any{"do": do}}
				if token != nil {
					p.SetProgressToken(token)
				}
				r, err := s.CallTool(ctx, p)
				if err != nil {
					return "", err
				}
				return r.Content[0].(*mcp.TextContent).Text, nil
			}
			if text, err := call("progress", "tok"); err != nil || text != "done" {
				t.Fatalf("call: %q, %v", text, err)
			}
			select {
			case p := <-progress:
				if p != .5 {
					t.Errorf("progress %v", p)
				}
			case <-time.After(time.Minute):
				t.Error("no progress arrived")
			}
			for _, do := range []string{"ask", "ask twice"} {
				text, err := call(do, nil)
				if err != nil || strings.Count(text, "The MCP server fake asks: sure?") != strings.Count(do+" twice", "twice") {
					t.Errorf("%s: %q, %v", do, text, err)
				}
			}
			if _, err := call("refuse", nil); err == nil || !strings.Contains(err.Error(), "no") {
				t.Errorf("the server's error: %v", err)
			}
			if r, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "fake__greet"}); err != nil || len(r.Messages) != 1 {
				t.Errorf("prompt: %+v, %v", r, err)
			}
			if r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///a"}); err != nil || r.Contents[0].Text != "content" {
				t.Errorf("resource: %+v, %v", r, err)
			}
			if r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "db://users"}); err != nil || len(r.Contents) != 1 {
				t.Errorf("resource by a template: %+v, %v", r, err)
			}
			if r, err := s.Complete(ctx, &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "fake__greet"},
				Argument: mcp.CompleteParamsArgument{Name: "who", Value: "w"},
			}); err != nil || !slices.Equal(r.Completion.Values, []string{"world"}) {
				t.Errorf("completion: %+v, %v", r, err)
			}
			if last := shelf.seen()[len(shelf.seen())-1]; !strings.Contains(last, `"name":"greet"`) {
				t.Errorf("the server was asked %s", last)
			}

			more := echoServer()
			more.ID = "other"
			shelf.set(own, echoServer(), more)
			g.Changed(own)
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatal("no list_changed arrived")
			}
			g.Changed(own) // nothing is different: nothing is sent
			if list, err := s.ListTools(ctx, nil); err != nil || len(list.Tools) != 4 {
				t.Errorf("after the change: %+v, %v", list, err)
			}
			soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			if _, err := s.CallTool(soon, &mcp.CallToolParams{Name: "fake__echo", Arguments: map[string]any{"do": "hang"}}); err == nil {
				t.Error("a hanging call returned")
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Error("the call was not cancelled at the server")
			}
		})
	}
}
