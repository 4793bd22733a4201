package verb

import (
	"net"
	"net/http"
	"path"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
)

// TestScreenAsksAhead: what a screen needs first is on its way before it asks, the threads not before the stream of
// events is open, so that no event is missed; what is asked later goes to the server again.
func TestScreenAsksAhead(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	lists := make(chan struct{}, 8)
	opened := make(chan bool, 8) // whether a list was asked for before
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "events":
			early := false
			select {
			case <-lists:
				early = true
			case <-time.After(100 * time.Millisecond):
			}
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			opened <- early
			<-r.Context().Done()
		case "list":
			lists <- struct{}{}
			_, _ = w.Write([]byte("[]\n"))
		default:
			t.Errorf("asked for %s", r.URL.Path)
		}
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	cl := client.New(socket)
	defer cl.Close()
	s := openScreenServer(t.Context(), cl)
	if <-opened {
		t.Fatal("the threads were asked for before the events were open")
	}
	<-lists // nobody has asked the screen's server yet
	if _, err := s.Events(t.Context()); err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, err := s.List(t.Context()); err != nil {
			t.Error(err)
		}
	}
	<-lists
	if len(lists) != 0 || len(opened) != 0 {
		t.Errorf("asked %d times more for threads, %d times for events", len(lists), len(opened))
	}
}
