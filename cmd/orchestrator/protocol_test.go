package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/exitcode"
)

// TestOneProtocol: a server is met only where it speaks exactly the protocol of this program.
func TestOneProtocol(t *testing.T) {
	t.Parallel()
	for protocol, same := range map[int]bool{0: false, api.Version - 1: false, api.Version: true, api.Version + 1: false} {
		c := &cli{told: true}
		for verb, check := range map[string]func(api.ServerInfo) error{"a verb": c.meet, "doctor": c.sameVersion} {
			var other *otherProtocol
			if err := check(api.ServerInfo{Protocol: protocol, Version: "v"}); errors.As(err, &other) == same || same && err != nil {
				t.Errorf("%s meets protocol %d: %v", verb, protocol, err)
			}
		}
	}
}

// TestAnotherProtocol meets a server of another version: verbs refuse it and name the way out, and ask it for nothing
// else.
func TestAnotherProtocol(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.claimed()
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
		r.says(exitcode.Error, []string{"from-tomorrow", "orchestrator restart", "3 agents"}, args...)
	}
	s := r.open(200, 30)
	s.see("from-tomorrow", "Restart it now? (y/n)")
	s.press("n\n")
	if code := s.end(); code != exitcode.Error {
		t.Errorf("the screen ended with %d:\n%s", code, s.text())
	}
	if len(asked) > 0 {
		t.Errorf("it was asked for %s all the same", <-asked)
	}
}
