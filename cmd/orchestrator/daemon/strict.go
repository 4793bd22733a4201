package daemon

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// read decodes a request. It is read once and as it stands: what the operation does not know, a name that comes twice,
// one that is spelled in other letters and anything after the request are refused, so that nobody can have it read in
// two ways. No bytes at all are the zero request.
func read[Req any](body []byte) (req Req, err error) {
	if len(body) == 0 {
		return req, nil
	}
	in := json.NewDecoder(bytes.NewReader(body))
	if err := in.Decode(&req); err != nil {
		return req, fmt.Errorf("%w request: %w", thread.ErrInvalid, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return req, fmt.Errorf("%w request: something follows it", thread.ErrInvalid)
	}
	names := json.NewDecoder(bytes.NewReader(body))
	if err := checkNames(names, reflect.TypeFor[Req]()); err != nil {
		return req, thread.Hint(fmt.Errorf("%w request: %w", thread.ErrInvalid, err),
			"if the program is newer than the server, run `orchestrator restart`")
	}
	return req, nil
}

// checkNames reads a value that is valid for a type, and returns an error for a name in it that is not exactly one of the
// type's or that comes twice.
func checkNames(in *json.Decoder, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && opaque(t) {
		t = nil
	}
	start, err := in.Token()
	if err != nil {
		return err
	}
	switch start {
	case json.Delim('['):
		return elements(in, t)
	case json.Delim('{'):
		return members(in, t)
	default:
		return nil
	}
}

// elements reads the rest of an array.
func elements(in *json.Decoder, t reflect.Type) error {
	var of reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		of = t.Elem()
	}
	for in.More() {
		if err := checkNames(in, of); err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// members reads the rest of an object.
func members(in *json.Decoder, t reflect.Type) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return err
		}
		name := token.(string) // names of members are strings
		if seen[name] {
			return fmt.Errorf("the field %q comes twice", plaintext.Cut(name, 80))
		}
		seen[name] = true
		of, ok := fields[name]
		switch {
		case fields != nil && !ok:
			return fmt.Errorf("unknown field %q", plaintext.Cut(name, 80))
		case fields == nil && t != nil && t.Kind() == reflect.Map:
			of = t.Elem()
		default:
		}
		if err := checkNames(in, of); err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// opaque reports whether a type reads its own JSON.
func opaque(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fieldsOf returns the types of a struct's fields by their names in JSON, or nil for another type.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	all := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case !f.IsExported(), tag == "-", f.Anonymous && name == "":
			continue
		case name == "":
			name = f.Name
		}
		all[name] = f.Type
	}
	return all
}
