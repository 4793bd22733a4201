package verb

import (
	"path/filepath"
	"testing"
)

func TestTrustAsksAgain(t *testing.T) {
	tr := trust{home: filepath.Join(t.TempDir(), "deep")}
	if tr.accepted("/p/.orchestrator.toml", []byte("a")) {
		t.Error("trusted before it was accepted")
	}
	if err := tr.accept("/p/.orchestrator.toml", []byte("a")); err != nil {
		t.Fatal(err)
	}
	if !tr.accepted("/p/.orchestrator.toml", []byte("a")) {
		t.Error("not trusted after it was accepted")
	}
	if tr.accepted("/p/.orchestrator.toml", []byte("b")) || tr.accepted("/q/.orchestrator.toml", []byte("a")) {
		t.Error("other content or another file is trusted too")
	}
}
