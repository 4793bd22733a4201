package several

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/follow"
	"orchestrator/ui/host"
	"orchestrator/ui/layout"
)

// mostRecent is how many threads that were selected are remembered.
const mostRecent = 8

// need returns how much a thread should have a terminal: the lower, the more.
func (f *Feature) need(s *thread.Status, marked map[thread.ID]bool) int {
	switch g := s.Group(); {
	case marked[s.ID]:
		return 0
	case len(f.slots.ids) == 2:
		return 1 // of two, the one is the last that was selected
	case g == thread.GroupNeedsYou, g == thread.GroupWorking, slices.Index(f.slots.recent, s.ID) == 1:
		return 1 // what the person has just left stays in view
	case g == thread.GroupQuiet:
		return 3
	default:
		return 2
	}
}

// Arrange decides which threads have one of n terminals. The selected thread is among them, and marked ones; then, of
// two, the one that was selected before, and of four those that need the person or work. Each keeps its place as long as
// it has a terminal and no other needs the place more.
func (f *Feature) Arrange(n int, selected thread.ID) {
	if f.Threads.Thread(selected) == nil {
		selected = "" // it was removed, and the selection does not rest on another one yet
	}
	sl := &f.slots
	if selected != "" && (len(sl.recent) == 0 || sl.recent[0] != selected) {
		sl.recent = slices.Insert(slices.DeleteFunc(sl.recent, func(id thread.ID) bool { return id == selected }), 0, selected)
		sl.recent = sl.recent[:min(len(sl.recent), mostRecent)]
	}
	if n != len(sl.ids) {
		sl.ids, sl.at = make([]thread.ID, n), 0
	}
	if n == 1 {
		sl.ids[0], sl.at = selected, 0
		return
	}
	marked := map[thread.ID]bool{}
	for _, s := range f.Threads.Marked() {
		marked[s.ID] = true
	}
	for i, id := range sl.ids {
		if s := f.Threads.Thread(id); s == nil || id != selected && (!host.Running(s) || !s.Archived.IsZero()) {
			sl.ids[i] = ""
		}
	}
	f.seat(selected, marked)
	more := f.candidates(n, marked)
	for len(more) > 0 {
		i, need := f.leastNeeded(marked)
		if i < 0 || need <= f.need(more[0], marked) {
			break
		}
		sl.ids[i] = more[0].ID
		more = more[1:]
	}
}

// seat gives the selected thread a place, if it has none: a free one, or that of the thread that needs it least.
func (f *Feature) seat(selected thread.ID, marked map[thread.ID]bool) {
	sl := &f.slots
	if selected == "" {
		return
	}
	at := slices.Index(sl.ids, selected)
	if at < 0 {
		before := thread.ID("")
		if len(sl.recent) > 1 {
			before = sl.recent[1]
		}
		if len(sl.ids) == 2 && slices.Contains(sl.ids, before) && !slices.Contains(sl.ids, "") {
			at = 1 - slices.Index(sl.ids, before) // the other one was selected longer ago
		} else if at, _ = f.leastNeeded(marked); at < 0 {
			at = sl.at
		}
		sl.ids[at] = selected
	}
	sl.at = at
}

// empty is the need of nobody.
const empty = 10

// leastNeeded returns the place, but that of the selected thread, whose thread needs it least; -1 if there is none.
func (f *Feature) leastNeeded(marked map[thread.ID]bool) (at, need int) {
	at, need = -1, -1
	for i, id := range f.slots.ids {
		n := empty
		if id != "" {
			n = f.need(f.Threads.Thread(id), marked)
		}
		if n > need && (i != f.slots.at || id == "") {
			at, need = i, n
		}
	}
	return at, need
}

// candidates returns the threads that could have a terminal and have none, those first that need one the most.
func (f *Feature) candidates(n int, marked map[thread.ID]bool) []*thread.Status {
	without := func(s *thread.Status) bool { return !host.Running(s) || slices.Contains(f.slots.ids, s.ID) }
	out := slices.DeleteFunc(f.Threads.Marked(), without)
	if n == 2 {
		for _, id := range f.slots.recent {
			if s := f.Threads.Thread(id); s != nil && s.Archived.IsZero() && !without(s) && !marked[id] {
				out = append(out, s)
			}
		}
	}
	return append(out, f.Threads.Loudest(n, func(s *thread.Status) bool { return without(s) || slices.Contains(out, s) })...)
}

// At returns the place of the selected thread.
func (f *Feature) At() int { return f.slots.at }

// Alone reports whether only the selected thread has a terminal.
func (f *Feature) Alone() bool { return len(f.slots.ids) < 2 }

// Current returns the thread that is there, the one that was selected last and rested, or "".
func (f *Feature) Current() thread.ID {
	if len(f.slots.ids) == 0 {
		return ""
	}
	return f.slots.ids[f.slots.at]
}

// Thread returns the thread in a place, nil if there is none.
func (f *Feature) Thread(i int) *thread.Status {
	if i >= len(f.slots.ids) || f.slots.ids[i] == "" {
		return nil
	}
	return f.Threads.Thread(f.slots.ids[i])
}

// Watched returns what is to be watched beside the selected thread, in these boxes.
func (f *Feature) Watched(boxes []layout.Box) (out []follow.Watched) {
	for i, id := range f.slots.ids {
		if s := f.Thread(i); s != nil && i != f.slots.at && i < len(boxes) && host.Running(s) {
			out = append(out, follow.Watched{Selection: follow.Selection{ID: id, Run: s.Execution.ID}, Box: boxes[i]})
		}
	}
	return out
}
