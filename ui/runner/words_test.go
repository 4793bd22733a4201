package runner

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		open bool
	}{
		{"", nil, false},
		{"  sh  -c\t'a  b' ", []string{"sh", "-c", "a  b"}, false},
		{`"" x''y "it's" 'say "hi"'`, []string{"", "xy", "it's", `say "hi"`}, false},
		{`a\ b "q\"q" "\n" '\n'`, []string{"a b", `q"q`, `\n`, `\n`}, false},
		{"größe '修复 缓存'", []string{"größe", "修复 缓存"}, false},
		{`"open`, nil, true}, {`'open "x"`, nil, true}, {`end\`, nil, true},
	} {
		got, closed := words(c.in)
		if closed == c.open || !c.open && !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, closed %v", c.in, got, closed)
		}
	}
}
