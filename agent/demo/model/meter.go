package model

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"orchestrator/agent/scripted"
	"orchestrator/thread/ground/cache"
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
	Model    string `json:"model"`
	Metadata struct {
		User string `json:"user_id"`
	} `json:"metadata"`
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
type meter struct{ begun *cache.Cache[hash, struct{}] }

// usage counts the input of a request.
func (m *meter) usage(begun []beginning) scripted.Usage {
	all := tokens(begun[len(begun)-1].bytes)
	if all < cacheable {
		return scripted.Usage{Input: all}
	}
	for _, b := range slices.Backward(begun) {
		if _, ok := m.begun.Get(b.key); ok && tokens(b.bytes) >= cacheable {
			return scripted.Usage{CacheRead: tokens(b.bytes), CacheWrite: all - tokens(b.bytes)}
		}
	}
	return scripted.Usage{CacheWrite: all}
}

// remember caches the beginnings of a request.
func (m *meter) remember(begun []beginning) {
	if tokens(begun[len(begun)-1].bytes) < cacheable {
		return
	}
	for _, b := range begun {
		m.begun.Put(b.key, struct{}{})
	}
}
