// Package compact carries values between two programs that have the same types: the fields in their order, zero ones
// left out, nothing named. What is read is what was written; a nil slice stays nil and an empty one empty. Layout tells
// whether two programs have the same types.
package compact

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// few is for how many elements room is made at once.
const few = 64

// Codec writes and reads the values of one type.
type Codec struct {
	root   *kind
	layout string
}

// kind writes and reads the values of a type. Values are addressable.
type kind struct {
	write func([]byte, reflect.Value) []byte
	read  func(*source, reflect.Value) error
}

// New returns the codec of a type. It fails for a type that JSON does not carry field by field either: with interfaces,
// fields that are not exported, or a form of its own.
func New(t reflect.Type) (*Codec, error) {
	c := compiler{kinds: map[reflect.Type]*kind{}}
	root, err := c.kind(t)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(c.layout.String()))
	return &Codec{root: root, layout: hex.EncodeToString(sum[:8])}, nil
}

// Layout differs between types that do not have the same fields.
func (c *Codec) Layout() string { return c.layout }

// Append writes a value, which must be addressable, behind what b has.
func (c *Codec) Append(b []byte, v reflect.Value) []byte { return c.root.write(b, v) }

// Read sets a value, which must be zero and settable, to what Append wrote. Its strings are parts of that one.
func (c *Codec) Read(from string, v reflect.Value) error {
	s := &source{rest: from}
	if err := c.root.read(s, v); err != nil {
		return err
	}
	if s.rest != "" {
		return fmt.Errorf("%d bytes follow a value", len(s.rest))
	}
	return nil
}

// compiler makes the kinds of the types below one, and describes them.
type compiler struct {
	kinds  map[reflect.Type]*kind // of those that are made or being made: a type may contain itself
	layout strings.Builder
}

func (c *compiler) kind(t reflect.Type) (*kind, error) {
	if k, ok := c.kinds[t]; ok {
		fmt.Fprintf(&c.layout, "%s;", t)
		return k, nil
	}
	k := &kind{}
	c.kinds[t] = k
	var err error
	if t == reflect.TypeFor[time.Time]() {
		c.layout.WriteString("time;")
		k.write, k.read = writeTime, readTime
		return k, nil
	}
	if ownForm(t) {
		return nil, fmt.Errorf("%s has a form of its own", t)
	}
	fmt.Fprintf(&c.layout, "%s:%s;", t, t.Kind())
	switch t.Kind() {
	case reflect.Bool:
		k.write, k.read = writeBool, readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.write, k.read = writeInt, readInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		k.write, k.read = writeUint, readUint
	case reflect.Float32, reflect.Float64:
		k.write, k.read = writeFloat, readFloat
	case reflect.String:
		k.write, k.read = writeString, readString
	case reflect.Pointer:
		err = c.pointer(k, t)
	case reflect.Slice:
		err = c.slice(k, t)
	case reflect.Map:
		err = c.table(k, t)
	case reflect.Struct:
		err = c.fields(k, t)
	default:
		err = fmt.Errorf("%s cannot be carried", t)
	}
	return k, err
}

// ownForm reports whether JSON carries a type in a form that is not that of its fields.
func ownForm(t reflect.Type) bool {
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

func (c *compiler) pointer(k *kind, t reflect.Type) error {
	to, err := c.kind(t.Elem())
	if err != nil {
		return err
	}
	k.write = func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, 0)
		}
		return to.write(append(b, 1), v.Elem())
	}
	k.read = func(s *source, v reflect.Value) error {
		set, err := s.uint()
		if err != nil || set == 0 {
			return err
		}
		v.Set(reflect.New(t.Elem()))
		return to.read(s, v.Elem())
	}
	return nil
}

// slice writes the length and one more, so that an empty slice is not nil.
func (c *compiler) slice(k *kind, t reflect.Type) error {
	row, err := c.kind(t.Elem())
	if err != nil {
		return err
	}
	k.write = func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, 0)
		}
		b = appendUint(b, uint64(v.Len())+1)
		for i := range v.Len() {
			b = row.write(b, v.Index(i))
		}
		return b
	}
	k.read = func(s *source, v reflect.Value) error {
		n, set, err := s.length()
		if err != nil || !set {
			return err
		}
		v.Set(reflect.MakeSlice(t, 0, min(n, few)))
		for i := range n { // room is made for what is there, not for what a length says
			v.Grow(1)
			v.SetLen(i + 1)
			if err := row.read(s, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

func (c *compiler) table(k *kind, t reflect.Type) error {
	key, err := c.kind(t.Key())
	if err != nil {
		return err
	}
	value, err := c.kind(t.Elem())
	if err != nil {
		return err
	}
	k.write = func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, 0)
		}
		b = appendUint(b, uint64(v.Len())+1)
		for of, to := range v.Seq2() {
			b = value.write(key.write(b, addressable(of)), addressable(to))
		}
		return b
	}
	k.read = func(s *source, v reflect.Value) error {
		n, set, err := s.length()
		if err != nil || !set {
			return err
		}
		v.Set(reflect.MakeMapWithSize(t, min(n, few)))
		for range n {
			of, to := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			if err := errors.Join(key.read(s, of), value.read(s, to)); err != nil {
				return err
			}
			v.SetMapIndex(of, to)
		}
		return nil
	}
	return nil
}

// addressable copies what lies in a map.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// field is a field of a struct.
type field struct {
	at   int
	kind *kind
}

// fields writes for every eight fields a byte that says which of them are not zero, and those.
func (c *compiler) fields(k *kind, t reflect.Type) error {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("json") == "-" {
			continue
		}
		if !f.IsExported() {
			return fmt.Errorf("%s has the field %s, which is not exported", t, f.Name)
		}
		fmt.Fprintf(&c.layout, "%s ", f.Name)
		of, err := c.kind(f.Type)
		if err != nil {
			return err
		}
		all = append(all, field{i, of})
	}
	c.layout.WriteString("};")
	size := max(1, (len(all)+7)/8) // a value has at least one byte, so that bytes bound how many there are
	k.write = func(b []byte, v reflect.Value) []byte {
		set := len(b)
		for range size {
			b = append(b, 0)
		}
		for i, f := range all {
			if of := v.Field(f.at); !of.IsZero() {
				b[set+i/8] |= 1 << (i % 8)
				b = f.kind.write(b, of)
			}
		}
		return b
	}
	k.read = func(s *source, v reflect.Value) error {
		set, err := s.take(uint64(size))
		if err != nil {
			return err
		}
		for i, f := range all {
			if set[i/8]&(1<<(i%8)) == 0 {
				continue
			}
			if err := f.kind.read(s, v.Field(f.at)); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}
