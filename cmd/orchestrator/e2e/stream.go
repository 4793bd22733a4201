package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Odd is what a whole answer of Streams says: a line separator, which ends no line of a stream, and letters of several
// bytes.
const Odd = "one\u2028two \u00e9\u4e2d\U0001f600 three"

// Half is what an answer of Streams says that ends too early.
const Half = "the first half"

// answer are the events of an answer that says a text.
func answer(text string) []string {
	event := func(kind, rest string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":\"%s\"%s}\n\n", kind, kind, rest)
	}
	return []string{
		event("message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],`+
			`"usage":{"input_tokens":7,"output_tokens":1}}`),
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
		event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":"%s"}`, text)),
		event("content_block_stop", `,"index":0`),
		event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}`),
		event("message_stop", ""),
	}
}

// stream writes an answer to a connection: piece by piece, in chunks unless the end of the connection is the end of the
// answer. What cannot be written is for nobody.
type stream struct {
	conn    net.Conn
	out     *bufio.ReadWriter
	chunked bool
}

// take takes a connection over and begins a stream of events.
func take(w http.ResponseWriter, r *http.Request, chunked bool) (s stream, ok bool) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return s, false
	}
	s = stream{conn, out, chunked}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
	if chunked {
		head += "Transfer-Encoding: chunked\r\n"
	}
	return s, s.raw(head + "\r\n")
}

// raw writes bytes as they are, and reports whether somebody may read them.
func (s stream) raw(b string) bool {
	_, err := s.out.WriteString(b)
	return err == nil && s.out.Flush() == nil
}

// say writes pieces of the answer, each at once.
func (s stream) say(pieces ...string) (ok bool) {
	for _, p := range pieces {
		if s.chunked {
			p = fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
		}
		if !s.raw(p) {
			return false
		}
	}
	return true
}

// end ends the answer as it should end.
func (s stream) end() {
	if s.chunked {
		s.raw("0\r\n\r\n")
	}
}

// forEver writes a piece every now and then until the other side has gone.
func (s stream) forEver(every time.Duration, piece func() string) {
	for s.say(piece()) {
		time.Sleep(every)
	}
}

// byByte gives a text byte by byte, then an event without a meaning for ever.
func byByte(text string) func() string {
	return func() (b string) {
		if text == "" {
			text = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
		}
		b, text = text[:1], text[1:]
		return b
	}
}

// LongLine is how long the long line of Streams is.
const LongLine = 200 << 20

// Streams are the ways in which an answer of one wire is broken that has begun well, or is odd and whole: faults of a
// Provider.
var Streams = map[string]func(http.ResponseWriter, *http.Request){
	"fin": broken(true, func(s stream, _ []string) {}),
	"rst": broken(true, func(s stream, _ []string) {
		time.Sleep(100 * time.Millisecond) // what has not been read is lost with it
		if tcp, is := s.conn.(*net.TCPConn); is {
			_ = tcp.SetLinger(0)
		}
	}),
	"closed":          broken(false, func(s stream, _ []string) {}),
	"bad chunk":       broken(true, func(s stream, _ []string) { s.raw("not a length\r\nx\r\n") }),
	"garbage":         broken(true, func(s stream, _ []string) { s.say("\x00\xff\x1b]0;x\x07{{{{\n\ndata: {\"type\":\n\n"); s.end() }),
	"no message_stop": broken(true, func(s stream, rest []string) { s.say(rest[:len(rest)-1]...); s.end() }),
	"slow bytes":      broken(true, func(s stream, rest []string) { s.forEver(time.Second, byByte(strings.Join(rest, ""))) }),
	"ping only": broken(true, func(s stream, _ []string) {
		s.forEver(200*time.Millisecond, func() string { return "event: ping\ndata: {\"type\":\"ping\"}\n\n" })
	}),
	"silence": broken(true, func(s stream, _ []string) { _, _ = io.Copy(io.Discard, s.out) }),
	"long line": broken(true, func(s stream, rest []string) {
		s.say("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"")
		part := strings.Repeat("long ", 1<<18/5)
		for range LongLine / len(part) {
			if !s.say(part) {
				return
			}
		}
		s.say("\"}}\n\n")
		s.say(rest...)
		s.end()
	}),
	"line separator": whole(func(s stream, events []string) { s.say(events...) }),
	"split letters": whole(func(s stream, events []string) {
		for _, b := range []byte(strings.Join(events, "")) {
			s.say(string([]byte{b}))
		}
	}),
	"two message_stop": whole(func(s stream, events []string) { s.say(events...); s.say(events[len(events)-1]) }),
	"slow end": whole(func(s stream, events []string) {
		all := strings.Join(events, "")
		s.say(all[:len(all)-4])
		for _, b := range []byte(all[len(all)-4:]) {
			time.Sleep(time.Second)
			s.say(string([]byte{b}))
		}
	}),
}

// broken answers the first half of an answer and then what goes wrong, which gets the events that are left.
func broken(chunked bool, then func(s stream, rest []string)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		s, ok := take(w, r, chunked)
		if !ok {
			return
		}
		defer s.conn.Close()
		events := answer(Half)
		s.say(events[:3]...)
		then(s, events[3:])
	}
}

// whole has an answer written that is odd, and ends as it should.
func whole(write func(s stream, events []string)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		s, ok := take(w, r, true)
		if !ok {
			return
		}
		defer s.conn.Close()
		write(s, answer(Odd))
		s.end()
	}
}
