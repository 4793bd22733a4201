package work

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"orchestrator/thread"
)

// plain returns a text that every store can keep and every view can show: UTF-8 without NUL.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// clean returns a record of which every text is plain, those in structs and slices included. What is behind pointers, and raw
// JSON, stays.
func clean[T any](v T) T {
	scrub(reflect.ValueOf(&v).Elem())
	return v
}

func scrub(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the others have no text
	case reflect.String:
		if s := v.String(); plain(s) != s {
			v.SetString(plain(s))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				scrub(f)
			}
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); v.IsNil() || k != reflect.String && k != reflect.Struct {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len()) // the caller's stays as it is
		reflect.Copy(own, v)
		for i := range own.Len() {
			scrub(own.Index(i))
		}
		v.Set(own)
	}
}

// raw returns JSON as stores keep it, without blanks; thread.ErrInvalid if it is none, or too long.
func raw(what string, doc json.RawMessage, most int) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(strings.ToValidUTF8(string(doc), "\uFFFD"))); err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "%s is no JSON: %w", what, err)
	}
	if b.Len() > most {
		return nil, thread.Kindf(thread.ErrInvalid, "%s has %d bytes, the limit is %d", what, b.Len(), most)
	}
	return Scrubbed(b.Bytes()), nil
}

// Scrubbed returns JSON without the escape of NUL, which databases that read JSON refuse.
func Scrubbed(doc []byte) []byte {
	const nul = `\u0000`
	if !bytes.Contains(doc, []byte(nul)) {
		return doc
	}
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' || i+1 == len(doc) {
			out = append(out, doc[i])
			continue
		}
		if bytes.HasPrefix(doc[i:], []byte(nul)) {
			out = append(out, `\ufffd`...)
			i += len(nul) - 1
			continue
		}
		out = append(out, doc[i], doc[i+1])
		i++
	}
	return out
}
