package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread/ground/rpc"
)

const (
	// maxRounds is how often a server may ask something before it answers.
	maxRounds = 10
	// abandonWait is how long a call is waited for whose client has given up: its request may be half written.
	abandonWait = time.Second
)

// send sends a client's request and returns the response. If the server is silent for longer than the limit, it is
// ended.
func (s *session) send(ctx context.Context, k *call, method string, params json.RawMessage, limit time.Duration) (json.RawMessage, error) {
	sent, theirs, err := outgoing(params, s.meta, k.token)
	if err != nil {
		return nil, err
	}
	s.hears(k, theirs)
	for range maxRounds {
		result, err := s.request(context.WithValue(ctx, placeKey{}, &k.place), method, sent, limit)
		if err != nil || s.meta == nil {
			return result, err
		}
		next, asked, err := s.answer(ctx, k, sent, result)
		if err != nil || !asked {
			return result, err
		}
		sent = next
	}
	return nil, rpc.Errorf(rpc.CodeInternal, "the server has asked for input %d times", maxRounds)
}

// request sends one request.
func (s *session) request(ctx context.Context, method string, params json.RawMessage, limit time.Duration) (json.RawMessage, error) {
	type response struct {
		result json.RawMessage
		err    error
	}
	got := make(chan response, 1)
	go func() { // it can be stuck while it writes
		result, err := s.peer.Call(ctx, method, params)
		got <- response{result, err}
	}()
	heard, silent := s.heard(), s.clock.After(limit)
	for {
		select {
		case r := <-got:
			return r.result, r.err
		case <-ctx.Done():
			select {
			case r := <-got:
				return r.result, r.err
			case <-time.After(abandonWait):
				return nil, fmt.Errorf("%s: %w: %w", method, context.Cause(ctx), rpc.ErrUnsure)
			}
		case <-silent:
			if n := s.heard(); n != heard {
				heard, silent = n, s.clock.After(limit)
				continue
			}
			s.end(fmt.Sprintf("it hung: it was silent for %v during a call", limit), false, true)
			silent = nil
		}
	}
}

// refusal makes an error of a client one that the server is not to blame for.
func refusal(err error) error {
	var refused *rpc.Error
	if errors.As(err, &refused) {
		return refused
	}
	return rpc.Errorf(rpc.CodeInternal, "what the server asks was not answered: %v", err)
}

// answer answers what a modern server asks instead of responding: it returns the parameters of the next request, and
// false if the result is the response.
func (s *session) answer(ctx context.Context, k *call, sent, result json.RawMessage) (json.RawMessage, bool, error) {
	var r struct {
		Type     string          `json:"resultType"`
		State    json.RawMessage `json:"requestState"`
		Requests map[string]struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		} `json:"inputRequests"`
	}
	if json.Unmarshal(result, &r) != nil || r.Type != "input_required" {
		return nil, false, nil
	}
	answers := object{}
	for id, q := range r.Requests {
		var a json.RawMessage
		var err error
		switch q.Method {
		case "roots/list":
			a, err = s.roots()
		case "elicitation/create":
			a, err = k.ask(ctx, q.Method, q.Params)
		default:
			err = rpc.Errorf(rpc.CodeNoMethod, "the server asks for %s, which is not supported", q.Method)
		}
		if err != nil {
			return nil, false, refusal(err)
		}
		answers[id] = a
	}
	next, err := asObject(sent)
	if err != nil {
		return nil, false, err
	}
	if next["inputResponses"], err = answers.raw(); err != nil {
		return nil, false, err
	}
	delete(next, "requestState")
	if r.State != nil {
		next["requestState"] = r.State
	}
	again, err := next.raw()
	return again, true, err
}
