package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/rpc"
)

// Serve serves a thread's agent over a stream until it ends. dir is the thread's folder.
func (g *Gateway) Serve(id thread.ID, dir string, stream rpc.Stream) error {
	s := g.newSession(id, dir)
	h := &handler{session: s}
	peer := rpc.NewPeer(stream, h)
	h.box = s.newOutbox(peer)
	s.out = h.box
	if err := g.add(s, peer.Close); err != nil {
		_ = peer.Close()
		return err
	}
	defer g.remove(s)
	if err := peer.Run(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (g *Gateway) newSession(id thread.ID, dir string) *session {
	s := &session{
		gateway: g, id: id, dir: dir, listening: map[*listener]bool{}, given: map[string]string{}, told: map[string]string{},
		shown: map[shownTool]bool{},
	}
	var once thread.Once
	if g.tasks != nil {
		once = g.tasks.Runs(id)
	}
	s.own = ownTools(thread.MCPOwnTools(once))
	s.ctx, s.stop = context.WithCancel(g.ctx)
	return s
}

func (g *Gateway) add(s *session, end func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		s.stop()
		return errEnded
	}
	g.sessions[s] = end
	return nil
}

func (g *Gateway) remove(s *session) {
	s.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, s)
}

// Drop ends the connections of a thread, whose credential is not valid any more.
func (g *Gateway) Drop(id thread.ID) {
	g.mu.Lock()
	var ends []func() error
	for s, end := range g.sessions {
		if s.id == id {
			ends = append(ends, end)
		}
	}
	g.mu.Unlock()
	for _, end := range ends {
		_ = end()
	}
}

// Close ends all connections and waits for the calls that are parked.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.ended = true
	var ends []func() error
	for _, end := range g.sessions {
		ends = append(ends, end)
	}
	g.mu.Unlock()
	g.cancel()
	for _, end := range ends {
		_ = end()
	}
	g.work.Wait()
	return nil
}

// Connections returns the connections of a thread's agent.
func (g *Gateway) Connections(id thread.ID) []Connection {
	var all []Connection
	for _, s := range g.of(id) {
		s.mu.Lock()
		all = append(all, Connection{Notified: s.notified, Listed: s.listed})
		s.mu.Unlock()
	}
	return all
}

// Followed returns when a thread's agent was last told that its tools have changed, and when it last read them.
func (g *Gateway) Followed(id thread.ID) (told, read time.Time) {
	for _, c := range g.Connections(id) {
		if c.Notified.After(told) {
			told = c.Notified
		}
		if c.Listed.After(read) {
			read = c.Listed
		}
	}
	return told, read
}

// Current reports whether a thread's agent has its tools as they are now. One that has not asked for them is not waited
// for: it will get them so.
func (g *Gateway) Current(id thread.ID) bool {
	for _, s := range g.of(id) {
		if now, given, _ := s.state("tools/list"); given != nil && *given != now {
			return false
		}
	}
	return true
}

// Given reports whether a thread's agent was given a tool of a server since it connected, or any if the tool is empty.
func (g *Gateway) Given(id thread.ID, server, tool string) bool {
	return slices.ContainsFunc(g.of(id), func(s *session) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.shown[shownTool{server, tool}]
	})
}

// Remind tells a thread's agent once more that its tools have changed if it has not read them since: agents may miss a
// change that comes while they read.
func (g *Gateway) Remind(id thread.ID) {
	for _, s := range g.of(id) {
		if now, given, _ := s.state("tools/list"); given != nil && *given != now {
			s.tell(changes()[0].notification)
		}
	}
}

// handler connects a session to a stream of both directions.
type handler struct {
	*session
	box *outbox
}

// Request implements rpc.Handler.
func (h *handler) Request(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
	defer h.box.flush(ctx) // what belongs to the request comes before its response
	return h.request(ctx, m, h.box)
}

// Notification implements rpc.Handler.
func (h *handler) Notification(m rpc.Message) { h.notification(m) }
