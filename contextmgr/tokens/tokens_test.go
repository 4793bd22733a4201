package tokens_test

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"

	"orchestrator/contextmgr/tokens"
	"orchestrator/contextmgr/wire/wiretest"
)

// encodings are all that the library has.
var encodings = []string{
	tiktoken.MODEL_O200K_BASE, tiktoken.MODEL_CL100K_BASE, tiktoken.MODEL_P50K_BASE, tiktoken.MODEL_P50K_EDIT,
	tiktoken.MODEL_R50K_BASE,
}

// oracles are the library's encoders, loaded once.
var oracles = sync.OnceValue(func() map[string]*tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	all := map[string]*tiktoken.Tiktoken{}
	for _, name := range encodings {
		encoder, err := tiktoken.GetEncoding(name)
		if err != nil {
			panic(err)
		}
		all[name] = encoder
	}
	return all
})

var counter = tokens.New()

func agree(t testing.TB, text string) {
	t.Helper()
	for _, name := range encodings {
		if got, want := counter.CountBy(name, text), len(oracles()[name].EncodeOrdinary(text)); got != want {
			t.Errorf("%s: %d tokens, want %d: %.200q", name, got, want, text)
		}
	}
}

// TestSpecialTokensAreText: each of the library's special tokens is one token to the library, and plain text to us, as it
// is in EncodeOrdinary, alone and within other text.
func TestSpecialTokensAreText(t *testing.T) {
	found := map[string]int{}
	for _, special := range []string{
		tiktoken.ENDOFTEXT, tiktoken.FIM_PREFIX, tiktoken.FIM_MIDDLE, tiktoken.FIM_SUFFIX, tiktoken.ENDOFPROMPT,
	} {
		for _, text := range []string{special, special + special, "a" + special + " b", special[1:], "\n" + special + "\n", "<" + special} {
			agree(t, text)
		}
		for name, encoder := range oracles() {
			if ids := encoder.Encode(special, []string{"all"}, nil); len(ids) == 1 {
				found[name]++
				if n := counter.CountBy(name, special); n < 3 {
					t.Errorf("%s: %s has %d tokens as text", name, special, n)
				}
			}
		}
	}
	want := map[string]int{"o200k_base": 2, "cl100k_base": 5, "p50k_base": 1, "p50k_edit": 4, "r50k_base": 1}
	if !maps.Equal(found, want) {
		t.Errorf("special tokens: %v, want %v", found, want)
	}
}

// TestUnknownEncoding: an encoding that the library does not have is an error, and a guess; not another one's count.
func TestUnknownEncoding(t *testing.T) {
	if err := counter.Load("o300k"); err == nil || counter.CountBy("o300k", "12345") != 2 {
		t.Errorf("%v, %d", err, counter.CountBy("o300k", "12345"))
	}
}

func TestCountAgreesWithTheLibrary(t *testing.T) {
	for _, text := range []string{
		"", " ", "a", "Hello, world!", "it's we'll THEY'RE I'M 'tis don'T 's", "12345678 1,234.5", "a1b2",
		"\n\t\n", "\n\n \n", "  \n  x", "x   ", "x \n\n\n  y", "\r\n\r\n", "a\u00a0b\u2003c\u0085d", "   leading",
		"\tfunc main() {\n\t\treturn\n\t}\n",
		"日本語のテキスト", "Русский ТЕКСТ", "العربية", "हिन्दी में", "한국어", "ไทย", "👩‍👩‍👧 ok 🇩🇪", "e\u0301A \u0301B",
		"ǅ ǆ ʰʱ ªº", "①②③④ Ⅷ ½",
		"http://example.com/a/b?c=d//\n/x", "<|endoftext|>", "ſ's 'ſ K", "\xff\xfe bad \xc3", "a\x00b", "x.\n/y .\r\n/ -/\n", "'s're'T 've", "क्षि\u0301x \u0301\u0301",
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
		for _, name := range encodings {
			if n := counter.CountBy(name, text); n <= 0 || n > len(text) {
				t.Errorf("%s: %q: %d tokens", name, unit, n)
			}
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
		encoder := oracles()[tokens.Default]
		b.Run(name+"/library", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				encoder.EncodeOrdinary(text)
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
			if err := tokens.New().Load(tokens.Default); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestLongPieces: of a text without a space, however long, at most 256 KB are merged at a time.
func TestLongPieces(t *testing.T) {
	c := tokens.New()
	const n = 4 << 20
	text := strings.Repeat("a", n)
	c.Count("a")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := c.Count(text)
	runtime.ReadMemStats(&after)
	want := c.Count(text[:256<<10]) * (n >> 18)
	if got < want-n>>18 || got > want+n>>18 {
		t.Errorf("%d tokens, want about %d", got, want)
	}
	if most := uint64(600 << 20); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("it took %d MB in all", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
	if most := uint64(100 << 20); after.HeapSys > before.HeapSys+most {
		t.Errorf("the heap grew by %d MB", (after.HeapSys-before.HeapSys)>>20)
	}
}
