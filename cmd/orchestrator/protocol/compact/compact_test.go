package compact_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/protocol/compact"
	"orchestrator/thread"
)

// filler fills values with what their types can hold, empty and nil things among it.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value, depth int) {
	if f.IntN(4) == 0 && depth > 0 || depth > 4 {
		return // zero
	}
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		*at = time.Unix(f.Int64N(1<<33)-1<<32, f.Int64N(1e9))
		switch f.IntN(3) {
		case 0:
			*at = at.UTC()
		case 1:
			*at = at.In(time.FixedZone("", 3600*f.IntN(12)+1800))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.Int64() >> (65 - v.Type().Bits() + f.IntN(v.Type().Bits()-1)) * int64(1-2*f.IntN(2)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(f.Uint64() >> (64 - v.Type().Bits() + f.IntN(v.Type().Bits())))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{f.NormFloat64(), math.Inf(1), math.MaxFloat64}[f.IntN(3)])
	case reflect.String:
		v.SetString(strings.Repeat("aä\x00\xff\n", f.IntN(40)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Slice:
		n := f.IntN(4)
		if f.IntN(20) == 0 {
			n = 100
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if carried(v.Type().Field(i)) {
				f.fill(v.Field(i), depth+1)
			}
		}
	default:
		panic(v.Type().String())
	}
}

// carried reports whether a field is one that JSON carries.
func carried(f reflect.StructField) bool { return f.IsExported() && f.Tag.Get("json") != "-" }

// everything has a field of each kind.
type everything struct {
	Bool     bool
	Small    int8
	Int      int
	Byte     uint8
	Wide     uint64
	Float    float32
	Text     string
	At       time.Time
	Any      *everything
	List     []everything
	Lists    [][]string
	Bytes    []byte
	Table    map[string][]int
	Of       map[thread.ID]time.Time
	Nothing  struct{}
	Pointers []*int
	Unsent   *int `json:"-"` // no codec may send it
	unsent   int  `json:"-"` //nolint:unused // nor this
}

// TestWhole: what is read is what was written, to the last nil.
func TestWhole(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[thread.Status](), reflect.TypeFor[everything](), reflect.TypeFor[[]string]()} {
		codec, err := compact.New(of)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(25) {
			v, read := reflect.New(of).Elem(), reflect.New(of).Elem()
			filler{rand.New(rand.NewPCG(seed, 1))}.fill(v, 0)
			b := codec.Append([]byte("before"), v)
			if err := codec.Read(string(b[len("before"):]), read); err != nil {
				t.Fatalf("seed %d: read %s: %v", seed, of, err)
			}
			if !equal(v, read) {
				t.Fatalf("seed %d: read %+v\nwant %+v", seed, read, v)
			}
		}
	}
}

// equal is reflect.DeepEqual, but for times, which have the same moment and zone.
func equal(a, b reflect.Value) bool {
	if at, ok := a.Interface().(time.Time); ok {
		to := b.Interface().(time.Time)
		_, za := at.Zone()
		_, zb := to.Zone()
		return at.Equal(to) && za == zb && (at.Location() == time.UTC) == (to.Location() == time.UTC)
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if carried(a.Type().Field(i)) && !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || equal(a.Elem(), b.Elem()))
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		for key, value := range a.Seq2() {
			if to := b.MapIndex(key); !to.IsValid() || !equal(value, to) {
				return false
			}
		}
		return true
	default:
		return a.Interface() == b.Interface()
	}
}

// TestDamage: bytes that are cut or changed are an error or another value; no length makes room for what is not there.
func TestDamage(t *testing.T) {
	of := reflect.TypeFor[everything]()
	codec, err := compact.New(of)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(25) {
		v := reflect.New(of).Elem()
		r := rand.New(rand.NewPCG(seed, 2))
		filler{r}.fill(v, 0)
		b := codec.Append(nil, v)
		if len(b) > 4096 {
			continue
		}
		for n := range b {
			if err := codec.Read(string(b[:n]), reflect.New(of).Elem()); err == nil {
				t.Fatalf("seed %d: %d of %d bytes were read as a whole", seed, n, len(b))
			}
			changed := append([]byte(nil), b...)
			changed[n] ^= byte(1 + r.IntN(255))
			_ = codec.Read(string(changed), reflect.New(of).Elem()) // it only must not panic
		}
		if err := codec.Read(string(b)+"\x00", reflect.New(of).Elem()); err == nil {
			t.Fatalf("seed %d: a byte behind the value was taken", seed)
		}
	}
}

// TestLayout: types with other fields have other layouts.
func TestLayout(t *testing.T) {
	type inner struct{ A, B int }
	seen := map[string]reflect.Type{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[struct{ A, B int }](), reflect.TypeFor[struct{ B, A int }](), reflect.TypeFor[struct{ A int }](),
		reflect.TypeFor[struct{ A, B int64 }](), reflect.TypeFor[struct{ A, B *int }](), reflect.TypeFor[struct{ A, B []int }](),
		reflect.TypeFor[struct{ A inner }](), reflect.TypeFor[struct{ A struct{ A, B, C int } }](), reflect.TypeFor[struct{ A time.Time }](),
	} {
		codec, err := compact.New(of)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[codec.Layout()]; ok {
			t.Errorf("%s has the layout of %s", of, other)
		}
		seen[codec.Layout()] = of
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[struct{ A any }](), reflect.TypeFor[struct{ a int }](), reflect.TypeFor[struct{ A func() }](),
		reflect.TypeFor[struct{ A reflect.Value }](), reflect.TypeFor[chan int](), reflect.TypeFor[struct{ A json.RawMessage }](),
	} {
		if _, err := compact.New(of); err == nil {
			t.Errorf("%s is carried", of)
		}
	}
}
