package masks_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

func plainly(b []byte) []byte { return b }

// exportOf exports a set.
func exportOf(t testing.TB, set *masks.Set, redact func([]byte) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if left, err := set.Export(&b, redact, nil); err != nil || left > 0 {
		t.Fatalf("%d left out, %v", left, err)
	}
	if err := masks.CheckImport(bytes.NewReader(b.Bytes()), nil); err != nil {
		t.Fatalf("an import would refuse it: %v", err)
	}
	return b.Bytes()
}

// settings adds what a set has besides masks.
func settings(t testing.TB, set *masks.Set, path string) {
	t.Helper()
	sum := masks.Summary{ID: "s1", Items: 4, Text: "in " + path + ": äöü", Tokens: 7, First: masks.Hash{1}, Last: masks.Hash{2}}
	gone := masks.Summary{ID: "s2", Items: 2, Text: "dropped", Dropped: true}
	if err := errors.Join(set.AddSummary(sum), set.AddSummary(gone), set.Pin("pinned"), set.SetMode("lean")); err != nil {
		t.Fatal(err)
	}
}

// TestExportAndImport: a fork has the same masks in another store, with the paths of that.
func TestExportAndImport(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("parent", ""), item("a", "one\n"))
	fork := w.set("fork", "parent")
	b := w.add(fork, item("b", "\x00\xff binary"), item("c", ""))[0]
	settings(t, fork, b.File)
	stream := exportOf(t, fork, plainly)

	there := open(t, t.TempDir())
	others, err := there.Import("new", bytes.NewReader(stream), nil)
	if err != nil || len(others.Others) > 0 {
		t.Fatalf("%v, %v", others, err)
	}
	for range 2 { // and after a restart
		set := there.set("new", "")
		there.has(set, "a", "one\n") // the text has the path of the file that it has here
		there.has(set, "c", "")
		m := there.has(set, "b", "\x00\xff binary")
		if m.Home != "new" || m.Token != b.Token || m.Tool != b.Tool || m.Request != b.Request || !m.At.Equal(b.At) {
			t.Errorf("%+v\nbecame %+v", b, m)
		}
		sums := set.Summaries()
		if len(sums) != 2 || sums[0].Text != "in "+m.File+": äöü" || sums[0].First != (masks.Hash{1}) || !sums[1].Dropped {
			t.Errorf("summaries %+v", sums)
		}
		if !set.Pinned("pinned") || set.Mode() != "lean" || ids(set.All()) != "a b c" {
			t.Errorf("pinned %v, mode %s, masks %s", set.Pinned("pinned"), set.Mode(), ids(set.All()))
		}
		if again := exportOf(t, set, plainly); bytes.Contains(again, []byte(w.dir)) {
			t.Error("it names the folder that it comes from")
		}
		there = there.again()
	}
	if _, err := there.Import("new", bytes.NewReader(stream), nil); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("imported over other masks: %v", err)
	}
}

