package gateway

import (
	"log/slog"
	"net/http"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
)

// Options configure a gateway. The zero value can be used.
type Options struct {
	// Codecs are the formats that are read; requests in other formats are forwarded unread.
	Codecs wire.Codecs
	// Models contains prices and windows. Unknown models have neither.
	Models models.Table
	// Rewriter decides what is sent in place of requests; nil sends all as they came.
	Rewriter Rewriter
	// Log receives errors of the gateway itself; never bodies, headers or addresses with secrets. Nil discards them.
	Log *slog.Logger
	// Transport replaces the transports to the upstreams, for tests.
	Transport http.RoundTripper

	// Caps limit what agents may use, and Budget what they may spend. A nil Budget has no limits.
	Caps   Caps
	Budget Budget

	MaxBody     int64         // largest request body; 0 is 64 MB
	Silence     time.Duration // longest pause inside an answer; 0 is 10 minutes
	HeaderLimit time.Duration // time for a request's header; 0 is 5 seconds
	BodyLimit   time.Duration // time for a request's body; 0 is 2 minutes
	WriteLimit  time.Duration // time for an agent to read a piece of its answer; 0 is 5 minutes
	StoreLimit  time.Duration // time that a request waits while too much is held; 0 is 30 seconds

	// How long a request may have no connection, and no first byte of its answer, before that is reported; 0 is 5 and 8
	// seconds.
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
	return o
}

// Caps limit what agents may use through a gateway. Zero means no limit, except for Bytes.
type Caps struct {
	// RequestsPerMinute limits each thread's requests; a burst may use a whole minute's at once. It is the setting
	// limits.requests_per_minute.
	RequestsPerMinute int
	// Bytes limits the bytes of bodies and answers that are held at once, until they are stored; 0 is 256 MB. A thread may
	// have an eighth of them, and what is packed is read if it unpacks to no more than a twelfth. It is the setting
	// limits.memory_mb.
	Bytes int64
}
