package gateway

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
)

// senderLife is how long after a request its header is kept.
const senderLife = time.Hour

// sender is how a thread's last main request was sent. It contains credentials and is never written anywhere.
type sender struct {
	mu   sync.Mutex // a leaf
	last sent
	ok   bool
	end  *time.Timer
}

// sent is how a request was sent.
type sent struct {
	method string
	to     *url.URL
	header http.Header
	codec  wire.Codec
	model  string
}

// keep keeps how a request was sent, in place of the one before, until a while has passed.
func (s *sender) keep(last sent) {
	last.header = last.header.Clone()
	// What is true of that request only.
	for _, name := range []string{"Content-Encoding", "Content-Length", "Idempotency-Key", "X-Client-Request-Id"} {
		last.header.Del(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.ok = last, true
	if s.end == nil {
		s.end = time.AfterFunc(senderLife, s.forget)
		return
	}
	s.end.Reset(senderLife)
}

func (s *sender) get() (sent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.ok
}

// forget removes what is kept.
func (s *sender) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.ok = sent{}, false
	if s.end != nil {
		s.end.Stop()
	}
}
