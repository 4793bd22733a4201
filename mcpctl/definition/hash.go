package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread/frozen"
)

// Hash returns the launch hash: hex SHA-256 over everything that decides what is started or connected to, unexpanded, over
// the values that it takes from the person's environment, and over the files of the project that it may load: those that its command line, its variables and its helper name,
// with the folders that they are in, the packages installed there, the settings of the program that runs them, and what
// all these name in turn. It is the same in every worktree of a repository with the same files.
//
// It need not find everything: a server is started from a copy of exactly these files (Plan), and what is not among them
// is not there for it. What it opens by the name of its working folder or of another place is not covered; Shown says so.
//
// Files can change after it: whoever starts a server computes it again, for the copy, right before that.
func (d Definition) Hash(files FileHasher) (string, error) {
	p, err := files.plan(d)
	if err != nil {
		return "", fmt.Errorf("hash %s: %w", d.ID, err)
	}
	return d.hash(files, p)
}

// hash returns the launch hash of what is started by a plan.
func (d Definition) hash(files FileHasher, p plan) (string, error) {
	d.contents = p.contents
	h := digest{sha256.New()}
	h.add("transport", string(d.Transport))
	if d.written() {
		h.add("syntax", string(d.syntax()))
	}
	h.add("command", d.Command)
	h.add("args", d.Args...)
	h.pairs("env", d.Env)
	h.add("env vars", sorted(d.EnvVars)...)
	h.add("dir", files.place(d.Dir))
	h.add("url", d.URL)
	h.pairs("headers", d.Headers)
	h.pairs("header vars", d.HeaderVars)
	h.add("bearer", d.BearerVar)
	h.add("helper", d.Helper)
	h.add("oauth", d.OAuth.ClientID, strconv.Itoa(d.OAuth.CallbackPort), d.OAuth.MetadataURL)
	h.add("scopes", sorted(d.OAuth.Scopes)...)
	if d.EnvFile != "" {
		sum := p.env.sum
		switch err := p.env.err; {
		case errors.Is(err, fs.ErrNotExist):
			sum = "missing"
		case err != nil:
			return "", fmt.Errorf("hash %s: environment file: %w", d.ID, err)
		}
		h.add("env file", files.place(d.EnvFile), sum)
	}
	if values := files.values(d); len(values) > 0 {
		h.pairs("values", values)
	}
	if len(p.entries) > 0 {
		h.add("files", frozen.Hash(p.entries))
	}
	if len(p.entries) > 0 || p.manner != direct && !d.Trusted() {
		h.add("started", string(p.manner), p.command, p.by)
		if p.inside {
			h.add("start", p.start)
		}
		leads := make(map[string]string, len(p.leads))
		for word, rel := range p.leads {
			leads[files.place(word)] = rel
		}
		h.pairs("leads", leads)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// written reports whether anything may be a variable, in any syntax.
func (d Definition) written() bool {
	for _, s := range d.texts() {
		if strings.ContainsAny(s, "${%") {
			return true
		}
	}
	return false
}

// digest hashes fields so that no two different ones have the same bytes.
type digest struct{ hash.Hash }

func (h digest) add(name string, values ...string) {
	fmt.Fprintf(h, "%s %d\n", name, len(values))
	for _, v := range values {
		fmt.Fprintf(h, "%d:", len(v))
		_, _ = io.WriteString(h, v) // a hash takes everything
	}
}

func (h digest) pairs(name string, values map[string]string) {
	var flat []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		flat = append(flat, key, values[key])
	}
	h.add(name, flat...)
}

func sorted(values []string) []string { return slices.Sorted(slices.Values(values)) }
