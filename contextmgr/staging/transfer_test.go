package staging_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
)

func plainly(b []byte) []byte { return b }

// exportOf exports entries.
func (s *shelf) exportOf(redact func([]byte) []byte, tokens ...thread.Token) []byte {
	s.Helper()
	carried, left, err := s.Carried(tokens)
	if err != nil || left > 0 {
		s.Fatalf("%d left out, %v", left, err)
	}
	var b bytes.Buffer
	if err := s.Export(&b, carried, redact); err != nil {
		s.Fatal(err)
	}
	if err := staging.CheckImport(bytes.NewReader(b.Bytes())); err != nil {
		s.Fatalf("an import would refuse it: %v", err)
	}
	return b.Bytes()
}

// TestExportAndImport: entries have the same tokens and bytes in another store.
func TestExportAndImport(t *testing.T) {
	s := newShelf(t)
	text := s.stage("one\ntwo\n", thread.StageRequest{Source: "me", Labels: []string{"x"}, TTL: 2 * time.Hour})
	binary := s.stage("\x00\xff", thread.StageRequest{Thread: "t1"})
	empty := s.stage("", thread.StageRequest{})
	other := s.stage("not named", thread.StageRequest{})
	stream := s.exportOf(plainly, text.Token, "max:ffffffff", binary.Token, empty.Token)

	there := newShelf(t)
	got, err := there.Import(t.Context(), "t9", bytes.NewReader(stream))
	if err != nil || len(got.Others) > 0 || !slices.Equal(got.New, []thread.Token{text.Token, binary.Token, empty.Token}) {
		t.Fatalf("%+v, %v", got, err)
	}
	for token, want := range map[thread.Token]string{text.Token: "one\ntwo\n", binary.Token: "\x00\xff", empty.Token: ""} {
		if data, err := there.read(token, thread.Selection{}); err != nil || data != want {
			t.Errorf("%s has %q, %v", token, data, err)
		}
	}
	d, err := there.Find(string(text.Token), anybody)
	if err != nil || d.Thread != "t9" || d.Source != "me" || !slices.Equal(d.Labels, []string{"x"}) || d.Records != 2 ||
		d.Expires.Sub(d.Created) < time.Hour {
		t.Errorf("%+v, %v", d, err)
	}
	if there.Has(other.Token) {
		t.Error("data that is not named came with it")
	}
	there.ahead = 3 * time.Hour // it has expired: an import has it again, under the same tokens
	if again, err := there.Import(t.Context(), "t9", bytes.NewReader(stream)); err != nil || len(again.New) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if data, err := there.read(text.Token, thread.Selection{}); err != nil || data != "one\ntwo\n" {
		t.Errorf("again it has %q, %v", data, err)
	}
	there.ahead = 6 * time.Hour
	there.sweep()
	if again, err := there.Import(t.Context(), "t9", bytes.NewReader(stream)); err != nil || len(again.Others) > 0 ||
		len(there.tokens()) != 3 {
		t.Errorf("after a sweep: %+v, %v, %v", again, there.tokens(), err)
	}
	if err := there.Discard(got.New); err != nil || len(there.files()) > 0 {
		t.Errorf("left are %v, %v", there.files(), err)
	}
}

// TestImportOverOther: a token that other data or something else has is replaced.
func TestImportOverOther(t *testing.T) {
	s := newShelf(t)
	s.Draw(func() thread.Token { return "max:00000001" })
	a := s.stage("a", thread.StageRequest{})
	s.Draw(func() thread.Token { return "max:00000002" })
	b := s.stage("b", thread.StageRequest{})
	stream := s.exportOf(plainly, a.Token, b.Token)
	there := openWith(t, t.TempDir(), staging.Config{Taken: func(t thread.Token) (bool, error) { return t == b.Token, nil }})
	there.Draw(func() thread.Token { return a.Token })
	there.stage("other", thread.StageRequest{})
	next := 10
	there.Draw(func() thread.Token { next++; return thread.Token(fmt.Sprintf("max:000000%d", next)) })
	if own, err := there.Import(t.Context(), "", bytes.NewReader(s.exportOf(plainly, a.Token))); err != nil || len(own.New) > 0 {
		t.Errorf("the person's data was staged beside what is here: %+v, %v", own, err)
	}
	got, err := there.Import(t.Context(), "t9", bytes.NewReader(stream))
	if err != nil || got.Others[a.Token] != "max:00000011" || got.Others[b.Token] != "max:00000012" {
		t.Fatalf("%+v, %v", got, err)
	}
	for token, want := range map[thread.Token]string{a.Token: "other", "max:00000011": "a", "max:00000012": "b"} {
		if data, err := there.read(token, thread.Selection{}); err != nil || data != want {
			t.Errorf("%s has %q, %v", token, data, err)
		}
	}
}

// TestImportOfLongTokens: a token is replaced by one as long, so that texts that name it keep their length.
func TestImportOfLongTokens(t *testing.T) {
	s := openWith(t, t.TempDir(), staging.Config{Digits: 12})
	a := s.stage("a", thread.StageRequest{})
	there := openWith(t, t.TempDir(), staging.Config{Taken: func(t thread.Token) (bool, error) { return t == a.Token, nil }})
	got, err := there.Import(t.Context(), "t9", bytes.NewReader(s.exportOf(plainly, a.Token)))
	if other := got.Others[a.Token]; err != nil || len(other.Digits()) != 12 {
		t.Errorf("%s became %q, %v", a.Token, other, err)
	}
}

