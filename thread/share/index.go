package share

import (
	"path"
	"slices"
	"strings"
)

// Index finds the places that work on the same files as one, without looking at each.
type Index struct {
	project string
	places  []Place
	byDir   []dirAt          // sorted by folder
	byRoot  map[string][]int // the places by the folder whose files are theirs
}

type dirAt struct {
	dir string
	at  int
}

// NewIndex indexes the places of a project.
func NewIndex(project string, places []Place) *Index {
	x := &Index{
		project: project, places: places, byDir: make([]dirAt, 0, len(places)), byRoot: make(map[string][]int, len(places)),
	}
	for i, p := range places {
		if p.Dir == "" { // unknown
			continue
		}
		x.byDir = append(x.byDir, dirAt{p.Dir, i})
		root := p.root(project)
		x.byRoot[root] = append(x.byRoot[root], i)
	}
	slices.SortFunc(x.byDir, func(a, b dirAt) int { return strings.Compare(a.dir, b.dir) })
	return x
}

// from returns the part of a list that does not sort before a folder.
func from(list []dirAt, dir string) []dirAt {
	i, _ := slices.BinarySearchFunc(list, dir, func(d dirAt, s string) int { return strings.Compare(d.dir, s) })
	return list[i:]
}

// With returns the indexes of the places that share files with one, in order.
func (x *Index) With(p Place) []int {
	if p.Dir == "" {
		return nil
	}
	var found []int
	root := p.root(x.project)
	below := strings.TrimSuffix(root, "/") + "/"
	for _, first := range []string{root, below} {
		for _, d := range from(x.byDir, first) {
			if d.dir != root && (first != below || !strings.HasPrefix(d.dir, below)) {
				break
			}
			if x.places[d.at].below(root) {
				found = append(found, d.at)
			}
		}
	}
	for dir := p.Dir; p.below(dir); dir = path.Dir(dir) {
		found = append(found, x.byRoot[dir]...)
		if dir == path.Dir(dir) {
			break
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
