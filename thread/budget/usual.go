package budget

import (
	"slices"
	"sync"
)

const (
	// firstAnswer is how many tokens a model is expected to answer of which nothing is known.
	firstAnswer = 2000
	// leastAnswer is expected of one of which only a few answers are known.
	leastAnswer = 500
	// learned is how many answers of a model are kept, and believed how many of them are needed.
	learned, believed = 64, 8
	// usualShare is the share of answers that are no longer than the usual one.
	usualShare = 0.9
	// mostModels bounds the models of which something is kept: names come from requests.
	mostModels = 64
)

// usual learns how many tokens models answer.
type usual struct {
	mu     sync.Mutex // a leaf
	models map[answers]*lengths
	order  []answers // the one that was heard of longest ago comes first
}

// answers are those of a model, in conversations or to side requests, which are shorter.
type answers struct {
	model string
	main  bool
}

// lengths are the newest answers' lengths, in a ring.
type lengths struct {
	of [learned]int64
	n  int // all that were added
}

// learn takes an answer's length.
func (u *usual) learn(model string, main bool, output int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	k := answers{model, main}
	l := u.models[k]
	if l == nil {
		if u.models == nil {
			u.models = map[answers]*lengths{}
		}
		if len(u.models) >= mostModels {
			delete(u.models, u.order[0])
			u.order = u.order[1:]
		}
		l = &lengths{}
		u.models[k] = l
		u.order = append(u.order, k)
	} else if at := slices.Index(u.order, k); at != len(u.order)-1 {
		u.order = append(slices.Delete(u.order, at, at+1), k)
	}
	l.of[l.n%learned] = output
	l.n++
}

// expect returns how many tokens a model likely answers.
func (u *usual) expect(model string, main bool) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	l := u.models[answers{model, main}]
	if l == nil {
		return firstAnswer
	}
	known := slices.Clone(l.of[:min(l.n, learned)])
	slices.Sort(known)
	if len(known) < believed {
		return max(leastAnswer, known[len(known)-1])
	}
	return known[int(float64(len(known)-1)*usualShare+0.5)]
}

// leastRequest is how many tokens a request has with its answer, at least, in a scope of which no request is known.
const leastRequest = 2 * leastAnswer

// typical is what the newest requests of conversations took that a scope has paid for, on average.
type typical struct {
	Amount
	n int
}

// learn takes what one took.
func (t *typical) learn(a Amount) {
	t.n = min(t.n+1, believed)
	t.Tokens += (a.Tokens - t.Tokens) / int64(t.n)
	t.USD += (a.USD - t.USD) / float64(t.n)
}

// small returns what a request takes that must fit into what is left of a limit, or nothing reasonable fits any more: a
// usual one, else one as want is, but short.
func (t *typical) small(want Amount) Amount {
	if t.n > 0 {
		return t.Amount
	}
	if want.Tokens <= leastRequest {
		return want
	}
	return Amount{Tokens: leastRequest, USD: want.USD * leastRequest / float64(want.Tokens)}
}
