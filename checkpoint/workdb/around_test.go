package workdb

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAround: of a table with damaged pages every row of the others is read, once.
func TestAround(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var pages [][]int64 // of rows
		var want []int64
		id := rnd.Int64N(3)
		bad := map[int]bool{}
		for p := range 1 + rnd.IntN(40) {
			var page []int64
			for range 1 + rnd.IntN(8) {
				id += 1 + rnd.Int64N(3)*rnd.Int64N(4)
				page = append(page, id)
			}
			pages = append(pages, page)
			if bad[p] = rnd.IntN(5) == 0; !bad[p] {
				want = append(want, page...)
			}
		}
		errBad := errors.New("damaged")
		var got []int64
		read := func(r span) (last int64, n int, damage, err error) {
			for p := range pages {
				first, end := pages[p][0], pages[p][len(pages[p])-1]
				if p > 0 {
					first = pages[p-1][len(pages[p-1])-1] + 1 // where a row would lie that is not there
				}
				if end <= r.after || first >= r.before {
					continue
				}
				if bad[p] {
					return last, n, errBad, nil
				}
				for _, id := range pages[p] {
					if id > r.after && id < r.before {
						got, last, n = append(got, id), id, n+1
					}
				}
			}
			return last, n, nil, nil
		}
		gone, err := around(read)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: read %v of %v, damaged %v, want %v", seed, got, pages, bad, want)
		}
		behind := int64(0) // rows that are gone before the last that was read
		for p, page := range pages {
			if bad[p] && len(want) > 0 && page[0] < want[len(want)-1] {
				behind += int64(len(page))
			}
		}
		if gone < behind {
			t.Errorf("seed %d: %d are gone at most, but %d are", seed, gone, behind)
		}
	}
}

// TestAroundWrongID: an id that damage has made smaller than those before it is read once, and what follows as well.
func TestAroundWrongID(t *testing.T) {
	rounds := 0
	_, err := around(func(r span) (last int64, n int, damage, err error) {
		if rounds++; rounds > 1000 {
			t.Fatal("it reads the same again and again")
		}
		if r.after < 1 || r.before < 10 {
			return 0, 1, errors.New("damaged"), nil // the row has the id 0, wherever one looks for it
		}
		return 0, 0, nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}
