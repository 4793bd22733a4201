package thread

import (
	"iter"

	"orchestrator/thread/share"
)

// Folders finds the threads of a project that work on the same files.
type Folders struct {
	threads []*Thread // those in use
	index   *share.Index
	found   map[share.Place][]int // what the index found, looked up once per place
}

// NewFolders indexes the threads that are in use, which must not change while the index is used.
func NewFolders(project string, all iter.Seq[*Thread]) *Folders {
	f := &Folders{found: make(map[share.Place][]int)}
	var places []share.Place
	for t := range all {
		if t.InUse() {
			f.threads = append(f.threads, t)
			places = append(places, placeOf(t))
		}
	}
	f.index = share.NewIndex(project, places)
	return f
}

// With returns the threads that work on the same files as t, in the order they were given; none if t is not in use.
func (f *Folders) With(t *Thread) []Thread {
	if !t.InUse() {
		return nil
	}
	var others []Thread
	for _, i := range f.at(t) {
		if o := f.threads[i]; o.ID != t.ID {
			others = append(others, *o)
		}
	}
	return others
}

// Names returns the names of at most `most` threads that work on the same files as t, and how many more there are.
func (f *Folders) Names(t *Thread, most int) (names []string, more int) {
	if !t.InUse() {
		return nil, 0
	}
	for _, i := range f.at(t) {
		switch o := f.threads[i]; {
		case o.ID == t.ID:
		case len(names) < most:
			names = append(names, o.Name)
		default:
			more++
		}
	}
	return names, more
}

// at returns the indexes of the threads that work on the same files as t, itself included.
func (f *Folders) at(t *Thread) []int {
	p := placeOf(t)
	found, ok := f.found[p]
	if !ok {
		found = f.index.With(p)
		f.found[p] = found
	}
	return found
}

func placeOf(t *Thread) share.Place { return share.Place{Dir: t.Dir, Worktree: t.Worktree.Path} }

// NamesOf returns the names of threads.
func NamesOf(threads []Thread) []string {
	var names []string
	for _, t := range threads {
		names = append(names, t.Name)
	}
	return names
}

// InUse reports whether a thread still works on its files.
func (t *Thread) InUse() bool {
	return t.Deleted.IsZero() && t.Archived.IsZero() && t.Outcome.Kind == OutcomeNone
}
