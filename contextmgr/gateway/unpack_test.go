package gateway_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// packers apply content codings.
var packers = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip":        func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	"x-gzip":      func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	"br":          func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil },
	"zstd":        func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	"deflate":     func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil },
	"raw deflate": func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 5) },
}

// pack applies codings one after the other.
func pack(t testing.TB, plain string, codings ...string) string {
	t.Helper()
	for _, c := range codings {
		if c == "identity" {
			continue
		}
		var b bytes.Buffer
		w, err := packers[c](&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		plain = b.String()
	}
	return plain
}

func TestCompressedAnswersPassAndAreRead(t *testing.T) {
	plain := strings.Join(answerEvents("packed"), "")
	for header, tc := range map[string]struct {
		body string
		read bool
	}{
		"gzip": {pack(t, plain, "gzip"), true}, "X-GZIP": {pack(t, plain, "gzip"), true}, "br": {pack(t, plain, "br"), true},
		"zstd": {pack(t, plain, "zstd"), true}, "deflate": {pack(t, plain, "deflate"), true},
		"Deflate":  {pack(t, plain, "raw deflate"), true},
		"identity": {plain, true}, "": {plain, true}, "gzip, br": {pack(t, plain, "gzip", "br"), true},
		"identity ,zstd,, gzip": {pack(t, plain, "zstd", "gzip"), true},
		"br, br, br, br":        {pack(t, plain, "br", "br", "br", "br"), true},
		"br, br, br, br, br":    {pack(t, plain, "br", "br", "br", "br", "br"), false},
		"compress":              {"\x1f\x9d\x90anything", false}, "dcb": {"x", false}, "gzip, unknown": {"x", false},
	} {
		t.Run(header, func(t *testing.T) {
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header()["Content-Encoding"] = []string{header}
				for i := 0; i < len(tc.body); i += 100 {
					_, _ = io.WriteString(w, tc.body[i:min(i+100, len(tc.body))])
					_ = http.NewResponseController(w).Flush()
				}
			}), nil)
			for n := 1; n <= 2; n++ {
				resp, body, err := post(t, w.base+"/v1/messages", request("x"), "Accept-Encoding", "gzip, deflate, br, zstd")
				if err != nil || body != tc.body || resp.Header.Get("Content-Encoding") != strings.TrimSpace(header) {
					t.Fatalf("%v, %v", resp, err)
				}
				e := w.obs.wait(t, n)[n-1]
				switch {
				case tc.read && (e.Text != "packed" || !e.EndsTurn || e.Unread || e.Usage.Output != 21 || !e.Usage.Priced):
					t.Errorf("read %+v", e)
				case !tc.read && (e.Text != "" || !e.EndsTurn || !e.Unread || e.Interrupted || e.Err == "" || e.Prompt != "x"):
					t.Errorf("not read %+v", e)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if n := len(w.obs.told); tc.read && n != 0 || !tc.read && n != 1 {
				t.Errorf("people were told %q", w.obs.told)
			}
			if tc.read == strings.Contains(w.logs.String(), "cannot be read") {
				t.Errorf("logged %s", w.logs)
			}
		})
	}
}

