package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// parts is a caller of an import that keeps what it gets.
type parts struct {
	staged, masks string
	order         []string
	others        map[thread.Token]thread.Token
	fail          map[string]error
	undone        []thread.ID
}

func (p *parts) part(name string, keep *string) archive.Part {
	return archive.Part{
		Check: func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return errors.Join(err, p.fail["check "+name])
		},
		Read: func(_ thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
			p.order = append(p.order, name)
			b, err := io.ReadAll(r)
			*keep += string(b)
			return p.others, errors.Join(err, p.fail["read "+name])
		},
	}
}

func (p *parts) importInto(to archive.Target, b []byte) (thread.Thread, error) {
	i := archive.Import{
		File: "x.orch", Dir: "/here", Now: now, Staged: p.part("staged", &p.staged), Masks: p.part("masks", &p.masks),
		Undo: func(id thread.ID) error { p.undone = append(p.undone, id); return nil },
	}
	return i.Read(context.Background(), to, bytes.NewReader(b))
}

func writes(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// exportWith exports a thread with parts.
func (w *world) exportWith(staged, masks func(io.Writer) error) []byte {
	w.t.Helper()
	var b bytes.Buffer
	e := archive.Export{Thread: "bbbb", Program: "v1", Now: now, Staged: staged, Masks: masks, Secrets: true}
	if err := e.Write(w.t.Context(), w.store, &b); err != nil {
		w.t.Fatal(err)
	}
	return b.Bytes()
}

// formatOf returns the number of an archive's layout.
func formatOf(t *testing.T, b []byte) byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	const header = 512 // of tar
	head := make([]byte, header+1)
	if _, err := io.ReadFull(z, head); err != nil {
		t.Fatal(err)
	}
	return head[header]
}

// TestParts: staged data and masks come as they were written, before the records, and only then older programs refuse
// the file.
func TestParts(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("staged ", 1<<20) // more than one part
	for _, c := range []struct {
		staged, masks string
		format        byte
	}{{"", "", '2'}, {long, "masks", '3'}, {"", "masks", '3'}, {"staged", "", '3'}} {
		var staged, masks func(io.Writer) error
		if c.staged != "" {
			staged = writes(c.staged)
		}
		if c.masks != "" {
			masks = writes(c.masks)
		}
		b := w.exportWith(staged, masks)
		if got := formatOf(t, b); got != c.format {
			t.Errorf("format %c, want %c", got, c.format)
		}
		var p parts
		to := memory.New()
		th, err := p.importInto(to, b)
		if err != nil || p.staged != c.staged || p.masks != c.masks || len(p.undone) > 0 {
			t.Errorf("%d and %d bytes, %v, undone %v", len(p.staged), len(p.masks), err, p.undone)
		}
		if both := c.staged != "" && c.masks != ""; both && !slices.Equal(p.order, []string{"staged", "masks"}) {
			t.Errorf("in the order %v", p.order)
		}
		same(t, w.store, w.fork.Head, to, th.Head)
		if _, err := importInto(memory.New(), b, nil); err != nil { // by one that wants neither
			t.Error(err)
		}
	}
}

// TestPartsFail: a part that is refused is refused before anything is written; one that cannot be stored is undone.
func TestPartsFail(t *testing.T) {
	b := newWorld(t).exportWith(writes("staged"), writes("masks"))
	boom := errors.New("boom")
	for _, step := range []string{"check staged", "check masks"} {
		p := parts{fail: map[string]error{step: fmt.Errorf("bad: %w", thread.ErrInvalid)}}
		to := &strict{Store: memory.New(), t: t}
		if _, err := p.importInto(to, b); !errors.Is(err, thread.ErrInvalid) || len(p.order) > 0 || len(p.undone) > 0 {
			t.Errorf("%s: %v, read %v, undone %v", step, err, p.order, p.undone)
		}
	}
	for _, step := range []string{"read staged", "read masks"} {
		p := parts{fail: map[string]error{step: boom}}
		to := memory.New()
		if _, err := p.importInto(to, b); !errors.Is(err, boom) || errors.Is(err, thread.ErrInvalid) || len(p.undone) != 1 {
			t.Errorf("%s: %v, undone %v", step, err, p.undone)
		}
		empty(t, to)
	}
	p := parts{others: map[thread.Token]thread.Token{"max:a1b2c3d4": "max:a1b2c3d4e5"}}
	if _, err := p.importInto(memory.New(), b); err == nil || len(p.undone) != 1 {
		t.Errorf("a longer token: %v, undone %v", err, p.undone)
	}
}

// TestTokensAreReplaced: what names a token that is in use names the other one after the import, at the same places.
func TestTokensAreReplaced(t *testing.T) {
	w := &world{t: t, store: memory.New()}
	w.create(thread.Thread{ID: "bbbb", Name: "tokens-0001", Agent: "claude"})
	raw := `{"role":"user","content":"\nmax:a1b2c3d4 and max:ffffffff"}`
	c, err := w.store.PutCheckpoint(t.Context(), thread.Checkpoint{
		ID: "c1", Thread: "bbbb", Turn: 1, Kind: thread.KindTurn, Created: now, Prompt: "see max:a1b2c3d4", Answer: "max:a1b2c3d4",
	}, thread.Delta{Items: []thread.Item{{Wire: "anthropic", Raw: []byte(raw)}},
		Transcript: []thread.Chunk{{File: "main", Data: []byte(raw + "\n")}}})
	if err == nil {
		_, err = w.store.UpdateThread(t.Context(), "bbbb", func(th *thread.Thread) error { th.Head = c.ID; return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	if err := archive.Texts(t.Context(), w.store, "bbbb", func(b []byte) { texts.Write(append(b, '\n')) }); err != nil ||
		texts.String() != "see max:a1b2c3d4\nmax:a1b2c3d4\n"+raw+"\n" {
		t.Errorf("the texts are %q, %v", &texts, err)
	}
	p := parts{others: map[thread.Token]thread.Token{"max:a1b2c3d4": "max:00000000"}}
	to := memory.New()
	th, err := p.importInto(to, w.exportWith(writes("x"), nil))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(raw, "a1b2c3d4", "00000000")
	items, err1 := to.Conversation(t.Context(), th.Head)
	files, err2 := to.Transcript(t.Context(), th.Head)
	list, err3 := to.Checkpoints(t.Context(), th.ID, thread.Page{})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if string(items[0].Raw) != want || string(files[0].Data) != want+"\n" {
		t.Errorf("the conversation is %s, the transcript %s", items[0].Raw, files[0].Data)
	}
	if first := list[len(list)-1]; first.Prompt != "see max:00000000" || first.Answer != "max:00000000" {
		t.Errorf("%+v", first)
	}
	kept, err := w.store.Conversation(t.Context(), c.ID)
	if err != nil || string(kept[0].Raw) != raw {
		t.Errorf("the original is %s, %v", kept[0].Raw, err)
	}
}