// TestImportBesideItself: where the tokens are in use, others are given, and the texts name those.
func TestImportBesideItself(t *testing.T) {
	dir := t.TempDir()
	folder, err := private.Make(dir, "masks")
	if err != nil {
		t.Fatal(err)
	}
	staged := map[thread.Token]bool{}
	w := &world{TB: t, dir: dir, Store: masks.Open(folder, masks.Config{Taken: func(k thread.Token) bool { return staged[k] }})}
	t.Cleanup(func() { _ = w.Close() })
	set := w.set("t1", "")
	a := w.add(set, item("a", "one\n"))[0]
	settings(t, set, a.File+" "+string(a.Token))
	stream := exportOf(t, set, plainly)
	if has, err := w.Has(a.Token); !has || err != nil {
		t.Errorf("it does not know that %s is in use: %v", a.Token, err)
	}
	others, err := w.Import("t2", bytes.NewReader(stream), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := w.has(w.set("t2", ""), "a", "one\n")
	if m.Token == a.Token || len(others.Others) != 1 || others.Others[a.Token] != m.Token {
		t.Errorf("%s became %s: %v", a.Token, m.Token, others)
	}
	if text := w.set("t2", "").Summaries()[0].Text; text != "in "+m.File+" "+string(m.Token)+": äöü" {
		t.Errorf("the summary says %q", text)
	}
	w.has(set, "a", "one\n") // as before

	there := open(t, t.TempDir()) // where staging has the token
	folder2, err := private.Make(there.dir, "masks2")
	if err != nil {
		t.Fatal(err)
	}
	second := masks.Open(folder2, masks.Config{Taken: func(k thread.Token) bool { return k == a.Token }})
	t.Cleanup(func() { _ = second.Close() })
	if others, err := second.Import("t3", bytes.NewReader(stream), nil); err != nil || others.Others[a.Token] == "" {
		t.Errorf("a token of staged data was taken: %v, %v", others, err)
	}
}

// TestExportsBesideEachOther: what a fork has from its parent stands once in a file of many threads, and is one copy
// again where they are imported, under another token too. A stream that stands alone may name no other thread.
func TestExportsBesideEachOther(t *testing.T) {
	for name, taken := range map[string]bool{"free": false, "in use": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t, t.TempDir())
			parent := w.set("parent", "")
			a := w.add(parent, item("a", strings.Repeat("kept in the parent\n", 500)))[0]
			fork := w.set("fork", "parent")
			w.add(fork, item("b", "kept in the fork\n"))
			later := w.add(parent, item("c", "masked after the fork\n"))[0]
			settings(t, fork, "see "+a.File)
			written := map[thread.ID]bool{}
			export := func(id thread.ID, set *masks.Set) []byte {
				var b bytes.Buffer
				left, err := set.Export(&b, plainly, func(m masks.Mask) thread.ID {
					if written[m.Home] && m.Home != id {
						return m.Home
					}
					return ""
				})
				if err != nil || left > 0 {
					t.Fatal(left, err)
				}
				written[id] = true
				return b.Bytes()
			}
			first, second := export("parent", parent), export("fork", fork)
			if bytes.Contains(second, []byte("kept in the parent")) {
				t.Error("the content stands twice")
			}
			beside := func(id thread.ID) bool { return id == "parent" }
			if err := masks.CheckImport(bytes.NewReader(second), beside); err != nil {
				t.Error(err)
			}
			if err := masks.CheckImport(bytes.NewReader(second), nil); !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("a stream that stands alone names another thread: %v", err)
			}

			there := open(t, t.TempDir())
			if taken {
				folder, err := private.Make(there.dir, "masks2")
				if err != nil {
					t.Fatal(err)
				}
				store := masks.Open(folder, masks.Config{Taken: func(k thread.Token) bool { return k == a.Token }})
				t.Cleanup(func() { _ = store.Close() })
				there = &world{TB: t, dir: there.dir, Store: store}
			}
			for id, stream := range map[thread.ID][]byte{"parent": first} {
				if _, err := there.Import(id, bytes.NewReader(stream), beside); err != nil {
					t.Fatal(err)
				}
			}
			others, err := there.Import("fork", bytes.NewReader(second), beside)
			if err != nil || others.Lost > 0 || taken != (len(others.Others) == 1) {
				t.Fatalf("%v, %v", others, err)
			}
			has := there.has(there.set("parent", ""), "a", strings.Repeat("kept in the parent\n", 500))
			got := there.has(there.set("fork", "parent"), "a", strings.Repeat("kept in the parent\n", 500))
			if got.Home != "parent" || got.Token != has.Token || got.File != has.File || taken == (got.Token == a.Token) {
				t.Errorf("the fork has %+v, its parent %+v", got, has)
			}
			there.has(there.set("fork", "parent"), "b", "kept in the fork\n")
			if _, masked := there.set("fork", "parent").Mask(later.ID); masked {
				t.Error("what the parent masked after the fork is masked of the fork")
			}
			if text := there.set("fork", "parent").Summaries()[0].Text; !strings.Contains(text, has.File) {
				t.Errorf("the summary says %q, the file is %q", text, has.File)
			}
		})
	}
}

