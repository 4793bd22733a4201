// Package sample gives tests a part of a table that takes too long for every run. Each run gets another part, drawn
// evenly, so that some runs together have tried every row; WHOLE=1 asks for all of them, and a test that fails says how
// its part is drawn again.
package sample

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Whole tells whether all of every table was asked for.
func Whole() bool { return os.Getenv("WHOLE") != "" }

// Of returns one row in every n of all, at least one, in their order.
func Of[T any](t testing.TB, n int, all []T) []T {
	t.Helper()
	if Whole() || n <= 1 || len(all) < 2 {
		return all
	}
	some := drawn(seed(t), n, all)
	t.Logf("%d of %d rows; WHOLE=1 for all of them", len(some), len(all))
	return some
}

// In returns such a part of a table whose rows have names.
func In[Row any](t testing.TB, n int, all map[string]Row) map[string]Row {
	t.Helper()
	some := map[string]Row{}
	for _, name := range Of(t, n, slices.Sorted(maps.Keys(all))) {
		some[name] = all[name]
	}
	return some
}

// drawn takes one row at random from each n of them, so that neighbours in a table, which are of one kind, are not
// left out together.
func drawn[T any](seed uint64, n int, all []T) []T {
	chance := rand.New(rand.NewPCG(seed, uint64(len(all))))
	var some []T
	for i := 0; i < len(all); i += n {
		some = append(some, all[i+chance.IntN(min(n, len(all)-i))])
	}
	return some
}

var now = sync.OnceValue(func() uint64 { return uint64(time.Now().UnixNano()) })

// seed is SAMPLE, or the time at which the test program began, which a test that fails names.
func seed(t testing.TB) uint64 {
	t.Helper()
	begin := now()
	if s := os.Getenv("SAMPLE"); s != "" {
		var err error
		if begin, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("SAMPLE: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("SAMPLE=%d draws the same rows again", begin)
		}
	})
	return begin
}
