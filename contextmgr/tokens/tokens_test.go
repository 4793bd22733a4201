package tokens_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"

	"orchestrator/contextmgr/tokens"
	"orchestrator/contextmgr/wire/wiretest"
)

// oracle is the library's encoder, loaded once.
var oracle = sync.OnceValue(func() *tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		panic(err)
	}
	return enc
})

var counter = tokens.New()

func agree(t testing.TB, text string) {
	t.Helper()
	if got, want := counter.Count(text), len(oracle().EncodeOrdinary(text)); got != want {
		t.Errorf("%d tokens, want %d: %.200q", got, want, text)
	}
}

func TestCountAgreesWithTheLibrary(t *testing.T) {
	for _, text := range []string{
		"", " ", "a", "Hello, world!", "it's we'll THEY'RE I'M 'tis don'T 's", "12345678 1,234.5", "a1b2",
		"\n\t\n", "\n\n \n", "  \n  x", "x   ", "x \n\n\n  y", "\r\n\r\n", "a\u00a0b\u2003c\u0085d", "   leading",
		"\tfunc main() {\n\t\treturn\n\t}\n",
		"日本語のテキスト", "Русский ТЕКСТ", "العربية", "हिन्दी में", "한국어", "ไทย", "👩‍👩‍👧 ok 🇩🇪", "e\u0301A \u0301B",
		"ǅ ǆ ʰʱ ªº", "①②③④ Ⅷ ½",
		"http://example.com/a/b?c=d//\n/x", "<|endoftext|>", "ſ's 'ſ K", "\xff\xfe bad \xc3", "a\x00b",
		"HTTPServer XMLHttpRequest parseURL iOS", "snake_case_name SCREAMING_SNAKE", `{"key":"va\"lue","n":[1,2.5e10,null]}`,
		strings.Repeat("x", 127), strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("ab", 150),
		strings.Repeat("=", 200),
		strings.Repeat(" ", 150), strings.Repeat("\n", 150), strings.Repeat("日", 100),
	} {
		agree(t, text)
	}
}

// TestRandomTexts throws texts made of what the expression tells apart at both.
func TestRandomTexts(t *testing.T) {
	parts := []string{
		"a", "B", "the", "Word", "ABC", "é", "É", "ß", "ǅ", "ʰ", "ª", "日", "本語", "न", "ि", "\u0301", "\u200d", "1", "23",
		"4567", "Ⅷ", "²",
		" ", "  ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u2028", "\u3000", "\v", "'s", "'S", "'re", "'LL", "'", "'x", ".",
		"/", "//", "-->", "{\"", "=", "😀", "\x00", "<|endoftext|>", "ſ",
	}
	rng := rand.New(rand.NewPCG(7, 7))
	n := 400
	if testing.Short() {
		n = 300
	}
	for range n {
		var b strings.Builder
		for range 1 + rng.IntN(30) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		if agree(t, b.String()); t.Failed() {
			return
		}
	}
}

func FuzzCount(f *testing.F) {
	wiretest.Quick(f)
	f.Add("it's \n\n  x 123456 ÉcoleABC")
	f.Add("\xff\u0301A'LL\r\n/")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			return
		}
		agree(t, s)
	})
}

// TestLongLinesEnd counts what the libraries need minutes for.
func TestLongLinesEnd(t *testing.T) {
	for _, unit := range []string{"a", " ", "\n", "=", "日", "aGVsbG8"} {
		text := strings.Repeat(unit, (1<<15)/len(unit))
		if n := counter.Count(text); n <= 0 || n > len(text) {
			t.Errorf("%q: %d tokens", unit, n)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	c := tokens.New()
	text := strings.Repeat("The quick brown fox, it's 12345.\n", 50)
	want := counter.Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := c.Count(text); got != want {
					t.Errorf("%d, want %d", got, want)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkCount has the library as its baseline where that ends.
func BenchmarkCount(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen. ", 700),
		"code": strings.Repeat("func (c *Counter) Count(text string) int {\n\tif c.err != nil {\n\t\treturn 0\n\t}\n}\n",
			600),
		"json":    strings.Repeat(`{"id":"call_17","type":"function","arguments":{"path":"internal/x.go","line":123}},`, 600),
		"scripts": strings.Repeat("日本語のテキスト Русский текст हिन्दी 한국어 ไทย 👩‍👧 ", 500),
	} {
		b.Run(name+"/own", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				counter.Count(text)
			}
		})
		b.Run(name+"/library", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				oracle().EncodeOrdinary(text)
			}
		})
	}
	b.Run("one line of 1 MB/own", func(b *testing.B) {
		text := strings.Repeat("a", 1<<20)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			counter.Count(text)
		}
	})
	b.Run("load/own", func(b *testing.B) {
		for b.Loop() {
			if err := tokens.New().Load(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
