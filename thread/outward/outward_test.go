package outward_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"encoding/pem"

	"orchestrator/thread"
	"orchestrator/thread/outward"
)

func TestProxy(t *testing.T) {
	for _, c := range []struct {
		env     []string
		to, via string
	}{
		{nil, "https://a.example", ""},
		{[]string{"HTTPS_PROXY=proxy.corp:3128"}, "https://a.example", "http://proxy.corp:3128"},
		{[]string{"HTTPS_PROXY=http://p"}, "http://a.example", ""},
		{[]string{"http_proxy=http://low", "HTTP_PROXY=http://up"}, "http://a.example", "http://low"},
		{[]string{"ALL_PROXY=socks5h://p:1080"}, "https://a.example", "socks5h://p:1080"},
		{[]string{"ALL_PROXY=socks5://p", "https_proxy=https://q"}, "https://a.example", "https://q"},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=corp"}, "https://a.corp", ""},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=corp"}, "https://a.notcorp", "http://p"},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=.corp"}, "https://corp", "http://p"},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=x, *.corp"}, "https://a.CORP.", ""},
		{[]string{"HTTPS_PROXY=http://p", "no_proxy=x", "NO_PROXY=y"}, "https://y", ""},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=*"}, "https://a.example", ""},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=10.0.0.0/8"}, "https://10.1.2.3", ""},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=a.example:8443"}, "https://a.example", "http://p"},
		{[]string{"HTTPS_PROXY=http://p", "NO_PROXY=a.example:443"}, "https://a.example", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://127.0.0.1:9", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://127.9.9.9", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://[::1]:9", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://LocalHost:9", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://[::ffff:127.0.0.1]", ""},
		{[]string{"HTTP_PROXY=http://p"}, "http://localhost.example", "http://p"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.to, nil)
		via, err := outward.Proxy(outward.Of(c.env))(r)
		got := ""
		if via != nil {
			got = via.String()
		}
		if err != nil || got != c.via {
			t.Errorf("%q to %s: %q %v, want %q", c.env, c.to, got, err, c.via)
		}
	}
	if _, err := outward.Proxy(thread.Network{HTTP: "http://u:secret@ x"})(httptest.NewRequest("GET", "http://a.example", nil)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// TestTLS reaches a server whose certificate only the person's files know.
func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  []string
		ok   bool
		fail bool
	}{
		"none":       {nil, false, false},
		"node":       {[]string{"NODE_EXTRA_CA_CERTS=" + file}, true, false},
		"file":       {[]string{"SSL_CERT_FILE=" + file}, true, false},
		"folder":     {[]string{"SSL_CERT_DIR=/nowhere:" + dir}, true, false},
		"missing":    {[]string{"NODE_EXTRA_CA_CERTS=/nowhere", "SSL_CERT_FILE=" + file}, true, true},
		"not a file": {[]string{"NODE_EXTRA_CA_CERTS=/dev/zero"}, false, true},
	} {
		trust, err := outward.TLS(outward.Of(c.env))
		if (err != nil) != c.fail {
			t.Errorf("%s: %v", name, err)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
		r, err := client.Get(s.URL)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			r.Body.Close()
		}
		client.CloseIdleConnections()
	}
}
