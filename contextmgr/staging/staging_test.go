package staging_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// shelf is a store with its folder and a clock that can be set ahead.
type shelf struct {
	testing.TB
	*staging.Store
	dir   string
	ahead time.Duration
}

func open(t testing.TB, dir string) *shelf {
	t.Helper()
	return openWith(t, dir, staging.Config{})
}

func openWith(t testing.TB, dir string, cfg staging.Config) *shelf {
	t.Helper()
	folder, err := private.Make(dir, "staging")
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{TB: t, dir: filepath.Join(dir, "staging")}
	cfg.Since = func(at time.Time) time.Duration { return max(time.Since(at)+s.ahead, 0) }
	s.Store = staging.New(folder, cfg)
	s.Now(func() time.Time { return time.Now().Add(s.ahead) })
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newShelf(t testing.TB) *shelf { return open(t, t.TempDir()) }

func (s *shelf) stage(data string, r thread.StageRequest) thread.Staged {
	s.Helper()
	d, err := s.Stage(context.Background(), r, strings.NewReader(data))
	if err != nil {
		s.Fatal(err)
	}
	return d
}

func (s *shelf) read(t thread.Token, part thread.Selection) (string, error) {
	r, err := s.Retrieve(t, part)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := r.WriteTo(&b)
	if n != int64(b.Len()) {
		s.Errorf("%d bytes of %d were counted", n, b.Len())
	}
	return b.String(), err
}

// files lists the folder.
func (s *shelf) files() []string {
	s.Helper()
	list, err := os.ReadDir(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	names := []string{}
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

func (s *shelf) sweep() staging.Swept {
	s.Helper()
	done, err := s.Sweep(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	return done
}

func anybody(thread.Staged) bool { return true }

func (s *shelf) tokens() []thread.Token {
	s.Helper()
	list, err := s.List(anybody)
	if err != nil {
		s.Fatal(err)
	}
	var all []thread.Token
	for _, d := range list {
		all = append(all, d.Token)
	}
	return all
}

// TestWhatIsStaged stages all kinds of data and reads it back byte for byte, from the store and from the file.
func TestWhatIsStaged(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat(`{"id":1,"name":"äöü"}`+"\n", 20_000)
	for _, c := range []struct {
		name, data string
		kind       thread.DataKind
		records    int64
		source     string
	}{
		{"records", "{\"id\":1}\n{\"id\":2}\n", "ndjson", 2, ""},
		{"records without a last end", "{\"id\":1}\n{\"id\":2}", "ndjson", 2, ""},
		{"one record", "{\"id\":1}\n", "ndjson", 1, ""},
		{"records of a source", "{\"source\":\"hubspot\",\"type\":\"contact\"}\n{}\n", "ndjson", 2, "hubspot/contact"},
		{"a source alone", "{\"source\":\"gdrive\",\"type\":7}\n", "ndjson", 1, "gdrive"},
		{"a source that is no line", "{\"source\":\"a\\nb\"}\n", "ndjson", 1, ""},
		{"many records", long, "ndjson", 20_000, ""},
		{"records, then not", "{\"id\":1}\nwords\n", "text", 2, ""},
		{"a document", "{\n  \"id\": 1\n}\n", "json", 1, ""},
		{"an array", "[1, 2, 3]\n", "json", 1, ""},
		{"a long document", "[\n" + strings.Repeat("  \"0123456789\",\n", 20_000) + "0]\n", "json", 1, ""},
		{"a document of one long string", "{\n\"a\":\"" + strings.Repeat("x", 300<<10) + "\"}", "json", 1, ""},
		{"a document that is broken", "{\n  \"id\": \n", "text", 2, ""},
		{"a long document that is broken", "{\n]" + strings.Repeat("  \"0123456789\",\n", 20_000), "text", 20_001, ""},
		{"words", "one\ntwo\n", "text", 2, ""},
		{"numbers", "1\n2\n", "text", 2, ""},
		{"nothing", "", "text", 0, ""},
		{"an empty line", "\n", "text", 1, ""},
		{"umlauts to the end", strings.Repeat("xä", 200<<10), "text", 1, ""},
		{"bytes", "\x00\x01\n\n", "binary", 0, ""},
		{"no UTF-8", "caf\xe9\n", "binary", 0, ""},
		{"a character cut off", "caf\xc3", "binary", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := time.Now().Add(-time.Second)
			d, err := s.Stage(t.Context(), thread.StageRequest{Thread: "a1"}, iotest.HalfReader(strings.NewReader(c.data)))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(c.data))
			want := thread.Staged{
				Token: d.Token, Kind: c.kind, Records: c.records, Bytes: int64(len(c.data)), Source: c.source, Thread: "a1",
				SHA256: hex.EncodeToString(sum[:]), Created: d.Created, Expires: d.Expires,
			}
			if got, err := s.Find(string(d.Token), anybody); err != nil || fmt.Sprint(got) != fmt.Sprint(want) ||
				fmt.Sprint(d) != fmt.Sprint(want) {
				t.Errorf("staged %+v\nfound  %+v (%v)\nwant   %+v", d, got, err, want)
			}
			if d.Created.Before(before) || d.Expires.Sub(d.Created).Round(time.Minute) != time.Hour {
				t.Errorf("created %v, expires %v", d.Created, d.Expires)
			}
			if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != c.data {
				t.Errorf("%d bytes came back as %d (%v)", len(c.data), len(got), err)
			}
			info, err := s.Info(d.Token)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(info.File); err != nil || string(b) != c.data {
				t.Errorf("the file has %d bytes (%v)", len(b), err)
			}
			for path, want := range map[string]fs.FileMode{info.File: 0o600, s.dir: 0o700} {
				if at, err := os.Stat(path); err != nil || at.Mode().Perm() != want {
					t.Errorf("%s: %v (%v)", path, at.Mode(), err)
				}
			}
		})
	}
}

func TestWhatIsSaidOfIt(t *testing.T) {
	s := newShelf(t)
	d := s.stage("a\x1bb\n",
		thread.StageRequest{Kind: "binary", Source: "me", Labels: []string{"x", "y z"}, TTL: time.Minute})
	if d.Kind != thread.DataBinary || d.Source != "me" || !slices.Equal(d.Labels, []string{"x", "y z"}) ||
		d.Expires.Sub(d.Created) > time.Minute {
		t.Errorf("%+v", d)
	}
	for _, r := range []thread.StageRequest{
		{Kind: "xml"}, {Source: "a\nb"}, {Source: strings.Repeat("x", 201)}, {Labels: []string{"\x1b[2J"}},
		{Labels: make([]string, 21)}, {TTL: -1}, {TTL: time.Millisecond}, {TTL: 1 << 62},
	} {
		if _, err := s.Stage(t.Context(), r, strings.NewReader("x")); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if n := len(s.tokens()); n != 1 {
		t.Errorf("%d entries", n)
	}
}

func TestPreview(t *testing.T) {
	s := newShelf(t)
	for _, c := range []struct {
		data string
		want []string
		more bool
	}{
		{"", nil, false},
		{"a\r\nb", []string{"a", "b"}, false},
		{"a\nb\nc\n", []string{"a", "b", "c"}, false},
		{"a\nb\nc\nd\n", []string{"a", "b", "c"}, true},
		{strings.Repeat("ä", 80), []string{strings.Repeat("ä", 50) + "..."}, false},
		{strings.Repeat("x", 1<<20), []string{strings.Repeat("x", 100) + "..."}, true},
		{"\x00\n", nil, false},
	} {
		info, err := s.Info(s.stage(c.data, thread.StageRequest{}).Token)
		if err != nil || !slices.Equal(info.Preview, c.want) || info.More != c.more {
			t.Errorf("%.20q: %q, more %v (%v)", c.data, info.Preview, info.More, err)
		}
	}
}

func TestSelection(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat("y", 300<<10)
	d := s.stage("one\r\ntwo\n"+long+"\nfour\nfive", thread.StageRequest{})
	for _, c := range []struct {
		part thread.Selection
		want string
	}{
		{thread.Selection{Head: 1}, "one\r\n"},
		{thread.Selection{Head: 3}, "one\r\ntwo\n" + long + "\n"},
		{thread.Selection{Head: 9}, "one\r\ntwo\n" + long + "\nfour\nfive"},
		{thread.Selection{From: 2, To: 2}, "two\n"},
		{thread.Selection{From: 4}, "four\nfive"},
		{thread.Selection{To: 2}, "one\r\ntwo\n"},
		{thread.Selection{From: 6}, ""},
		{thread.Selection{From: 4, Head: 1}, "four\n"},
		{thread.Selection{Grep: "^(one|five)$"}, "one\r\nfive"},
		{thread.Selection{Grep: "y{9}$"}, long + "\n"},
		{thread.Selection{Grep: "o", From: 2, Head: 2}, "two\nfour\n"},
		{thread.Selection{Grep: "e$", To: 4}, "one\r\n"},
		{thread.Selection{Grep: "nothing"}, ""},
	} {
		if got, err := s.read(d.Token, c.part); err != nil || got != c.want {
			t.Errorf("%+v: %.40q (%v)", c.part, got, err)
		}
	}
	binary := s.stage("\x00\n", thread.StageRequest{})
	huge := s.stage(strings.Repeat("z", 17<<20), thread.StageRequest{})
	for _, c := range []struct {
		token thread.Token
		part  thread.Selection
		want  error
	}{
		{d.Token, thread.Selection{Grep: "("}, thread.ErrInvalid},
		{d.Token, thread.Selection{Grep: strings.Repeat("x", 5<<10)}, thread.ErrInvalid},
		{d.Token, thread.Selection{From: 3, To: 2}, thread.ErrInvalid},
		{d.Token, thread.Selection{Head: -1}, thread.ErrInvalid},
		{binary.Token, thread.Selection{Head: 1}, thread.ErrInvalid},
		{huge.Token, thread.Selection{Grep: "z"}, thread.ErrUnsupported},
	} {
		if _, err := s.read(c.token, c.part); !errors.Is(err, c.want) {
			t.Errorf("%.40v: %v", c.part, err)
		}
	}
	if got, err := s.read(huge.Token, thread.Selection{Head: 1}); err != nil || len(got) != 17<<20 {
		t.Errorf("a long line: %d bytes (%v)", len(got), err)
	}
}

// TestTokens: the error says exactly what is wrong with a token.
func TestTokens(t *testing.T) {
	s := newShelf(t)
	next := 0
	s.Draw(func() thread.Token {
		next++
		return thread.Token(fmt.Sprintf("max:ab%06x", next))
	})
	mine := s.stage("mine", thread.StageRequest{Source: "hubspot", Thread: "a"})
	others := s.stage("others", thread.StageRequest{Thread: "b"})
	brief := s.stage("brief", thread.StageRequest{Source: "gdrive", TTL: time.Minute})
	gone := s.stage("gone", thread.StageRequest{})
	if err := s.Unstage(gone.Token); err != nil {
		t.Fatal(err)
	}
	s.ahead = 2 * time.Minute
	own := func(d thread.Staged) bool { return d.Thread == "a" }
	for _, c := range []struct {
		ref  string
		may  func(thread.Staged) bool
		want thread.Token
		is   error
		say  string
	}{
		{"max:ab000001", own, mine.Token, nil, ""},
		{" MAX:AB000001 ", own, mine.Token, nil, ""},
		{"ab000001", own, mine.Token, nil, ""},
		{"ab000002", own, others.Token, nil, ""}, // anybody who knows it may use it
		{"max:a", own, mine.Token, nil, ""},      // its only one with this prefix
		{"max:ab000002", anybody, others.Token, nil, ""},
		{"max:a", anybody, "", thread.ErrInvalid, "2 tokens begin with max:a: max:ab000002, max:ab000001"},
		{"max:f", anybody, "", thread.ErrNotFound, "no token begins with max:f"},
		{"max:ffffffff", anybody, "", thread.ErrNotFound, "nothing is staged as max:ffffffff"},
		{"max:xyz", anybody, "", thread.ErrInvalid, "A token is max: and 8 hex digits"},
		{"max:", anybody, "", thread.ErrInvalid, "is not a token"},
		{"max:12345678901234567", anybody, "", thread.ErrInvalid, "is not a token"},
		{"../max", anybody, "", thread.ErrInvalid, "is not a token"},
		{string(brief.Token), anybody, "", thread.ErrExpired, "max:ab000003 (gdrive, staged at "},
		{string(gone.Token), anybody, "", thread.ErrNotFound, ") was unstaged at "},
	} {
		got, err := s.Find(c.ref, c.may)
		if got.Token != c.want && err == nil || !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%q: %v, %v", c.ref, got.Token, err)
		}
	}
	s.sweep()
	if _, err := s.Find(string(brief.Token), anybody); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("swept: %v", err)
	}
	if err := s.Unstage(gone.Token); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("unstaged twice: %v", err)
	}
	if got := s.tokens(); !slices.Equal(got, []thread.Token{others.Token, mine.Token}) {
		t.Errorf("listed: %v", got)
	}
}

