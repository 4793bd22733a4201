package remote

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"orchestrator/thread/outward"
)

// The limits of a connection. A response may take as long as it needs: who calls decides.
const (
	connectTime = 15 * time.Second
	maxHeader   = 64 << 10
	maxHops     = 5
)

// newHTTP returns an HTTP client whose redirects stay on the host that was asked. It goes through the proxy of an
// environment, and trusts its certificates; those that cannot be read are named in the error.
func newHTTP(env []string) (*http.Client, error) {
	network := outward.Of(env)
	trust, err := outward.TLS(network)
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  outward.Proxy(network),
			TLSClientConfig:        trust,
			DialContext:            (&net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: maxHeader,
			IdleConnTimeout:        90 * time.Second,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: sameHost,
	}, err
}

// errRedirect is why a redirect is not followed. Who redirects has done nothing else.
var errRedirect = errors.New("redirected")

// sameHost refuses redirects to another host, port or scheme: credentials would go there, and answers come from there.
func sameHost(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= maxHops:
		return fmt.Errorf("%w too often", errRedirect)
	case next.URL.Scheme != first.Scheme || next.URL.Host != first.Host:
		return fmt.Errorf("%w to another host, %s", errRedirect, next.URL.Host)
	case next.Method != via[0].Method:
		return fmt.Errorf("%w with another method", errRedirect)
	}
	return nil
}

// plain returns the cause of an HTTP client's error: the error itself repeats the URL with its query.
func plain(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// drop ends a response whose content is not wanted. What little is left of it is read, so that the connection can be used
// again; a stream of events may never end.
func drop(r *http.Response) {
	if mediaType(r) != "text/event-stream" {
		_, _ = io.CopyN(io.Discard, r.Body, 16<<10)
	}
	_ = r.Body.Close()
}

func mediaType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// refused is the error for a status that says that nothing was done.
func refused(r *http.Response) error {
	return fmt.Errorf("the server answers %d %s", r.StatusCode, http.StatusText(r.StatusCode))
}