// TestExportRedacts: text is redacted, binary data is not.
func TestExportRedacts(t *testing.T) {
	s := newShelf(t)
	text := s.stage("my canary\n", thread.StageRequest{Labels: []string{"canary"}, Source: "canary"})
	binary := s.stage("\x00canary", thread.StageRequest{})
	stream := s.exportOf(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("canary"), []byte("******")) },
		text.Token, binary.Token)
	if n := bytes.Count(stream, []byte("canary")); n != 1 {
		t.Errorf("it is there %d times", n)
	}
	there := newShelf(t)
	if _, err := there.Import(t.Context(), "", bytes.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	if data, err := there.read(text.Token, thread.Selection{}); err != nil || data != "my ******\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestTooMuchIsLeftOut: what would make an archive too large stays.
func TestTooMuchIsLeftOut(t *testing.T) {
	s := newShelf(t)
	small := s.stage("x", thread.StageRequest{})
	large, err := s.Stage(t.Context(), thread.StageRequest{}, bytes.NewReader(make([]byte, 64<<20+1)))
	if err != nil {
		t.Fatal(err)
	}
	carried, left, err := s.Carried([]thread.Token{large.Token, small.Token})
	if err != nil || left != 1 || !slices.Equal(carried, []thread.Token{small.Token}) {
		t.Errorf("%v, %d left out, %v", carried, left, err)
	}
}

// entry is an entry of an export with other words in place of some.
func entry(data string, swap ...string) string {
	sum := sha256.Sum256([]byte(data))
	head := fmt.Sprintf(`{"token":"max:a1b2c3d4","kind":"text","seconds":60,"bytes":%d,"sha256":"%s"}`, len(data),
		hex.EncodeToString(sum[:]))
	head = strings.NewReplacer(swap...).Replace(head)
	return string(binary.AppendUvarint(nil, uint64(len(head)))) + head + data
}

// TestImportBeyondLimits: what the limits here have no room for is left out and counted, and the rest is staged.
func TestImportBeyondLimits(t *testing.T) {
	s := newShelf(t)
	large, small := s.stage(strings.Repeat("x", 5000), thread.StageRequest{}), s.stage("small", thread.StageRequest{})
	stream := s.exportOf(plainly, large.Token, small.Token)
	there := openWith(t, t.TempDir(), staging.Config{MaxBytes: 1000})
	done, err := there.Import(t.Context(), "t9", bytes.NewReader(stream))
	if err != nil || done.LeftOut != 1 || len(done.New) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if data, err := there.read(small.Token, thread.Selection{}); err != nil || data != "small" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestHostileImport: what no export has is refused, and nothing is staged of the bad entry.
func TestHostileImport(t *testing.T) {
	if err := staging.CheckImport(strings.NewReader(entry("x") + entry("", "a1b2c3d4", "00000000"))); err != nil {
		t.Fatalf("the good one that the bad ones are made of: %v", err)
	}
	many := strings.Builder{}
	for i := range 1001 {
		many.WriteString(entry("", "a1b2c3d4", fmt.Sprintf("%08x", i)))
	}
	for name, c := range map[string]struct{ stream, says string }{
		"no size":                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "begin with a size"},
		"a large head":            {string(binary.AppendUvarint(nil, 1<<40)), "begin with a size"},
		"half a head":             {entry("x")[:20], "ends early"},
		"half of the data":        {strings.TrimSuffix(entry("xyz"), "z"), "ends early"},
		"a wrong hash":            {strings.TrimSuffix(entry("x"), "x") + "y", "SHA-256"},
		"a wrong hash of nothing": {entry("", `"sha256":"e3`, `"sha256":"e4`), "SHA-256"},
		"no hash":                 {entry("x", `"sha256":"`, `"sha256":"x`), "no export has"},
		"huge data":               {entry("x", `"bytes":1`, `"bytes":67108865`), "no export has"},
		"negative data":           {entry("x", `"bytes":1`, `"bytes":-1`), "no export has"},
		"a path":                  {entry("x", "a1b2c3d4", "../../ab"), "token"},
		"half a token":            {entry("x", "a1b2c3d4", "a1b2"), "token"},
		"a token twice":           {entry("x") + entry("y"), "twice"},
		"an unknown kind":         {entry("x", `"text"`, `"../x"`), "no export has"},
		"no time":                 {entry("x", `"seconds":60`, `"seconds":0`), "no export has"},
		"for ever":                {entry("x", `"seconds":60`, `"seconds":9223372036854775807`), "no export has"},
		"a source of two lines":   {entry("x", `"kind"`, `"source":"a\nb","kind"`), "one line"},
		"an unknown field":        {entry("x", `"kind"`, `"file":"/etc/passwd","kind"`), "unknown field"},
		"two values":              {entry("x", `60`, `60}{"x":1`), ""},
		"too many":                {many.String(), "more than 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			err := staging.CheckImport(strings.NewReader(c.stream))
			if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			s := newShelf(t)
			if name == "too many" {
				return // a thousand syncs tell nothing more
			}
			got, err := s.Import(t.Context(), "", strings.NewReader(c.stream))
			if err == nil {
				t.Error("it was imported")
			}
			if err := s.Discard(got.New); err != nil || len(s.files()) > 0 {
				t.Errorf("left are %v, %v", s.files(), err)
			}
		})
	}
}