// TestLife: what is used, touched or needed stays, the rest expires, and no time to live is shortened.
func TestLife(t *testing.T) {
	pins := map[thread.Token][]string{}
	cfg := staging.Config{Pins: func() (map[thread.Token][]string, error) { return pins, nil }}
	s := openWith(t, t.TempDir(), cfg)
	idle := s.stage("idle", thread.StageRequest{})
	used := s.stage("used", thread.StageRequest{})
	touched := s.stage("touched", thread.StageRequest{})
	pinned := s.stage("pinned", thread.StageRequest{})
	pins[pinned.Token] = []string{"prompt 1", "prompt 2"}
	s.ahead = 50 * time.Minute
	if _, err := s.read(used.Token, thread.Selection{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Touch(touched.Token, 10*time.Hour); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Touch(touched.Token, time.Minute); err != nil || time.Until(d.Expires) < 10*time.Hour {
		t.Errorf("touching made it expire at %v (%v)", d.Expires, err)
	}
	reading, err := s.Retrieve(idle.Token, thread.Selection{Grep: "idle"})
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	s.ahead += 45 * time.Minute
	var got bytes.Buffer
	if _, err := reading.WriteTo(&got); err != nil || got.String() != "idle" {
		t.Errorf("read on: %q (%v)", &got, err)
	}
	if swept := s.sweep(); swept != (staging.Swept{}) { // it was opened at 50 minutes; reading on is not another use
		t.Errorf("swept %+v", swept)
	}
	s.ahead += 65 * time.Minute
	if swept := s.sweep(); swept.Expired != 2 || swept.Bytes != 8 || swept.Leftovers != 0 {
		t.Errorf("swept %+v", swept)
	}
	if left := s.tokens(); !slices.Equal(left, []thread.Token{pinned.Token, touched.Token}) {
		t.Errorf("left %v", left)
	}
	if info, err := s.Info(pinned.Token); err != nil || !slices.Equal(info.Pins, []string{"prompt 1", "prompt 2"}) {
		t.Errorf("what needs it: %v (%v)", info.Pins, err)
	}
	again := openWith(t, filepath.Dir(s.dir), cfg) // a new server
	again.ahead = s.ahead + 65*time.Minute
	for range 2 { // first as it was left, then after it was extended
		if got, err := again.read(pinned.Token, thread.Selection{}); err != nil || got != "pinned" {
			t.Errorf("what is needed: %q (%v)", got, err)
		}
		again.ahead += 65 * time.Minute
		if swept := again.sweep(); swept != (staging.Swept{}) {
			t.Errorf("swept %+v", swept)
		}
	}
	delete(pins, pinned.Token)
	again.ahead += 59 * time.Minute // its time to live began at the last sweep
	if got, err := again.read(pinned.Token, thread.Selection{}); err != nil || got != "pinned" {
		t.Errorf("what nothing needs any more: %q (%v)", got, err)
	}
	again.ahead += 61 * time.Minute
	if _, err := again.read(pinned.Token, thread.Selection{}); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("after that: %v", err)
	}
	for range 2 { // the touched entry expires, then its document is removed
		again.ahead += 25 * time.Hour
		again.sweep()
	}
	if left := again.files(); len(left) != 0 {
		t.Errorf("two days later there is %v", left)
	}
}

// TestUse: a use restarts the time to live, but not every use is a write.
func TestUse(t *testing.T) {
	s := newShelf(t)
	d := s.stage("used", thread.StageRequest{TTL: 20 * time.Second})
	document := filepath.Join(s.dir, d.Token.Digits()+".meta.json")
	was, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	use := func() string {
		if _, err := s.read(d.Token, thread.Selection{}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if use() != string(was) {
		t.Error("the first use is written down")
	}
	s.ahead = 10 * time.Second
	if use() == string(was) {
		t.Error("a use after half of the time is not written down")
	}
}

// TestLeftovers: Sweep removes what a crash can leave, and nothing else.
func TestLeftovers(t *testing.T) {
	s := newShelf(t)
	d := s.stage("kept", thread.StageRequest{})
	digits := d.Token.Digits()
	kept := s.files()
	leftovers := []string{
		"0123456789abcdef.part", ".new-0123456789abcdef", "0a0a0a0a.ndjson", "0a0a0a0a.json", "0a0a0a0a.txt", "0a0a0a0a.bin",
		digits + ".bin", // the document names another file
	}
	foreign := []string{
		"notes.txt", "0A0A0A0A.txt", "0a0a0a0a.csv", "0a0a0a0.txt", "0123456789abcdef.partial", ".new-x", "x.meta.json",
		"max:0a0a0a0a",
	}
	for _, name := range append(slices.Clone(leftovers), foreign...) {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if swept := s.sweep(); swept.Leftovers != len(leftovers) || swept.Expired != 0 {
		t.Errorf("swept %+v", swept)
	}
	want := append(kept, foreign...)
	slices.Sort(want)
	if got := s.files(); !slices.Equal(got, want) {
		t.Errorf("left %v\nwant %v", got, want)
	}
	if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != "kept" {
		t.Errorf("%q (%v)", got, err)
	}
}

// TestHostileFolder: files of others in the folder are neither followed nor removed, and harm nothing else.
func TestHostileFolder(t *testing.T) {
	s := newShelf(t)
	d, good := s.stage("mine", thread.StageRequest{}), s.stage("good", thread.StageRequest{})
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(s.dir, name) }
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	data, document := d.Token.Digits()+".txt", d.Token.Digits()+".meta.json"
	must(
		os.Remove(at(data)), os.Symlink(outside, at(data)),
		os.Symlink(outside, at("0a0a0a0a.txt")), os.Symlink(outside, at("0b0b0b0b.meta.json")),
		syscall.Mkfifo(at("0c0c0c0c.meta.json"), 0o600), syscall.Mkfifo(at("0123456789abcdef.part"), 0o600),
		os.Mkdir(at("0d0d0d0d.json"), 0o700), os.Mkdir(at("0e0e0e0e.meta.json"), 0o700),
	)
	was := s.files()
	if _, err := s.read(d.Token, thread.Selection{}); !errors.Is(err, private.ErrNotOurs) {
		t.Errorf("followed a link: %v", err)
	}
	for _, digits := range []string{"0b0b0b0b", "0c0c0c0c", "0e0e0e0e"} {
		if _, err := s.Find(digits, anybody); !errors.Is(err, private.ErrNotOurs) {
			t.Errorf("%s: %v", digits, err)
		}
	}
	if _, err := s.Sweep(t.Context()); !errors.Is(err, private.ErrNotOurs) {
		t.Errorf("a sweep says nothing: %v", err)
	}
	if got := s.files(); !slices.Equal(got, was) {
		t.Errorf("%v became %v", was, got)
	}
	// A token whose file names are taken by such files is not used.
	names := []thread.Token{"max:0b0b0b0b", "max:0c0c0c0c", "max:0e0e0e0e", "max:0a0a0a0a", "max:0f0f0f0f"}
	s.Draw(func() thread.Token { defer func() { names = names[1:] }(); return names[0] })
	if got := s.stage("text", thread.StageRequest{}); got.Token != "max:0f0f0f0f" {
		t.Errorf("staged as %s", got.Token)
	}
	must(os.Remove(at(data)))
	if _, err := s.read(d.Token, thread.Selection{}); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("the data is gone: %v", err)
	}
	must(os.WriteFile(at(data), []byte("mines"), 0o600))
	if _, err := s.read(d.Token, thread.Selection{}); !errors.Is(err, thread.ErrDamaged) {
		t.Errorf("the data was changed: %v", err)
	}
	for _, text := range []string{"", "{", "[]", `{"token":"max:ffffffff","kind":"text","ttl":1}`,
		`{"token":"` + string(d.Token) + `","kind":"../../x","ttl":1}`, strings.Repeat(" ", 70<<10)} {
		must(os.WriteFile(at(document), []byte(text), 0o600))
		_, err := s.Find(string(d.Token), anybody)
		if !errors.Is(err, thread.ErrDamaged) && !errors.Is(err, private.ErrTooLarge) {
			t.Errorf("a document %.50q: %v", text, err)
		}
	}
	if got, err := s.read(good.Token, thread.Selection{}); err != nil || got != "good" {
		t.Errorf("the others: %q (%v)", got, err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("outside there is %q (%v)", b, err)
	}
}

// TestBrokenOff: incomplete data leaves nothing.
func TestBrokenOff(t *testing.T) {
	s := newShelf(t)
	for _, size := range []int64{0, 10, 1 << 20} {
		for _, cause := range []error{io.ErrUnexpectedEOF, errors.New("reset")} {
			data := io.MultiReader(io.LimitReader(rand.NewChaCha8([32]byte{}), size), iotest.ErrReader(cause))
			if d, err := s.Stage(t.Context(), thread.StageRequest{}, data); !errors.Is(err, cause) {
				t.Errorf("%d bytes, then %v: %+v, %v", size, cause, d, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Stage(ctx, thread.StageRequest{}, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	if left := s.files(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestFlippedByte: data that was changed on disk is reported once it was read to the end, in parts too.
func TestFlippedByte(t *testing.T) {
	s := newShelf(t)
	text := strings.Repeat("a line\n", 40_000)
	d := s.stage(text, thread.StageRequest{})
	file := filepath.Join(s.dir, d.Token.Digits()+".txt")
	for _, at := range []int{0, len(text) / 2, len(text) - 2} {
		changed := []byte(text)
		changed[at] ^= 1
		if err := os.WriteFile(file, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		for part, bad := range map[thread.Selection]bool{
			{}: true, {Grep: "."}: true, {From: 3}: true, {To: 1 << 20}: true, {Head: 1 << 20}: true,
			{Head: 2}: false, {From: 2, To: 3}: false, {Grep: "line", Head: 2}: false,
		} {
			got, err := s.read(d.Token, part)
			if errors.Is(err, thread.ErrDamaged) != bad || bad && !strings.Contains(err.Error(), "SHA-256") {
				t.Errorf("byte %d, part %+v: %v", at, part, err)
			}
			if part == (thread.Selection{}) && got != string(changed) {
				t.Errorf("byte %d: %d bytes were read before the error", at, len(got))
			}
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.read(d.Token, thread.Selection{From: 1}); err != nil || got != text {
		t.Errorf("the data as it was: %d bytes (%v)", len(got), err)
	}
}

// TestLimits: data above the limit is refused and leaves nothing; the configured time to live is the default.
func TestLimits(t *testing.T) {
	const limit = 300_000 // more than is in memory at a time
	s := openWith(t, t.TempDir(), staging.Config{TTL: 2 * time.Hour, MaxBytes: limit})
	for _, size := range []int64{limit + 1, limit * 10} {
		_, err := s.Stage(t.Context(), thread.StageRequest{}, io.LimitReader(repeated("0123456789\n"), size))
		if !errors.Is(err, thread.ErrLimit) || !strings.Contains(err.Error(), "limits.stage_mb") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if left := s.files(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	d, err := s.Stage(t.Context(), thread.StageRequest{}, io.LimitReader(repeated("0123456789\n"), limit))
	if err != nil || d.Bytes != limit || d.Expires.Sub(d.Created) < 2*time.Hour-time.Second {
		t.Errorf("the limit itself: %+v (%v)", d, err)
	}
	if d := s.stage("x", thread.StageRequest{TTL: time.Minute}); d.Expires.Sub(d.Created) > time.Minute {
		t.Errorf("a minute: until %v", d.Expires)
	}
}

// TestUnknownPins: while it cannot be told what is needed, nothing expires and nothing is removed.
func TestUnknownPins(t *testing.T) {
	down := errors.New("the store is down")
	s := openWith(t, t.TempDir(), staging.Config{Pins: func() (map[thread.Token][]string, error) { return nil, down }})
	d := s.stage("x", thread.StageRequest{})
	if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != "x" {
		t.Errorf("%q (%v)", got, err)
	}
	s.ahead = 2 * time.Hour
	if _, err := s.Find(string(d.Token), anybody); !errors.Is(err, down) || errors.Is(err, thread.ErrExpired) {
		t.Errorf("find: %v", err)
	}
	if _, err := s.Sweep(t.Context()); !errors.Is(err, down) || len(s.files()) != 2 {
		t.Errorf("sweep: %v, left %v", err, s.files())
	}
}

// number returns an environment variable, or a default.
func number(t testing.TB, name string, enough int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(name))
	if os.Getenv(name) != "" && err != nil {
		t.Fatal(err)
	}
	if err != nil {
		return enough
	}
	return n
}

// TestNoTokenTwice: concurrent calls never get the same token, even if nearly all tokens are in use, or were until just
// now. STAGES=100000 stages that many of all possible tokens.
func TestNoTokenTwice(t *testing.T) {
	s := newShelf(t)
	const all = 64
	var mu sync.Mutex
	draws := 0
	s.Draw(func() thread.Token {
		mu.Lock()
		defer mu.Unlock()
		draws++
		return thread.Token(fmt.Sprintf("max:%08x", rand.IntN(all)))
	})
	given := s.stageMany(all*3/4, 16)
	if draws == len(given) {
		t.Error("no token was drawn twice, so that this proves nothing")
	}
	for token := range given {
		if err := s.Unstage(token); err != nil {
			t.Fatal(err)
		}
		break
	}
	for token, text := range s.stageMany(all/8, 4) {
		if had, twice := given[token]; twice {
			t.Errorf("%s was given for %q and %q", token, had, text)
		}
	}
	s.Draw(func() thread.Token { return "max:00000000" })
	if _, err := s.Stage(t.Context(), thread.StageRequest{}, strings.NewReader("x")); err == nil {
		s.Draw(func() thread.Token { return "max:00000000" })
		_, err = s.Stage(t.Context(), thread.StageRequest{}, strings.NewReader("x"))
		if !errors.Is(err, thread.ErrRefused) {
			t.Errorf("all tokens are taken: %v", err)
		}
	}
	s = newShelf(t)
	n := number(t, "STAGES", 1000)
	for token, text := range s.stageMany(n, 32) {
		if got, err := s.read(token, thread.Selection{}); err != nil || got != text {
			t.Fatalf("%s: %q (%v), staged was %q", token, got, err, text)
		}
	}
	if got := len(s.tokens()); got != n {
		t.Errorf("%d of %d are listed", got, n)
	}
}

// stageMany stages different texts concurrently and returns them by their tokens.
func (s *shelf) stageMany(n, atOnce int) map[thread.Token]string {
	s.Helper()
	var mu sync.Mutex
	given := map[thread.Token]string{}
	var wg sync.WaitGroup
	for w := range atOnce {
		wg.Go(func() {
			for i := w; i < n; i += atOnce {
				text := fmt.Sprintf("%d of %p", i, given)
				d, err := s.Stage(context.Background(), thread.StageRequest{}, strings.NewReader(text))
				mu.Lock()
				if had, twice := given[d.Token]; err != nil || twice {
					s.Errorf("%s was given for %q and %q (%v)", d.Token, had, text, err)
				}
				given[d.Token] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return given
}

// TestManyAtOnce has 100 goroutines stage, read, touch and unstage during sweeps.
func TestManyAtOnce(t *testing.T) {
	s := newShelf(t)
	shared := s.stage(strings.Repeat("shared\n", 2_000), thread.StageRequest{})
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			if _, err := s.Sweep(context.Background()); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			text := strings.Repeat(fmt.Sprintf("{\"of\":%d}\n", i), 1+i*20)
			d, err := s.Stage(context.Background(), thread.StageRequest{}, strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.read(d.Token, thread.Selection{}); err != nil || got != text {
				t.Errorf("%s: %d bytes of %d (%v)", d.Token, len(got), len(text), err)
			}
			got, err := s.read(shared.Token, thread.Selection{Grep: "shared"})
			if err != nil || int64(len(got)) != shared.Bytes {
				t.Errorf("shared: %d bytes (%v)", len(got), err)
			}
			_, touched := s.Touch(d.Token, time.Duration(i+1)*time.Hour)
			_, listed := s.List(anybody)
			if err := errors.Join(touched, listed, s.Unstage(d.Token)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(done)
	sweeping.Wait()
	if left := s.tokens(); !slices.Equal(left, []thread.Token{shared.Token}) {
		t.Errorf("left %v", left)
	}
}

// TestMemory: memory does not grow with the data.
func TestMemory(t *testing.T) {
	s := newShelf(t)
	const size = 32 << 20
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var d thread.Staged
	staged := allocated(func() {
		var err error
		lines := repeated(strings.Repeat("0123456789", 100) + "\n")
		if d, err = s.Stage(t.Context(), thread.StageRequest{}, io.LimitReader(lines, size)); err != nil {
			t.Fatal(err)
		}
	})
	var read [3]uint64
	for i, part := range []thread.Selection{{}, {Grep: "^9"}, {From: 30_000}} {
		read[i] = allocated(func() {
			r, err := s.Retrieve(d.Token, part)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := r.WriteTo(io.Discard); err != nil {
				t.Fatal(err)
			}
		})
	}
	for what, n := range map[string]uint64{"stage": staged, "retrieve": read[0], "--grep": read[1], "--range": read[2]} {
		if n > 4<<20 {
			t.Errorf("%s of %d bytes allocates %d", what, size, n)
		}
	}
}

// repeated is a reader that repeats a text without end.
type repeated string

func (r repeated) Read(b []byte) (int, error) {
	if len(b) < len(r) {
		return copy(b, r), nil
	}
	n := 0
	for n+len(r) <= len(b) {
		n += copy(b[n:], r)
	}
	return n, nil
}

// BenchmarkRecords stages 100,000 records, and copies them into a file and syncs it. It prints the ratio.
func BenchmarkRecords(b *testing.B) {
	var text bytes.Buffer
	for i := range 100_000 {
		record, err := json.Marshal(map[string]any{"id": i, "name": "John", "company": "Acme", "mail": "john@example.com"})
		if err != nil {
			b.Fatal(err)
		}
		text.Write(append(record, '\n'))
	}
	s := newShelf(b)
	var staged, copied time.Duration
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		began := time.Now()
		d, err := s.Stage(b.Context(), thread.StageRequest{}, bytes.NewReader(text.Bytes()))
		staged += time.Since(began)
		if err != nil || d.Records != 100_000 {
			b.Fatal(d.Records, err)
		}
		began = time.Now()
		f, err := os.CreateTemp(s.dir, "copy")
		if err == nil {
			_, err = io.Copy(f, struct{ io.Reader }{bytes.NewReader(text.Bytes())})
			err = errors.Join(err, f.Sync(), f.Close())
		}
		copied += time.Since(began)
		if err := errors.Join(err, s.Unstage(d.Token), os.Remove(f.Name())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(staged)/float64(copied), "×copy")
	b.ReportMetric(staged.Seconds()*1000/float64(b.N), "ms/100k")
}

// TestLongTokens: tokens of different lengths live side by side, and the beginning of a longer one finds it.
func TestLongTokens(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir, staging.Config{Digits: 12})
	long := s.stage("long\n", thread.StageRequest{})
	if n := len(long.Token.Digits()); n != 12 {
		t.Fatalf("%s has %d digits", long.Token, n)
	}
	for _, ref := range []string{string(long.Token), long.Token.Digits(), long.Token.Digits()[:8], long.Token.Digits()[:7]} {
		if d, err := s.Find(ref, anybody); err != nil || d.Token != long.Token {
			t.Errorf("%s finds %s, %v", ref, d.Token, err)
		}
		nobody := func(thread.Staged) bool { return false }
		if d, err := s.Find(ref, nobody); (err == nil) != (len(ref) >= 12) {
			t.Errorf("%s finds %s for somebody who does not see it, %v", ref, d.Token, err)
		}
	}
	s.Draw(func() thread.Token { return "max:" + thread.Token(long.Token.Digits()[:8]) })
	short := s.stage("short\n", thread.StageRequest{})
	if d, err := s.Find(string(short.Token), anybody); err != nil || d.Token != short.Token {
		t.Errorf("%s finds %s, %v", short.Token, d.Token, err)
	}
	if done := s.sweep(); done != (staging.Swept{}) || len(s.tokens()) != 2 {
		t.Errorf("swept %+v, left are %v", done, s.tokens())
	}
}

// TestTokensOfOthers: a token that something else uses names nothing here.
func TestTokensOfOthers(t *testing.T) {
	var other error
	s := openWith(t, t.TempDir(), staging.Config{
		Taken: func(t thread.Token) (bool, error) { return t == "max:00000000", other },
	})
	next := byte('0')
	s.Draw(func() thread.Token {
		next++
		return thread.Token("max:0000000" + string(next-1))
	})
	if d := s.stage("x", thread.StageRequest{}); d.Token != "max:00000001" {
		t.Errorf("the token is %s", d.Token)
	}
	if s.Has("max:00000000") || !s.Has("max:00000001") || s.Has("max:00000002") {
		t.Error("it does not know what it has")
	}
	before := s.files()
	other = errors.New("cannot tell")
	if _, err := s.Stage(t.Context(), thread.StageRequest{}, strings.NewReader("x")); !errors.Is(err, other) {
		t.Errorf("staged although nobody knows whether the token is free: %v", err)
	}
	if !slices.Equal(s.files(), before) {
		t.Errorf("left behind: %v", s.files())
	}
}

// TestWhatListsShowIsRedacted: a secret in a label or a source is in no list and in no file of ours, whether it was given
// or found in the data.
func TestWhatListsShowIsRedacted(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	s := newShelf(t)
	s.stage("x", thread.StageRequest{Source: "curl -H " + secret, Labels: []string{"mine", "token " + secret}})
	s.stage("{\"source\":\""+secret+"\"}\n{}\n", thread.StageRequest{})
	list, err := s.List(anybody)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if text := fmt.Sprintf("%+v", list); strings.Contains(text, secret) || !strings.Contains(text, "mine") ||
		!strings.Contains(text, "curl -H") {
		t.Errorf("it shows %s", text)
	}
	for _, name := range s.files() {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || strings.HasSuffix(name, ".meta.json") && strings.Contains(string(b), secret) {
			t.Errorf("%s has it: %v", name, err)
		}
	}
}