// TestImportAgain: what was removed comes back under its own tokens, and a copy that a fork needs outlives an import that
// failed.
func TestImportAgain(t *testing.T) {
	w := open(t, t.TempDir())
	parent := w.set("parent", "")
	a := w.add(parent, item("a", "one\n"))[0]
	stream := exportOf(t, parent, plainly)
	beside := func(thread.ID) bool { return true }
	if err := w.Drop("parent"); err != nil {
		t.Fatal(err)
	}
	done, err := w.Import("parent", bytes.NewReader(stream), beside)
	if err != nil || len(done.Others) > 0 {
		t.Errorf("imported after it was removed: %+v, %v", done, err)
	}
	if got := w.has(w.set("parent", ""), "a", "one\n"); got.Token != a.Token {
		t.Errorf("it is %s, was %s", got.Token, a.Token)
	}
	var fork bytes.Buffer
	if _, err := w.set("fork", "parent").Export(&fork, plainly, func(masks.Mask) thread.ID { return "parent" }); err != nil {
		t.Fatal(err)
	}
	there := open(t, t.TempDir())
	there.add(there.set("parent", ""), item("b", "another\n"))
	if done, err := there.Import("fork", bytes.NewReader(fork.Bytes()), beside); err != nil || done.Lost != 1 {
		t.Errorf("a parent that has less: %+v, %v", done, err)
	}
}

// TestEmptyImport: a fork of which nothing is masked takes nothing of what its parent has masked since.
func TestEmptyImport(t *testing.T) {
	w := open(t, t.TempDir())
	w.add(w.set("parent", ""), item("a", "one\n"))
	if _, err := w.Import("fork", strings.NewReader(""), nil); err != nil {
		t.Fatal(err)
	}
	if set := w.set("fork", "parent"); !set.Empty() {
		t.Errorf("it has %+v", set.All())
	}
}

// TestExportRedacts: redacted contents and texts are what is imported, with their own hashes.
func TestExportRedacts(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	w.add(set, item("a", "my canary\n"))
	settings(t, set, "canary")
	stream := exportOf(t, set, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("canary"), []byte("******")) })
	if bytes.Contains(stream, []byte("canary")) {
		t.Error("it is still there")
	}
	there := open(t, t.TempDir())
	if _, err := there.Import("t1", bytes.NewReader(stream), nil); err != nil {
		t.Fatal(err)
	}
	there.has(there.set("t1", ""), "a", "my ******\n")
	w.has(set, "a", "my canary\n")
}

// TestExportAfterAMove: the texts have the path from before, and get the one in the new store.
func TestExportAfterAMove(t *testing.T) {
	w := open(t, t.TempDir()+"/with a space")
	m := w.add(w.set("t1", ""), item("a", "one\n"))[0]
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	moved := w.dir + "2"
	if err := os.Rename(w.dir, moved); err != nil {
		t.Fatal(err)
	}
	stream := exportOf(t, open(t, moved).set("t1", ""), plainly)
	there := open(t, t.TempDir())
	if _, err := there.Import("t1", bytes.NewReader(stream), nil); err != nil {
		t.Fatal(err)
	}
	got := there.has(there.set("t1", ""), "a", "one\n")
	if strings.Contains(got.Stub, m.File) {
		t.Errorf("the text is %q", got.Stub)
	}
}

// TestNames: a mask notes which staged data its content names.
func TestNames(t *testing.T) {
	w := open(t, t.TempDir())
	m := w.add(w.set("t1", ""), item("a", "staged max:a1b2c3d4\nmax:a1b2c3d4e5f6 max:a1b2c3d4"))[0]
	if m.Names != "max:a1b2c3d4 max:a1b2c3d4e5f6" {
		t.Errorf("it names %q", m.Names)
	}
}

