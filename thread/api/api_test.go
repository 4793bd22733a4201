package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/grant"
	"orchestrator/thread/work"
)

// TestWire holds the requests that clients and servers of Version send: one that changes here needs another Version.
func TestWire(t *testing.T) {
	if Version != 3 {
		t.Fatalf("version %d: write down what it sends", Version)
	}
	for want, req := range map[string]any{
		`{}`:                                   None{},
		`{"sizes":true}`:                       InfoRequest{Sizes: true},
		`{"force":true}`:                       StopRequest{Force: true},
		`{"thread":"a"}`:                       Ref{Thread: "a"},
		`{"thread":"a","cols":80,"rows":24}`:   ResumeRequest{Thread: "a", Cols: 80, Rows: 24},
		`{"thread":"a","text":"b"}`:            AskRequest{Thread: "a", Text: "b"},
		`{"thread":"a","open":true,"limit":3}`: PromptsRequest{Thread: "a", Open: true, Limit: 3},
		`{"execution":"exec-001"}`:             ExecutionRef{Execution: "exec-001"},
		`{"thread":"a","states":["queued"],"before":"b","limit":3}`: ExecutionsRequest{Thread: "a", States: []work.State{work.Queued}, Before: "b", Limit: 3},
		`{"execution":"e","after":3,"limit":5}`:                     ExecutionEventsRequest{Execution: "e", After: 3, Limit: 5},
		`{"execution":"e","reason":"why"}`:                          CancelRequest{Execution: "e", Reason: "why"},
		`{"execution":"e","text":"b"}`:                              SendRequest{Execution: "e", Text: "b"},
		`{"agent":"a","pause":true,"limit":2}`:                      work.QueueChange{Agent: "a", Pause: true, Limit: 2},
		`{"thread":"a","id":"p"}`:                                   PromptRef{Thread: "a", ID: "p"},
		`{"id":"p","text":"b"}`:                                     EditRequest{ID: "p", Text: "b"},
		`{"thread":"a","name":"b"}`:                                 RenameRequest{Thread: "a", Name: "b"},
		`{"thread":"a","on":true}`:                                  PinRequest{Thread: "a", On: true},
		`{"thread":"a","text":"why"}`:                               AbandonRequest{Thread: "a", Reason: "why"},
		`{"thread":"a","at":"3"}`:                                   TurnRequest{Thread: "a", At: "3"},
		`{"query":"q","limit":5}`:                                   FindRequest{Query: "q", Limit: 5},
		`{"at":"o","text":"accept"}`:                                OfferAnswer{Offer: "o", Answer: "accept"},
		`{"text":"auto"}`:                                           OffersRequest{Mode: thread.OffersAuto},
		`{"token":"t"}`:                                             StagedRef{Token: "t"},
		`{"token":"t","ttl":1000000000}`:                            TouchRequest{Token: "t", TTL: time.Second},
		`{"token":"t","part":{"head":2}}`:                           RetrieveRequest{Token: "t", Part: thread.Selection{Head: 2}},
		`{"source":"s","kind":"text"}`:                              thread.StageRequest{Source: "s", Kind: thread.DataText, Thread: "not sent"},
		`{"op":"new","thread":"a"}`:                                 MayRequest{Op: New.Name(), Thread: "a"},
		`{"thread":"a","add":["read"]}`:                             GrantsRequest{Thread: "a", Add: []thread.Grant{grant.Read}},
		`{"protocol":3,"version":"v","build":"","pid":7,"project":"","stateDir":"","store":"","running":1}`: ServerInfo{
			Protocol: Version, Version: "v", PID: 7, Running: 1,
		},
	} {
		if b, err := json.Marshal(req); err != nil || string(b) != want {
			t.Errorf("%T is sent as %s (%v), not %s", req, b, err, want)
		}
	}
	asked := TerminalRequest{Thread: "a", Cols: 80, Rows: 24}
	if q := asked.Query(); q.Encode() != "cols=80&rows=24&thread=a" || ParseTerminal(q) != asked {
		t.Errorf("a terminal is asked for by %q", q.Encode())
	}
	asked.Watch = true
	if ParseTerminal(asked.Query()) != asked {
		t.Errorf("one that is watched is asked for by %q", asked.Query().Encode())
	}
	if Events.Method() != http.MethodGet || Speech.Method() != http.MethodPost {
		t.Errorf("events by %s, speech by %s", Events.Method(), Speech.Method())
	}
}

// TestEachOperationHasItsRow reads calls.go: every constant of it is an operation of the table of grants, and each only
// once.
func TestEachOperationHasItsRow(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "calls.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named, listed []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, v := range spec.Values {
			name, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			named = append(named, name)
		}
		return false
	})
	for _, row := range grant.Table() {
		if !row.Local {
			listed = append(listed, row.Op)
		}
	}
	slices.Sort(named)
	slices.Sort(listed)
	if !slices.Equal(named, listed) {
		t.Errorf("operations: %v\nrows: %v", named, listed)
	}
}
