package agents

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// decoy is the proxy of a company: it opens TLS with a CA of its own, notes everything, and passes on only what is for
// the company's model.
type decoy struct {
	*httptest.Server
	ca    string // the file with its certificate
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	model http.Handler

	mu    sync.Mutex // guards the fields below
	hosts []string
	// strange is all that arrived for other hosts, ours the heads of what arrived for the model's.
	strange, ours bytes.Buffer
}

// companyHost is that of the company's model, which only the proxy knows.
const companyHost = "models.corp.example"

func newDecoy(t *testing.T, model http.Handler) *decoy {
	t.Helper()
	d := &decoy{model: model, ca: filepath.Join(t.TempDir(), "company ca.pem")}
	var err error
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	d.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Company CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, d.cert, d.cert, &d.key.PublicKey, d.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// env returns the variables of somebody behind it who knows nothing of NO_PROXY.
func (d *decoy) env() []string {
	var all []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		all = append(all, name+"="+d.URL)
	}
	return all
}

// trusting returns the variables by which its certificates are trusted.
func (d *decoy) trusting() []string {
	return []string{"NODE_EXTRA_CA_CERTS=" + d.ca, "SSL_CERT_FILE=" + d.ca}
}

// ServeHTTP is what the proxy does.
func (d *decoy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.hosts = append(d.hosts, r.Method+" "+r.Host)
	d.mu.Unlock()
	if r.Method != http.MethodConnect {
		d.note(r)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	host, _, _ := net.SplitHostPort(r.Host)
	opened := tls.Server(connection, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return d.of(host) }})
	inside := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host == companyHost {
			d.mu.Lock()
			fmt.Fprintf(&d.ours, "%s\n", r.URL)
			_ = r.Header.Write(&d.ours)
			d.mu.Unlock()
			d.model.ServeHTTP(w, r)
			return
		}
		d.note(r)
		w.WriteHeader(http.StatusNotFound)
	}), ReadHeaderTimeout: time.Minute}
	one := &single{conn: opened, done: make(chan struct{})}
	inside.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed || s == http.StateHijacked {
			one.end()
		}
	}
	_ = inside.Serve(one) // ends with the connection
}

// note keeps a request that is for another host.
func (d *decoy) note(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(&d.strange, "%s\n", r.URL)
	_ = r.Header.Write(&d.strange)
	d.strange.Write(body)
}

// of returns the proxy's certificate for a host.
func (d *decoy) of(host string) (*tls.Certificate, error) {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: d.cert.NotBefore, NotAfter: d.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, d.cert, &d.key.PublicKey, d.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: d.key}, nil
}

// single is a listener with one connection.
type single struct {
	conn  net.Conn
	given bool
	once  sync.Once
	done  chan struct{}
}

// Accept implements net.Listener.
func (s *single) Accept() (net.Conn, error) {
	if !s.given {
		s.given = true
		return s.conn, nil
	}
	<-s.done
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (s *single) Close() error { s.end(); return nil }

// Addr implements net.Listener.
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

func (s *single) end() { s.once.Do(func() { close(s.done) }) }

// vendors are the hosts of the models' public providers.
var vendors = []string{"api.anthropic.com", "api.openai.com", "chatgpt.com", "generativelanguage.googleapis.com", "aiplatform.googleapis.com"}

// check fails if anything arrived that is not the business of who got it.
func (d *decoy) check(t *testing.T, secrets ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	ours := []string{"/t/", "127.0.0.1:", "Orchestrator-Secret"}
	for _, secret := range append(secrets, ours...) {
		if strings.Contains(d.strange.String(), secret) {
			t.Errorf("another host got %q", secret)
		}
	}
	for _, secret := range ours {
		if strings.Contains(d.ours.String(), secret) {
			t.Errorf("the model got %q", secret)
		}
	}
	for _, host := range d.hosts {
		for _, vendor := range vendors {
			if strings.Contains(host, vendor) {
				t.Errorf("the proxy was asked for %s", host)
			}
		}
		if strings.Contains(host, "127.0.0.1") || strings.Contains(host, "localhost") {
			t.Errorf("the proxy was asked for this machine: %s", host)
		}
	}
	t.Logf("the proxy was asked for %q; %d bytes for other hosts than the model's", slices.Compact(slices.Sorted(slices.Values(d.hosts))), d.strange.Len())
}
