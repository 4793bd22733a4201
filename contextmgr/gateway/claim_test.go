package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestSecretByHeader: an address without the secret takes it from any header; the secret goes no further.
func TestSecretByHeader(t *testing.T) {
	seen := make(chan *http.Request, 1)
	w := open(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r }), nil)
	host := w.Addr()
	base, mark := thread.PublicURL(w.base)
	path := strings.TrimPrefix(base, "http://"+host)
	secret := strings.TrimPrefix(mark, thread.SecretMark)
	if strings.Contains(path, secret) || len(secret) < 32 {
		t.Fatalf("path %q holds the secret", path)
	}
	for _, tt := range []struct {
		name    string
		headers []string
		status  int
		own     []string // what goes on under the name X-A
	}{
		{"alone", []string{"X-A: " + mark}, 200, nil},
		{"before the person's own", []string{"X-A: " + mark + ";org-x"}, 200, []string{"org-x"}},
		{"among others", []string{"X-A: 1", "X-A: " + mark, "X-A: 2"}, 200, []string{"1", "2"}},
		{"twice", []string{"X-A: " + mark, "X-B: " + mark}, 200, nil},
		{"none", []string{"X-A: 1"}, 401, nil},
		{"empty", []string{"X-A: " + thread.SecretMark}, 401, nil},
		{"short", []string{"X-A: " + mark[:len(mark)-1]}, 401, nil},
		{"long", []string{"X-A: " + mark + "0"}, 401, nil},
		{"not at the front", []string{"X-A: x " + mark}, 401, nil},
		{"without the mark", []string{"X-A: " + secret}, 401, nil},
		{"the word for none", []string{"X-A: " + thread.SecretMark + thread.NoSecret}, 401, nil},
	} {
		lines := strings.Join(append(tt.headers, ""), "\r\n")
		status, _, _ := raw(t, host, fmt.Sprintf("GET %s/x HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n",
			path, host, lines))
		if status != tt.status {
			t.Errorf("%s: %d", tt.name, status)
		}
		if status != 200 {
			continue
		}
		r := <-seen
		if r.URL.Path != "/x" || !slices.Equal(r.Header["X-A"], tt.own) {
			t.Errorf("%s: %s with %q", tt.name, r.URL.Path, r.Header["X-A"])
		}
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, ""), secret) {
				t.Errorf("%s: header %s takes the secret to the provider", tt.name, name)
			}
		}
	}
	status, _, _ := raw(t, host, fmt.Sprintf("GET /t/%s/x HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"+
		"X-A: %s;own\r\n\r\n", secret, host, mark))
	if r := <-seen; status != 200 || r.Header.Get("X-A") != "own" {
		t.Errorf("by address and header: %d, %q went on", status, r.Header["X-A"])
	}
	if len(seen) > 0 {
		t.Error("a refused request reached the provider")
	}
}
