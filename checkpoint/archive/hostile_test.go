package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// file builds archives by hand.
type file struct {
	entries []tar.Header
	bodies  [][]byte
}

func (f *file) add(name string, body string) *file {
	f.entries = append(f.entries, tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o600})
	f.bodies = append(f.bodies, []byte(body))
	return f
}

const (
	goodThread = `{"id":"t","name":"t-0001","label":"","agent":"demo","model":"","session":"","head":"","created":"2026-01-01T00:00:00Z"}`
	goodRecord = `{"checkpoint":{"id":"c1","thread":"t","seq":1,"turn":1,"kind":"turn","created":"2026-01-01T00:00:00Z","usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"costUSD":0,"priced":false},` +
		`"gauge":{"tokens":0,"window":0,"model":"","estimated":false,"costUSD":0,"source":""},"items":1},"keep":0,"items":[{"wire":"anthropic","size":2}],"chunks":[]}`
)

func record(head, body string) string {
	return string(binary.AppendUvarint(nil, uint64(len(head)))) + head + body
}

// manifest adds one that fits what is there so far.
func (f *file) manifest(records int) *file {
	type entry struct {
		Name   string `json:"name"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	var es []entry
	for i, h := range f.entries {
		s := sha256.Sum256(f.bodies[i])
		es = append(es, entry{h.Name, h.Size, hex.EncodeToString(s[:])})
	}
	b, _ := json.Marshal(map[string]any{"format": 1, "program": "x", "created": now, "entries": es, "records": records})
	return f.add("manifest", string(b))
}

func (f *file) bytes(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for i, h := range f.entries {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.bodies[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func begun() *file { return (&file{}).add("format", "1").add("thread", goodThread) }

func with(head, body string) *file {
	return begun().add("checkpoints/00001", record(head, body)).manifest(1)
}

// TestHostile holds archives that somebody made to do harm. Each is refused by name before the first write.
func TestHostile(t *testing.T) {
	swap := func(old, now string) *file { return with(strings.Replace(goodRecord, old, now, 1), "{}") }
	link := func(kind byte, to string) *file {
		f := begun()
		f.entries = append(f.entries, tar.Header{Name: "checkpoints/00001", Typeflag: kind, Linkname: to})
		f.bodies = append(f.bodies, nil)
		return f
	}
	about := func(old, now string) *file {
		return (&file{}).add("format", "1").add("thread", strings.Replace(goodThread, old, now, 1)).manifest(0)
	}
	deep := strings.Repeat("[", 1_000_000)
	for name, tc := range map[string]struct {
		f    *file
		says string
	}{
		"traversal":        {begun().add("../../x", "x"), "unknown name"},
		"traversal inside": {begun().add("checkpoints/../../x", "x"), "is not part 1"},
		"absolute":         {begun().add("/etc/passwd", "x"), "unknown name"},
		"drive":            {begun().add(`C:\x`, "x"), "unknown name"},
		"backslashes":      {begun().add(`..\..\x`, "x"), "unknown name"},
		"link":             {link(tar.TypeSymlink, "/etc/passwd"), "not a regular file"},
		"hard link":        {link(tar.TypeLink, "thread"), "not a regular file"},
		"device":           {link(tar.TypeChar, ""), "not a regular file"},
		"pipe":             {link(tar.TypeFifo, ""), "not a regular file"},
		"folder":           {link(tar.TypeDir, ""), "not a regular file"},
		"duplicate":        {begun().add("thread", goodThread), "out of order or duplicate"},
		"duplicate part": {begun().add("checkpoints/00001", record(goodRecord, "{}")).add("checkpoints/00001", "x"),
			"is not part 2"},
		"gap":              {begun().add("checkpoints/00002", "x"), "is not part 1"},
		"no thread":        {(&file{}).add("format", "1").add("checkpoints/00001", "x"), "comes before"},
		"order":            {begun().add("snapshots/00001", "x").add("checkpoints/00001", "x"), "out of order"},
		"no format":        {(&file{}).add("thread", goodThread), "comes before"},
		"newer format":     {(&file{}).add("format", "5"), "this program reads 1 to 4"},
		"masks too early":  {begun().add("masks/00001", "x"), "unknown name"}, // of a layout that has none
		"work too early":   {(&file{}).add("format", "3").add("thread", goodThread).add("work/00001", "x"), "unknown name"},
		"staged too early": {begun().add("staged/00001", "x"), "unknown name"},
		"no manifest":      {begun(), "truncated"},
		"after manifest":   {with(goodRecord, "{}").add("snapshots/00001", "x"), "after the manifest"},
		"wrong hash":       {with(goodRecord, "{}").spoil(), "does not match its hash"},
		"records": {begun().add("checkpoints/00001", record(goodRecord, "{}")).manifest(7),
			"does not match the content"},
		"half a record": {begun().add("checkpoints/00001", record(goodRecord, "{")).manifest(1), "incomplete record"},
		"large head": {begun().add("checkpoints/00001", string(binary.AppendUvarint(nil, 1<<62))).manifest(1),
			"head has more than"},
		"overflow head": {begun().add("checkpoints/00001", strings.Repeat("\xff", 11)).manifest(1), "head has more than"},
		"large item":    {swap(`"size":2`, `"size":2000000000`), "out of bounds"},
		"many large items": {swap(`{"wire":"anthropic","size":2}`,
			strings.TrimSuffix(strings.Repeat(`{"wire":"a","size":60000000},`, 40), ",")), "out of bounds"},
		"negative item":  {swap(`"size":2`, `"size":-2`), "out of bounds"},
		"huge number":    {swap(`"size":2`, `"size":1e400`), "cannot unmarshal"},
		"deep item":      {with(strings.Replace(goodRecord, `"size":2`, `"size":1000000`, 1), deep), "nested deeper"},
		"deep head":      {with(deep, ""), "nested deeper"},
		"deep thread":    {about(goodThread, deep), "nested deeper"},
		"no JSON":        {with(goodRecord, "xx"), "not JSON"},
		"proto":          {swap(`"keep":0`, `"keep":0,"__proto__":{"x":1}`), "unknown field"},
		"constructor":    {swap(`"keep":0`, `"keep":0,"lc":1,"type":"constructor","id":["os","system"]`), "unknown field"},
		"two values":     {with(goodRecord+goodRecord, "{}"), "more than one value"},
		"own parent":     {swap(`"thread":"t"`, `"thread":"t","parent":"c1"`), "does not come before"},
		"no such parent": {swap(`"thread":"t"`, `"thread":"t","parent":"zz"`), "does not come before"},
		"keep of none":   {swap(`"keep":0`, `"keep":5`), "keeps 5"},
		"items differ":   {swap(`"items":1`, `"items":9`), "instead of 9"},
		"kind":           {swap(`"kind":"turn"`, `"kind":"run"`), "kind"},
		"id":             {swap(`"id":"c1"`, `"id":"a') OR 1=1--"`), "checkpoint id"},
		"id with NUL":    {swap(`"id":"c1"`, `"id":"a\u0000"`), "checkpoint id"},
		"file name": {swap(`"chunks":[]`, `"chunks":[{"file":"../../.bashrc","offset":0,"size":0}]`),
			"transcript file"},
		"file absolute":    {swap(`"chunks":[]`, `"chunks":[{"file":"/etc/x","offset":0,"size":0}]`), "transcript file"},
		"file backslash":   {swap(`"chunks":[]`, `"chunks":[{"file":"..\\x","offset":0,"size":0}]`), "transcript file"},
		"file gap":         {swap(`"chunks":[]`, `"chunks":[{"file":"main","offset":999,"size":0}]`), "chunk at 999"},
		"commit":           {swap(`"items":1}`, `"items":1,"snapshot":{"commit":"--upload-pack=touch x","tree":"","base":"","files":0,"insertions":0,"deletions":0}}`), "commit"},
		"session":          {swap(`"items":1}`, `"items":1,"session":"../../x"}`), "session"},
		"escape in note":   {swap(`"items":1}`, `"items":1,"note":"\u001b]52;c;x\u0007"}`), "note"},
		"long MCP server":  {swap(`"items":1}`, `"items":1,"mcp":["`+strings.Repeat("x", 201)+`"]}`), "MCP server has 201 bytes"},
		"many MCP servers": {swap(`"items":1}`, `"items":1,"mcp":["a"`+strings.Repeat(`,"a"`, 1000)+`]}`), "1001 MCP servers"},
		"escape in MCP":    {swap(`"items":1}`, `"items":1,"mcp":["\u001b[2J"]}`), "control characters"},
		"escape in base":   {swap(`"items":1}`, `"items":1,"base":{"profile":"\u001b[2J"}}`), "control characters"},
		"long base":        {swap(`"items":1}`, `"items":1,"base":{"profile":"`+strings.Repeat("x", 201)+`"}}`), "base has 201 bytes"},
		"flag in base":     {swap(`"items":1}`, `"items":1,"base":{"left":["--evil"]}}`), "part left out"},
		"many parts":       {swap(`"items":1}`, `"items":1,"base":{"left":["a"`+strings.Repeat(`,"a"`, 1000)+`]}}`), "1001 parts"},
		"thread's name":    {about("t-0001", "--config=x"), "thread name"},
		"thread's session": {about(`"session":""`, `"session":"../x"`), "session"},
		"thread's program": {about(`"label":""`, `"label":"","launch":{"program":["sh","-c","x"]}`), "unknown field"},
		"thread's head":    {about(`"head":""`, `"head":"nowhere"`), "not in the file"},
		"not an archive":   {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte("PK\x03\x04 something else entirely")
			if tc.f != nil {
				b = tc.f.bytes(t)
			}
			refused(t, b, tc.says)
		})
	}
	good := with(goodRecord, "{}").bytes(t)
	if _, err := importInto(memory.New(), good, nil); err != nil {
		t.Errorf("the good one that the bad ones are made of: %v", err)
	}
}

// spoil changes a byte after the manifest was made.
func (f *file) spoil() *file {
	b := f.bodies[2]
	f.bodies[2] = bytes.Replace(b, []byte("2026-01-01"), []byte("2026-01-02"), 1)
	return f
}

// refused imports and expects an error that names the file, and nothing written.
func refused(t *testing.T, b []byte, says string) {
	t.Helper()
	s := &strict{Store: memory.New(), t: t}
	_, err := importInto(s, b, func(thread.ID, io.Reader) error { t.Error("the bundle was taken"); return nil })
	if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "x.orch") ||
		!strings.Contains(fmt.Sprint(err), says) {
		t.Errorf("got %v, want %q", err, says)
	}
}

// strict is a store that must not be written to.
type strict struct {
	*memory.Store
	t *testing.T
}

func (s *strict) PutIntent(context.Context, thread.Intent) error {
	s.t.Error("written before all was checked")
	return nil
}

// TestBombs refuses what unpacks to too much, and does not hold it.
func TestBombs(t *testing.T) {
	zero := func(name string, size int64) []byte {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(z)
		for i, h := range begun().entries {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(begun().bodies[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}); err != nil {
			t.Fatal(err)
		}
		block := make([]byte, 1<<20)
		for left := min(size, 64<<20); left > 0; left -= int64(len(block)) {
			if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	refused(t, zero("snapshots/00001", 60<<20), "unpack to more")
	refused(t, zero("snapshots/00001", 1<<33-1), "the limit is")
	refused(t, zero("thread2", 1<<40), "")
	many := begun()
	for n := range 10_001 {
		many.add(fmt.Sprintf("snapshots/%05d", n+1), "")
	}
	refused(t, many.bytes(t), "more than 10000 entries")
}

// TestTornAndFlipped cuts and changes a good archive anywhere.
func TestTornAndFlipped(t *testing.T) {
	b := newWorld(t).export(strings.NewReader("bundle"))
	rnd := rand.New(rand.NewSource(4))
	for range 150 {
		cut := append([]byte(nil), b[:rnd.Intn(len(b))]...)
		refused(t, cut, "")
		flipped := append([]byte(nil), b...)
		flipped[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8)
		if _, err := archive.Check("x", bytes.NewReader(flipped)); err == nil {
			// A flip that changes nothing, as in a frame's unused bits, must import the same.
			to := memory.New()
			th, err := importInto(to, flipped, nil)
			if err != nil {
				t.Fatal(err)
			}
			if items, err := to.Conversation(t.Context(), th.Head); err != nil || len(items) != 7 {
				t.Errorf("%d items, %v", len(items), err)
			}
		}
	}
}

// FuzzCheck feeds what zstd holds: it is refused as invalid, or it is imported whole.
func FuzzCheck(f *testing.F) {
	for _, seed := range []*file{
		with(goodRecord, "{}"), begun().manifest(0), begun().add("snapshots/00001", "x").manifest(0),
		with(strings.Replace(goodRecord, `"chunks":[]`, `"chunks":[{"file":"main","offset":0,"size":2}]`, 1), "{}{}"),
	} {
		z, err := zstd.NewReader(bytes.NewReader(seed.bytes(f)))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		z.Close()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	// One for all: a new one a run takes longer than all else.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		b := z.EncodeAll(plain, nil)
		if _, err := archive.Check("x", bytes.NewReader(b)); err != nil {
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("not said to be invalid: %v", err)
			}
			return
		}
		if _, err := importInto(memory.New(), b, nil); err != nil {
			t.Errorf("checked, yet not imported: %v", err)
		}
	})
}

// FuzzRecord changes what a record says in an archive whose manifest fits: it is refused as invalid, or it is imported,
// and an export of the import holds the same again.
func FuzzRecord(f *testing.F) {
	f.Add(goodRecord, "{}")
	f.Add(strings.Replace(goodRecord, `"chunks":[]`, `"chunks":[{"file":"main","offset":0,"size":2}]`, 1), "{}{}")
	f.Fuzz(func(t *testing.T, head, body string) {
		b := with(head, body).bytes(t)
		sum, err := archive.Check("x", bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("not said to be invalid: %v", err)
			}
			return
		}
		to := memory.New()
		th, err := importInto(to, b, nil)
		if err != nil {
			t.Fatalf("checked, yet not imported: %v", err)
		}
		var out bytes.Buffer
		if err := (archive.Export{Thread: th.ID, Now: now}).Write(t.Context(), to, &out); err != nil {
			t.Fatalf("imported, yet not exported: %v", err)
		}
		again, err := archive.Check("x", bytes.NewReader(out.Bytes()))
		if err != nil || again.Checkpoints != sum.Checkpoints+1 { // an import says so in one of its own
			t.Errorf("%d checkpoints, again %d: %v", sum.Checkpoints, again.Checkpoints, err)
		}
	})
}
