package span_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"orchestrator/contextmgr/wire/span"
)

func TestRawIsTheVeryBytes(t *testing.T) {
	for _, in := range []string{
		`1`, `-0.5e+3`, `"a\u00e9\n"`, `true`, `null`, `[ 1 , 2,[],{ } ]`,
		`{"b" :1.0,"a":"\/","long":"` + strings.Repeat("x", 100) + `\"` + strings.Repeat("é", 20) + `"}`,
	} {
		raw, err := span.New([]byte("  " + in + "\n")).Raw()
		if err != nil || string(raw) != in {
			t.Errorf("Raw(%q) = %q, %v", in, raw, err)
		}
	}
}

func TestWalk(t *testing.T) {
	c := span.New([]byte(`{"skip":{"x":[1,2]},"s":"a\tb","n":12,"f":1e2,"l":["x",{"y":1}],"t":true}`))
	got := map[string]any{}
	var list []string
	err := c.Object(func(key string, c *span.Cursor) (err error) {
		switch key {
		case "s":
			got[key], err = c.String()
		case "n", "f":
			got[key], err = c.Int()
		case "t":
			got[key], err = c.Bool()
		case "l":
			return c.Array(func(c *span.Cursor) error {
				raw, err := c.Raw()
				list = append(list, string(raw))
				return err
			})
		}
		return err
	})
	if err != nil || c.End() != nil {
		t.Fatal(err, c.End())
	}
	if got["s"] != "a\tb" || got["n"] != int64(12) || got["f"] != int64(100) || got["t"] != true {
		t.Errorf("members: %v", got)
	}
	if strings.Join(list, "|") != `x|{"y":1}` && strings.Join(list, "|") != `"x"|{"y":1}` {
		t.Errorf("list: %q", list)
	}
}

func TestStopEndsTheWalk(t *testing.T) {
	n := 0
	err := span.New([]byte(`[1,2,3]`)).Array(func(*span.Cursor) error {
		n++
		return span.ErrStop
	})
	if !errors.Is(err, span.ErrStop) || n != 1 {
		t.Errorf("stopped after %d with %v", n, err)
	}
}

func TestDepthIsBounded(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	if _, err := span.New([]byte(deep)).Raw(); !errors.Is(err, span.ErrSyntax) {
		t.Errorf("a million brackets: %v", err)
	}
	ok := strings.Repeat("[", span.MaxDepth) + strings.Repeat("]", span.MaxDepth)
	if _, err := span.New([]byte(ok)).Raw(); err != nil {
		t.Errorf("the deepest that is allowed: %v", err)
	}
}

// FuzzRaw holds the walker against encoding/json: what it takes whole is valid, and what is
// valid and not too deep it takes.
func FuzzRaw(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":"c"}]}`, `"\ud800"`, `"a` + "\x01" + `"`, `01`, `-`, `[1,]`, `{"a"}`, `{"a":1,}`, `nul`, "\"\xff\"",
		`"` + strings.Repeat("\x7f\x80\x1f", 9) + `"`, `1.`, `.5`, `1e`, `"12345678\"`, `  [ ] `, ``, `{"":{"":[]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := span.New(b)
		raw, err := c.Raw()
		whole := err == nil && c.End() == nil
		if whole && !json.Valid(raw) {
			t.Fatalf("took %q", raw)
		}
		if json.Valid(b) && !whole && len(b) < span.MaxDepth {
			t.Fatalf("refused %q: %v", b, err)
		}
		_ = span.New(b).Object(func(_ string, c *span.Cursor) error {
			_, err := c.String()
			return err
		})
		_ = span.New(b).Array(func(c *span.Cursor) error {
			_, err := c.Int()
			return err
		})
	})
}

// BenchmarkRaw has encoding/json as its baseline, on source code and on prose.
func BenchmarkRaw(b *testing.B) {
	for name, text := range map[string]string{
		"code":  `func main() {\n\tfmt.Println(\"hello\")\n}\n`,
		"prose": `It was a bright cold day in April, and the clocks were striking thirteen.\n`,
	} {
		body := []byte(`{"messages":["` + strings.Repeat(text, 1<<20/len(text)) + `"]}`)
		b.Run(name+"/span", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := span.New(body).Raw(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/json.Valid", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !json.Valid(body) {
					b.Fatal("no JSON")
				}
			}
		})
	}
}

func TestKnown(t *testing.T) {
	yes := func([]byte) bool { return true }
	for in, want := range map[string]bool{
		"1,2": true, " 1 ]": true, "1\n}": true, "12,": false, "1": false, "": false, " ": false, "1 2": false, "1:": false,
	} {
		c := span.New([]byte(in))
		raw, ok := c.Known(1, yes)
		if ok != want || ok && (string(raw) != "1" || c.Offset() != strings.Index(in, "1")+1 || cap(raw) != 1) {
			t.Errorf("%q: %q, %v, at %d", in, raw, ok, c.Offset())
		}
		if _, ok := span.New([]byte(in)).Known(1, func([]byte) bool { return false }); ok {
			t.Errorf("%q is known though it is not the same", in)
		}
	}
	for _, n := range []int{-1, 0, 4, 1 << 40} {
		if _, ok := span.New([]byte("[1]")).Known(n, yes); ok {
			t.Errorf("%d bytes are known", n)
		}
	}
	c := span.New([]byte(`{"a":[7,8]}`))
	if err := c.Object(func(_ string, c *span.Cursor) error {
		if c.Depth() != 1 || c.Offset() != 5 {
			t.Errorf("depth %d at %d", c.Depth(), c.Offset())
		}
		return nil
	}); err != nil || c.Depth() != 0 {
		t.Errorf("%v at depth %d", err, c.Depth())
	}
}
