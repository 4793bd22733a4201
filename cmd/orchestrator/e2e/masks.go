package e2e

import (
	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/masks"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Masks stops the server and opens what is masked.
func (r *Rig) Masks() *masks.Store {
	r.T.Helper()
	r.Ok("stop", "--force")
	folder, err := private.Make(r.StateDir(), "masks")
	if err != nil {
		r.T.Fatal(err)
	}
	return masks.Open(folder, masks.Config{})
}

// MaskResult masks a content of a thread, and pins another.
func (r *Rig) MaskResult(id thread.ID, content string) masks.Mask {
	r.T.Helper()
	store := r.Masks()
	defer func() { _ = store.Close() }() // nothing is left to write: Settle has been called
	set, err := store.Thread(id, "")
	if err == nil {
		err = set.Add([]masks.New{{
			Mask: masks.Mask{ID: "a result", Tool: "Read", Lines: 1, Tokens: 500}, Content: []byte(content),
			Text: func(file string, token thread.Token) string { return masking.Stub("Read", 1, 500, file, string(token)) },
		}})
	}
	if err == nil {
		err = set.Pin("another")
	}
	if err != nil {
		r.T.Fatal(err)
	}
	store.Settle()
	m, _ := set.Mask("a result")
	return m
}

// MaskOf returns the mask of that content.
func (r *Rig) MaskOf(id thread.ID) (masks.Mask, *masks.Set) {
	r.T.Helper()
	store := r.Masks()
	defer func() { _ = store.Close() }() // it is only read
	set, err := store.Thread(id, "")
	if err != nil {
		r.T.Fatal(err)
	}
	m, ok := set.Mask("a result")
	if !ok {
		r.T.Errorf("nothing is masked of %s", id)
	}
	return m, set
}
