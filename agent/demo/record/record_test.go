package record_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"orchestrator/agent/demo/record"
	"orchestrator/thread"
)

func TestFile(t *testing.T) {
	home := t.TempDir()
	f, err := record.Create(home, "s-1", "/work")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Append(record.Line{Type: record.TypeMessage, Message: json.RawMessage(`{"role":"user"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Create(home, "s-1", "/work"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if info, err := os.Stat(record.Path(home, "s-1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	raw, err := os.OpenFile(record.Path(home, "s-1"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.WriteString(`{"type":"message","cut`); err != nil { // a crash
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f, lines, err := record.Resume(home, "s-1")
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) < 2 || lines[0].Dir != "/work" || lines[1].Session != "s-1" {
			t.Errorf("lines %+v", lines)
		}
		if err := f.Append(record.Line{Type: record.TypeMessage}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(record.Path(home, "s-1"))
	if err != nil || len(record.Lines(data)) != 4 {
		t.Errorf("%q, %v", data, err)
	}
}

func TestNames(t *testing.T) {
	home := t.TempDir()
	for _, id := range []string{"", "../x", "a/b", ".", "-x", "a b", "x\x00"} {
		if _, err := record.Create(home, id, "/"); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, _, err := record.Resume(home, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("resume nothing: %v", err)
	}
}
