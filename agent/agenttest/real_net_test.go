package agenttest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// greeters are the hosts that Claude Code contacts before its first dialogs: it ends if they do not answer.
var greeters = []string{"api.anthropic.com", "platform.claude.com", "claude.ai", "claude.com", "console.anthropic.com"}

// online returns the variables that have a program find a provider's hosts here, behind a proxy that answers each
// request to one of them with an empty object.
func online(t *testing.T, dir string) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "scripted"}, DNSNames: greeters,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, name, name, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	host := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	host.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	host.StartTLS()
	t.Cleanup(host.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		there, err := net.Dial("tcp", host.Listener.Addr().String())
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(there, here)
			_ = there.Close()
		}()
		_, _ = io.Copy(here, there)
	}))
	t.Cleanup(proxy.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "NODE_EXTRA_CA_CERTS=" + ca}
}
