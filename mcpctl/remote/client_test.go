package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// transport answers with an error so often, and then as net/http does.
type transport struct {
	err          error
	times, asked int
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.asked++; t.asked <= t.times {
		return nil, t.err
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestCancelledByAnother: the cancellation of another request, whose connection this one was given, does not end it; its
// own does, and what never stops is an error in the end.
func TestCancelledByAnother(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	other := errors.New("no route")
	for name, c := range map[string]struct {
		err          error
		times, asked int
		own, fails   bool
	}{
		"once":            {context.Canceled, 1, 2, false, false},
		"as often as may": {context.Canceled, mostDials, mostDials + 1, false, false},
		"always":          {context.Canceled, 100, mostDials + 1, false, true},
		"its own":         {context.Canceled, 100, 1, true, true},
		"another error":   {other, 1, 1, false, true},
	} {
		way := &transport{err: c.err, times: c.times}
		cl := &client{at: at, http: &http.Client{Transport: way}, given: map[string]string{"Authorization": "Bearer x"}}
		ctx, cancel := context.WithCancel(t.Context())
		if c.own {
			cancel()
		}
		response, err := cl.do(ctx, http.MethodDelete, at, nil, nil)
		if err == nil {
			drop(response)
		}
		if cancel(); (err != nil) != c.fails || way.asked != c.asked {
			t.Errorf("%s: sent %d times, not %d: %v", name, way.asked, c.asked, err)
		}
	}
}
