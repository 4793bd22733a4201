package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// The paths at which servers say how to sign in to them.
const (
	resourceMetadata = "/.well-known/oauth-protected-resource"
	issuerMetadata   = "/.well-known/oauth-authorization-server"
	openIDMetadata   = "/.well-known/openid-configuration"
)

// discovery carries the requests of a sign-in and notes who issues the tokens. If the address of the issuer's metadata is
// configured, these are what any look for metadata finds.
type discovery struct {
	next     *http.Client
	resource string

	mu       sync.Mutex
	issuer   string
	metadata []byte // configured
}

// configure reads the issuer's metadata from an address that the person has configured.
func (d *discovery) configure(ctx context.Context, at string) error {
	if _, err := pageOf(at); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	response, err := d.next.Do(request)
	if err != nil {
		return plain(err)
	}
	defer drop(response)
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if !d.note(content) {
		return errors.New("it names no issuer")
	}
	d.metadata = content
	return nil
}

// RoundTrip implements http.RoundTripper.
func (d *discovery) RoundTrip(r *http.Request) (*http.Response, error) {
	of := strings.Contains(r.URL.Path, issuerMetadata) || strings.Contains(r.URL.Path, openIDMetadata)
	switch {
	case d.metadata != nil && of:
		return answered(r, d.metadata), nil
	case d.metadata != nil && strings.HasPrefix(r.URL.Path, resourceMetadata):
		content, err := json.Marshal(map[string]any{"resource": d.resource, "authorization_servers": []string{d.issuerOf("")}})
		if err != nil {
			return nil, err
		}
		return answered(r, content), nil
	}
	response, err := d.next.Transport.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK || !of {
		return response, err
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	d.note(content)
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

func answered(r *http.Request, content []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(content)), Request: r,
	}
}

// note keeps the issuer that metadata name, if they do.
func (d *discovery) note(content []byte) bool {
	var meta struct {
		Issuer string `json:"issuer"`
	}
	if json.Unmarshal(content, &meta) != nil || meta.Issuer == "" {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.issuer = meta.Issuer
	return true
}

// issuerOf is who was noted, or the host that gives the tokens.
func (d *discovery) issuerOf(tokenURL string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.issuer != "" {
		return d.issuer
	}
	if u, err := url.Parse(tokenURL); err == nil {
		return u.Scheme + "://" + u.Host
	}
	return tokenURL
}
