// Package contract checks JSON values against JSON Schemas (draft 2020-12 and draft 7).
//
// It guarantees: a schema leads to no file and no address; what it asks for takes time by the size of the value, however it
// refers to itself; its patterns take linear time; an error names the place in the value and says what belongs there, in words
// that the agent that wrote it can act on, and is short whatever the value is.
package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"orchestrator/thread"
)

// The bounds of what is checked.
const (
	// MaxValue is the most bytes of a value.
	MaxValue  = 1 << 20
	maxSchema = 256 << 10
	maxNested = 256 // of a value

	maxKept = 256 // schemas that are kept read
)

// Checker implements plan.Schemas. The zero value is ready, and several may use it at once.
type Checker struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]read
}

// read is what a schema was read as.
type read struct {
	schema *jsonschema.Resolved
	err    error
}

// Schema says what is wrong with a schema; nil for nothing.
func (c *Checker) Schema(schema json.RawMessage) error {
	_, err := c.read(schema)
	return err
}

// Check says what of a value does not meet a schema.
func (c *Checker) Check(schema, value json.RawMessage) error {
	s, err := c.read(schema)
	if err != nil {
		return err
	}
	if len(value) > MaxValue {
		return thread.Kindf(thread.ErrInvalid, "it has %s, and what has a schema has %s at most: hand the rest over as a file", thread.Bytes(int64(len(value))), thread.Bytes(MaxValue))
	}
	v, err := decode(value)
	if err != nil {
		return err
	}
	return validate(s, named(v))
}

// read returns a schema as it was read, which is done once.
func (c *Checker) read(schema json.RawMessage) (*jsonschema.Resolved, error) {
	if len(schema) > maxSchema {
		return nil, thread.Kindf(thread.ErrInvalid, "the schema has %s, and %s are the most", thread.Bytes(int64(len(schema))), thread.Bytes(maxSchema))
	}
	sum := sha256.Sum256(schema)
	c.mu.Lock()
	known, ok := c.kept[sum]
	c.mu.Unlock()
	if ok {
		return known.schema, known.err
	}
	known.schema, known.err = parse(schema)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxKept {
		c.kept = map[[sha256.Size]byte]read{}
	}
	c.kept[sum] = known
	return known.schema, known.err
}

// parse reads a schema.
func parse(schema json.RawMessage) (resolved *jsonschema.Resolved, err error) {
	v, err := decode(schema)
	if err != nil {
		return nil, fmt.Errorf("the schema: %w", err)
	}
	if err := bounded(v); err != nil {
		return nil, err
	}
	defer unbroken(&err)
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "the schema: %s", short(err.Error()))
	}
	// Without a loader, what is not in the schema is refused.
	if resolved, err = s.Resolve(nil); err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "the schema: %s", short(plain(err.Error())))
	}
	return resolved, nil
}

// unbroken has a panic of the validator be an error: what it is given comes from outside.
func unbroken(err *error) {
	if p := recover(); p != nil {
		*err = thread.Kindf(thread.ErrInvalid, "the schema cannot be worked with: %s", short(fmt.Sprint(p)))
	}
}

// decode reads one JSON value that is not nested too deep.
func decode(text json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	open := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, thread.Kindf(thread.ErrInvalid, "it is no JSON: %s", short(err.Error()))
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if open++; open > maxNested {
				return nil, thread.Kindf(thread.ErrInvalid, "it is nested more than %d deep", maxNested)
			}
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		var number *json.UnmarshalTypeError
		if errors.As(err, &number) {
			return nil, thread.Kindf(thread.ErrInvalid, "the number %s is too large to be checked", short(strings.TrimPrefix(number.Value, "number ")))
		}
		return nil, thread.Kindf(thread.ErrInvalid, "it is no JSON: %s", short(err.Error()))
	}
	return v, nil
}

// validate checks a value.
func validate(s *jsonschema.Resolved, v any) (err error) {
	defer unbroken(&err)
	failed := s.Validate(v)
	if failed == nil {
		return nil
	}
	where, what := place(failed.Error())
	return thread.Kindf(thread.ErrInvalid, "%s: %s", where, short(what))
}
