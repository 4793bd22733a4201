package model

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"time"

	"orchestrator/thread/front"
)

// Server is a model on a loopback port, behind a secret path.
type Server struct {
	http *http.Server
	url  string
	done chan struct{}
}

// Start serves until Close.
func Start(o Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start demo model: %w", err)
	}
	var secret [16]byte
	rand.Read(secret[:]) // never fails: crypto/rand crashes the program instead
	base := "/" + hex.EncodeToString(secret[:])
	mux := http.NewServeMux()
	mux.Handle(base+"/", http.StripPrefix(base, New(o)))
	s := &Server{
		http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second},
		url:  "http://" + l.Addr().String() + base,
		done: make(chan struct{}),
	}
	front.Guard(s.http)
	go func() {
		defer close(s.done)
		_ = s.http.Serve(front.New(l, front.Most)) // until Close
	}()
	return s, nil
}

// URL returns the base URL, as for ANTHROPIC_BASE_URL. It contains the secret.
func (s *Server) URL() string { return s.url }

// Close cuts off all answers and stops serving.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}