// TestNamesOfAThread: they are found in the log, of masks and summaries, and only if it has changed.
func TestNamesOfAThread(t *testing.T) {
	w := open(t, t.TempDir())
	if tokens, size, err := w.Names("t1", 0); len(tokens) > 0 || size != 0 || err != nil {
		t.Errorf("without a log: %v, %d, %v", tokens, size, err)
	}
	w.add(w.set("parent", ""), item("a", "max:bbbbbbbb"), item("b", "max:aaaaaaaa max:bbbbbbbb"))
	set := w.set("t1", "parent")
	if err := set.AddSummary(masks.Summary{ID: "s", Text: "see max:cccccccc"}); err != nil {
		t.Fatal(err)
	}
	tokens, size, err := w.Names("t1", 0)
	if want := []thread.Token{"max:aaaaaaaa", "max:bbbbbbbb", "max:cccccccc"}; !slices.Equal(tokens, want) || err != nil {
		t.Errorf("%v, %v", tokens, err)
	}
	if tokens, again, err := w.Names("t1", size); len(tokens) > 0 || again != size || err != nil {
		t.Errorf("again: %v, %d, %v", tokens, again, err)
	}
}

// entry is an entry of an export.
func entry(head, content string) string {
	return string(binary.AppendUvarint(nil, uint64(len(head)))) + head + content
}

// maskEntry is an entry of a mask with other words in place of some.
func maskEntry(content string, swap ...string) string {
	sum := sha256.Sum256([]byte(content))
	head := fmt.Sprintf(`{"mask":{"id":"i","stub":"[] /x/outputs/a1b2c3d4.txt max:a1b2c3d4","token":"max:a1b2c3d4",`+
		`"sum":"%s","bytes":%d},"path":"/x/outputs/a1b2c3d4.txt"}`, hex.EncodeToString(sum[:]), len(content))
	return entry(strings.NewReplacer(swap...).Replace(head), content)
}

