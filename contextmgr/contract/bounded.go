package contract

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// The bounds of a schema.
const (
	maxParts   = 2000   // schemas in it
	maxDeep    = 64     // of them within each other
	maxWide    = 100    // checks of one value at one place
	maxChecks  = 10_000 // checks, with what is referred to in each place
	maxPattern = 1000   // bytes
)

// part is a schema within a schema, with those that it has checked.
type part struct {
	pointer string
	ref     string
	here    []*part   // on the same value
	object  [][]*part // on members of an object: of each group, one at most is checked on each member
	array   [][]*part // on items of an array, the same
	// of the search for circles
	number, low, circle int
	open                bool
}

// bounded refuses schemas that lead outside, and those whose checks could take more than the size of a value: that refer to
// themselves without going into the value, or more than once for the same part of it.
func bounded(schema any) error {
	b := &bounds{parts: map[string]*part{}}
	root, err := b.part(schema, "", 0)
	if err != nil {
		return err
	}
	if err := b.refer(); err != nil {
		return err
	}
	for _, p := range b.order {
		if p.number == 0 {
			b.circles(p)
		}
	}
	for _, p := range b.order {
		if err := b.once(p); err != nil {
			return err
		}
	}
	if n := b.count(root, map[*part]int{}); n > maxChecks {
		return refuse("the schema is too large with all that it refers to: it leads to more than %d checks", maxChecks)
	}
	known := map[*part]int{}
	for _, p := range b.order {
		if wide(p, known) > maxWide {
			return refuse("%s has more than %d alternatives", where(p.pointer), maxWide)
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return thread.Kindf(thread.ErrInvalid, format, args...)
}

// where is a place in a schema for people.
func where(pointer string) string {
	if pointer == "" {
		return "the schema"
	}
	return "the schema at " + short(pointer)
}

// bounds is what is known of a schema.
type bounds struct {
	parts   map[string]*part
	order   []*part
	numbers int
	stack   []*part
	circled int
}

// part reads a schema and all within it.
func (b *bounds) part(schema any, pointer string, deep int) (*part, error) {
	p := &part{pointer: pointer}
	if len(b.order) >= maxParts || deep > maxDeep {
		return nil, refuse("the schema has more than %d parts, or is nested more than %d deep", maxParts, maxDeep)
	}
	b.parts[pointer], b.order = p, append(b.order, p)
	s, ok := schema.(map[string]any)
	if _, boolean := schema.(bool); !ok && !boolean {
		return nil, refuse("%s is neither an object nor true nor false", where(pointer))
	}
	if err := words(s, pointer); err != nil {
		return nil, err
	}
	p.ref, _ = s["$ref"].(string)
	one := func(word string) ([]*part, error) {
		sub, ok := s[word]
		if !ok {
			return nil, nil
		}
		q, err := b.part(sub, pointer+"/"+word, deep+1)
		return []*part{q}, err
	}
	several := func(word string) (all []*part, err error) {
		switch subs := s[word].(type) {
		case []any:
			for i, sub := range subs {
				q, err := b.part(sub, pointer+"/"+word+"/"+strconv.Itoa(i), deep+1)
				if err != nil {
					return nil, err
				}
				all = append(all, q)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(subs)) {
				if _, list := subs[key].([]any); list && word == "dependencies" {
					continue
				}
				q, err := b.part(subs[key], pointer+"/"+word+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), deep+1)
				if err != nil {
					return nil, err
				}
				all = append(all, q)
			}
		}
		return all, nil
	}
	read := func(into *[]*part, with func(string) ([]*part, error), names ...string) error {
		for _, word := range names {
			all, err := with(word)
			if err != nil {
				return err
			}
			if into != nil {
				*into = append(*into, all...)
			}
		}
		return nil
	}
	var members, patterns, others, items, contains, rest []*part
	itemsBy := one
	if _, list := s["items"].([]any); list {
		itemsBy = several
	}
	for _, err := range []error{
		read(&p.here, several, "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"),
		read(&p.here, one, "not", "if", "then", "else"),
		read(&members, several, "properties"), read(&members, one, "additionalProperties"),
		read(&patterns, several, "patternProperties"), read(&others, one, "unevaluatedProperties", "propertyNames"),
		read(&items, itemsBy, "items"), read(&items, one, "additionalItems"), read(&items, several, "prefixItems"),
		read(&contains, one, "contains"), read(&rest, one, "unevaluatedItems"),
		read(nil, several, "$defs", "definitions"), read(nil, one, "contentSchema"),
	} {
		if err != nil {
			return nil, err
		}
	}
	p.object = [][]*part{members, others}
	for _, q := range patterns {
		p.object = append(p.object, []*part{q})
	}
	p.array = [][]*part{items, contains, rest}
	return p, nil
}

// words looks at what a schema says beside the schemas in it.
func words(s map[string]any, pointer string) error {
	for _, word := range []string{"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"} {
		if _, ok := s[word]; ok {
			return refuse("%s has %s, which is not possible here", where(pointer), word)
		}
	}
	if _, ok := s["$id"]; ok && pointer != "" {
		return refuse("%s has an $id of its own: only the whole schema may have one", where(pointer))
	}
	if v, ok := s["$schema"].(string); ok {
		v = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(v, "https://"), "http://"), "#")
		if v != "json-schema.org/draft/2020-12/schema" && v != "json-schema.org/draft-07/schema" {
			return refuse("%s is of another version: write draft 2020-12 or draft 7", where(pointer))
		}
	}
	types, _ := s["type"].([]any)
	if t, ok := s["type"].(string); ok {
		types = []any{t}
	}
	for _, t := range types {
		if !slices.Contains([]any{"null", "boolean", "object", "array", "number", "string", "integer"}, t) {
			return refuse("%s has the type %s: there are object, array, string, number, integer, boolean and null", where(pointer), short(fmt.Sprintf("%q", t)))
		}
	}
	patterns := slices.Collect(maps.Keys(asMap(s["patternProperties"])))
	if p, ok := s["pattern"].(string); ok {
		patterns = append(patterns, p)
	}
	if slices.ContainsFunc(patterns, func(p string) bool { return len(p) > maxPattern }) {
		return refuse("%s has a pattern of more than %d bytes", where(pointer), maxPattern)
	}
	if e, ok := s["enum"].([]any); ok && len(e) > maxPattern {
		return refuse("%s has an enum of more than %d values", where(pointer), maxPattern)
	}
	return nil
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// refer finds what the schemas refer to.
func (b *bounds) refer() error {
	for _, p := range b.order {
		if p.ref == "" {
			continue
		}
		rest, ok := strings.CutPrefix(p.ref, "#")
		pointer, err := url.PathUnescape(rest)
		if !ok || err != nil || pointer != "" && pointer[0] != '/' {
			return refuse("%s refers to %s: a schema refers to parts of itself only, like #/$defs/name", where(p.pointer), short(fmt.Sprintf("%q", p.ref)))
		}
		q := b.parts[pointer]
		if q == nil {
			return refuse("%s refers to %s, which it does not have", where(p.pointer), short(fmt.Sprintf("%q", p.ref)))
		}
		p.here = append(p.here, q)
	}
	return nil
}

