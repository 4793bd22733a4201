package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// address reads the URL of a server. An error does not repeat it.
func address(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL is neither http nor https")
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	}
	u.Fragment = ""
	return u, nil
}

// shown is a URL without what may be secret.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// bare is the URL of a server without what is secret or does not name it.
func bare(at *url.URL) string {
	u := *at
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

// pageOf checks the address of a page to sign in on, which the server has named.
func pageOf(raw string) (*url.URL, error) {
	page, err := url.Parse(raw)
	switch {
	case err != nil || page.Hostname() == "":
		return nil, errors.New("the address to sign in at cannot be read")
	case page.Scheme == "https", page.Scheme == "http" && loopback(page.Hostname()):
		return page, nil
	default:
		return nil, fmt.Errorf("the address to sign in at is %s, not https", page.Scheme)
	}
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
