package sample

import (
	"slices"
	"testing"
)

func TestDrawn(t *testing.T) {
	all := make([]int, 10)
	for i := range all {
		all[i] = i
	}
	seen := map[int]bool{}
	for seed := range uint64(200) {
		some := drawn(seed, 4, all)
		if len(some) != 3 || !slices.IsSorted(some) || some[0] > 3 || some[1] < 4 || some[1] > 7 || some[2] < 8 {
			t.Fatalf("seed %d draws %v, not one of each four", seed, some)
		}
		if !slices.Equal(some, drawn(seed, 4, all)) {
			t.Fatalf("seed %d does not draw the same again", seed)
		}
		for _, row := range some {
			seen[row] = true
		}
	}
	if len(seen) != len(all) {
		t.Errorf("200 runs have tried %d of %d rows", len(seen), len(all))
	}
}

func TestOf(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f"}
	t.Setenv("WHOLE", "")
	t.Setenv("SAMPLE", "7")
	if some := Of(t, 3, all); len(some) != 2 || !slices.Equal(some, Of(t, 3, all)) {
		t.Errorf("a third of six is %v", some)
	}
	if one := Of(t, 3, all[:1]); len(one) != 1 {
		t.Errorf("of one row %v is left", one)
	}
	t.Setenv("WHOLE", "1")
	if in := In(t, 3, map[string]int{"a": 1, "b": 2}); len(in) != 2 || in["b"] != 2 {
		t.Errorf("the whole is %v", in)
	}
	if whole := Of(t, 3, all); !slices.Equal(whole, all) {
		t.Errorf("the whole is %v", whole)
	}
}
