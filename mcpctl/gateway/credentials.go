package gateway

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"sync"

	"orchestrator/thread"
)

// Credentials are the tokens of threads for HTTP. They are in memory only.
type Credentials struct {
	mu     sync.Mutex
	tokens map[thread.ID]credential
}

type credential struct{ token, dir string }

// Give returns a new token of 128 bits for a thread, whose older one is not valid any more.
func (c *Credentials) Give(id thread.ID, dir string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	token := hex.EncodeToString(b[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil {
		c.tokens = map[thread.ID]credential{}
	}
	c.tokens[id] = credential{token, dir}
	return token
}

// Revoke makes a thread's token invalid.
func (c *Credentials) Revoke(id thread.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, id)
}

// Allowed returns the thread of a token. Every token is compared, each in constant time.
func (c *Credentials) Allowed(token string) (id thread.ID, dir string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one, known := range c.tokens {
		if subtle.ConstantTimeCompare([]byte(known.token), []byte(token)) == 1 {
			id, dir, ok = one, known.dir, true
		}
	}
	return id, dir, ok
}