// TestDamagedCompressedAnswers: what the agent cannot unpack either is an answer that was cut off, however it came to be,
// with what could be read of it. The whole one is none, nor one that lacks only the end of its packing.
func TestDamagedCompressedAnswers(t *testing.T) {
	plain := strings.Join(answerEvents(strings.Repeat("packed ", 2000)), "")
	whole := `{"type":"message","role":"assistant","content":[{"type":"text","text":"packed"}],"stop_reason":"end_turn"}`
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		packed := pack(t, plain, coding)
		flipped := []byte(packed)
		for i := len(flipped) / 3; i < len(flipped)/2; i++ {
			flipped[i] ^= 0x55
		}
		for what, tc := range map[string]struct {
			kind, body string
			cut        bool
		}{
			"whole": {"text/event-stream", packed, false}, "half": {"text/event-stream", packed[:len(packed)/2], true},
			"garbage": {"text/event-stream", "\xff\xff\xff no " + coding, true}, "flipped": {"text/event-stream", string(flipped), true},
			"nothing": {"text/event-stream", "", true}, "a document": {"application/json", pack(t, whole, coding), false},
			"half a document": {"application/json", pack(t, whole, coding)[:20], true},
		} {
			t.Run(coding+" "+what, func(t *testing.T) {
				w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tc.kind)
					w.Header().Set("Content-Encoding", coding)
					_, _ = io.WriteString(w, tc.body)
				}), nil)
				if _, body, err := post(t, w.base+"/v1/messages", request("x"), "Accept-Encoding", coding); err != nil || body != tc.body {
					t.Fatalf("%d bytes, %v", len(body), err)
				}
				e := w.obs.wait(t, 1)[0]
				if e.Unread || e.Interrupted != tc.cut || e.EndsTurn == tc.cut || tc.cut && (e.Fault != thread.FaultCut || e.Err == "") ||
					!tc.cut && !strings.HasPrefix(e.Text, "packed") {
					t.Errorf("unread %v, interrupted %v, ends %v, fault %q, %q, %.20q", e.Unread, e.Interrupted, e.EndsTurn, e.Fault, e.Err, e.Text)
				}
			})
		}
	}
}

func TestCompressedRequestsPassAndAreRead(t *testing.T) {
	rec := &recorder{then: func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, "ok") }}
	w := open(t, serve(t, rec.ServeHTTP), nil)
	for i, header := range []string{"zstd", "gzip", "br", "deflate", "gzip, zstd"} {
		packed := pack(t, request("packed prompt"), strings.Split(header, ", ")...)
		if _, _, err := post(t, w.base+"/v1/messages", packed, "Content-Encoding", header); err != nil {
			t.Fatal(err)
		}
		if got := rec.last(t); string(got.body) != packed || got.header.Get("Content-Encoding") != header {
			t.Errorf("%s: the request changed", header)
		}
		if e := w.obs.wait(t, i+1)[i]; e.Prompt != "packed prompt" || !e.Main {
			t.Errorf("%s: read %+v", header, e)
		}
	}
}

// TestBombsAreBounded sends what is unpacked to very much.
func TestBombsAreBounded(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for name, codings := range sample.In(t, 2, map[string][]string{"gzip": {"gzip"}, "br": {"br"}, "zstd": {"zstd"},
		"gzip, gzip": {"gzip", "gzip"}}) {
		t.Run(name, func(t *testing.T) {
			packed := pack(t, strings.Repeat(zeros, 70), codings...)
			w := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Encoding", name)
				_, _ = io.WriteString(w, packed)
			}), func(o *gateway.Options) { o.MaxBody = 1 << 20; o.Caps.Bytes = 256 << 20 })
			_, body, err := post(t, w.base+"/v1/messages", packed[:min(len(packed), 1<<20)], "Content-Encoding", name)
			if err != nil || body != packed {
				t.Fatalf("%d bytes of %d, %v", len(body), len(packed), err)
			}
			if e := w.obs.wait(t, 1)[0]; !e.Unread && e.Main || !strings.Contains(e.Err, "unpacks to more than may be read") ||
				e.Answer != nil {
				t.Errorf("observed %+v", e)
			}
		})
	}
}

func TestLargeEventsAreReadWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		size int
		read bool
	}{"20 MB": {20 << 20, true}, "over the bound": {wire.MaxAnswer + 1, false}} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("large ", tc.size/6)
			w := open(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { streamAnswer(w, text) }), nil)
			_, body, err := post(t, w.base+"/v1/messages", request("x"))
			if err != nil || len(body) < tc.size {
				t.Fatalf("%d bytes, %v", len(body), err)
			}
			e := w.obs.wait(t, 1)[0]
			if tc.read && (e.Text != text || !e.EndsTurn || e.Answer == nil || len(e.Answer.Raw) < tc.size) {
				t.Errorf("read %d bytes, %q", len(e.Text), e.Err)
			}
			if !tc.read && !strings.Contains(e.Err, "more than 32 MB") {
				t.Errorf("the bound is not named: %q", e.Err)
			}
		})
	}
}
