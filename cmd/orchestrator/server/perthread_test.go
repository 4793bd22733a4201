package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// TestPerThread: what is kept of a thread comes back as it was or not at all.
func TestPerThread(t *testing.T) {
	folder, err := private.Make(t.TempDir(), "contexts")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	p, id := perThread{folder, ".picture"}, thread.ID("0123456789abcdef")
	if b, err := p.Last(id); b != nil || err != nil {
		t.Errorf("nothing was kept: %q, %v", b, err)
	}
	for _, text := range []string{`{"Tokens":97000}`, "", "{}"} {
		if err := p.Keep(id, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := p.Last(id); string(b) != text || err != nil {
			t.Errorf("%q came back as %q, %v", text, b, err)
		}
	}
	whole, err := os.ReadFile(folder.Path(p.file(id)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		if err := folder.Write(p.file(id), damaged); err != nil {
			t.Fatal(err)
		}
		if b, err := p.Last(id); b != nil || !errors.Is(err, thread.ErrDamaged) {
			t.Fatalf("with byte %d changed: %q, %v", i, b, err)
		}
	}
	if err := p.Keep(id, make([]byte, mostKept+1)); err != nil {
		t.Error(err)
	}
	if list, err := filepath.Glob(folder.Path("*")); len(list) != 0 || err != nil {
		t.Errorf("one that is too large leaves %q, %v", list, err)
	}
	if err := p.Drop(id); err != nil {
		t.Error(err)
	}
}
