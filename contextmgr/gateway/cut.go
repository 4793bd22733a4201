package gateway

import (
	"errors"
	"io"
	"net"

	"orchestrator/thread/plaintext"
)

// The reasons why an answer ends early.
var (
	errSilence = errors.New("the provider stopped sending")
	errAgent   = errors.New("the agent closed the connection")
	errStopped = errors.New("orchestrator stopped")
)

// cut describes for people why an answer ended early.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the provider cut the answer off")
	}
	return errors.New("its connection broke: " + reason(err))
}

// reason returns an error's cause without addresses and credentials.
func reason(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "no such host"
	case errors.As(err, &op) && op.Err != nil:
		return plaintext.Cut(op.Err.Error(), 200)
	default:
		return plaintext.Cut(err.Error(), 200)
	}
}
