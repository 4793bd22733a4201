package compact

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"time"
)

// errCut is the error for bytes that end too early.
var errCut = errors.New("a value is cut short")

// source is what is left of the bytes that are read.
type source struct{ rest string }

// take returns the next n bytes.
func (s *source) take(n uint64) (string, error) {
	if n > uint64(len(s.rest)) {
		return "", errCut
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b, nil
}

func (s *source) uint() (uint64, error) {
	var n uint64
	for i := 0; i < len(s.rest) && i < binary.MaxVarintLen64; i++ {
		b := s.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			s.rest = s.rest[i+1:]
			return n, nil
		}
	}
	return 0, errCut
}

// length reads a length with one more, 0 for what is nil. There are as many bytes as it says at least.
func (s *source) length() (n int, set bool, err error) {
	u, err := s.uint()
	if err != nil || u == 0 {
		return 0, false, err
	}
	if u-1 > uint64(len(s.rest)) {
		return 0, false, errCut
	}
	return int(u - 1), true, nil
}

func appendUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func writeBool(b []byte, v reflect.Value) []byte {
	if v.Bool() {
		return append(b, 1)
	}
	return append(b, 0)
}

func readBool(s *source, v reflect.Value) error {
	n, err := s.uint()
	v.SetBool(n != 0)
	return err
}

func writeInt(b []byte, v reflect.Value) []byte { return binary.AppendVarint(b, v.Int()) }

func readInt(s *source, v reflect.Value) error {
	u, err := s.uint()
	n := signed(u)
	if v.OverflowInt(n) {
		return errors.New("a number is too large")
	}
	v.SetInt(n)
	return err
}

// signed is what binary.AppendVarint wrote.
func signed(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func writeUint(b []byte, v reflect.Value) []byte { return appendUint(b, v.Uint()) }

func readUint(s *source, v reflect.Value) error {
	n, err := s.uint()
	if v.OverflowUint(n) {
		return errors.New("a number is too large")
	}
	v.SetUint(n)
	return err
}

func writeFloat(b []byte, v reflect.Value) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
}

func readFloat(s *source, v reflect.Value) error {
	b, err := s.take(8)
	if err == nil {
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64([]byte(b))))
	}
	return err
}

func writeString(b []byte, v reflect.Value) []byte {
	return append(appendUint(b, uint64(v.Len())), v.String()...)
}

func readString(s *source, v reflect.Value) error {
	n, err := s.uint()
	if err != nil {
		return err
	}
	text, err := s.take(n)
	v.SetString(text)
	return err
}

// writeTime writes a moment and its zone as JSON does: UTC, or by how much the zone differs from it.
func writeTime(b []byte, v reflect.Value) []byte {
	t := *v.Addr().Interface().(*time.Time)
	b = binary.AppendVarint(b, t.Unix())
	b = appendUint(b, uint64(t.Nanosecond()))
	if t.Location() == time.UTC {
		return append(b, 0)
	}
	_, off := t.Zone()
	return binary.AppendVarint(append(b, 1), int64(off))
}

func readTime(s *source, v reflect.Value) error {
	sec, err1 := s.uint()
	nsec, err2 := s.uint()
	local, err3 := s.uint()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if nsec >= uint64(time.Second) {
		return errors.New("a second has too many parts")
	}
	t := time.Unix(signed(sec), int64(nsec))
	to := v.Addr().Interface().(*time.Time)
	if local == 0 {
		*to = t.UTC()
		return nil
	}
	off, err := s.uint()
	if err != nil {
		return err
	}
	if _, here := t.Zone(); int64(here) != signed(off) {
		t = t.In(time.FixedZone("", int(signed(off))))
	}
	*to = t
	return nil
}
