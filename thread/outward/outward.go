// Package outward sends requests to other machines as people have configured it: through their proxy, trusting their
// certificates.
package outward

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread"
)

// Of returns the network of an environment, by the variables that most programs know.
func Of(env []string) thread.Network {
	value := func(names ...string) string {
		for _, name := range names {
			for i := len(env) - 1; i >= 0; i-- {
				if k, v, _ := strings.Cut(env[i], "="); k == name && v != "" {
					return v
				}
			}
		}
		return ""
	}
	n := thread.Network{
		HTTP:    value("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
		HTTPS:   value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
		NoProxy: value("no_proxy"),
	}
	if more := value("NO_PROXY"); more != n.NoProxy {
		n.NoProxy = strings.Trim(n.NoProxy+","+more, ",")
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"} {
		if file := value(name); file != "" {
			n.Roots = append(n.Roots, file)
		}
	}
	n.RootDirs = filepath.SplitList(value("SSL_CERT_DIR"))
	return n
}

// Proxy returns a function that finds the proxy of a request, as http.Transport needs it. This machine is never reached
// through one.
func Proxy(n thread.Network) func(*http.Request) (*url.URL, error) {
	except := parse(n.NoProxy)
	return func(r *http.Request) (*url.URL, error) {
		raw := n.HTTP
		if r.URL.Scheme == "https" || r.URL.Scheme == "wss" {
			raw = n.HTTPS
		}
		if raw == "" || except.has(r.URL) {
			return nil, nil
		}
		return Address(raw)
	}
}

// Address reads the address of a proxy, whose scheme may be left out.
func Address(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address of the proxy: %w", thread.ErrInvalid) // may contain a password
	}
	return u, nil
}

// TLS returns whom connections trust and how we identify ourselves; nil if nothing differs from the system's. Files
// that cannot be read are left out and named in the error.
func TLS(n thread.Network) (*tls.Config, error) {
	if len(n.Roots) == 0 && len(n.RootDirs) == 0 && n.Certificate == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	var errs []error
	add := func(path string) error {
		raw, err := read(path)
		if err == nil && !pool.AppendCertsFromPEM(raw) {
			err = fmt.Errorf("%s: no certificate in it", path)
		}
		return err
	}
	for _, path := range n.Roots {
		if err := add(path); err != nil {
			errs = append(errs, err)
		}
	}
	for _, dir := range n.RootDirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			_ = add(filepath.Join(dir, e.Name())) // there may be other files
		}
	}
	c := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if n.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(n.Certificate, n.Key)
		if err != nil {
			errs = append(errs, err)
		} else {
			c.Certificates = []tls.Certificate{pair}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("read certificates: %w", err)
	}
	return c, nil
}

// largest is the size of the largest file with certificates.
const largest = 8 << 20

// read reads a file with certificates.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, fmt.Errorf("%s: not a file with certificates", path)
	}
	return os.ReadFile(path)
}
