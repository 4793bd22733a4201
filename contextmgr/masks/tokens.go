package masks

import (
	"fmt"
	"sync"

	"orchestrator/thread"
)

// draws is how many tokens are tried. With a million contents, one in 4,000 is already in use.
const draws = 100

// tokens are those that are in use in the store. What was given is not given again, even if it is removed, until they are
// looked up again.
type tokens struct {
	draw  func() thread.Token
	files func() ([]thread.Token, error) // of all copies
	taken func(thread.Token) bool        // by others

	mu   sync.Mutex // guards all below
	read bool       // files are in used
	used map[thread.Token]struct{}
}

func newTokens(files func() ([]thread.Token, error), taken func(thread.Token) bool) *tokens {
	if taken == nil {
		taken = func(thread.Token) bool { return false }
	}
	return &tokens{draw: thread.NewToken, files: files, taken: taken, used: map[thread.Token]struct{}{}}
}

// add notes that a token is in use.
func (t *tokens) add(token thread.Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used[token] = struct{}{}
}

// again has the tokens in use looked up again: those of copies that were removed are free.
func (t *tokens) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = false
	clear(t.used)
}

// take returns a token that is not in use: the wanted one, if that is free.
func (t *tokens) take(want thread.Token) (thread.Token, error) {
	for range draws {
		token := want
		if want == "" {
			token = t.draw()
		}
		want = ""
		free, err := t.reserve(token)
		if err != nil {
			return "", err
		}
		if free && !t.taken(token) {
			return token, nil
		}
	}
	return "", thread.Kindf(thread.ErrRefused, "no token is free")
}

// reserve reports whether a token was free, and is not any more.
func (t *tokens) reserve(token thread.Token) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.list(); err != nil {
		return false, err
	}
	_, used := t.used[token]
	t.used[token] = struct{}{}
	return !used, nil
}

// has reports whether a token is in use.
func (t *tokens) has(token thread.Token) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.list()
	_, used := t.used[token]
	return used, err
}

// list notes the tokens of all copies, once. The caller holds mu.
func (t *tokens) list() error {
	if t.read {
		return nil
	}
	files, err := t.files()
	if err != nil {
		return fmt.Errorf("list the tokens in use: %w", err)
	}
	for _, f := range files {
		t.used[f] = struct{}{}
	}
	t.read = true
	return nil
}
