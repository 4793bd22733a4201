package masking_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire"
)

// TestByteIdentity: with observe and off, whatever a request is, the provider gets the bytes that the agent sent. That is
// so for a thread that has masks too.
func TestByteIdentity(t *testing.T) {
	n := 750 // bodies; set the variable for more
	if testing.Short() {
		n = 80
	}
	if more, err := strconv.Atoi(os.Getenv("ORCHESTRATOR_BODIES")); err == nil {
		n = more
	}
	for _, f := range some(t) {
		for _, mode := range []policy.Mode{policy.ModeObserve, policy.ModeOff} {
			t.Run(f.codec.Wire()+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				w := open(t, f, policy.ModeLean)
				w.grow(60) // the thread has masks
				if len(stub.FindAllString(w.lastList, -1)) < 10 {
					t.Fatal("nothing is masked")
				}
				w.mode = mode
				w.restart()
				p := w.through(map[string]int64{"*": w.window})
				masked := w.conversation()
				read, large := 0, 0
				b := &bodies{rand.New(rand.NewPCG(2, 6)), f}
				for i := range n {
					body := b.next()
					if i%200 == 0 {
						body, large = b.change([]byte(masked)), large+1
					}
					if _, err := w.codec.Scan(wire.Call{Path: w.path, Header: http.Header{}, Body: body}, nil); err == nil {
						read++
					}
					p.same(i, body, nil)
				}
				if read < n/4 || read > n*9/10 {
					t.Errorf("%d of %d bodies can be read", read, n)
				}
				p.same(n, []byte(masked), nil)
				p.ended(t, n+1)
				if conns := p.conns.Load(); conns > 10 {
					t.Errorf("%d connections for %d requests", conns, n)
				}
				r, err := w.Report("t1")
				if err != nil || (len(r.Results) > 0) != (mode == policy.ModeObserve) {
					t.Errorf("%d results of tools are known (%v)", len(r.Results), err)
				}
			})
		}
	}
	for _, f := range some(t) {
		t.Run(f.codec.Wire()+" recorded", func(t *testing.T) {
			t.Parallel()
			all := recorded(t, f)
			for _, mode := range []policy.Mode{policy.ModeObserve, policy.ModeOff} {
				w := open(t, f, mode)
				p := w.through(nil)
				for i, body := range all {
					p.same(i, body, nil)
				}
				p.ended(t, len(all))
			}
			t.Logf("%d recorded requests", len(all))
		})
	}
}

// same sends a body and checks that the provider got it.
func (p *through) same(n int, body []byte, header http.Header) {
	p.Helper()
	sent := body
	if n%20 == 19 {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(body)
		if err := z.Close(); err != nil {
			p.Fatal(err)
		}
		sent, header = packed.Bytes(), http.Header{"Content-Encoding": {"gzip"}}
	}
	resp, err := p.request(p.Context(), "t1", sent, header)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.Fatalf("body %d: %v (%v)\n%.2000q", n, resp, err, body)
	}
	if sum := sha256.Sum256(sent); resp.Header.Get(sumHeader) != hex.EncodeToString(sum[:]) {
		p.Fatalf("body %d\n%.2000q\nis sent as\n%.2000q", n, sent, p.got())
	}
}

// bodies makes bodies of a format, from ordinary to broken.
type bodies struct {
	*rand.Rand
	format
}

