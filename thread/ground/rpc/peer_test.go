package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/thread/ground/rpc"
)

func echo(_ context.Context, m rpc.Message) (json.RawMessage, error) { return m.Params, nil }

func TestPeersCallEachOther(t *testing.T) {
	a, b := net.Pipe()
	refuse := func(context.Context, rpc.Message) (json.RawMessage, error) {
		return nil, &rpc.Error{Code: -32042, Message: "no", Data: json.RawMessage(`{"n":9007199254740993123}`)}
	}
	left, _ := run(t, lines(a), handler{request: refuse})
	right, _ := run(t, lines(b), handler{request: echo})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			want := fmt.Sprintf(`{"n":9007199254740993%03d}`, i)
			if got, err := left.Call(t.Context(), "echo", json.RawMessage(want)); err != nil || string(got) != want {
				t.Errorf("call %d: %s, %v", i, got, err)
			}
			var e *rpc.Error
			if _, err := right.Call(t.Context(), "x", nil); !errors.As(err, &e) || e.Code != -32042 || string(e.Data) != `{"n":9007199254740993123}` {
				t.Errorf("refused call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestPeerTakesNotifications(t *testing.T) {
	a, b := net.Pipe()
	left, _ := run(t, lines(a), handler{})
	notes := make(chan rpc.Message, 1)
	run(t, lines(b), handler{notes: notes})
	if err := left.Notify(t.Context(), "n", json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, notes, "the notification"); m.Method != "n" || string(m.Params) != `{"a":1}` {
		t.Errorf("it became %+v", m)
	}
}

// raw is a peer and the other end of its connection, which is played by hand.
type raw struct {
	*testing.T
	*rpc.Peer
	conn  net.Conn
	in    *bufio.Reader
	ended <-chan error
}

func newRaw(t *testing.T, h handler) *raw {
	a, b := net.Pipe()
	p, ended := run(t, lines(a), h)
	t.Cleanup(func() { _ = b.Close() })
	_ = b.SetDeadline(time.Now().Add(2 * wait))
	return &raw{T: t, Peer: p, conn: b, in: bufio.NewReader(b), ended: ended}
}

func (r *raw) say(format string, args ...any) {
	r.Helper()
	if _, err := fmt.Fprintf(r.conn, format+"\n", args...); err != nil {
		r.Fatal(err)
	}
}

func (r *raw) hear() rpc.Message {
	r.Helper()
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		r.Fatal(err)
	}
	m, err := rpc.Decode(line)
	if err != nil {
		r.Fatalf("%s: %v", line, err)
	}
	return m
}

type outcome struct {
	result json.RawMessage
	err    error
}

func (r *raw) call(ctx context.Context) <-chan outcome {
	c := make(chan outcome, 1)
	go func() {
		result, err := r.Call(ctx, "m", nil)
		c <- outcome{result, err}
	}()
	return c
}

func TestPeerDropsWhatNobodyWaitsFor(t *testing.T) {
	r := newRaw(t, handler{})
	one := r.call(t.Context())
	id := string(r.hear().ID)
	r.say(`{"jsonrpc":"2.0","id":"x%s","result":"the id of another"}`, id)
	r.say(`{"jsonrpc":"2.0","id":424242,"result":"never asked"}`)
	r.say(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"nobody's"}}`)
	r.say(`{"jsonrpc":"2.0","id":%s,"result":1}`, id)
	r.say(`{"jsonrpc":"2.0","id":%s,"result":2}`, id)
	r.say(`{"jsonrpc":"2.0","id":%s,"result":3}`, id)
	if got := receive(t, one, "the response"); string(got.result) != "1" {
		t.Errorf("%s, %v", got.result, got.err)
	}
	two := r.call(t.Context())
	if next := string(r.hear().ID); next == id {
		t.Errorf("the id %s was used twice", id)
	} else {
		r.say(`{"jsonrpc":"2.0","id":%s,"result":4}`, next)
	}
	if got := receive(t, two, "the response"); string(got.result) != "4" {
		t.Errorf("%s, %v", got.result, got.err)
	}
}

func TestPeerBeginsItsIDsAnywhere(t *testing.T) {
	ids := map[string]bool{}
	for range 3 {
		r := newRaw(t, handler{})
		c := r.call(t.Context())
		id := string(r.hear().ID)
		if ids[id] {
			t.Errorf("two connections use the id %s: a late response of one would be taken for the other's", id)
		}
		ids[id] = true
		r.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		receive(t, c, "the response")
	}
}

func TestPeerTellsOfCallsThatAreGivenUp(t *testing.T) {
	r := newRaw(t, handler{})
	ctx, cancel := context.WithCancelCause(t.Context())
	c := r.call(ctx)
	id := string(r.hear().ID)
	why := errors.New("the person stopped it")
	cancel(why)
	if got := receive(t, c, "the end of the call"); !errors.Is(got.err, why) || !errors.Is(got.err, rpc.ErrUnsure) {
		t.Errorf("the call: %v", got.err)
	}
	var p struct {
		RequestID json.RawMessage
		Reason    string
	}
	if m := r.hear(); m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &p) != nil || string(p.RequestID) != id || p.Reason != why.Error() {
		t.Errorf("told %s %s", m.Method, m.Params)
	}
	r.say(`{"jsonrpc":"2.0","id":%s,"result":"too late"}`, id)
	next := r.call(t.Context())
	r.say(`{"jsonrpc":"2.0","id":%s,"result":1}`, r.hear().ID)
	if got := receive(t, next, "the next response"); string(got.result) != "1" {
		t.Errorf("%s, %v", got.result, got.err)
	}
}

func TestPeerEndsRequestsThatAreCancelled(t *testing.T) {
	ended := make(chan error, 1)
	r := newRaw(t, handler{request: func(ctx context.Context, m rpc.Message) (json.RawMessage, error) {
		if m.Method != "hang" {
			return nil, nil
		}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return json.RawMessage(`"nobody wants it"`), nil
	}})
	r.say(`{"jsonrpc":"2.0","id":"a","method":"hang"}`)
	for _, params := range []string{`{"requestId":"b"}`, `{"requestId":1}`, `{}`, `[]`, `7`} { // others end nothing
		r.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, params)
	}
	r.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if m := r.hear(); string(m.ID) != "1" {
		t.Fatalf("the response to %s came first", m.ID)
	}
	select {
	case err := <-ended:
		t.Fatal("another request's cancellation ended it: ", err)
	default:
	}
	r.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	if err := receive(t, ended, "the cancellation"); !errors.Is(err, context.Canceled) {
		t.Errorf("cause: %v", err)
	}
	r.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if m := r.hear(); string(m.ID) != "2" {
		t.Errorf("a cancelled request was answered: %s %s", m.ID, m.Result)
	}
}

func TestPeerEndsCallsWithTheConnection(t *testing.T) {
	for _, own := range []bool{false, true} {
		served := make(chan struct{})
		r := newRaw(t, handler{request: func(ctx context.Context, _ rpc.Message) (json.RawMessage, error) {
			<-ctx.Done()
			close(served)
			return nil, nil
		}})
		r.say(`{"jsonrpc":"2.0","id":1,"method":"hang"}`)
		calls := []<-chan outcome{r.call(t.Context()), r.call(t.Context())}
		r.hear()
		r.hear()
		if own {
			_ = r.Close()
		} else {
			_ = r.conn.Close()
		}
		for _, c := range calls {
			got := receive(t, c, "the end of a call")
			if !errors.Is(got.err, rpc.ErrUnsure) || !errors.Is(got.err, rpc.ErrClosed) {
				t.Errorf("own end %t: %v", own, got.err)
			}
		}
		err := receive(t, r.ended, "the end of Run")
		if err == nil || !own && !errors.Is(err, io.EOF) {
			t.Errorf("Run: %v", err)
		}
		select {
		case <-served:
		default:
			t.Error("Run returned before a request had ended")
		}
		receive(t, r.Done(), "Done")
		if _, err := r.Call(t.Context(), "m", nil); !errors.Is(err, rpc.ErrClosed) || errors.Is(err, rpc.ErrUnsure) {
			t.Errorf("a call after the end: %v", err)
		}
	}
}

func TestPeerSaysThatNothingWasWritten(t *testing.T) {
	in, feed := io.Pipe()
	p, _ := run(t, rpc.NewLines(in, &broken{}, in, nil), handler{})
	if _, err := p.Call(t.Context(), "m", nil); err == nil || errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("not written: %v", err)
	}
	q, _ := run(t, rpc.NewLines(in, &broken{5}, in, nil), handler{})
	if _, err := q.Call(t.Context(), "m", nil); !errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("half written: %v", err)
	}
	_ = feed.Close()
}

func TestPeerRefusesAnIDThatIsInUse(t *testing.T) {
	release := make(chan struct{})
	r := newRaw(t, handler{request: func(context.Context, rpc.Message) (json.RawMessage, error) {
		<-release
		return json.RawMessage("1"), nil
	}})
	r.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	r.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if m := r.hear(); m.Error == nil || m.Error.Code != rpc.CodeInvalidRequest {
		t.Errorf("the second: %+v", m)
	}
	close(release)
	if m := r.hear(); string(m.Result) != "1" {
		t.Errorf("the first: %+v", m)
	}
	r.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if m := r.hear(); string(m.Result) != "1" {
		t.Errorf("after the first: %+v", m)
	}
}

func TestPeerRefusesMoreThan1000RequestsAtOnce(t *testing.T) {
	release := make(chan struct{})
	r := newRaw(t, handler{request: func(context.Context, rpc.Message) (json.RawMessage, error) {
		<-release
		return nil, nil
	}})
	for i := range 1000 {
		r.say(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i)
	}
	r.say(`{"jsonrpc":"2.0","id":"more","method":"m"}`)
	if m := r.hear(); string(m.ID) != `"more"` || m.Error == nil || m.Error.Code != rpc.CodeInternal {
		t.Fatalf("one more: %+v", m)
	}
	close(release)
	for range 1000 {
		if m := r.hear(); m.Error != nil {
			t.Fatal(m.Error)
		}
	}
	for range 20 { // the last answer may not be noted at once
		r.say(`{"jsonrpc":"2.0","id":"again","method":"m"}`)
		if m := r.hear(); m.Error == nil {
			return
		}
	}
	t.Error("it refuses requests though none is served")
}

// TestPeerEndsWithAFlood: one that asks and never reads is not answered without end.
func TestPeerEndsWithAFlood(t *testing.T) {
	for _, id := range []string{"%d", "1"} {
		r := newRaw(t, handler{request: echo})
		go func() {
			for i := 0; ; i++ {
				if _, err := io.WriteString(r.conn, strings.ReplaceAll(`{"jsonrpc":"2.0","id":ID,"method":"m"}`+"\n", "ID", strings.ReplaceAll(id, "%d", fmt.Sprint(i)))); err != nil {
					return
				}
			}
		}()
		err := receive(t, r.ended, "the end of the connection")
		if err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("ids %s: %v", id, err)
		}
	}
}

// hasty is a stream that ends right after the response, before the request counts as written.
type hasty struct {
	in    chan rpc.Message
	ended func() <-chan struct{}
}

func (h *hasty) Read() (rpc.Message, error) {
	if m, ok := <-h.in; ok {
		return m, nil
	}
	return rpc.Message{}, io.EOF
}

func (h *hasty) Write(_ context.Context, m rpc.Message) error {
	h.in <- rpc.Message{ID: m.ID, Result: json.RawMessage("1")}
	close(h.in)
	<-h.ended()
	return nil
}

func (h *hasty) Close() error { return nil }

func TestPeerTakesAResponseJustBeforeTheEnd(t *testing.T) {
	for range 50 {
		h := &hasty{in: make(chan rpc.Message)}
		p := rpc.NewPeer(h, handler{})
		h.ended = p.Done
		ended := make(chan error, 1)
		go func() { ended <- p.Run() }()
		if got, err := p.Call(t.Context(), "m", nil); string(got) != "1" {
			t.Fatalf("%s, %v", got, err)
		}
		if err := receive(t, ended, "the end"); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
}

// TestPeerInABubble: nothing is left blocked when both sides end in the middle of calls.
func TestPeerInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left := rpc.NewPeer(lines(a), handler{request: func(ctx context.Context, _ rpc.Message) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}})
		right := rpc.NewPeer(lines(b), handler{request: echo})
		go func() { _ = left.Run() }()
		go func() { _ = right.Run() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := right.Call(ctx, "hang", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		go func() { _, _ = right.Call(context.Background(), "hang", nil) }()
		synctest.Wait()
		_ = left.Close()
		synctest.Wait()
	})
}

// TestPeerKnowsItsIDs: servers write the ids of responses in their own way, as the agents' clients allow.
func TestPeerKnowsItsIDs(t *testing.T) {
	for _, format := range []string{`%s`, `"%s"`, `%s.0`, `%se0`, `" %s "`, `"%s.0"`, `"0%s"`} {
		r := newRaw(t, handler{})
		answered := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), "m", nil)
			answered <- err
		}()
		asked := r.hear()
		for _, other := range []string{`"x%s"`, `%s.5`, `1e400`, `""`, `"%s1"`, `-%s`} {
			r.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"another's"}}`, strings.ReplaceAll(other, "%s", string(asked.ID)))
		}
		r.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, fmt.Sprintf(format, asked.ID))
		if err := receive(t, answered, "the response"); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
