package pack

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"orchestrator/thread"
)

// Thread packs a thread's own document and returns the sum to store beside it.
func (p *Packer) Thread(t thread.Thread) (doc, sum []byte, err error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, nil, fmt.Errorf("thread %s: %w", t.ID, err)
	}
	s := sha256.Sum256(raw)
	return p.codec.doc(raw), s[:], nil
}

// OpenThread unpacks what Thread packed for the thread with an id.
func (p *Packer) OpenThread(id thread.ID, doc, sum []byte) (thread.Thread, error) {
	t, err := p.AnyThread(doc, sum)
	if err == nil && t.ID != id {
		err = fmt.Errorf("document of another thread: %w", thread.ErrDamaged)
	}
	if err != nil {
		return thread.Thread{}, fmt.Errorf("thread %s: %w", id, err)
	}
	return t, nil
}

// AnyThread unpacks what Thread packed of any thread.
func (p *Packer) AnyThread(doc, sum []byte) (thread.Thread, error) {
	raw, err := p.codec.undoc(doc)
	if err != nil {
		return thread.Thread{}, err
	}
	if s := sha256.Sum256(raw); string(s[:]) != string(sum) {
		return thread.Thread{}, fmt.Errorf("content does not match its hash: %w", thread.ErrDamaged)
	}
	var t thread.Thread
	if err := json.Unmarshal(raw, &t); err != nil {
		return thread.Thread{}, fmt.Errorf("document: %w: %w", thread.ErrDamaged, err)
	}
	return t, nil
}

// OpenListed is OpenThread for a list of all threads: while the Packer is new, a thread that was already opened from
// the same document, and matched its hash then, is not opened again.
func (p *Packer) OpenListed(id thread.ID, doc, sum []byte) (thread.Thread, error) {
	if t, ok := p.opened.get(id, doc, sum); ok {
		return t, nil
	}
	t, err := p.OpenThread(id, doc, sum)
	if err == nil {
		p.opened.put(t, doc, sum)
	}
	return t, err
}
