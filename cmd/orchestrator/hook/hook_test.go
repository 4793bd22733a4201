package hook

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	var path, host, kind, body string
	taken := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, host, kind, body = r.URL.Path, r.Host, r.Header.Get("Content-Type"), string(b)
		taken = true
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	large := strings.Repeat("0123456789abcdef", maxPayload/16) + "cut off"
	for _, c := range []struct{ event, payload, want string }{
		{"Stop", `{"a":1}`, `{"a":1}`},
		{"session.idle", "", ""},
		{"a b/../c", "x", "x"},
		{"large", large, large[:maxPayload]},
	} {
		taken = false
		if err := Report(server.URL+"/t/secret/hook", c.event, strings.NewReader(c.payload), io.Discard); err != nil {
			t.Fatalf("%s: %v", c.event, err)
		}
		if !taken {
			t.Fatalf("%s: reported before the gateway had taken it", c.event)
		}
		if path != "/t/secret/hook/"+c.event || kind != "application/json" || "http://"+host != server.URL {
			t.Errorf("%s: came as %q for %q, %q", c.event, path, host, kind)
		}
		if body != c.want {
			t.Errorf("%s: %d bytes came, want %d", c.event, len(body), len(c.want))
		}
	}
}

func TestReportFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String() + "/t/x"
	l.Close()
	for base, want := range map[string]string{
		"":                               "ORCHESTRATOR_HOOK_URL is not set",
		"http://192.0.2.1:80/t/x":        "ORCHESTRATOR_HOOK_URL is not on this machine",
		"http://127.0.0.1.example:80/":   "ORCHESTRATOR_HOOK_URL is not on this machine",
		"http://127.0.0.1:80@example/x":  "ORCHESTRATOR_HOOK_URL is not on this machine",
		"http://127.0.0.1:99999/t/x":     "ORCHESTRATOR_HOOK_URL is not on this machine",
		"https://127.0.0.1:80/t/x":       "ORCHESTRATOR_HOOK_URL is not on this machine",
		"http://127.0.0.1:80/t\r\nX: y/": "ORCHESTRATOR_HOOK_URL is not on this machine",
		closed:                           "report Stop: the gateway does not answer",
	} {
		if err := Report(base, "Stop", strings.NewReader("x"), io.Discard); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", base, err, want)
		}
	}
}

// TestReportNeedsAnAnswer: a gateway that hangs up has not taken the report.
func TestReportNeedsAnAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	if err := Report("http://"+l.Addr().String()+"/t/x", "Stop", strings.NewReader("x"), io.Discard); err == nil {
		t.Error("no error from a gateway that hung up")
	}
}

func TestCalled(t *testing.T) {
	for line, want := range map[string]string{
		"orchestrator hook Stop":           "Stop",
		"orchestrator hook session.idle":   "session.idle",
		"orchestrator hook --help":         "",
		"orchestrator hook":                "",
		"orchestrator hook Stop --json":    "",
		"orchestrator threads Stop":        "",
		"orchestrator hook \x1b[31mStop":   "",
		"orchestrator --project hook Stop": "",
	} {
		if event, ok := called(strings.Split(line, " ")); event != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", line, event, ok, want)
		}
	}
}

// TestDecision: what the gateway decides is written for the agent, however late; nothing is where it decides nothing or
// ends.
func TestDecision(t *testing.T) {
	const says = `{"decision":"allow"}`
	for name, c := range map[string]struct {
		handle func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"at once":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, says) }, says},
		"nothing":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, ""},
		"an error page": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, says, http.StatusBadGateway) }, ""},
		"later": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProcessing)
			time.Sleep(patience + 300*time.Millisecond)
			_, _ = io.WriteString(w, says)
		}, says},
		"nothing, later": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProcessing)
			w.WriteHeader(http.StatusNoContent)
		}, ""},
		"the gateway ends": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProcessing)
			panic(http.ErrAbortHandler)
		}, ""},
		"it ends in the middle": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProcessing)
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, says)
			panic(http.ErrAbortHandler)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(c.handle))
			defer server.Close()
			var out strings.Builder
			if err := Report(server.URL+"/t", "asks", strings.NewReader("{}"), &out); err != nil {
				t.Error(err)
			}
			if out.String() != c.want {
				t.Errorf("it says %q, want %q", out.String(), c.want)
			}
		})
	}
}