// The texts and values that stand somewhere in bodies.
var (
	oddTexts = []string{
		`""`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud800"`, `"\/\b\f\n\r\t\"\\"`, `"é 漢字 🤦🏽‍♂️ עברית"`, "\"\u2028\u2029\"",
		"\"\ufeff\"", `"\u00e9e\u0301"`, "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"a\ttab\"", `"<b>&'</b>"`, `"cache_control"`,
		`"[Masked: Bash returned 1 lines, 2 tokens] /x.txt max:00000000"`, `"\u005bMasked"`,
	}
	oddValues = []string{
		"12345678901234567890123456789", "1e400", "-0", "1.0", "1E+2", "0.1000000000000000055511151231257827", "null", "true",
		"{}", "[]", `{"a":1,"a":2}`, `{"":{"":[]}}`, `[[[[[[{"a":[[]]}]]]]]]`, strings.Repeat("[", 500) + strings.Repeat("]", 500),
	}
	knownKeys = []string{
		"role", "content", "messages", "input", "contents", "parts", "tool_use_id", "type", "model", "stream", "system", "tools",
		"name", "id", "call_id", "output", "tool_calls", "functionResponse", "cache_control", "x_unknown", `\u0072ole`, "",
	}
	spaces = []string{" ", "\n", "\t", "\r\n", "  \n  "}
)

func (b *bodies) of(all []string) string { return all[b.IntN(len(all))] }

// next returns a body.
func (b *bodies) next() []byte {
	switch b.IntN(100) {
	case 0:
		return nil
	case 1:
		random := make([]byte, b.IntN(2000))
		for i := range random {
			random[i] = byte(b.Uint32())
		}
		return random
	case 2:
		return []byte(b.of(oddValues))
	case 3:
		return []byte(strings.Repeat(b.of([]string{"[", `{"a":`, `{"messages":[`}), b.IntN(20_000)))
	}
	items := []string{b.person("fix the bug")}
	for i := range b.IntN(8) {
		id := fmt.Sprintf("call_%d", b.IntN(5))
		switch b.IntN(6) {
		case 0:
			items = append(items, b.person("go on"))
		case 1:
			items = append(items, b.of(oddValues))
		case 2:
			items = append(items, b.result(id, b.tool, text(i, b.IntN(200))))
		default:
			items = append(items, b.call(id, b.tool, `{"command":"ls"}`), b.result(id, b.tool, text(i, b.IntN(300))))
		}
	}
	return b.change([]byte(b.body("claude-sonnet-4-6", strings.Join(items, ","))))
}

// change changes a body: mostly so that it is still JSON.
func (b *bodies) change(body []byte) []byte {
	for range b.IntN(6) {
		objects, texts, gaps := places(body)
		if len(objects) == 0 || len(texts) == 0 {
			break
		}
		switch b.IntN(4) {
		case 0: // a member more, whose key may be there
			at := objects[b.IntN(len(objects))]
			member := `"` + b.of(knownKeys) + `":` + b.of(append(oddTexts, oddValues...))
			if !bytes.HasPrefix(bytes.TrimLeft(body[at:], " \t\r\n"), []byte("}")) {
				member += ","
			}
			body = put(body, at, at, member)
		case 1: // another text, or key
			t := texts[b.IntN(len(texts))]
			body = put(body, t.Start, t.End, b.of(oddTexts))
		case 2:
			at := gaps[b.IntN(len(gaps))]
			body = put(body, at, at, b.of(spaces))
		case 3: // a character is escaped
			t := texts[b.IntN(len(texts))]
			if c := body[t.Start+1]; c >= 'a' && c <= 'z' {
				body = put(body, t.Start+1, t.Start+2, fmt.Sprintf(`\u%04x`, c))
			}
		}
	}
	at := b.IntN(len(body) + 1)
	switch b.IntN(20) {
	case 0:
		return body[:at]
	case 1:
		return put(body, at, min(len(body), at+1), "")
	case 2:
		return put(body, at, at, string(rune(b.IntN(256))))
	case 3:
		return append([]byte("\ufeff"), body...)
	case 4:
		return append(body, b.of([]string{"x", "{}", " ", "\n\n", "\x00", "]"})...)
	}
	return body
}

// put returns a body with something in place of a part of it.
func put(body []byte, from, to int, what string) []byte {
	return append(append(append(make([]byte, 0, len(body)+len(what)), body[:from]...), what...), body[to:]...)
}

// places returns where the members of objects begin, where texts are, and where there may be space.
func places(body []byte) (objects []int, texts []wire.Span, gaps []int) {
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{':
			objects = append(objects, i+1)
		case ',', ':', '[':
			gaps = append(gaps, i+1)
		case '"':
			from := i
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
			if i < len(body) {
				texts = append(texts, wire.Span{Start: from, End: i + 1})
			}
		}
	}
	return objects, texts, append(gaps, 0)
}

// recorded returns requests of a format that were recorded: those of an agent, and of other conversations put into it.
func recorded(t *testing.T, f format) (all [][]byte) {
	t.Helper()
	dir := cmp.Or(os.Getenv("ORCHESTRATOR_SHARED"), filepath.Join("..", "..", "..", "shared"))
	files, err := filepath.Glob(filepath.Join(dir, "samples", "request-*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("SKIPPED: there are no recorded requests (%v): run with ORCHESTRATOR_SHARED=<folder with samples and corpus>", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			URL  string          `json:"url"`
			Body json.RawMessage `json:"body"`
		}
		path, _, _ := strings.Cut(f.path, "gemini-")
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		} else if strings.Contains(r.URL, path) {
			all = append(all, r.Body)
		}
	}
	if len(all) == 0 {
		t.Errorf("%s has none of %s", dir, f.path)
	}
	if testing.Short() {
		return all
	}
	packed, err := os.Open(filepath.Join(dir, "corpus", "sessions.tar.zst"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("SKIPPED in part: %s has no corpus of sessions", dir)
		return all
	}
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	sessions := tar.NewReader(unpacked)
	for {
		if _, err := sessions.Next(); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		lines, err := io.ReadAll(sessions)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rendered(t, lines, f)...)
	}
}

// rendered returns some requests of a conversation, as an agent of the format would send them.
func rendered(t *testing.T, lines []byte, f format) (all [][]byte) {
	t.Helper()
	const apart, most = 150, 2 << 20
	var items []string
	n := 0
	for line := range bytes.Lines(lines) {
		var l struct {
			Role, Type, ID, Tool string
			Content              json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		text := string(l.Content)
		_ = json.Unmarshal(l.Content, &text) // otherwise it is no text
		switch {
		case l.Type == "tool_use":
			input := l.Content
			if !bytes.HasPrefix(input, []byte("{")) {
				input = []byte(`{"input":` + string(wire.Quote(text)) + `}`)
			}
			items = append(items, f.call(l.ID, f.tool, string(input)))
		case l.Type == "tool_result":
			items = append(items, f.result(l.ID, f.tool, text))
		case l.Role == "user":
			items = append(items, f.person(text))
		case l.Type == "boundary":
			items = nil
		}
		if n++; n%apart == 0 {
			if body := f.body("claude-sonnet-4-6", strings.Join(items, ",")); len(body) < most {
				all = append(all, []byte(body))
			}
		}
	}
	return all
}
