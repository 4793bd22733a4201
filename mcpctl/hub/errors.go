package hub

import "errors"

// What Config.Launch and Config.Dial wrap to say why a server cannot be started without its person.
var (
	ErrUnapproved  = errors.New("not approved")
	ErrNeedsAuth   = errors.New("needs a person to sign in")
	ErrNeedsInput  = errors.New("needs a value that is not set")
	ErrQuarantined = errors.New("quarantined")
)

var (
	// ErrStopped is why calls fail that were under way when their server was stopped.
	ErrStopped = errors.New("server was stopped")
	// ErrDown is why calls fail whose server cannot be started, now or at all.
	ErrDown = errors.New("server is down")
	// ErrClosed is why calls fail after Close.
	ErrClosed = errors.New("servers are not started any more")
)
