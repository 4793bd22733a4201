package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// The bounds of a bundle.
const (
	MostItems = 1000
	mostText  = 8 << 10 // bytes of a scope, a source, a heading
	mostNames = 200     // sections of an item, bundles that share it
	// MostForm is how many bytes a file with a bundle's printed form may have.
	MostForm = 4 << 20
	// MostContent is how many bytes the content of all items may have: with it, a request has at most 16 MB.
	MostContent = 11 << 20
)

// Print returns the printed form of a bundle: its keys in their order, indented by two blanks, with a line's end.
func Print(b work.Bundle) []byte {
	if b.Items == nil {
		b.Items = []work.BundleItem{}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(b) // of strings and numbers, to memory
	return out.Bytes()
}

// Parse reads the printed form, also one that somebody wrote by hand: its counts are claims, and they are summed up again.
func Parse(raw []byte) (work.Bundle, error) {
	var b work.Bundle
	if len(raw) > MostForm {
		return b, thread.Kindf(thread.ErrInvalid, "a bundle of %s: at most %s", thread.Bytes(int64(len(raw))), thread.Bytes(MostForm))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return work.Bundle{}, thread.Kindf(thread.ErrInvalid, "no bundle in its printed form: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return work.Bundle{}, thread.Kindf(thread.ErrInvalid, "no bundle in its printed form: more follows on it")
	}
	b.Total = 0
	for i := range b.Items {
		b.Items[i].Type = cmp.Or(b.Items[i].Type, work.ItemFile)
		b.Items[i].Priority = cmp.Or(b.Items[i].Priority, work.Required)
		b.Total += b.Items[i].Tokens
	}
	return b, check(b)
}

// check refuses what is no bundle.
func check(b work.Bundle) error {
	switch {
	case len(b.Items) == 0:
		return thread.Kindf(thread.ErrInvalid, "a bundle without items: name files or references")
	case len(b.Items) > MostItems:
		return thread.Kindf(thread.ErrInvalid, "a bundle of %d items: at most %d", len(b.Items), MostItems)
	}
	if b.ID != "" {
		if err := work.CheckName(b.ID); err != nil {
			return fmt.Errorf("bundle_id: %w", err)
		}
	}
	for what, text := range map[string]string{"agent_type": b.AgentType, "scope": b.Scope} {
		if err := checkText(what, text); err != nil {
			return err
		}
	}
	for i, it := range b.Items {
		if err := checkItem(it); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

const mostTokens = 1 << 40 // no count is larger

func checkItem(it work.BundleItem) error {
	types := []work.ItemType{work.ItemFile, work.ItemReference, work.ItemShared, work.ItemBriefing}
	switch {
	case it.Source == "":
		return thread.Kindf(thread.ErrInvalid, "it has no source")
	case !slices.Contains(types, it.Type):
		return thread.Kindf(thread.ErrInvalid, "type %q: use file, reference, shared_context or briefing", it.Type)
	case it.Priority != work.Required && it.Priority != work.Recommended:
		return thread.Kindf(thread.ErrInvalid, "priority %q: use required or recommended", it.Priority)
	case it.Tokens < 0 || it.Tokens > mostTokens:
		return thread.Kindf(thread.ErrInvalid, "token_count %d", it.Tokens)
	case len(it.Sections) > mostNames || len(it.SharedWith) > mostNames:
		return thread.Kindf(thread.ErrInvalid, "more than %d sections or bundles that share it", mostNames)
	}
	for _, text := range slices.Concat([]string{it.Source}, it.Sections, it.SharedWith) {
		if err := checkText("a name", text); err != nil {
			return err
		}
	}
	return nil
}

func checkText(what, text string) error {
	switch {
	case len(text) > mostText:
		return thread.Kindf(thread.ErrInvalid, "%s of %s: at most %s", what, thread.Bytes(int64(len(text))), thread.Bytes(mostText))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return thread.Kindf(thread.ErrInvalid, "%s is no text", what)
	}
	return nil
}

// Sum returns the hash of a content, as it is kept.
func Sum(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Hash returns the hash of a bundle: over everything that an agent gets of it, who shares it, and for whom and against
// what it was counted.
func Hash(k work.KeptBundle) string {
	h := sha256.New()
	put := func(texts ...string) {
		fmt.Fprintf(h, "%d\n", len(texts))
		for _, t := range texts {
			fmt.Fprintf(h, "%d:%s\n", len(t), t)
		}
	}
	put("bundle 1", k.Bundle.AgentType, k.Bundle.Scope, k.Agent, k.Model, k.Session, string(k.By), fmt.Sprint(k.Budget))
	for i, it := range k.Bundle.Items {
		piece := ""
		if i < len(k.Pieces) {
			piece = k.Pieces[i]
		}
		claimed := ""
		if piece == "" {
			claimed = fmt.Sprint(it.Tokens)
		}
		put(string(it.Type), it.Source, string(it.Priority), piece, claimed)
		put(it.Sections...)
		put(it.SharedWith...)
	}
	if len(k.Left) > 0 {
		put(append([]string{"left"}, k.Left...)...)
	}
	return hex.EncodeToString(h.Sum(nil))
}
