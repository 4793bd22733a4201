package reading

import "sort"

// Begin starts a search from the cursor, up if back.
func (r *Text) Begin(back bool) {
	r.find.back, r.find.origin, r.find.top = back, r.at, r.top
}

// Search goes to the closest match from where the search began; an empty query goes back there.
func (r *Text) Search(query string) {
	s := &r.find
	if query != s.query {
		s.query = query
		s.again(r.term)
	}
	r.top = s.top
	r.move(s.origin)
	if query != "" {
		r.nextHit(s.back, 1)
	}
}

// nextHit moves to the n-th match from the cursor, around the end if there is none.
func (r *Text) nextHit(back bool, times int) {
	hits := r.find.hits
	if len(hits) == 0 {
		return
	}
	i := sort.Search(len(hits), func(i int) bool { return !hits[i].From.Before(r.at) })
	on := i < len(hits) && hits[i].From == r.at
	switch {
	case back:
		i -= times
	case on:
		i += times
	default:
		i += times - 1
	}
	n := len(hits)
	to := hits[((i%n)+n)%n].From
	far := to.Line < r.top || to.Line >= r.top+uint64(r.rows)
	r.move(to)
	if far { // with some lines around it
		half := uint64(r.rows / 2)
		r.top = min(max(to.Line-min(half, to.Line), r.first()), r.screen())
	}
}

// Hits returns the matches that touch the window.
func (r *Text) Hits() []Hit {
	hits, end := r.find.hits, r.top+uint64(r.rows)
	i := sort.Search(len(hits), func(i int) bool { return hits[i].To.Line >= r.top })
	j := i
	for j < len(hits) && hits[j].From.Line < end {
		j++
	}
	return hits[i:j]
}

// Found returns the query, on which of its matches the cursor stands (0 if on none), how many there are, and whether
// there are more.
func (r *Text) Found() (query string, on, of int, more bool) {
	hits := r.find.hits
	i := sort.Search(len(hits), func(i int) bool { return !hits[i].From.Before(r.at) })
	if i < len(hits) && hits[i].From == r.at {
		on = i + 1
	}
	return r.find.query, on, len(hits), !r.find.all
}
