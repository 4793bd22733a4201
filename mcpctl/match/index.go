package match

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Server is what an index knows of a server.
type Server struct {
	ID          string // what results call it
	Name, Title string
	Tags        []string
	Description string // with its instructions
	Tools       []Tool
}

// Tool is a tool of a server.
type Tool struct{ Name, Title, Description string }

// How the words of a server count. A word of its name says more than one of a tool's description, which is long.
const (
	nameWeight        = 4.0
	titleWeight       = 3.0 // and tags
	toolWeight        = 2.0 // names of tools
	descriptionWeight = 0.5
	longText          = 0.75 // how much less a word says in a longer text: BM25's b
	repeated          = 1.2  // how soon repeating it adds nothing: BM25's k1
	pairWeight        = 0.5
	relatedWeight     = 0.7 // of a word for much the same
	covered           = 0.3 // how much of a word's weight a server before it has taken
	maxDescription    = 8 << 10
)

// Index ranks servers for tasks. It can be used by several goroutines at once.
type Index struct {
	ids    []string
	terms  map[string][]posting
	idf    map[string]float64
	memory *Memory
}

// posting is how much a term speaks for a server.
type posting struct {
	server int
	weight float64
}

// field is a part of what a server says of itself.
type field struct {
	weight float64
	counts map[string]float64
	length float64
}

func (f *field) add(text string) {
	if len(text) > maxDescription {
		text = text[:maxDescription]
	}
	list := terms(text)
	f.length += float64(len(list))
	for _, t := range list {
		f.counts[t.stem]++
	}
	for _, t := range pairs(list) {
		f.counts[t.stem]++
	}
}

// fields are the parts of a server, always the same number.
func fields(s Server) []field {
	list := []field{{weight: nameWeight}, {weight: titleWeight}, {weight: toolWeight}, {weight: descriptionWeight}}
	for i := range list {
		list[i].counts = map[string]float64{}
	}
	list[0].add(s.Name)
	list[1].add(s.Title)
	for _, tag := range s.Tags {
		list[1].add(tag)
	}
	list[3].add(s.Description)
	for _, tool := range s.Tools {
		list[2].add(tool.Name)
		list[3].add(tool.Title)
		list[3].add(tool.Description)
	}
	return list
}

// NewIndex returns an index of servers. With a memory it also knows what similar tasks have used.
func NewIndex(servers []Server, m *Memory) *Index {
	x := &Index{terms: map[string][]posting{}, idf: map[string]float64{}, memory: m}
	all := make([][]field, len(servers))
	var mean []float64
	for i, s := range servers {
		x.ids = append(x.ids, s.ID)
		all[i] = fields(s)
		mean = slices.Grow(mean, len(all[i]))[:len(all[i])]
		for j, f := range all[i] {
			mean[j] += f.length / float64(len(servers))
		}
	}
	for i := range all {
		sums := map[string]float64{}
		for j, f := range all[i] {
			damped := 1.0
			if f.weight != nameWeight {
				damped = 1 - longText + longText*f.length/max(mean[j], 1)
			}
			for t, n := range f.counts {
				sums[t] += f.weight * n / damped
			}
		}
		for t, sum := range sums {
			x.terms[t] = append(x.terms[t], posting{server: i, weight: sum * (repeated + 1) / (sum + repeated)})
		}
	}
	for t, list := range x.terms {
		found := float64(len(list))
		idf := math.Log(1 + (float64(len(servers))-found+0.5)/(found+0.5))
		if isPair(t) {
			idf *= pairWeight
		}
		x.idf[t] = idf
		for i := range list {
			list[i].weight *= idf
		}
	}
	return x
}

// Scored is a server with how well it fits a task. Scores of one index can be compared.
type Scored struct {
	Server string
	Score  float64
	Terms  []string // words of the task that speak for it, the strongest first
}

// Rank returns the servers that fit a task best, at most k. Each one is chosen for what those before do not offer, too.
func (x *Index) Rank(task string, k int) []Scored {
	task = clip(task)
	weights, written := query(task)
	stems := slices.Sorted(maps.Keys(weights))
	found := x.evidence(stems, weights)
	if x.memory != nil {
		x.memory.weigh(x.ids, stems, weights, found)
	}
	var (
		ranked []Scored
		taken  = make([]bool, len(x.ids))
		used   = make([]float64, len(stems))
	)
	for len(ranked) < k {
		best, score := -1, 0.0
		for i := range x.ids {
			if taken[i] {
				continue
			}
			sum := 0.0
			for j, e := range found[i] {
				sum += e - covered*min(e, used[j])
			}
			if sum > score {
				best, score = i, sum
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		for j, e := range found[best] {
			used[j] = max(used[j], e)
		}
		ranked = append(ranked, Scored{Server: x.ids[best], Score: score, Terms: strongest(found[best], stems, written)})
	}
	return ranked
}

// evidence is how much each term speaks for each server, by itself or by a word for much the same.
func (x *Index) evidence(stems []string, weights map[string]float64) [][]float64 {
	found := make([][]float64, len(x.ids))
	cells := make([]float64, len(x.ids)*len(stems))
	for i := range found {
		found[i] = cells[i*len(stems) : (i+1)*len(stems)]
	}
	add := func(j int, stem string, weight float64) {
		for _, p := range x.terms[stem] {
			found[p.server][j] = max(found[p.server][j], weight*p.weight)
		}
	}
	for j, stem := range stems {
		add(j, stem, weights[stem])
		for _, other := range vocabulary().related[stem] {
			add(j, other, weights[stem]*relatedWeight)
		}
	}
	return found
}

// strongest returns the words that count most, at most three, none of which is a part of another.
func strongest(found []float64, stems []string, written map[string]string) []string {
	order := make([]int, len(stems))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[b], found[a]) })
	var list []string
	for _, i := range order {
		if len(list) == 3 || found[i] == 0 {
			break
		}
		w := written[stems[i]]
		if isPair(stems[i]) || slices.ContainsFunc(list, func(l string) bool { return strings.Contains(l, w) }) {
			continue
		}
		list = slices.DeleteFunc(list, func(l string) bool { return strings.Contains(w, l) })
		list = append(list, w)
	}
	return list
}
