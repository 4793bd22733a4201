package restarts

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/api"
)

// TestAnotherProtocol meets a server of another version: verbs refuse it and name the way out, and ask it for nothing
// else.
func TestAnotherProtocol(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	p := r.Claimed()
	listener, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !strings.HasSuffix(q.URL.Path, "/info") {
			asked <- q.URL.Path
		}
		if err := json.NewEncoder(w).Encode(api.ServerInfo{Protocol: api.Version + 1, Version: "from-tomorrow", Project: p.Root, Running: 3}); err != nil {
			t.Error(err)
		}
	})}
	go func() { _ = server.Serve(listener) }() // until Close
	t.Cleanup(func() { server.Close() })
	for _, args := range [][]string{{"threads"}, {"new", "-a", "demo", "one"}, {"find", "words"}} {
		r.Says(exitcode.Error, []string{"from-tomorrow", "orchestrator restart", "3 agents"}, args...)
	}
	s := r.Open(200, 30)
	s.See("from-tomorrow", "Restart it now? (y/n)")
	s.Press("n\n")
	if code := s.End(); code != exitcode.Error {
		t.Errorf("the screen ended with %d:\n%s", code, s.Text())
	}
	if len(asked) > 0 {
		t.Errorf("it was asked for %s all the same", <-asked)
	}
}
