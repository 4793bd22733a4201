package drop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/contextmgr/staging/drop"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// home is a thread's folder beside a store of staged data.
type home struct {
	*testing.T
	dir   string
	store *staging.Store
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	folder, err := private.Make(dir, "staging")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{T: t, dir: filepath.Join(dir, "thread"), store: staging.New(folder, staging.Config{MaxBytes: 1 << 20})}
	t.Cleanup(func() { _ = h.store.Close() })
	if err := os.MkdirAll(h.path(), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) path(names ...string) string {
	return filepath.Join(append([]string{h.dir, thread.DropFolder}, names...)...)
}

func (h *home) take() int {
	h.Helper()
	n, err := (drop.Taker{Stage: h.store.Stage}).Take(h.Context(), h.dir, "t1")
	if err != nil {
		h.Error(err)
	}
	return n
}

// serve takes for as long as the test runs.
func (h *home) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = (drop.Taker{Stage: h.store.Stage}).Take(ctx, h.dir, "t1")
			time.Sleep(time.Millisecond)
		}
	}()
	h.Cleanup(func() { cancel(); <-done })
}

func (h *home) put(r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
	defer cancel()
	return drop.Put(ctx, h.dir, r, data)
}

// left are the files in the folder.
func (h *home) left() (names []string) {
	h.Helper()
	list, err := os.ReadDir(h.path())
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestHandOver: data comes to the server as it was, of the thread whose folder it was in, and nothing is left.
func TestHandOver(t *testing.T) {
	h := newHome(t)
	h.serve()
	for _, text := range []string{"", "one\ntwo\n", "\x00\xff", strings.Repeat("x", 1<<20)} {
		d, err := h.put(thread.StageRequest{Source: "me", Labels: []string{"a b"}, TTL: 2 * time.Hour, Thread: "other"},
			strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if d.Thread != "t1" || d.Source != "me" || d.Bytes != int64(len(text)) || d.Labels[0] != "a b" {
			t.Errorf("%+v", d)
		}
		data, err := h.store.Retrieve(d.Token, thread.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := data.WriteTo(&b); err != nil || b.String() != text {
			t.Errorf("%d bytes of %d, %v", b.Len(), len(text), err)
		}
		data.Close()
	}
	if _, err := h.put(thread.StageRequest{}, strings.NewReader(strings.Repeat("x", 1<<20+1))); err == nil ||
		!strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("too much: %v", err)
	}
	if left := h.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestNobodyTakes: a verb that waits in vain leaves nothing, and says so if there is no folder or it is read-only.
func TestNobodyTakes(t *testing.T) {
	h := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := drop.Put(ctx, h.dir, thread.StageRequest{}, strings.NewReader("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody took it: %v", err)
	}
	broken := errors.New("broken")
	if _, err := h.put(thread.StageRequest{}, io.MultiReader(strings.NewReader("x"), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("data that cannot be read: %v", err)
	}
	if left := h.left(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if _, err := drop.Put(t.Context(), filepath.Join(h.dir, "none"), thread.StageRequest{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
	if os.Geteuid() == 0 {
		return // who may write everywhere
	}
	if err := os.Chmod(h.path(), 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := h.put(thread.StageRequest{}, nil); !errors.Is(err, drop.ErrClosed) {
		t.Errorf("a folder that is read-only: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestHostileFolder: what an agent puts into the folder reads, changes and removes nothing elsewhere.
func TestHostileFolder(t *testing.T) {
	h := newHome(t)
	secret := filepath.Join(h.dir, "secret")
	name := func(n int) string { return fmt.Sprintf("%016x", n) }
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secret, "the person's")
	write(h.path(name(1)+".json"), "{}") // its data is a link
	write(h.path(name(2)+".json"), "{}") // a pipe
	write(h.path(name(3)+".json"), "{}") // missing
	write(h.path(name(4)+".json"), "{}") // a folder
	write(h.path(name(5)+".json"), `{"thread":"t9"}`)
	write(h.path(name(5)+".data"), "x")
	write(h.path(name(6)+".json"), strings.Repeat(" ", 64<<10+1))
	write(h.path(name(7)+".json"), `{"ttl":-1}`)
	write(h.path(name(7)+".data"), "x")
	write(h.path("../secret.json"), "{}")
	write(h.path("README"), "the agent's")
	err := errors.Join(
		os.Symlink(secret, h.path(name(1)+".data")), syscall.Mkfifo(h.path(name(2)+".data"), 0o600),
		os.MkdirAll(h.path(name(4)+".data", "x"), 0o700),
		os.Symlink(secret, h.path(name(8)+".json")), syscall.Mkfifo(h.path(name(9)+".json"), 0o600),
		os.MkdirAll(h.path(name(10)+".json", "x"), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = (drop.Taker{Stage: h.store.Stage}).Take(t.Context(), h.dir, "t1") // says that a folder is in the way
	list, err := h.store.List(func(thread.Staged) bool { return true })
	if err != nil || len(list) > 0 {
		t.Errorf("staged %v, %v", list, err)
	}
	for n := 1; n <= 7; n++ {
		b, err := os.ReadFile(filepath.Join(h.dir, "answers", name(n)+".json"))
		if err != nil || !strings.Contains(string(b), `"error"`) || strings.Contains(string(b), "the person's") {
			t.Errorf("the answer to %d is %q, %v", n, b, err)
		}
	}
	for _, file := range []string{secret, h.path("../secret.json"), h.path("README"), h.path(name(4)+".data", "x")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if n := h.take(); n != 0 {
		t.Errorf("%d requests are answered again and again", n)
	}
	for n := range 30 {
		write(h.path(name(100+n)+".json"), "{}")
		write(h.path(name(100+n)+".data"), "x")
	}
	if a, b, c := h.take(), h.take(), h.take(); a != 20 || b != 10 || c != 0 {
		t.Errorf("took %d, %d and %d of 30", a, b, c)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, file := range []string{h.path(name(200) + ".part"), filepath.Join(h.dir, "answers", name(1)+".json")} {
		write(file, "x")
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(h.path(name(201)+".json"), "{}")
	h.take()
	if _, err := os.Stat(h.path(name(200) + ".part")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what nobody waits for is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "answers", name(1)+".json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old answer is still there: %v", err)
	}
}

// TestLinkedFolder: a folder that is a link is not followed.
func TestLinkedFolder(t *testing.T) {
	h := newHome(t)
	elsewhere := t.TempDir()
	if err := errors.Join(os.Remove(h.path()), os.Symlink(elsewhere, h.path()), os.Chmod(elsewhere, 0o700),
		os.WriteFile(filepath.Join(elsewhere, "0000000000000001.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if n, err := (drop.Taker{Stage: h.store.Stage}).Take(t.Context(), h.dir, "t1"); n != 0 || err == nil {
		t.Errorf("took %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "0000000000000001.json")); err != nil {
		t.Error(err)
	}
}

// TestNoThreadWaitsForAnother: while what one thread hands over is being taken, and while another's folder is full of
// what is in the way, a third is answered, and the first takes up no more than its own worker.
func TestNoThreadWaitsForAnother(t *testing.T) {
	slow, full, quick := newHome(t), newHome(t), newHome(t)
	release, begun := make(chan struct{}), make(chan struct{}, 1)
	taker := drop.Taker{
		Stage: func(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
			if r.Thread == "slow" {
				begun <- struct{}{}
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return quick.store.Stage(ctx, r, data)
		},
		Failed: func(thread.ID, error) {},
	}
	for n := range 500 {
		if err := os.WriteFile(full.path(fmt.Sprintf("junk-%d", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(full.path(fmt.Sprintf("%016x.data", 1), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full.path(fmt.Sprintf("%016x.json", 1)), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		pace := drop.Pace{Threads: time.Millisecond, Folder: time.Millisecond, Longest: 20 * time.Millisecond}
		taker.Serve(ctx, pace, func() map[thread.ID]string {
			return map[thread.ID]string{"slow": slow.dir, "full": full.dir, "quick": quick.dir}
		})
	}()
	answered := make(chan error, 1)
	go func() {
		_, err := slow.put(thread.StageRequest{}, strings.NewReader("x"))
		answered <- err
	}()
	<-begun
	for range 3 {
		if _, err := quick.put(thread.StageRequest{}, strings.NewReader("x")); err != nil {
			t.Fatalf("beside a slow one: %v", err)
		}
	}
	if _, err := full.put(thread.StageRequest{}, strings.NewReader("x")); err != nil {
		t.Errorf("in a full folder: %v", err)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the slow one: %v", err)
	}
	end()
	<-done
}

// TestWhatIsHandedOver: a file that has another name elsewhere is not taken and not changed, one with holes counts in
// full before it is read, and one that grows is taken as it was.
func TestWhatIsHandedOver(t *testing.T) {
	h := newHome(t)
	name := func(n int) string { return fmt.Sprintf("%016x", n) }
	person := filepath.Join(h.dir, "notes")
	if err := errors.Join(os.WriteFile(person, []byte("the person's"), 0o600), os.Chmod(person, 0o644), os.Link(person, h.path(name(1)+".data")),
		os.WriteFile(h.path(name(1)+".json"), []byte("{}"), 0o600), os.Link(person, h.path(name(2)+".json")),
		os.WriteFile(h.path(name(3)+".data"), nil, 0o600), os.Truncate(h.path(name(3)+".data"), 3<<30),
		os.WriteFile(h.path(name(3)+".json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if n := h.take(); n != 3 {
		t.Errorf("%d requests were answered", n)
	}
	for n, words := range map[int]string{1: "another name", 2: "another name", 3: "larger than 1 MiB"} {
		b, err := os.ReadFile(filepath.Join(h.dir, "answers", name(n)+".json"))
		if err != nil || !strings.Contains(string(b), words) {
			t.Errorf("the answer to %d is %q, %v", n, b, err)
		}
	}
	if info, err := os.Stat(person); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the person's file is %v, %v", info.Mode(), err)
	}
	grow := drop.Taker{Stage: func(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
		file, err := os.OpenFile(h.path(name(4)+".data"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return thread.Staged{}, err
		}
		defer file.Close()
		if _, err := file.WriteString("more"); err != nil {
			return thread.Staged{}, err
		}
		return h.store.Stage(ctx, r, data)
	}}
	if err := errors.Join(os.WriteFile(h.path(name(4)+".data"), []byte("data"), 0o600),
		os.WriteFile(h.path(name(4)+".json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if n, err := grow.Take(t.Context(), h.dir, "t1"); n != 1 || err != nil {
		t.Errorf("took %d, %v", n, err)
	}
	list, err := h.store.List(func(thread.Staged) bool { return true })
	if err != nil || len(list) != 1 || list[0].Bytes != 4 {
		t.Errorf("staged %+v, %v", list, err)
	}
}

// TestThousandsOfRequests: some are taken at a time, and none is lost.
func TestThousandsOfRequests(t *testing.T) {
	h := newHome(t)
	const all = 3_000
	for n := range all {
		if err := os.WriteFile(h.path(fmt.Sprintf("%016x.json", n)), []byte(`{"ttl":-1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.take(); n != 20 {
		t.Errorf("took %d at once", n)
	}
	if left := len(h.left()); left != all-20 {
		t.Errorf("%d of %d are left", left, all)
	}
}