// all are all schemas that one checks next.
func (p *part) all() []*part {
	return slices.Concat(p.here, slices.Concat(p.object...), slices.Concat(p.array...))
}

// circles numbers the circles of schemas that lead to each other.
func (b *bounds) circles(p *part) {
	b.numbers++
	p.number, p.low, p.open = b.numbers, b.numbers, true
	b.stack = append(b.stack, p)
	for _, q := range p.all() {
		switch {
		case q.number == 0:
			b.circles(q)
			p.low = min(p.low, q.low)
		case q.open:
			p.low = min(p.low, q.number)
		}
	}
	if p.low != p.number {
		return
	}
	b.circled++
	for {
		q := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		q.open, q.circle = false, b.circled
		if q == p {
			return
		}
	}
}

// once refuses a schema that leads to itself twice for the same part of a value, or without going into it.
func (b *bounds) once(p *part) error {
	back := func(all []*part) (n int) {
		for _, q := range all {
			if q.circle == p.circle { // of a schema alone only if it leads to itself
				n++
			}
		}
		return n
	}
	groups := func(all [][]*part) (n int) {
		for _, group := range all {
			n += min(back(group), 1)
		}
		return n
	}
	if back(p.here)+max(groups(p.object), groups(p.array)) > 1 {
		return refuse("%s leads back to itself in more than one way: it may do so once for each member", where(p.pointer))
	}
	seen := map[*part]bool{}
	for at := p; ; {
		next := slices.IndexFunc(at.here, func(q *part) bool { return q.circle == p.circle })
		if next < 0 {
			return nil
		}
		if at = at.here[next]; at == p {
			return refuse("%s refers to itself without going into the value", where(p.pointer))
		}
		if seen[at] {
			return nil // found from one of these
		}
		seen[at] = true
	}
}

// count returns how many checks a schema leads to, without those that go round once more.
func (b *bounds) count(p *part, known map[*part]int) int {
	if n, ok := known[p]; ok {
		return n
	}
	known[p] = 1
	n := 1
	for _, q := range p.all() {
		if n < maxChecks+1 && (q.circle != p.circle || q.number > p.number) {
			n += b.count(q, known)
		}
	}
	known[p] = n
	return n
}

// wide returns how many checks of the same value a schema leads to.
func wide(p *part, known map[*part]int) int {
	if n, ok := known[p]; ok {
		return n
	}
	n := 1
	for _, q := range p.here {
		if n <= maxWide {
			n += wide(q, known)
		}
	}
	known[p] = n
	return n
}
