package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/repository"
)

// equivalent returns the files that differ between two trees only by git's or large-file storage's conversions between
// the repository and the disk. A snapshot has the bytes on disk, a base those in the repository; without this, every
// converted file would look changed.
func (v *view) equivalent(ctx context.Context, a, b string) (map[string]bool, error) {
	same := map[string]bool{}
	list, err := v.w.work.Repo.Changes(ctx, v.env, a, b)
	if err != nil {
		return nil, err
	}
	var both []repository.Change
	for _, st := range list {
		if strings.HasPrefix(st.OldMode, "100") && st.OldMode == st.NewMode {
			both = append(both, st)
		}
	}
	both, err = v.mayConvert(ctx, both)
	if err != nil || len(both) == 0 {
		return same, err
	}
	oids := make([]string, 0, 2*len(both))
	for _, st := range both {
		oids = append(oids, st.OldOID, st.NewOID)
	}
	err = v.w.work.Repo.Blobs(ctx, v.env, oids, func(next func() (io.Reader, error)) error {
		for _, st := range both {
			old, err := digestNext(next)
			if err != nil {
				return err
			}
			now, err := digestNext(next)
			if err != nil {
				return err
			}
			same[st.Path] = old.means(now)
		}
		return nil
	})
	for path, is := range same {
		if !is {
			delete(same, path)
		}
	}
	return same, err
}

// mayConvert keeps the files for which the person's configuration or attributes request a conversion.
func (v *view) mayConvert(ctx context.Context, steps []repository.Change) ([]repository.Change, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	auto, err := v.w.work.Theirs(ctx, git.Call{Args: []string{"config", "--get", "core.autocrlf"}, OK: []int{1}})
	if err != nil {
		return nil, err
	}
	if val := strings.ToLower(strings.TrimSpace(string(auto))); val == "true" || val == "input" {
		return steps, nil
	}
	var in strings.Builder
	for _, st := range steps {
		in.WriteString(st.Path + "\x00")
	}
	out, err := v.w.work.Theirs(ctx, git.Call{
		Args: []string{"check-attr", "-z", "--stdin", "filter", "text", "eol", "crlf"}, Stdin: strings.NewReader(in.String()),
	})
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	f := bytes.Split(out, []byte{0})
	for i := 0; i+2 < len(f); i += 3 {
		if val := string(f[i+2]); val != "unspecified" && val != "unset" {
			asked[string(f[i])] = true
		}
	}
	kept := steps[:0]
	for _, st := range steps {
		if asked[st.Path] {
			kept = append(kept, st)
		}
	}
	return kept, nil
}

// digest identifies the meaning of a content.
type digest struct {
	size    int64
	sum     string // SHA-256
	text    string // SHA-256 with CR LF read as LF
	pointer string // SHA-256 in a large-file pointer
	names   int64  // size in the pointer
}

func (d digest) means(o digest) bool {
	return d.text == o.text ||
		(d.pointer != "" && d.pointer == o.sum && d.names == o.size) ||
		(o.pointer != "" && o.pointer == d.sum && o.names == d.size)
}

func digestNext(next func() (io.Reader, error)) (digest, error) {
	r, err := next()
	if err != nil {
		return digest{}, err
	}
	sum, text := sha256.New(), sha256.New()
	in := bufio.NewReader(io.TeeReader(r, sum))
	var d digest
	head := make([]byte, 0, 512)
	for {
		line, err := in.ReadSlice('\n')
		d.size += int64(len(line))
		if room := cap(head) - len(head); room > 0 {
			head = append(head, line[:min(room, len(line))]...)
		}
		if bytes.HasSuffix(line, []byte("\r\n")) {
			text.Write(line[:len(line)-2])
			text.Write([]byte{'\n'})
		} else {
			text.Write(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return digest{}, fmt.Errorf("read blob: %w", err)
		}
	}
	d.sum, d.text = hex.EncodeToString(sum.Sum(nil)), hex.EncodeToString(text.Sum(nil))
	if d.size < 512 {
		d.pointer, d.names = pointerOf(string(head))
	}
	return d, nil
}

// pointerOf parses a pointer of git-lfs.
func pointerOf(s string) (sum string, size int64) {
	if !strings.HasPrefix(s, "version https://git-lfs.github.com/spec/") {
		return "", 0
	}
	for line := range strings.Lines(s) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "oid":
			sum, _ = strings.CutPrefix(val, "sha256:")
		case "size":
			size, _ = strconv.ParseInt(val, 10, 64)
		}
	}
	return sum, size
}