// TestHostileImport: what no export has is refused, and nothing is left of it once it is dropped.
func TestHostileImport(t *testing.T) {
	w := open(t, t.TempDir())
	good := maskEntry("x")
	second := maskEntry("x", `"i"`, `"j"`, "a1b2c3d4", "00000000")
	long := strings.Repeat("x", 1001)
	if err := masks.CheckImport(strings.NewReader(good+second+entry(`{"pin":"p"}`, "")), nil); err != nil {
		t.Fatalf("the good one that the bad ones are made of: %v", err)
	}
	for name, c := range map[string]struct{ stream, says string }{
		"no size":                 {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "begin with a size"},
		"a large head":            {string(binary.AppendUvarint(nil, 1<<40)), "begin with a size"},
		"half a head":             {good[:20], "ends early"},
		"half a content":          {maskEntry("xyz")[:len(maskEntry("xyz"))-1], "ends after"},
		"a huge content":          {maskEntry("x", `"bytes":1`, `"bytes":200000000`), "no export has"},
		"a negative one":          {maskEntry("x", `"bytes":1`, `"bytes":-1`), "invalid"},
		"a wrong hash":            {strings.TrimSuffix(good, "x") + "y", "SHA-256"},
		"an id twice":             {good + maskEntry("x", "a1b2c3d4", "00000000"), "twice"},
		"a token twice":           {good + maskEntry("x", `"i"`, `"j"`), "twice"},
		"no token":                {maskEntry("x", `"token":"max:a1b2c3d4"`, `"token":"max:../../../x"`), "token"},
		"half a token":            {maskEntry("x", `"token":"max:a1b2c3d4"`, `"token":"max:a1b2"`), "token"},
		"no id":                   {maskEntry("x", `"id":"i"`, `"id":""`), "invalid"},
		"a long id":               {maskEntry("x", `"id":"i"`, `"id":"`+long+`"`), "no export has"},
		"a long tool":             {maskEntry("x", `"id":"i"`, `"id":"i","tool":"`+long+`"`), "no export has"},
		"another's folder":        {maskEntry("x", `"id":"i"`, `"id":"i","home":"t9"`), "no export has"},
		"a home outside":          {maskEntry("x", `"id":"i"`, `"id":"i","home":"../../x"`), ""},
		"other names":             {maskEntry("x", `"id":"i"`, `"id":"i","names":"max:a1b2c3d4"`), "no export has"},
		"a relative path":         {maskEntry("x", `"path":"/x`, `"path":"x`), "path"},
		"a path of others":        {maskEntry("x", `"path":"/x/outputs/a1b2c3d4.txt"`, `"path":"/etc/passwd"`), "path"},
		"a short path":            {maskEntry("x", `"path":"/x/outputs/a1b2c3d4.txt"`, `"path":"/"`), "path"},
		"a path not there":        {maskEntry("x", `"path":"/x/`, `"path":"/y/`), "path"},
		"an unknown field":        {maskEntry("x", `"id":"i"`, `"id":"i","file":"/etc/passwd"`), "unknown field"},
		"two values":              {entry(`{"pin":"p"}{"pin":"q"}`, ""), "more than one"},
		"nothing":                 {entry(`{}`, ""), "exactly one kind"},
		"two things":              {entry(`{"pin":"p","mode":"lean"}`, ""), "exactly one kind"},
		"a pin's path":            {entry(`{"pin":"p","path":"/x/outputs/a1b2c3d4.txt"}`, ""), "exactly one kind"},
		"an unknown mode":         {entry(`{"mode":"everything"}`, ""), "mode"},
		"a mask at the end":       {entry(`{"pin":"p"}`, "") + good, "after other"},
		"a summary twice":         {strings.Repeat(entry(`{"summary":{"id":"s","first":"`+strings.Repeat("0", 64)+`","last":"`+strings.Repeat("0", 64)+`","items":1,"text":"x","tokens":1,"replaced":1}}`, ""), 2), "summary"},
		"a summary without an id": {entry(`{"summary":{"id":"","first":"`+strings.Repeat("0", 64)+`","last":"`+strings.Repeat("0", 64)+`","items":1,"text":"x","tokens":1,"replaced":1}}`, ""), "summary"},
		"too many":                {strings.Repeat(entry(`{"pin":"p"}`, ""), 50_001), "more than 50000"},
		"no JSON":                 {entry(`{"mask":`, ""), "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			err := masks.CheckImport(strings.NewReader(c.stream), nil)
			if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if _, err := w.Import("hostile", strings.NewReader(c.stream), nil); err == nil {
				t.Error("it was imported")
			}
			if err := w.Drop("hostile"); err != nil {
				t.Error(err)
			}
			if list, err := os.ReadDir(w.path()); err != nil || len(list) > 0 {
				t.Errorf("left are %v, %v", list, err)
			}
		})
	}
}

// TestImportInBatches imports more than a batch.
func TestImportInBatches(t *testing.T) {
	w := open(t, t.TempDir())
	set := w.set("t1", "")
	var batch []masks.New
	for i := range 1100 {
		batch = append(batch, item(fmt.Sprint("id", i), fmt.Sprint("content ", i)))
	}
	w.add(set, batch...)
	there := open(t, t.TempDir())
	if _, err := there.Import("t1", bytes.NewReader(exportOf(t, set, plainly)), nil); err != nil {
		t.Fatal(err)
	}
	got := there.set("t1", "")
	want := make([]policy.ID, 0, len(batch))
	for _, n := range batch {
		want = append(want, n.ID)
	}
	have := make([]policy.ID, 0, len(batch))
	for _, m := range got.All() {
		have = append(have, m.ID)
	}
	if !slices.Equal(have, want) {
		t.Errorf("%d masks of %d", len(have), len(want))
	}
	there.has(got, "id1099", "content 1099")
	there.has(got, "id0", "content 0")
}
