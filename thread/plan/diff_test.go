package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"a\nb", "a\nb", ""},
		{"a", "b", "-a|+b"},
		{"1\n2\n3\n4\n5\n6", "1\n2\n3\nx\n5\n6", "...| 2| 3|-4|+x| 5| 6"},
		{"a\nb\nc\nd", "b\nx\nd", "-a| b|-c|+x| d"},
		{"", "a", "-|+a"},
	} {
		if got := strings.Join(Diff(c.a, c.b), "|"); got != c.want {
			t.Errorf("%q and %q: %q, not %q", c.a, c.b, got, c.want)
		}
	}
	many := strings.Repeat("x\ny\n", 3000)
	if got := Diff("a\n"+many+"b", "c\n"+many+"d"); !slices.Contains(got, "+d") || len(got) < 6000 {
		t.Errorf("%d lines", len(got))
	}
}

// FuzzDiff: what is left out of both is the same in both.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc")
	f.Fuzz(func(t *testing.T, a, b string) {
		lines := Diff(a, b)
		if (len(lines) == 0) != (a == b) {
			t.Fatalf("%q and %q: %q", a, b, lines)
		}
		removed, added := 0, 0
		for _, l := range lines {
			switch l[0] {
			case '-':
				removed++
			case '+':
				added++
			}
		}
		if strings.Count(a, "\n")-removed != strings.Count(b, "\n")-added {
			t.Fatalf("%q and %q: %q", a, b, lines)
		}
	})
}
