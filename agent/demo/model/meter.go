package model

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"orchestrator/agent/scripted"
)

const (
	// cacheable is the shortest beginning that is cached, in tokens, as with real models.
	cacheable = 1024
	// maxCached is how many beginnings are remembered.
	maxCached = 20_000
)

// tokens is the estimate that is used for all counts here.
func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// spoken counts the tokens of an answer.
func spoken(r scripted.Reply) int64 {
	n := len(r.Text)
	for _, c := range r.Calls {
		b, err := json.Marshal(c.Args)
		if err == nil {
			n += len(b)
		}
	}
	return max(1, tokens(n))
}

// request is the part of a Messages request that is counted.
type request struct {
	Model    string            `json:"model"`
	System   json.RawMessage   `json:"system"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

type hash = [sha256.Size]byte

// beginning is a prefix of a request.
type beginning struct {
	key   hash
	bytes int
}

// beginnings are the instructions with the tools, and then the request up to each message.
func (q *request) beginnings() []beginning {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s", q.Model, q.System)
	bytes := len(q.System)
	for _, t := range q.Tools {
		fmt.Fprintf(h, "\x00%s", t)
		bytes += len(t)
	}
	all := []beginning{{hash(h.Sum(nil)), bytes}}
	for _, msg := range q.Messages {
		fmt.Fprintf(h, "\x00%s\x00%s", msg.Role, msg.Content)
		bytes += len(msg.Content)
		all = append(all, beginning{hash(h.Sum(nil)), bytes})
	}
	return all
}

// meter counts the tokens of requests, separately those of a prefix that an earlier request had.
type meter struct {
	mu     sync.Mutex    // guards the rest; nothing else is locked or waited for while it is held
	cached map[hash]bool // beginnings of requests
	order  []hash        // of cached, oldest first
}

// usage counts the input of a request.
func (m *meter) usage(begun []beginning) scripted.Usage {
	all := tokens(begun[len(begun)-1].bytes)
	if all < cacheable {
		return scripted.Usage{Input: all}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(begun) - 1; i >= 0; i-- {
		if n := tokens(begun[i].bytes); m.cached[begun[i].key] && n >= cacheable {
			return scripted.Usage{CacheRead: n, CacheWrite: all - n}
		}
	}
	return scripted.Usage{CacheWrite: all}
}

// remember caches the beginnings of a request.
func (m *meter) remember(begun []beginning) {
	if tokens(begun[len(begun)-1].bytes) < cacheable {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cached == nil {
		m.cached = make(map[hash]bool)
	}
	for _, b := range begun {
		if !m.cached[b.key] {
			m.cached[b.key] = true
			m.order = append(m.order, b.key)
		}
	}
	for len(m.order) > maxCached {
		delete(m.cached, m.order[0])
		m.order = m.order[1:]
	}
}
