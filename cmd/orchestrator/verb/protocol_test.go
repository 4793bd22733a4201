package verb

import (
	"errors"
	"testing"

	"orchestrator/thread/api"
)

// TestOneProtocol: a server is met only where it speaks exactly the protocol of this program.
func TestOneProtocol(t *testing.T) {
	t.Parallel()
	for protocol, same := range map[int]bool{0: false, api.Version - 1: false, api.Version: true, api.Version + 1: false} {
		c := &cli{told: true}
		for verb, check := range map[string]func(api.ServerInfo) error{"a verb": c.meet, "doctor": c.sameVersion} {
			var other *otherProtocol
			if err := check(api.ServerInfo{Protocol: protocol, Version: "v"}); errors.As(err, &other) == same || same && err != nil {
				t.Errorf("%s meets protocol %d: %v", verb, protocol, err)
			}
		}
	}
}
