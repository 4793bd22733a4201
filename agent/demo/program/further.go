package program

import "sync"

// further are the prompts that a running turn has not taken yet. Its zero value is ready.
type further struct {
	mu    sync.Mutex // guards the rest
	texts []string
	over  bool // the turn takes no more
}

// add adds a prompt, unless the turn is over.
func (f *further) add(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over && text != "" {
		f.texts = append(f.texts, text)
	}
}

// take takes all of them. If there are none and the turn ends with that, no more are added.
func (f *further) take(ends bool) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	texts := f.texts
	f.texts, f.over = nil, ends && len(texts) == 0
	return texts
}
