package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
)

// Decode reads the text of a plan; its name says by its end which of the two languages that is.
func Decode(name string, text []byte) (p plan.Plan, err error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
	case ".toml":
		if text, err = fromTOML(text); err != nil {
			return p, err
		}
	default:
		return p, thread.Hint(thread.Kindf(thread.ErrInvalid, "it is neither TOML nor JSON by its name"), "call it NAME.toml or NAME.json")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	w := walk{d, map[reflect.Type]map[string]reflect.Type{}}
	if err := w.known(reflect.TypeFor[plan.Plan](), nil, 0); err != nil {
		return p, at(text, d.InputOffset(), strings.EqualFold(filepath.Ext(name), ".json"), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, thread.Kindf(thread.ErrInvalid, "there is more behind the end of the plan")
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, wrong(err)
	}
	return p, nil
}

// maxNested is how deep a plan may be nested.
const maxNested = 200

// nested returns how deep brackets and braces of TOML are within each other: the decoder calls itself for each.
func nested(text []byte) (deepest int) {
	open := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case '"', '\'':
			ends := []byte{c}
			if long := bytes.Repeat(ends, 3); bytes.HasPrefix(text[i:], long) {
				ends = long
			}
			for i += len(ends); i < len(text) && !bytes.HasPrefix(text[i:], ends); i++ {
				if c == '"' && text[i] == '\\' {
					i++
				} else if len(ends) == 1 && text[i] == '\n' {
					break // it is no string, and no TOML
				}
			}
			i += len(ends) - 1
		case '[', '{':
			open++
			deepest = max(deepest, open)
		case ']', '}':
			open--
		}
	}
	return deepest
}

// fromTOML returns TOML as JSON.
func fromTOML(text []byte) ([]byte, error) {
	if nested(text) > maxNested {
		return nil, thread.Kindf(thread.ErrInvalid, "it is nested more than %d deep", maxNested)
	}
	var tree map[string]any
	err := toml.Unmarshal(text, &tree)
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		row, column := syntax.Position()
		return nil, thread.Kindf(thread.ErrInvalid, "line %d, character %d: %s", row, column, harmless(syntax.Error()))
	}
	if err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "%s", harmless(err.Error()))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil { // nan, inf
		return nil, thread.Kindf(thread.ErrInvalid, "a value of it has no equal in JSON: %s", harmless(err.Error()))
	}
	return b.Bytes(), nil
}

// harmless is a text about what comes from outside, short and fit for a terminal.
func harmless(text string) string {
	return plaintext.Line(plaintext.OneLine(thread.Excerpt(text), 300))
}

// at says where an error is, where that is known.
func at(text []byte, offset int64, where bool, err error) error {
	if !where {
		return err
	}
	line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

// wrong is an error of the decoder, in the words of this program.
func wrong(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return thread.Kindf(thread.ErrInvalid, "%s is a %s, and that is not possible there", harmless(kind.Field), harmless(kind.Value))
	}
	return thread.Kindf(thread.ErrInvalid, "%s", harmless(strings.TrimPrefix(err.Error(), "json: ")))
}

// walk goes over the text of a plan, with the keys of its parts as far as it has met them.
type walk struct {
	d      *json.Decoder
	fields map[reflect.Type]map[string]reflect.Type
}

// way is where in a plan something is: a key of what is above it, or a place in the list.
type way struct {
	above *way
	key   string
	place int
}

// String is the way from the plan.
func (w *way) String() string {
	switch {
	case w == nil:
		return ""
	case w.key == "" && w.above != nil:
		return fmt.Sprintf("%s[%d]", w.above, w.place)
	case w.above == nil:
		return w.key
	}
	return w.above.String() + "." + w.key
}

// known refuses keys that a plan does not have, and those that are there twice. It goes into what it knows the type of.
func (w walk) known(t reflect.Type, path *way, deep int) error {
	d := w.d
	if deep > maxNested {
		return thread.Kindf(thread.ErrInvalid, "it is nested more than %d deep", maxNested)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := d.Token()
	if err != nil {
		return thread.Kindf(thread.ErrInvalid, "it is no JSON: %s", harmless(err.Error()))
	}
	raw := t == reflect.TypeFor[json.RawMessage]()
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return thread.Kindf(thread.ErrInvalid, "it is no JSON: %s", harmless(err.Error()))
			}
			key, _ := name.(string)
			at := &way{path, key, 0}
			if seen[key] {
				return thread.Kindf(thread.ErrInvalid, "%s is there twice", harmless(at.String()))
			}
			seen[key] = true
			next := reflect.TypeFor[json.RawMessage]()
			switch {
			case raw:
			case t.Kind() == reflect.Map:
				next = t.Elem()
			case t.Kind() == reflect.Struct:
				fields := w.fields[t]
				if fields == nil {
					fields = keys(t)
					w.fields[t] = fields
				}
				var ok bool
				if next, ok = fields[key]; !ok {
					return unknown(key, path.String(), fields)
				}
			default:
				return thread.Kindf(thread.ErrInvalid, "%s is not made of parts", harmless(path.String()))
			}
			if err := w.known(next, at, deep+1); err != nil {
				return err
			}
		}
	case json.Delim('['):
		next := reflect.TypeFor[json.RawMessage]()
		if !raw {
			if t.Kind() != reflect.Slice {
				return thread.Kindf(thread.ErrInvalid, "%s is no list", harmless(path.String()))
			}
			next = t.Elem()
		}
		for i := 0; d.More(); i++ {
			if err := w.known(next, &way{path, "", i}, deep+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if _, err := d.Token(); err != nil {
		return thread.Kindf(thread.ErrInvalid, "it is no JSON: %s", harmless(err.Error()))
	}
	return nil
}

// keys are the keys of a part of a plan, with the types of their values.
func keys(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = t.Field(i).Type
		}
	}
	return fields
}

func unknown(key, path string, fields map[string]reflect.Type) error {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	where := "a plan"
	if path != "" {
		where = harmless(path)
	}
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s has no key %q", where, harmless(key)), thread.Meant(near.Names(key, names), "see `orchestrator help plans`"))
}
