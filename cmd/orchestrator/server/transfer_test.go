package server

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestFilesThatAreThere: what lies at the name of an export or a backup stays as it is, and nothing is left beside it.
func TestFilesThatAreThere(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	if err := errors.Join(os.WriteFile(file, []byte("a person's own"), 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{file, folder} {
		err := writeFile(at, func(w io.Writer) error { _, err := io.WriteString(w, "an export"); return err })
		if err == nil || err.Error() != at+": file already exists. Choose another name" {
			t.Errorf("%s: %v", at, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "a person's own" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestOnlyFilesAreImported: what is no file, such as a pipe that nobody writes to, is refused at once; a link to a file
// that the person names is that file.
func TestOnlyFilesAreImported(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("x"), 0o600), os.Symlink("file", at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link to a pipe")), os.Mkdir(at("folder"), 0o700),
		os.Symlink("/dev/zero", at("link to a device")), os.Symlink("nothing", at("link to nothing"))); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, want := range map[string]error{
		at("file"): nil, at("link"): nil, at("pipe"): thread.ErrInvalid, at("link to a pipe"): thread.ErrInvalid,
		at("folder"): thread.ErrInvalid, at("socket"): thread.ErrInvalid, "/dev/zero": thread.ErrInvalid,
		"/dev/null": thread.ErrInvalid, at("link to a device"): thread.ErrInvalid, at("link to nothing"): fs.ErrNotExist,
	} {
		f, err := openRegular(path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			_ = f.Close()
		}
	}
}

// TestExportAfterAKilledOne leaves what a killed export does: it blocks nothing, and one that runs is not disturbed.
func TestExportAfterAKilledOne(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("carry me")
	r.Turn(name, "list files")
	dir := t.TempDir()
	file := filepath.Join(dir, "carried")
	killed, err := beginFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := killed.WriteString(strings.Repeat("half an archive ", 10_000)); err != nil {
		t.Fatal(err)
	}
	r.Says(exitcode.Refused, []string{"another export", "is running"}, "export", name, "-o", file)
	if err := killed.Close(); err != nil { // as its end does
		t.Fatal(err)
	}
	r.Ok("export", name, "-o", file)
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("beside the archive there are %v, %v", list, err)
	}
	e2e.NewRig(t).Ok("import", file)
}
