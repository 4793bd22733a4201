package gateway

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// Options set what a gateway does beyond carrying. The zero value is useful.
type Options struct {
	// Codecs are the formats that are read; requests of others pass unread.
	Codecs wire.Codecs
	// Models prices answers and knows windows. Unknown models have neither.
	Models models.Table
	// Log takes what goes wrong with the gateway itself; never bodies, headers or addresses
	// with secrets. Nil discards.
	Log *slog.Logger
	// Proxy says which proxy to reach an upstream through, as in http.Transport; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the way to the upstreams, for tests.
	Transport http.RoundTripper

	// Caps bound what agents may use. Spent says what each thread had cost before the gateway was opened; it is
	// asked once, when the first request needs it. Nil is nothing.
	Caps  Caps
	Spent func() map[thread.ID]float64

	MaxBody     int64         // largest request body; 0 is 64 MB
	Silence     time.Duration // longest pause inside an answer; 0 is 10 minutes
	HeaderLimit time.Duration // time for a request's header; 0 is 5 seconds
	BodyLimit   time.Duration // time for a request's body; 0 is 2 minutes
	WriteLimit  time.Duration // time for an agent to take a piece of its answer; 0 is 5 minutes
	StoreLimit  time.Duration // time that a request waits while too much is held; 0 is 30 seconds

	// How long a request may be without a connection, and without the first word of its answer, before that is told;
	// 0 is 5 and 8 seconds.
	ConnectSlow, AnswerSlow time.Duration
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Silence, 10*time.Minute)
	set(&o.HeaderLimit, 5*time.Second)
	set(&o.BodyLimit, 2*time.Minute)
	set(&o.WriteLimit, 5*time.Minute)
	set(&o.StoreLimit, 30*time.Second)
	set(&o.ConnectSlow, 5*time.Second)
	set(&o.AnswerSlow, 8*time.Second)
	if o.Caps.Bytes == 0 {
		o.Caps.Bytes = 256 << 20
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.Proxy)
	}
	return o
}

// newTransport returns a way upstream that adds nothing of its own: no compression, no user
// agent, no retry of what may have been received.
func newTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConns:        200,
		MaxIdleConnsPerHost: 100,
		// Below the 60 s after which common servers close idle connections, so that a request
		// is not sent into a connection that is just being closed.
		IdleConnTimeout:     50 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      32 << 10,
	}
}

// Caps bound what agents may use through a gateway. Zero is no bound, except for Bytes.
type Caps struct {
	// RequestsPerMinute bounds each thread's requests; a burst may use a whole minute's at once. It is the
	// setting limits.requests_per_minute.
	RequestsPerMinute int
	// USD bounds what each thread costs over its life, TotalUSD what all threads cost together. What is under
	// way when a bound is reached continues to its end. Answers of models without a known price do not count.
	// They are the settings limits.usd and limits.total_usd.
	USD, TotalUSD float64
	// Bytes bounds what is held of bodies and answers at once, until they are stored; 0 is 256 MB. A thread may
	// have an eighth of it. It is the setting limits.memory_mb.
	Bytes int64
}
