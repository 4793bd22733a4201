package thread_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"orchestrator/thread"
)

// TestFoldersNames: a folder with very many threads is told by few names and a number.
func TestFoldersNames(t *testing.T) {
	var all []thread.Thread
	for i := range 5000 {
		all = append(all, thread.Thread{ID: thread.ID(fmt.Sprint("id-", i)), Name: fmt.Sprint("name-", i), Dir: "/p"})
	}
	all[1].Archived = time.Unix(1, 0)
	alone := thread.Thread{ID: "alone", Name: "alone", Dir: "/elsewhere"}
	folders := thread.NewFolders("/p", func(yield func(*thread.Thread) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
		yield(&alone)
	})
	for i, one := range all {
		names, more := folders.Names(&one, 2)
		want, wantMore := []string{"name-0", "name-2"}, 4996
		switch i {
		case 0:
			want = []string{"name-2", "name-3"}
		case 1:
			want, wantMore = nil, 0
		case 2:
			want = []string{"name-0", "name-3"}
		}
		if !slices.Equal(names, want) || more != wantMore {
			t.Fatalf("%s is with %q and %d more, want %q and %d", one.Name, names, more, want, wantMore)
		}
	}
	if names, more := folders.Names(&alone, 2); len(names) != 0 || more != 0 {
		t.Errorf("%q and %d more work with one that is alone", names, more)
	}
}
