package share

import (
	"path"
	"slices"
	"strings"
)

// Index finds among many places those that one works together with, without looking at each.
type Index struct {
	project string
	places  []Place
	byDir   []dirAt          // in the order of the folders
	byRoot  map[string][]int // positions by the folder whose files are theirs
}

type dirAt struct {
	dir string
	at  int
}

// NewIndex makes one of a project's places.
func NewIndex(project string, places []Place) *Index {
	x := &Index{project: project, places: places, byDir: make([]dirAt, 0, len(places)), byRoot: make(map[string][]int, len(places))}
	for i, p := range places {
		if p.Dir == "" { // nobody knows
			continue
		}
		x.byDir = append(x.byDir, dirAt{p.Dir, i})
		root := p.root(project)
		x.byRoot[root] = append(x.byRoot[root], i)
	}
	slices.SortFunc(x.byDir, func(a, b dirAt) int { return strings.Compare(a.dir, b.dir) })
	return x
}

// With returns the positions of the places that are together with one, in their order.
func (x *Index) With(p Place) []int {
	if p.Dir == "" {
		return nil
	}
	var found []int
	root := p.root(x.project)
	below := strings.TrimSuffix(root, "/") + "/"
	for _, from := range []string{root, below} {
		i, _ := slices.BinarySearchFunc(x.byDir, from, func(d dirAt, s string) int { return strings.Compare(d.dir, s) })
		for ; i < len(x.byDir); i++ {
			if d := x.byDir[i]; d.dir == root || from == below && strings.HasPrefix(d.dir, below) {
				if x.places[d.at].below(root) {
					found = append(found, d.at)
				}
				continue
			}
			break
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
